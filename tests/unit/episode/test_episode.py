"""A verb of the referee proves by its closing line that it came to its end."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from incident_arena.episode import Order
from incident_arena.episode import episode as played
from incident_arena.episode.episode import Episode
from incident_arena.errors import InfrastructureError
from incident_arena.formats.records import Closing
from incident_arena.proc import Completed
from incident_arena.settings import Settings

CLOSING = Closing(verb="healthy", seconds=1.5, detail="fine").model_dump_json()


class Told(Episode):
    """An episode whose referee says what it is told to."""

    said = Completed((), 0, "", "", 0)

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    @property
    def kube(self) -> Any:
        return SimpleNamespace(pod_of=self._pod_of, exec=self._exec)

    async def _pod_of(self, component: str) -> str:
        return f"{component}-7"

    async def _exec(self, pod: str, argv: list[str], **_: Any) -> Completed:
        assert pod == "referee-7"
        self.calls.append(argv)
        return self.said


@pytest.fixture
def episode() -> Told:
    return Told()


def says(stdout: str, status: int = 0, stderr: str = "") -> Completed:
    return Completed((), status, stdout, stderr, 0)


async def test_the_closing_line_is_what_a_verb_returns(episode: Told) -> None:
    episode.said = says(f"something else\n{CLOSING}\n")
    assert await episode.referee("healthy", deadline_s=5) == CLOSING
    assert episode.calls[0][1:] == ["-m", "incident_arena.services.referee", "healthy"]


@pytest.mark.parametrize(
    ("stdout", "reason"),
    [
        ("", "without its closing line"),
        (CLOSING[:-1], "without its closing line"),
        (f"{CLOSING}\nand more", "without its closing line"),
        (CLOSING.replace("true", "false"), "without its closing line"),
        (CLOSING.replace("healthy", "plant"), "closing line of 'plant'"),
    ],
)
async def test_a_verb_without_it_has_failed_whatever_its_exit_status(episode: Told, stdout: str, reason: str) -> None:
    episode.said = says(stdout)
    with pytest.raises(InfrastructureError, match=f"referee healthy: .*{reason}"):
        await episode.referee("healthy", deadline_s=5)


async def test_a_verb_that_failed_is_told_in_its_own_words(episode: Told) -> None:
    episode.said = says("", 3, "no symptom")
    with pytest.raises(InfrastructureError, match="no symptom"):
        await episode.referee("healthy", deadline_s=5)
    episode.said = says("", 137)
    with pytest.raises(InfrastructureError, match="exited with 137"):
        await episode.referee("healthy", deadline_s=5)


@pytest.mark.parametrize(("seal", "verb"), [(True, ["agent-started", "--seal"]), (False, ["agent-started"])])
async def test_the_referee_is_told_whether_to_seal(
    episode: Told, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, seal: bool, verb: list[str]
) -> None:
    async def place(_ground: object) -> None:
        pass

    monkeypatch.setattr(played, "place", place)
    monkeypatch.setattr(played, "STAGES", ())
    episode.order = Order(settings=Settings.from_environment(), task_folder=tmp_path, name="e", seal=seal)
    episode.said = says(Closing(verb="agent-started", seconds=0.1).model_dump_json())
    await episode.start()
    assert episode.calls[0][3:] == verb
