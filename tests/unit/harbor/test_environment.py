import json
import logging
import os
import subprocess
import sys
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from harbor.environments.base import BaseEnvironment
from harbor.environments.factory import EnvironmentFactory
from harbor.models.task.config import EnvironmentConfig, NetworkMode, NetworkPolicy
from harbor.models.trial.paths import TrialPaths
from tests.unit.harbor.conftest import EPISODE, NAME

from incident_arena.analysis.left_out import read_left_out
from incident_arena.catalogue.export import export
from incident_arena.catalogue.finding import Catalogue
from incident_arena.errors import InfrastructureError, UserError
from incident_arena.harbor import ArenaEnvironment, JudgeEnvironment, preflight
from incident_arena.harbor.cluster import Cluster, InadmissibleError
from incident_arena.harbor.journal import Attempt, Journal
from incident_arena.harbor.preflight import require_built
from incident_arena.proc import CommandError, Completed, OverrunError
from incident_arena.settings import Settings


def make(folder: Path, tmp: Path, session: str, kind: str = "ArenaEnvironment", **more: Any) -> BaseEnvironment:
    paths = TrialPaths(tmp / "job" / "trial")
    paths.mkdir()
    return EnvironmentFactory.create_environment_from_import_path(
        f"incident_arena.harbor:{kind}",
        environment_dir=folder,
        environment_name="x",
        session_id=session,
        trial_paths=paths,
        task_env_config=EnvironmentConfig(),
        **more,
    )


@pytest.fixture
def folder(checkout: Catalogue, tmp_path: Path) -> Path:
    export(checkout, NAME, tmp_path / "task")
    return tmp_path / "task" / "environment"


@pytest.mark.parametrize(
    ("session", "role"),
    [
        ("x__abc__env", "agent"),
        ("x__abc__verifier__trial", "judge"),
        (f"{'long' * 12}__1a2b3c4d", "judge"),  # as Harbor cuts a verifier's name that is too long
    ],
)
def test_the_session_tells_the_role(folder: Path, tmp_path: Path, session: str, role: str) -> None:
    assert make(folder, tmp_path, session).role == role  # type: ignore[attr-defined]


def test_a_folder_that_is_no_exported_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="arena task export"):
        make(tmp_path, tmp_path, "x__env")


def test_a_network_that_cannot_be_enforced_is_refused(folder: Path, tmp_path: Path) -> None:
    make(folder, tmp_path, "x__env", network_policy=NetworkPolicy(network_mode=NetworkMode.NO_NETWORK))
    make(folder, tmp_path, "x__env", network_policy=allowing("api.example.com"))
    for entry in ("*.example.com", "192.0.2.1", "192.0.2.0/24", "2001:db8::1"):
        with pytest.raises(ValueError, match="not supported"):
            make(folder, tmp_path, "x__env", network_policy=allowing(entry))


def allowing(*hosts: str) -> NetworkPolicy:
    return NetworkPolicy(network_mode=NetworkMode.ALLOWLIST, allowed_hosts=list(hosts))


async def test_an_episode_is_told_what_its_agent_may_call(
    folder: Path, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_FAKE", json.dumps({"log": str(tmp_path / "log")}))
    upstreams = {"model.arena.internal": "http://127.0.0.1:8000"}
    options = {"upstreams": upstreams, "episode": EPISODE}
    made = make(folder, tmp_path, "x__env", network_policy=allowing("api.example.com"), **options)
    await made.start(force_build=False)
    await made.stop(delete=True)
    (told,) = settings.records.rglob("way-out")
    assert json.loads(told.read_text()) == {"api.example.com": "https://api.example.com", **upstreams}


def test_unknown_options_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Unknown option 'episod'"):
        make(folder, tmp_path, "x__env", episod="y")


async def test_the_judge_needs_neither_node_nor_records(folder: Path, tmp_path: Path, settings: Settings) -> None:
    judge = make(folder, tmp_path, "x__verifier__trial", "JudgeEnvironment")
    JudgeEnvironment.preflight({})
    await judge.start(force_build=False)
    assert (await judge.exec("echo $0; id -u", user="root")).stdout == "sh\n1000\n"
    await judge.stop(delete=True)
    await judge.stop(delete=True)
    assert not settings.home.exists()


async def test_the_judge_does_not_play(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="ArenaEnvironment"):
        await make(folder, tmp_path, "x__env", "JudgeEnvironment").start(force_build=False)


def test_preflight_names_what_is_missing_and_the_remedy(settings: Settings) -> None:
    with pytest.raises(UserError, match=r"node binaries: .*; image 'coredns': ") as caught:
        require_built(settings)
    assert caught.value.remedy.startswith("`arena node build`; ")


def test_preflight_asks_for_the_agents_image(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[set[str]] = []
    monkeypatch.setattr(preflight.node, "require", lambda _: settings.bin)
    monkeypatch.setattr(preflight.images, "find_images", lambda _, names: asked.append(set(names)))
    monkeypatch.setattr(preflight.needs, "image_names", lambda _, folder, image: {folder.parent.name, image})
    ArenaEnvironment.preflight({"agent_image": "agent-codex"})
    ArenaEnvironment.preflight({})
    require_built(settings, "agent-codex", [settings.home / "one", settings.home / "two"])
    common = {"pause", "coredns"}
    assert asked == [{*common, "agent-codex"}, {*common, "agent"}, {*common, "agent-codex", "one", "two"}]


@pytest.mark.parametrize(("options", "image"), [({}, "agent"), ({"agent_image": "agent-codex@1.2"}, "agent-codex@1.2")])
def test_the_episode_is_told_the_agents_image(
    folder: Path,
    tmp_path: Path,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, str],
    image: str,
) -> None:
    monkeypatch.setenv("ARENA_FAKE", json.dumps({"log": str(tmp_path / "log")}))
    environment = make(folder, tmp_path, "x__env", episode=EPISODE, **options)
    environment._make_cluster()  # type: ignore[attr-defined]
    [told] = settings.records.rglob("agent-image")
    assert told.read_text() == image


def test_stock_harbor_refuses_before_anything_starts(checkout: Catalogue, tmp_path: Path) -> None:
    export(checkout, NAME, tmp_path / "task")
    argv = [f"{sys.prefix}/bin/harbor", "run", "-p", str(tmp_path / "task"), "-a", "oracle", "-y"]
    argv += ["-o", str(tmp_path / "jobs"), "-e", "incident_arena.harbor:ArenaEnvironment"]
    environment = {**os.environ, "ARENA_HOME": str(tmp_path / "home"), "HARBOR_TELEMETRY": "0"}
    ended = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode != 0
    assert "arena node build" in ended.stderr + ended.stdout
    assert not list((tmp_path / "jobs").rglob("trial.log"))


class Broken:
    """An episode whose parts fail as they are told."""

    def __init__(self, failure: BaseException | None = None) -> None:
        self.failure = failure
        self.peak_memory_mb = 7
        self.kube: Any = SimpleNamespace(exec=self._exec, pod_of=self._pod_of, log=self._log)
        self.calls: list[str] = []
        self.stubborn = 0
        """How often its agent's pod does not go."""

    async def _exec(self, pod: str, argv: Any, **_: Any) -> Completed:
        if self.failure:
            raise self.failure
        return Completed(argv, 0, pod, "", 0)

    async def _pod_of(self, component: str) -> str:
        return f"{component}-7"

    async def _log(self, _pod: str, **_: Any) -> str:
        return ""

    async def start(self) -> None:
        self.calls.append("start")

    async def freeze(self) -> None:
        self.calls.append("freeze")
        if self.stubborn:
            self.stubborn -= 1
            raise InfrastructureError("pod 'agent' gone", "did not come true within 60 s")

    async def stop(self) -> None:
        self.calls.append("stop")


def cluster(episode: Broken, tmp_path: Path) -> Cluster:
    attempt = Attempt(job="job", trial="t", task=NAME, number=1, started=1.0)
    (tmp_path / "job" / "t").mkdir(parents=True)
    journal = Journal(tmp_path / "record", attempt, tmp_path / "job")
    return Cluster(episode, journal, logging.getLogger(uuid.uuid4().hex), tmp_path / "job" / "t")


async def run(place: Cluster, service: str) -> Any:
    return await place.exec(service, "true", cwd=None, env=None, deadline_s=5)


async def test_nothing_is_gathered_before_the_agent_was_stopped(tmp_path: Path) -> None:
    place = cluster(Broken(), tmp_path)
    with pytest.raises(InfrastructureError, match="not up"):
        await run(place, "referee")
    await place.start()
    for attempt in (run(place, "referee"), place.download("referee", "/evidence", tmp_path / "e")):
        with pytest.raises(InfrastructureError, match="nothing is gathered"):
            await attempt
    await place.stop_service("main")
    assert (await run(place, "referee")).stdout == "referee-7"


async def test_a_stopped_agent_cannot_be_reached(tmp_path: Path) -> None:
    place = cluster(Broken(), tmp_path)
    await place.start()
    assert (await run(place, "main")).stdout == "agent"
    await place.stop_service("main")
    with pytest.raises(InfrastructureError, match="is gone"):
        await run(place, "main")


@pytest.mark.parametrize(("stubborn", "gone"), [(2, True), (3, False)])
async def test_an_agents_pod_that_does_not_go_is_told_so_again(tmp_path: Path, stubborn: int, gone: bool) -> None:  # noqa: FBT001
    episode = Broken()
    episode.stubborn = stubborn
    place = cluster(episode, tmp_path)
    await place.start()
    if gone:
        await place.stop_service("main")
        assert (await run(place, "referee")).stdout == "referee-7"
    else:
        with pytest.raises(InfrastructureError, match="did not come true"):
            await place.stop_service("main")
    assert episode.calls == ["start", *["freeze"] * 3]


async def test_an_agents_logs_that_can_not_be_had_are_told_and_not_put_back(tmp_path: Path) -> None:
    episode = Broken()
    place = cluster(episode, tmp_path)
    await place.start()

    async def refuse(*_: Any, **__: Any) -> None:
        raise InfrastructureError("the agent's pod", "can't fork")

    episode.kube.download = episode.kube.upload = refuse
    with pytest.raises(InfrastructureError, match="fork"):
        await place.download("main", "/logs/agent", tmp_path / "job" / "t" / "agent")
    assert read_left_out(tmp_path / "job" / "t") == ("/logs/agent: nothing came: can't fork",)
    await place.upload("main", tmp_path, "/logs/agent")
    with pytest.raises(InfrastructureError, match="fork"):
        await place.upload("main", tmp_path, "/solution")


async def test_unknown_services_are_refused(tmp_path: Path) -> None:
    place = cluster(Broken(), tmp_path)
    await place.start()
    with pytest.raises(InfrastructureError, match="one of: main, referee"):
        await run(place, "database")
    with pytest.raises(InfrastructureError, match="only a running agent"):
        await place.stop_service("referee")


async def test_an_agents_pod_that_cannot_be_reached_is_an_exit_status(tmp_path: Path) -> None:
    episode = Broken()
    place = cluster(episode, tmp_path)
    await place.start()
    episode.failure = CommandError(Completed(("x",), 1, "", "pod gone", 0), "could not be run")
    assert (await run(place, "main")).exit == 255
    episode.failure = CommandError(Completed(("x",), -9, "", "", 0), "kubectl was killed")
    assert (await run(place, "main")).exit == 255


async def test_a_late_command_gives_back_what_it_printed(tmp_path: Path) -> None:
    episode = Broken()
    place = cluster(episode, tmp_path)
    await place.start()
    episode.failure = OverrunError(Completed(("x",), -9, "half\n", "a word", 5), 5, "it may still run")
    ended = await run(place, "main")
    assert (ended.exit, ended.stdout) == (124, "half\n")
    assert ended.stderr == "a word\ntimed out: overran its deadline of 5 s; it may still run\n"


async def test_a_cluster_that_cannot_take_the_agent_is_inadmissible(tmp_path: Path) -> None:
    episode = Broken(CommandError(Completed(("x",), 1, "", "no bash", 0), "could not be run"))
    place = cluster(episode, tmp_path)
    with pytest.raises(InadmissibleError, match="no bash"):
        await place.start()
    await place.stop(delete=True)
    await place.stop(delete=True)
    assert episode.calls == ["start", "stop"]
    record = Attempt.model_validate_json((tmp_path / "record" / "attempt.json").read_text())
    assert (record.state, record.peak_memory_mb) == ("inadmissible", 7)


async def test_a_kept_cluster_is_not_taken_down(tmp_path: Path) -> None:
    episode = Broken()
    place = cluster(episode, tmp_path)
    await place.start()
    await place.stop(delete=False)
    assert episode.calls == ["start"]
