import asyncio
import os
from pathlib import Path

import pytest

from incident_arena.errors import UserError
from incident_arena.kube import Kube, TransferError
from incident_arena.proc import CommandError
from incident_arena.wait import until_async

TREE = """
sleep 300 & echo $! >> {pids}
setsid sh -c 'echo $$ >> {pids}; exec sleep 300' &
env -i setsid sh -c 'echo $$ >> {pids}; sleep 300; true' &
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
    await started(pids, 4)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive(pids) == []


async def test_exec_past_its_deadline_kills_the_whole_tree(kube: Kube, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    with pytest.raises(CommandError, match="deadline") as caught:
        await kube.exec("pod", ["sh", "-c", TREE.format(pids=pids)], deadline_s=1)
    assert caught.value.completed.exit == -9
    assert len(pids.read_text().split()) == 4
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


async def test_endless_output_is_capped(kube: Kube) -> None:
    ended = await kube.exec("pod", ["head", "-c", str(20 << 20), "/dev/zero"], deadline_s=20)
    assert 16 << 20 <= len(ended.stdout) < 17 << 20
    assert "were dropped" in ended.stdout[-100:]


async def test_files_and_folders_go_there_and_back(kube: Kube, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    (source / "run.sh").write_text("#!/bin/sh\n")
    (source / "run.sh").chmod(0o755)
    (source / "deep" / "bytes").write_bytes(bytes(range(256)))
    (source / "link").symlink_to("run.sh")
    await kube.upload("pod", source, str(tmp_path / "there"))
    await kube.upload("pod", source / "run.sh", str(tmp_path / "there" / "new" / "name.sh"))
    assert await kube.download("pod", str(tmp_path / "there"), tmp_path / "back") == []
    back = tmp_path / "back"
    assert (back / "deep" / "bytes").read_bytes() == bytes(range(256))
    assert os.access(back / "run.sh", os.X_OK)
    assert os.access(back / "new" / "name.sh", os.X_OK)
    assert (back / "link").readlink() == Path("run.sh")
    await kube.download("pod", str(tmp_path / "there" / "run.sh"), tmp_path / "one" / "renamed")
    assert (tmp_path / "one" / "renamed").read_text() == "#!/bin/sh\n"


async def test_download_of_nothing_says_so(kube: Kube, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="absent"):
        await kube.download("pod", str(tmp_path / "absent"), tmp_path / "back")


async def test_pod_of_needs_a_cluster(kube: Kube) -> None:
    with pytest.raises(UserError, match="kubeconfig"):
        await kube.pod_of("agent")
