"""Following files as they grow; the pod is this machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from incident_arena.errors import InfrastructureError
from incident_arena.harbor.live import CHUNK, Live, Source
from incident_arena.kube import Kube
from incident_arena.proc import Completed, run_async


class Here(Kube):
    """Runs here what shall run in a pod."""

    def __init__(self, tmp_path: Path) -> None:
        super().__init__(tmp_path / "kubeconfig", tmp_path)
        self.brought = 0

    async def pod_of(self, component: str) -> str:
        return component

    async def exec(self, pod: str, argv: Sequence[str], **more: Any) -> Completed:
        del pod

        def sink(stream: Any, data: bytes) -> None:
            self.brought += len(data)
            more["sink"](stream, data)

        return await run_async(argv, deadline_s=10, sink=sink, check=False)


@pytest.fixture
def kube(tmp_path: Path) -> Here:
    return Here(tmp_path)


def follow(kube: Here, path: Path, mode: str = "all") -> Live:
    return Live(kube, [Source("one", str(path), mode), Source("none", str(path.with_name("none")))])


async def test_each_line_comes_once_and_whole(kube: Here, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    live = follow(kube, path)
    assert await live.look() == {"one": [], "none": []}
    path.write_text("first\nsecond\nthi")
    assert (await live.look())["one"] == ["first", "second"]
    assert (await live.look())["one"] == []
    with path.open("a") as file:
        file.write("rd\n")
    assert (await live.look())["one"] == ["third"]


async def test_a_look_is_bounded_and_all_comes_in_the_end(kube: Here, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [f"{number} {'x' * 1000}" for number in range(1000)]
    path.write_text("".join(f"{line}\n" for line in lines))
    live, got = follow(kube, path), []
    for _ in range(4):
        before = kube.brought
        got += (await live.look())["one"]
        assert kube.brought - before < CHUNK + 200
    assert got == lines


async def test_the_latest_leaves_out_what_is_too_much(kube: Here, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [f"{number} {'x' * 1000}" for number in range(1000)]
    path.write_text("".join(f"{line}\n" for line in lines))
    live = follow(kube, path, "latest")
    got = (await live.look())["one"]
    assert got == lines[-len(got) :]
    assert 200 < len(got) < 300
    with path.open("a") as file:
        file.write("next\n")
    assert (await live.look())["one"] == ["next"]


async def test_a_file_that_was_rotated_begins_again(kube: Here, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("long long ago\n")
    live = follow(kube, path)
    await live.look()
    path.write_text("new\n")
    assert (await live.look())["one"] == ["new"]


async def test_a_small_file_is_read_anew(kube: Here, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    live = follow(kube, path, "whole")
    for text in ("{}\n", "{}\n", "[]"):
        path.write_text(text)
        assert (await live.look())["one"] == [text]


async def test_half_an_answer_is_no_answer(kube: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def cut(_pod: str, _argv: Sequence[str], **more: Any) -> Completed:
        more["sink"]("stdout", b"3 0 3\nab")
        return Completed((), 0, "", "", 0)

    monkeypatch.setattr(kube, "exec", cut)
    with pytest.raises(InfrastructureError, match="ended early"):
        await follow(kube, tmp_path / "a").look()
