"""The shell is found among the offered tools, and its arguments fit its schema."""

import jsonschema
import pytest

from incident_arena.endpoint.asked import Asked, Json, Tool
from incident_arena.endpoint.tools import filling, shell_call


def offering(*tools: Tool) -> Asked:
    return Asked(
        model="m", stream=False, tools=tools, turns=(), system="", first="", newest="", size=0, known=0
    )  # fmt: skip


def shell(name: str, required: list[str], **properties: Json) -> Tool:
    return Tool(name, {"type": "object", "properties": properties, "required": required, "additionalProperties": False})


TEXT: Json = {"type": "string"}


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (shell("Bash", ["command"], command=TEXT, timeout={"type": "number"}), {"command": "ls -l"}),
        (shell("exec_command", ["cmd"], cmd=TEXT, workdir=TEXT), {"cmd": "ls -l"}),
        (shell("shell", ["command"], command={"type": "array", "items": TEXT}), {"command": ["bash", "-lc", "ls -l"]}),
        (shell("execute_bash", ["commands"], commands={"type": "array", "items": TEXT}), {"commands": ["ls -l"]}),
        (
            shell("run_shell_command", ["command", "is_background"], command=TEXT, is_background={"type": "boolean"}),
            {"command": "ls -l", "is_background": False},
        ),
        (
            shell("bash", ["command", "mode"], command=TEXT, mode={"type": "string", "enum": ["fast", "slow"]}),
            {"command": "ls -l", "mode": "fast"},
        ),
    ],
)
def test_a_call_fits_the_tools_schema(tool: Tool, expected: Json) -> None:
    call = shell_call(offering(Tool("Read", {}), tool, Tool("Write", {})), "ls -l")
    assert call is not None
    assert (call.name, call.arguments) == (tool.name, expected)
    jsonschema.validate(call.arguments, tool.schema)


def test_a_shell_is_preferred_to_a_terminal_whatever_their_order() -> None:
    offered = (shell("terminal", ["command"], command=TEXT), shell("bash", ["command"], command=TEXT))
    for tools in (offered, offered[::-1]):
        call = shell_call(offering(*tools), "ls")
        assert call
        assert call.name == "bash"


def test_no_shell_is_no_call() -> None:
    assert shell_call(offering(Tool("Read", {})), "ls") is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"n": {"type": "integer", "minimum": 7}}, "required": ["n"]},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 2},
        {"anyOf": [{"type": "null"}, {"type": "string"}]},
        {"const": "only"},
        {"type": ["string", "null"]},
        {
            "type": "object",
            "properties": {"who": {"type": "string", "enum": ["user", "model"]}, "list": {"type": "array"}},
            "required": ["who", "list"],
        },
    ],
)
def test_a_filling_is_valid(schema: Json) -> None:
    jsonschema.validate(filling(schema), schema)


def test_types_in_capitals_are_geminis() -> None:
    schema = {"type": "OBJECT", "properties": {"b": {"type": "BOOLEAN"}, "s": {"type": "STRING"}}, "required": ["b"]}
    assert filling(schema) == {"b": False}
