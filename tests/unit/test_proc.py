import asyncio
import os
import time
from pathlib import Path

import pytest

from incident_arena import proc
from incident_arena.proc import DIRECT, CommandError, OverrunError, Stream, run_async

ESCAPED = "setsid sleep 300 & echo $! > {pid}; echo said; echo so >&2; "
"""A child that leaves the process group and holds its pipes."""


@pytest.fixture
def escaped(tmp_path: Path) -> Path:
    return tmp_path / "pid"


def kill(pid: Path) -> None:
    os.kill(int(pid.read_text()), 9)


async def test_output_and_status() -> None:
    ended = await run_async(["sh", "-c", "cat; printf err >&2; exit 3"], deadline_s=10, stdin=b"in", check=False)
    assert (ended.exit, ended.stdout, ended.stderr) == (3, "in", "err")
    with pytest.raises(CommandError, match="exited with 3"):
        await run_async(["sh", "-c", "exit 3"], deadline_s=10)


async def test_a_process_need_not_read_its_input() -> None:
    assert (await run_async(["true"], deadline_s=10, stdin=b"x" * (8 << 20))).exit == 0
    ended = await run_async(["wc", "-c"], deadline_s=10, stdin=b"x" * (8 << 20))
    assert ended.stdout.strip() == str(8 << 20)


async def test_a_sink_that_raises_ends_the_process_at_once(escaped: Path) -> None:
    def sink(_stream: Stream, _data: bytes) -> None:
        raise ValueError("enough")

    began = time.monotonic()
    with pytest.raises(ValueError, match="enough"):
        await run_async(
            ["sh", "-c", ESCAPED.format(pid=escaped) + "exec cat /dev/zero"], deadline_s=None, stdin=b"", sink=sink
        )
    assert time.monotonic() - began < 5
    kill(escaped)


@pytest.mark.parametrize("deadline_s", [None, 30])
async def test_a_sink_that_raises_late_in_a_long_stream_ends_it_too(deadline_s: float | None) -> None:
    got = 0

    def sink(_stream: Stream, data: bytes) -> None:
        nonlocal got
        got += len(data)
        if got > 8 << 20:
            raise ValueError("enough")

    began = time.monotonic()
    with pytest.raises(ValueError, match="enough"):
        await run_async(["head", "-c", str(400 << 20), "/dev/zero"], deadline_s=deadline_s, sink=sink)
    assert time.monotonic() - began < 10
    assert got < 16 << 20


async def test_a_process_that_can_not_be_ended_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    pids: list[int] = []
    monkeypatch.setattr(proc, "END_S", 0.2)
    monkeypatch.setattr(proc, "_kill_group", pids.append)  # as of one that hangs in the kernel
    began = time.monotonic()
    with pytest.raises(OverrunError):
        await run_async(["sleep", "300"], deadline_s=0.2)
    assert time.monotonic() - began < 5
    os.kill(pids[0], 9)


async def test_a_sinks_own_time_out_is_not_the_deadline() -> None:
    def sink(_stream: Stream, _data: bytes) -> None:
        raise TimeoutError("of the sink's")

    with pytest.raises(TimeoutError, match="of the sink's"):
        await run_async(["echo", "x"], deadline_s=30, sink=sink)


async def test_a_late_process_gives_back_what_it_printed_though_its_pipes_are_held(escaped: Path) -> None:
    began = time.monotonic()
    with pytest.raises(OverrunError, match=r"deadline of 0.5 s") as caught:
        await run_async(["sh", "-c", ESCAPED.format(pid=escaped) + "exec sleep 300"], deadline_s=0.5)
    assert time.monotonic() - began < 5
    completed = caught.value.completed
    assert (completed.exit, completed.stdout, completed.stderr) == (-9, "said\n", "so\n")
    kill(escaped)


def test_so_does_one_that_is_waited_for_in_a_thread(escaped: Path) -> None:
    began = time.monotonic()
    with pytest.raises(OverrunError) as caught:
        proc.run(["sh", "-c", ESCAPED.format(pid=escaped) + "exec sleep 300"], deadline_s=0.5)
    assert time.monotonic() - began < 10
    assert (caught.value.completed.stdout, caught.value.completed.stderr) == ("said\n", "so\n")
    kill(escaped)


async def test_a_cancelled_call_kills_its_process_though_its_pipes_are_held(escaped: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    script = ESCAPED.format(pid=escaped) + f"echo $$ > {own}; exec sleep 300"
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(run_async(["sh", "-c", script], deadline_s=None), 0.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int(own.read_text()), 0)
    kill(escaped)


async def test_a_process_that_a_signal_ended_did_not_overrun() -> None:
    ended = await run_async(["sh", "-c", "kill -9 $$"], deadline_s=10, check=False)
    assert ended.exit == -9


async def test_output_is_kept_up_to_a_limit() -> None:
    ended = await run_async(["head", "-c", str((16 << 20) + 5), "/dev/zero"], deadline_s=30)
    assert ended.stdout.endswith("\0\n[5 more bytes were dropped]\n")


async def test_variables_are_added_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("STAYS", "yes")
    ended = await run_async(["env"], deadline_s=10, env={**DIRECT, "NEW": "1"})
    lines = ended.stdout.splitlines()
    assert {"STAYS=yes", "NEW=1"} <= set(lines)
    assert not [line for line in lines if line.startswith("https_proxy")]
    assert "https_proxy=http://127.0.0.1:1" in proc.run(["env"], deadline_s=10).stdout


async def test_a_program_that_is_missing_is_named() -> None:
    with pytest.raises(CommandError, match="absent-program"):
        await run_async(["absent-program"], deadline_s=1)
