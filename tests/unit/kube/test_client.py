import asyncio
import contextlib
import dataclasses
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from incident_arena.errors import UserError
from incident_arena.kube import Kube, TransferError, remote, transfer
from incident_arena.proc import CommandError, OverrunError, run_async
from incident_arena.wait import until_async

TREE = """
sleep 300 & echo $! >> {pids}
setsid sh -c 'echo $$ >> {pids}; exec sleep 300' &
env -i setsid sh -c 'echo $$ >> {pids}; sleep 300; true' &
env -i setsid sh -c 'sh -c "echo \\$\\$ >> {pids}; exec sleep 300" > /dev/null 2>&1 &'
echo printed; echo before >&2
(trap '' TERM HUP; echo $$ >> {pids}; while true; do sleep 300; done)
"""


def alive(pids: Path) -> list[int]:
    lines = pids.read_text().split() if pids.exists() else []
    return [int(line) for line in lines if Path(f"/proc/{line}").exists() and not zombie(int(line))]


def zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


async def started(pids: Path, count: int) -> None:
    async def probe() -> tuple[bool, str]:
        running = alive(pids)
        return len(running) == count, str(running)

    await until_async("processes running", probe, deadline_s=10)


async def test_exec_tells_output_and_exit_status(kube: Kube) -> None:
    ended = await kube.exec("pod", ["sh", "-c", "echo out; echo err >&2; exit 7"], deadline_s=10)
    assert (ended.exit, ended.stdout, ended.stderr) == (7, "out\n", "err\n")
    assert ended.argv == ("sh", "-c", "echo out; echo err >&2; exit 7")


async def test_exec_passes_environment_folder_and_input(kube: Kube, tmp_path: Path) -> None:
    ended = await kube.exec(
        "pod",
        ["sh", "-c", 'printf "%s|" "$A" "$(pwd)"; cat'],
        deadline_s=10,
        env={"A": "it's $HOME\nand more"},
        cwd=str(tmp_path),
        stdin=b"exit 3\n",
    )
    assert ended.stdout == f"it's $HOME\nand more|{tmp_path}|exit 3\n"


async def test_environment_values_are_not_in_any_argument_list(kube: Kube) -> None:
    ended = await kube.exec(
        "pod", ["sh", "-c", "cat /proc/$PPID/cmdline /proc/$$/cmdline"], deadline_s=10, env={"KEY": "s3cret"}
    )
    assert ended.exit == 0
    assert "s3cret" not in ended.stdout


async def test_exec_without_input_reads_nothing(kube: Kube) -> None:
    assert (await kube.exec("pod", ["cat"], deadline_s=10)).stdout == ""


async def test_exec_names_a_pod_that_is_not_there(kube: Kube) -> None:
    with pytest.raises(CommandError, match="nowhere"):
        await kube.exec("nowhere", ["true"], deadline_s=10)


async def test_cancelled_exec_kills_the_whole_tree(kube: Kube, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    task = asyncio.create_task(kube.exec("pod", ["sh", "-c", TREE.format(pids=pids)], deadline_s=None))
    await started(pids, 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive(pids) == []


async def test_exec_past_its_deadline_kills_the_whole_tree(kube: Kube, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with pytest.raises(OverrunError, match="deadline of 1 s") as caught:
        await kube.exec("pod", ["sh", "-c", TREE.format(pids=pids)], deadline_s=1)
    assert (caught.value.completed.stdout, caught.value.completed.stderr) == ("printed\n", "before\n")
    assert len(pids.read_text().split()) == 5
    assert alive(pids) == []


async def test_another_command_survives_a_cancelled_one(kube: Kube, tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    one = asyncio.create_task(kube.exec("pod", ["sh", "-c", f"echo $$ > {mine}; exec sleep 300"], deadline_s=None))
    two = asyncio.create_task(kube.exec("pod", ["sh", "-c", f"echo $$ > {other}; exec sleep 300"], deadline_s=None))
    await started(mine, 1)
    await started(other, 1)
    one.cancel()
    await asyncio.wait({one})
    assert (alive(mine), len(alive(other))) == ([], 1)
    two.cancel()
    await asyncio.wait({two})


@pytest.mark.parametrize(
    ("script", "ended"),
    [
        ("printf 'no end' >&2; exit 3", (3, "", "no end")),
        ("printf out; printf err >&2; exit 3", (3, "out", "err")),
        ("printf '10%%\\r20%%\\r' ; printf '\\0\\001' >&2", (0, "10%\r20%\r", "\0\1")),
        ("echo 'command terminated with exit code 9' >&2; exit 4", (4, "", "command terminated with exit code 9\n")),
        ("exit 255", (255, "", "")),
        ("kill -9 $$", (137, "", "")),
        ("kill -TERM $$", (143, "", "")),
        ("exec >&- 2>&-; exit 5", (5, "", "")),
        ("kill -9 $PPID; exit 6", (137, "", "")),  # the shell that waits: no success, no word of ours
        ("echo a; trap 'exit 7' TERM; kill -TERM 0", (7, "a\n", "")),  # its own process group
        ("trap", (0, "", "")),
        ("ls /proc/self/fd | grep -vx '[012]' | wc -l", (0, "1\n", "")),  # ls's own
    ],
)
async def test_the_exit_status_is_right_whatever_is_printed(
    kube: Kube, script: str, ended: tuple[int, str, str]
) -> None:
    done = await kube.exec("pod", ["bash", "-c", script], deadline_s=10)
    assert (done.exit, done.stdout, done.stderr) == ended


@pytest.mark.parametrize("argv", [["absent-program"], ["/etc"]])
async def test_a_program_that_cannot_run_has_a_shells_status(kube: Kube, argv: list[str]) -> None:
    ended = await kube.exec("pod", argv, deadline_s=10)
    assert ended.exit == (126 if argv == ["/etc"] else 127)
    assert argv[0] in ended.stderr


async def test_a_folder_that_is_not_there_has_a_status_and_a_word(kube: Kube) -> None:
    ended = await kube.exec("pod", ["true"], deadline_s=10, cwd="/absent")
    assert ended.exit == 126
    assert "/absent" in ended.stderr


async def test_the_command_is_not_shown_the_seal(kube: Kube, monkeypatch: pytest.MonkeyPatch) -> None:
    words: list[str] = []
    made = remote.Seal.__init__

    def seen(seal: remote.Seal, *arguments: Any) -> None:
        made(seal, *arguments)
        words.append(seal.word)

    monkeypatch.setattr(remote.Seal, "__init__", seen)
    script = "env; set; cat /proc/$PPID/cmdline /proc/$PPID/environ /proc/$$/cmdline; cat"
    ended = await kube.exec("pod", ["bash", "-c", script], deadline_s=10, stdin=b"mine")
    assert ended.exit == 0
    assert ended.stdout.endswith("mine")
    assert "ARENA_EXEC" in ended.stdout
    assert len(words) == 1
    assert words[0] not in ended.stdout


@pytest.mark.parametrize("kept", [0, 3, 4, 20, 38])
async def test_a_cut_stream_is_no_success(kube: Kube, kept: int) -> None:
    with pytest.raises(CommandError, match="not be run to its end") as caught:
        await kube.exec(f"cut-{kept}", ["echo", "abc"], deadline_s=10)
    assert caught.value.completed.stdout.startswith("abc\n"[:kept])
    with pytest.raises(CommandError, match="lost connection"):
        await kube.exec(f"lost-{kept}", ["echo", "abc"], deadline_s=10)


async def test_all_but_the_last_byte_of_the_seal_is_a_cut_and_all_of_it_an_end(kube: Kube) -> None:
    assert (await kube.exec("cut-39", ["echo", "abc"], deadline_s=10)).stdout == "abc\n"
    with pytest.raises(CommandError):
        await kube.exec("cut-38", ["echo", "abc"], deadline_s=10)


async def test_a_cut_download_is_no_download(kube: Kube, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "a").write_text("a")
    with pytest.raises(CommandError, match="not be run to its end"):
        await kube.download("cut-1024", str(tmp_path / "source"), tmp_path / "back")
    assert not (tmp_path / "back").exists()


async def test_a_prelude_that_is_cut_runs_nothing(tmp_path: Path) -> None:
    head = remote.prelude(
        ["touch", str(tmp_path / "ran")], mark="0" * 32, word="w", env={"A": "b"}, cwd=None, has_stdin=False
    )
    argv = remote.command(len(head))
    for length in range(0, len(head) - 1, 7):
        await run_async(argv, deadline_s=10, stdin=head[:length], check=False)
    assert not (tmp_path / "ran").exists()
    await run_async(argv, deadline_s=10, stdin=head)
    assert (tmp_path / "ran").exists()


async def test_a_background_child_is_neither_waited_for_nor_killed(kube: Kube, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"sh -c 'echo $$ > {pids}; exec sleep 300' & while ! [ -s {pids} ]; do :; done; echo up; exit 3"
    ended = await kube.exec("pod", ["sh", "-c", script], deadline_s=60)
    try:
        assert (ended.exit, ended.stdout) == (3, "up\n")
        assert ended.seconds < 30
        assert len(alive(pids)) == 1
    finally:
        os.kill(int(pids.read_text()), signal.SIGKILL)


async def test_a_cancelled_command_says_what_could_not_be_ended_and_stays_cancelled(
    kube: Kube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = tmp_path / "pids"
    monkeypatch.setattr(remote, "killer", lambda _mark: ("sh", "-c", "echo no fork >&2; exit 1"))
    task = asyncio.create_task(kube.exec("pod", ["sh", "-c", f"echo $$ > {pids}; exec sleep 300"], deadline_s=None))
    await started(pids, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    os.kill(int(pids.read_text()), signal.SIGKILL)
    assert "no fork" in caught.value.__notes__[0]


async def test_one_command_is_one_call_of_kubectl(kube: Kube, tmp_path: Path) -> None:
    await kube.exec("pod", ["true"], deadline_s=10)
    assert (tmp_path / "bin" / "calls").read_text() == "x\n"


async def test_the_hosts_proxy_is_not_for_the_cluster(
    kube: Kube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [name for word in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY") for name in (word, word.lower())]
    for name in names:
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    (tmp_path / "bin" / "helm").symlink_to("kubectl")

    def told() -> list[str]:
        lines = (tmp_path / "bin" / "environment").read_text().splitlines()
        return [line for line in lines if line.partition("=")[0] in names]

    await kube.exec("pod", ["true"], deadline_s=10)
    assert told() == []
    for call in (kube.apply("--"), kube.render(tmp_path, {})):
        (tmp_path / "bin" / "environment").unlink()
        with contextlib.suppress(CommandError):
            await asyncio.wait_for(call, 5)
        assert told() == []


async def test_endless_output_is_capped_on_both_streams_and_the_status_is_right(kube: Kube) -> None:
    script = "head -c 20M /dev/zero; head -c 30M /dev/zero >&2; exit 3"
    ended = await kube.exec("pod", ["sh", "-c", script], deadline_s=30)
    assert ended.exit == 3
    assert len(ended.stdout.rstrip("]\n [0123456789abcdefghijklmnopqrstuvwxyz")) == 16 << 20
    assert ended.stdout.endswith(f"\n[{4 << 20} more bytes were dropped]\n")
    assert ended.stderr.endswith(f"\n[{14 << 20} more bytes were dropped]\n")


async def test_a_sink_that_has_enough_ends_the_command(kube: Kube, tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.truncate(3 << 30)
    with (tmp_path / "archive").open("wb") as file, pytest.raises(TransferError, match="larger"):
        await asyncio.wait_for(kube.exec("pod", ["cat", str(huge)], deadline_s=60, sink=transfer.spool(file, FEW)), 20)


async def test_files_and_folders_go_there_and_back(kube: Kube, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    (source / "run.sh").write_text("#!/bin/sh\n")
    (source / "run.sh").chmod(0o755)
    (source / "deep" / "bytes").write_bytes(bytes(range(256)))
    (source / "link").symlink_to("run.sh")
    await kube.upload("pod", source, str(tmp_path / "there"))
    await kube.upload("pod", source / "run.sh", str(tmp_path / "there" / "new" / "name.sh"))
    left_out = await kube.download("pod", str(tmp_path / "there"), tmp_path / "back")
    assert left_out == ["./link: is neither a file nor a folder"]
    back = tmp_path / "back"
    assert (back / "deep" / "bytes").read_bytes() == bytes(range(256))
    assert os.access(tmp_path / "there" / "run.sh", os.X_OK)
    assert os.access(tmp_path / "there" / "new" / "name.sh", os.X_OK)
    assert not os.access(back / "run.sh", os.X_OK)
    assert not (back / "link").is_symlink()
    await kube.download("pod", str(tmp_path / "there" / "run.sh"), tmp_path / "one" / "renamed")
    assert (tmp_path / "one" / "renamed").read_text() == "#!/bin/sh\n"


def leave(folder: Path) -> Path:
    """Leave a folder as an agent might: a file too large to hold, deep folders, more than one wants, other kinds."""
    (folder / "deep" / "er" / "still" / "more").mkdir(parents=True)
    (folder / "deep" / "er" / "leaf").write_text("leaf")
    (folder / "deep" / "er" / "still" / "leaf").write_text("leaf")
    with (folder / "core").open("wb") as file:
        file.truncate(3 << 30)
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "log.txt").write_text("log")
    (folder / "two\nlines").write_text("x")
    (folder / "closed").write_text("x")
    (folder / "closed").chmod(0)
    return folder


FEW = dataclasses.replace(transfer.BOUNDED, size=1 << 20, depth=3)


async def test_what_an_agent_leaves_is_bounded_and_told(kube: Kube, tmp_path: Path) -> None:
    source, back = leave(tmp_path / "source"), tmp_path / "back"
    began = time.monotonic()
    left_out = await kube.download("pod", str(source), back, bounds=FEW)
    assert time.monotonic() - began < 20
    came = {str(path.relative_to(back)) for path in back.rglob("*") if path.is_file()}
    assert came - {"closed"} == {"log.txt", "deep/er/leaf"}  # root reads the closed one
    told = "\n".join(left_out)
    for line in (
        f"./core: is too large: {3 << 30} bytes",
        "./deep/er/still/leaf: lies deeper than 3 folders",
        "./pipe: is neither a file nor a folder",
        "./link: is neither a file nor a folder",
        "./two\\nlines: has a name that is not plain",
    ):
        assert line in told


async def test_of_very_many_files_some_are_taken(kube: Kube, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for number in range(300):
        (source / str(number)).write_text("x")
    left_out = await kube.download("pod", str(source), tmp_path / "back", bounds=dataclasses.replace(FEW, members=100))
    assert len(list((tmp_path / "back").iterdir())) == 99
    assert left_out == ["all that follows: more than 100 files"]


async def test_of_a_bounded_download_that_is_cut_or_never_ends_is_kept_what_came(kube: Kube, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a").write_text("a" * 600)
    left_out = await kube.download("cut-3000", str(source), tmp_path / "back", bounds=FEW)
    assert (tmp_path / "back" / "a").read_text() == "a" * 600
    assert any("not be run to its end" in line for line in left_out)


@pytest.mark.parametrize("argv", [("cat", "/dev/zero"), ("sh", "-c", "tar -c -f - /etc/hostname; exec sleep 300")])
async def test_a_bounded_download_that_never_ends_is_ended(
    kube: Kube, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...]
) -> None:
    monkeypatch.setattr(transfer, "command", lambda *_: argv)
    began = time.monotonic()
    with contextlib.suppress(TransferError, CommandError):
        left_out = await kube.download(
            "pod", "/logs/agent", tmp_path / "back", bounds=dataclasses.replace(FEW, seconds=2)
        )
        assert "overran its deadline of 2 s" in " ".join(left_out)
    assert time.monotonic() - began < 30


async def test_a_bounded_download_of_nothing_at_all_is_an_error(kube: Kube, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="absent"):
        await kube.download("pod", str(tmp_path / "absent"), tmp_path / "back", bounds=FEW)
    assert not (tmp_path / "back").exists()


async def test_download_of_nothing_says_so(kube: Kube, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="absent"):
        await kube.download("pod", str(tmp_path / "absent"), tmp_path / "back")


async def test_pod_of_needs_a_cluster(kube: Kube) -> None:
    with pytest.raises(UserError, match="kubeconfig"):
        await kube.pod_of("agent")
