import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from incident_arena.errors import InfrastructureError, UserError
from incident_arena.sandbox import TIMED_OUT, Ended, Sandbox, confine

SOURCE = Path(confine.__file__).read_text()


@pytest.fixture
async def sandbox() -> AsyncGenerator[Sandbox]:
    made = Sandbox()
    await made.start()
    yield made
    await made.stop()


async def run(sandbox: Sandbox, command: str, deadline_s: float = 30) -> Ended:
    return await sandbox.exec(command, deadline_s=deadline_s)


async def test_it_has_no_network_no_rights_and_no_other_processes(sandbox: Sandbox) -> None:
    ended = await run(
        sandbox, "id -u; grep -c : /proc/net/dev; grep CapEff /proc/self/status; ls /proc | grep -c '^[0-9]'"
    )
    user, links, capabilities, processes = ended.stdout.splitlines()
    assert (user, links, capabilities.split()[1]) == ("1000", "1", "0" * 16)
    assert int(processes) < 8


async def test_it_can_write_only_what_it_was_given(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    product = Path(confine.__file__).parents[1]
    for path in ("/usr/x", f"{product}/x", f"{sys.prefix}/x", str(tmp_path / "secret")):
        assert (await run(sandbox, f"echo > {path}")).exit != 0, path
    assert not (product / "x").exists()
    assert (await run(sandbox, f"cat {tmp_path}/secret")).exit != 0
    assert (await run(sandbox, "echo > /logs/verifier/x && echo > /evidence/x && echo > /tmp/x")).exit == 0


async def test_it_has_this_interpreter_and_product(sandbox: Sandbox) -> None:
    ended = await run(
        sandbox, "python3 -c 'import sys, pydantic, incident_arena.judge as v; print(sys.version, v.__file__)'"
    )
    assert ended.stdout.startswith(sys.version.split()[0]), ended.stderr


async def test_its_environment_is_its_own(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
    ended = await sandbox.exec("env", cwd="/tests", env={"A": "b c"}, deadline_s=30)
    assert "s3cret" not in ended.stdout
    assert "A=b c\n" in ended.stdout
    assert "PWD=/tests\n" in ended.stdout


async def test_past_its_deadline_nothing_is_left(sandbox: Sandbox) -> None:
    marker = f"31{os.getpid()}"
    ended = await run(sandbox, f"setsid sleep {marker} & sleep {marker}", deadline_s=1)
    assert ended.exit == TIMED_OUT
    await asyncio.to_thread(_gone, marker)


def _gone(marker: str) -> None:
    from incident_arena.wait import until  # noqa: PLC0415

    def probe() -> tuple[bool, str]:
        lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
        running = [line for line in lines if line.startswith(b"sleep") and marker.encode() in line]
        return not running, str(running)

    until("the sandbox's processes gone", probe, deadline_s=5)


async def test_files_go_in_and_out(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "f").write_text("x")
    await sandbox.upload(tmp_path / "in", "/evidence")
    await run(sandbox, "cp /evidence/deep/f /logs/verifier/g; ln -s /etc/shadow /logs/verifier/link")
    await sandbox.download("/logs/verifier", tmp_path / "out")
    assert (tmp_path / "out" / "g").read_text() == "x"
    assert (tmp_path / "out" / "link").is_symlink()


@pytest.mark.parametrize("target", ["/usr/bin/x", "/../x", "/logs/../../x", "/"])
async def test_files_cannot_be_put_elsewhere(sandbox: Sandbox, tmp_path: Path, target: str) -> None:
    (tmp_path / "x").write_text("x")
    with pytest.raises(InfrastructureError):
        await sandbox.upload(tmp_path / "x", target)


async def test_a_kernel_that_refuses_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refusing = tmp_path / "confine.py"
    refusing.write_text(
        SOURCE.replace(
            "def enter() -> None:",
            "def enter() -> None:\n    raise PermissionError(1, 'no')\n\n\ndef _other() -> None:",
        )
    )
    monkeypatch.setattr(confine, "__file__", str(refusing))
    with pytest.raises(UserError, match="user namespaces are refused") as caught:
        await Sandbox().start()
    assert "unprivileged_userns_clone" in caught.value.remedy
