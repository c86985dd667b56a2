"""How an agent wants its commands: as calls of a tool, or in the text by a protocol of its own."""

import json
import re
from enum import StrEnum

from incident_arena.endpoint.asked import Asked
from incident_arena.endpoint.reply import Call
from incident_arena.endpoint.script import Step
from incident_arena.endpoint.tools import filling, shell_call

MINI_DONE = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""mini-swe-agent ends when a command prints this line; an answer without a command is an error to it."""
MINI_BLOCK = "mswea_bash_command"
SURE = re.compile(r"Are you sure you want to mark the task as complete\?")
ASIDE = "ok"


class Protocol(StrEnum):
    """How commands reach the agent."""

    tools = "tools"
    terminus_json = "terminus-json"
    terminus_xml = "terminus-xml"
    mini_text = "mini-text"
    none = "none"
    """A request beside the work, such as for a title: there is nothing that could run a command."""


def protocol_of(asked: Asked) -> Protocol:
    """Read from what the request offers, and else from what its prompt says about the form of an answer."""
    if asked.tools:
        return Protocol.tools
    told = asked.system + asked.first
    if "task_complete" in told and '"keystrokes"' in told:
        return Protocol.terminus_json
    if "task_complete" in told and "<keystrokes" in told:
        return Protocol.terminus_xml
    return Protocol.mini_text if MINI_BLOCK in told else Protocol.none


def asks_again(asked: Asked) -> bool:
    """Whether terminus-2 wants to hear once more that the task is complete."""
    return bool(SURE.search(asked.newest))


def say(step: Step, asked: Asked) -> tuple[str, Call | None]:
    """The text and the call by which a step is said to this agent.

    Raises:
        LookupError: it runs a command, and the request offers no shell; the message names what it offers.
    """
    if step.raw is not None:
        return step.raw, None
    protocol = protocol_of(asked)
    text, command = step.text or "", step.bash
    match protocol:
        case Protocol.terminus_json | Protocol.terminus_xml:
            return _terminus(protocol, text, command, step.wait), None
        case Protocol.mini_text:
            return f"{text or 'Next.'}\n\n```{MINI_BLOCK}\n{command or f'echo {MINI_DONE}'}\n```", None
        case Protocol.none:
            return aside(asked), None
    if command is None and MINI_DONE in asked.system + asked.first:
        command = f"echo {MINI_DONE}"
    if command is None:
        return text, None
    call = shell_call(asked, command)
    if call is None:
        names = ", ".join(tool.name for tool in asked.tools)
        raise LookupError(f"the script's command needs a shell tool; the request offers only: {names}")
    return text, call


def aside(asked: Asked) -> str:
    """The answer to a request beside the work, in the form that it asks for."""
    return json.dumps(filling(asked.form)) if asked.form else ASIDE


def _terminus(protocol: Protocol, text: str, command: str | None, wait: float) -> str:
    told = text or "The script goes on."
    if protocol is Protocol.terminus_json:
        keys = [{"keystrokes": command + "\n", "duration": wait}] if command else []
        return json.dumps({"analysis": told, "plan": told, "commands": keys, "task_complete": command is None})
    keys_xml = f'<keystrokes duration="{wait}">{command}\n</keystrokes>' if command else ""
    done = "true" if command is None else "false"
    return (
        f"<response>\n<analysis>{told}</analysis>\n<plan>{told}</plan>\n<commands>{keys_xml}</commands>\n"
        f"<task_complete>{done}</task_complete>\n</response>"
    )
