"""Calls of tools: which of the offered ones is the shell, and how its arguments are filled."""

from typing import Any

from incident_arena.endpoint.asked import Asked, Json, Tool, dicts, table
from incident_arena.endpoint.reply import Call

SHELLS = (
    "exec_command", "shell_command", "shell", "local_shell", "bash", "run_shell_command", "execute_bash",
    "run_terminal_cmd", "run_command", "execute_command", "terminal",
)  # fmt: skip
"""Names of shell tools in lower case; of several that are offered, the first in this list is taken."""
COMMANDS = ("cmd", "command", "commands", "script", "code", "input", "keystrokes")
"""Parameters that hold the command."""
SHELL_TIMEOUT_MS = 60_000
"""A number that is required of a shell call is a time-out, as far as known tools go."""
PURPOSE = "Run the scripted command"


def shell_call(asked: Asked, command: str) -> Call | None:
    """A call that runs the command in a shell; None when no shell is offered."""
    offered = {tool.name.lower(): tool for tool in reversed(asked.tools)}
    tool = next((offered[name] for name in SHELLS if name in offered), None)
    if tool is None:
        return None
    if tool.kind == "local_shell":
        return Call(tool.name, {"command": ["bash", "-lc", command]}, tool.kind)
    return Call(tool.name, _arguments(tool, command))


def _arguments(tool: Tool, command: str) -> Json:
    properties = table(tool.schema.get("properties"))
    holder = next((name for name in COMMANDS if name in properties), "command")
    shape = table(properties.get(holder))
    filled = filling(tool.schema)
    value: Any = command
    if "array" in _types(shape):
        # one command as words, or a list of commands: only the former has an argv to give to exec
        value = [command] if holder == "commands" else ["bash", "-lc", command]
    return {**(filled if isinstance(filled, dict) else {}), holder: value}


def filling(schema: Json) -> Any:
    """The least value that a JSON Schema takes: required properties only, the first of several choices."""
    for fixed in ("const", "default"):
        if fixed in schema:
            return schema[fixed]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    for choice in ("anyOf", "oneOf", "allOf"):
        if options := dicts(schema.get(choice)):
            return filling(options[0])
    kinds = _types(schema)
    if "array" in kinds:
        least = schema.get("minItems")
        return [filling(table(schema.get("items")))] * (least if isinstance(least, int) else 0)
    if "object" in kinds or "properties" in schema:
        properties = table(schema.get("properties"))
        required = schema.get("required")
        return {name: filling(table(properties.get(name))) for name in (required if isinstance(required, list) else [])}
    return _scalar(schema, kinds)


def _scalar(schema: Json, kinds: set[str]) -> Any:
    if "boolean" in kinds:
        return False
    if kinds & {"integer", "number"}:
        return schema.get("minimum", SHELL_TIMEOUT_MS)
    return None if kinds == {"null"} else PURPOSE


def _types(schema: Json) -> set[str]:
    """Its types in lower case: Gemini's are in capitals."""
    kind = schema.get("type")
    return {str(each).lower() for each in (kind if isinstance(kind, list) else [kind]) if each}
