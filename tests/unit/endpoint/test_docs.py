"""The example in docs/endpoint.md does what is said of it."""

import re
import tomllib
from pathlib import Path

from tests.unit.endpoint.wire import anthropic, post

import incident_arena
from incident_arena.endpoint.script import FAULTS, TURNS, Script
from incident_arena.endpoint.server import serving

PAGE = Path(incident_arena.__file__).parents[2] / "docs" / "endpoint.md"


async def test_the_example_runs_a_command_is_refused_twice_and_ends() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    async with serving(Script.model_validate(tomllib.loads(example))) as endpoint:
        first = (await post(endpoint, "/v1/messages", anthropic())).json["content"]
        assert first[0]["input"] == {"command": "echo looked > note; cat note"}
        told = [{"role": "user", "content": "Repair it."}, {"role": "assistant", "content": first}]
        answers = [await post(endpoint, "/v1/messages", anthropic(*told)) for _ in range(3)]
    assert [answer.status for answer in answers] == [429, 429, 200]
    assert answers[-1].json["content"] == [{"type": "text", "text": "All repaired."}]


def test_every_kind_of_step_is_told() -> None:
    told = re.findall(r"^\| `(\w+) = ", PAGE.read_text(), re.MULTILINE)
    assert tuple(told) == TURNS + FAULTS
