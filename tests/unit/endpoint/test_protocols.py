"""Agents that read their commands out of the text: what they are told is read by their own parsers."""

import re
from pathlib import Path
from typing import Any

import harbor.agents.terminus_2 as terminus
import pytest
from harbor.agents.terminus_2.terminus_json_plain_parser import TerminusJSONPlainParser
from harbor.agents.terminus_2.terminus_xml_plain_parser import TerminusXMLPlainParser
from tests.unit.endpoint.wire import Serve, chat, post

from incident_arena.endpoint.server import Endpoint

PARSERS = {"json": TerminusJSONPlainParser, "xml": TerminusXMLPlainParser}
COMMAND = "grep '<a>' x && echo \"done & dusted\""
SURE = "Current terminal state:\n$\n\nAre you sure you want to mark the task as complete? This will trigger grading."
MINI = "End by `echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT`, alone."


def prompt(form: str) -> str:
    """What terminus-2 opens a conversation with."""
    template = Path(terminus.__file__).parent / "templates" / f"terminus-{form}-plain.txt"
    return template.read_text().format(instruction="Repair it.", terminal_state="$ ")


async def said(endpoint: Endpoint, *told: str, system: str = "") -> str:
    """The answer to a conversation; `told` alternates between user and model."""
    roles = [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(told)]
    first = [{"role": "system", "content": system}] if system else []
    body = chat(*first, *roles)
    del body["tools"]
    message: dict[str, Any] = (await post(endpoint, "/v1/chat/completions", body)).json["choices"][0]["message"]
    return str(message["content"])


@pytest.mark.parametrize("form", PARSERS)
async def test_terminus_2_gets_keystrokes_and_then_its_end_twice(form: str, serve: Serve) -> None:
    endpoint = await serve({"bash": COMMAND, "wait": 3.5}, {"text": "Repaired."})
    told = [prompt(form)]
    parser = PARSERS[form]()
    results = []
    for screen in ("$ done", SURE, "never sent"):
        told.append(await said(endpoint, *told))
        results.append(parser.parse_response(told[-1]))
        told.append(screen)
    assert [(result.error, result.warning) for result in results] == [("", "")] * 3
    assert [result.is_task_complete for result in results] == [False, True, True]
    assert [(key.keystrokes, key.duration) for key in results[0].commands] == [(COMMAND + "\n", 3.5)]
    assert results[1].commands == results[2].commands == []
    assert [entry.step for entry in endpoint.journal.entries] == [1, 2, 2]


async def test_raw_text_reaches_terminus_2_as_it_stands(serve: Serve) -> None:
    endpoint = await serve({"raw": "no json"}, {"text": "Repaired."})
    first = await said(endpoint, prompt("json"))
    assert first == "no json"
    assert '"task_complete": true' in await said(endpoint, prompt("json"), first, "That is no JSON.")


async def test_terminus_2_is_refused_for_ever_though_it_keeps_a_refusal_as_an_empty_turn(serve: Serve) -> None:
    endpoint = await serve({"bash": COMMAND}, {"refuse": True, "repeat": "forever"})
    told = [prompt("json")]
    for screen in ("$ done", "Previous response had parsing errors", "Previous response had parsing errors"):
        answer = await said(endpoint, *told)
        told += ["" if answer == "None" else answer, screen]
    assert [entry.kind for entry in endpoint.journal.entries] == ["bash", "refuse", "refuse"]


async def test_mini_swe_agent_ends_by_a_command(serve: Serve) -> None:
    endpoint = await serve({"text": "Repaired."})
    told = [{"role": "user", "content": f"Repair it. {MINI}"}]
    (choice,) = (await post(endpoint, "/v1/chat/completions", chat(*told))).json["choices"]
    assert choice["message"]["content"] == "Repaired."
    (call,) = choice["message"]["tool_calls"]
    assert call["function"]["arguments"] == '{"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}'


async def test_mini_swe_agent_without_tools_gets_one_block(serve: Serve) -> None:
    endpoint = await serve({"bash": COMMAND}, {"text": "Repaired."})
    system = f"Answer with one ```mswea_bash_command block. {MINI}"
    block = re.compile(r"```mswea_bash_command\s*\n(.*?)\n```", re.DOTALL)
    first = await said(endpoint, "Repair it.", system=system)
    assert block.findall(first) == [COMMAND]
    second = await said(endpoint, "Repair it.", first, "<returncode>0</returncode>", system=system)
    assert block.findall(second) == ["echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"]
    assert second.startswith("Repaired.")
