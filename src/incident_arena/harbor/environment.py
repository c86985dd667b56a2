"""Harbor's environment class. One object is either the agent's environment or that of the separate verifier.

Harbor makes both from the same class and tells them apart by the session's name alone: the agent's ends in `__env`.
"""

import hashlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, override

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities
from harbor.environments.options import EnvironmentOptions
from harbor.utils.import_path import import_symbol
from pydantic import Field

from incident_arena.catalogue.names import MAIN
from incident_arena.episode import Order
from incident_arena.episode.way_out import WayOut
from incident_arena.errors import ArenaError, UserError
from incident_arena.formats.task import TaskSpec
from incident_arena.harbor import host_calls, seeds
from incident_arena.harbor.cluster import Cluster, EpisodeMaker
from incident_arena.harbor.journal import Attempt, Journal, job_key, next_folder
from incident_arena.harbor.judging import Judging
from incident_arena.harbor.place import Place
from incident_arena.harbor.preflight import require_built
from incident_arena.images.agents import PLAIN
from incident_arena.kube import Kube
from incident_arena.route import Call
from incident_arena.settings import Settings

type Role = Literal["agent", "judge"]

EPISODE = "incident_arena.episode:Episode"
_AGENT_SUFFIX = "__env"


class ArenaOptions(EnvironmentOptions):
    """What `--environment-kwarg` may set."""

    episode: str = Field(default=EPISODE, description="Import path of the class that plays an episode.")
    agent_image: str = Field(default=PLAIN, description="Image of the agent's pod: `agent`, or `agent-NAME[@VERSION]`.")
    cpus_per_node: int | None = Field(default=None, ge=1, description="CPUs that each cluster has for itself.")
    seeds: list[int] = Field(default=[], description="Seeds of each contestant's trials, in order; 1, 2, 3, … if none.")
    seal: bool = Field(
        default=False,
        description="End gathering where nothing later can make the trial pass (docs/decisions/proofs.md).",
    )
    upstreams: dict[str, str] = Field(
        default_factory=dict, description="Names that the agent may call, each with the http(s)://host:port behind it."
    )


class ArenaEnvironment(BaseEnvironment):
    """An episode's cluster for the agent, a rootless sandbox for the judge."""

    options_model: ClassVar[type[EnvironmentOptions] | None] = ArenaOptions

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As Harbor's. Starts and needs nothing: Harbor also makes environments that it never starts."""
        super().__init__(*args, **kwargs)
        self.role: Role = "agent" if self.session_id.endswith(_AGENT_SUFFIX) else "judge"
        self._made: Place | None = None
        self._calls: list[Call] = []
        """By an agent of this process; the gateway sees those of the pod."""

    @staticmethod
    @override
    def type() -> str:
        return "incident-arena"

    @property
    @override
    def capabilities(self) -> EnvironmentCapabilities:
        # Services (the referee) are what Harbor calls Compose. Names, not addresses: the gateway goes by TLS's names.
        return EnvironmentCapabilities(
            disable_internet=True, network_allowlist=True, network_allowlist_hostnames=True, docker_compose=True
        )

    @classmethod
    @override
    def preflight(cls, kwargs: dict[str, Any] | None = None) -> None:
        """Refuse, with the remedy, where the node or the images are not built."""
        super().preflight(kwargs)
        if (kwargs or {}).get("episode", EPISODE) != EPISODE:
            return
        try:
            require_built(Settings.from_environment(), (kwargs or {}).get("agent_image", PLAIN))
        except UserError as error:
            # Harbor's own way of refusing; a ValueError would lose the line breaks.
            raise SystemExit(str(error)) from error

    @override
    def _validate_definition(self) -> None:
        if self.session_id.endswith(_AGENT_SUFFIX):
            missing = [name for name in ("task.json", "chart") if not (self.environment_dir / name).exists()]
            if missing:
                raise FileNotFoundError(
                    f"{self.environment_dir} lacks {' and '.join(missing)}: it is no exported task; "
                    "make one with `arena task export`"
                )

    @override
    async def start(self, force_build: bool) -> None:
        self._made = self._make_cluster() if self.role == "agent" else Judging()
        await self._made.start()

    def _make_cluster(self) -> Cluster:
        assert isinstance(self.options, ArenaOptions)
        settings = Settings.from_environment()
        if self.options.cpus_per_node:
            settings = replace(settings, cpus_per_node=self.options.cpus_per_node)
        trial = self.trial_paths.trial_dir
        job = job_key(trial.parent)
        number, folder = next_folder(settings.records, job, trial.name)
        task = TaskSpec.model_validate_json((self.environment_dir / "task.json").read_text())
        digest = hashlib.sha256(f"{self.session_id}/{self.context_id}/{number}".encode()).hexdigest()
        attempt = Attempt(
            job=trial.parent.name,
            trial=trial.name,
            task=task.name,
            episode=f"ep-{digest[:8]}",
            number=number,
            started=time.time(),
        )
        journal = Journal(folder, attempt, trial.parent)
        maker: EpisodeMaker = import_symbol(self.options.episode)
        try:
            order = Order(
                settings=settings,
                task_folder=self.environment_dir,
                name=attempt.episode,
                way=WayOut.make(self.network_policy.allowed_hosts, self.options.upstreams),
                agent_image=self.options.agent_image,
                seed=seeds.allot(settings.records / job, trial, self.options.seeds),
                seal=self.options.seal,
            )
            episode = maker(order, folder, journal.stage)
        except ArenaError as error:
            journal.inadmissible(f"{error.thing}: {error.reason}")
            raise
        return Cluster(episode, journal, self.logger, trial, self._calls)

    @property
    def _place(self) -> Place:
        if self._made is None:
            raise UserError("environment", "was not started")
        return self._made

    @property
    def kube(self) -> Kube:
        """The episode's cluster, for an agent that is no program in the pod.

        Raises:
            UserError: this is not an agent's environment that has started.
        """
        if not isinstance(self._made, Cluster):
            raise UserError("environment", "has no cluster")
        return self._made.kube

    @override
    async def stop(self, delete: bool) -> None:
        if self._made is not None:
            await self._made.stop(delete=delete)

    @override
    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """Run a shell command as the place's own user, whichever user is asked for: Kubernetes can't choose one."""
        del user
        if self.role == "agent":
            host_calls.belong_to(self._calls)
        ended = await self._place.exec(
            MAIN,
            command,
            cwd=cwd or self.task_env_config.workdir,
            env=self._merge_env(env),
            deadline_s=timeout_sec,
        )
        return ExecResult(stdout=ended.stdout, stderr=ended.stderr, return_code=ended.exit)

    @override
    async def service_exec(
        self,
        command: str,
        *,
        service: str | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """As `exec`, in any service; the agent's environment variables stay out of the others."""
        if self.is_main_service(service):
            return await self.exec(command, cwd=cwd, env=env, timeout_sec=timeout_sec, user=user)
        ended = await self._place.exec(str(service), command, cwd=cwd, env=env, deadline_s=timeout_sec)
        return ExecResult(stdout=ended.stdout, stderr=ended.stderr, return_code=ended.exit)

    @override
    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        await self._place.upload(MAIN, Path(source_path), target_path)

    @override
    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        await self._place.upload(MAIN, Path(source_dir), target_dir)

    @override
    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        await self._place.download(MAIN, source_path, Path(target_path))

    @override
    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        await self._place.download(MAIN, source_dir, Path(target_dir))

    @override
    async def service_download_file(
        self, source_path: str, target_path: Path | str, *, service: str | None = None
    ) -> None:
        await self._place.download(service or MAIN, source_path, Path(target_path))

    @override
    async def service_download_dir(
        self, source_dir: str, target_dir: Path | str, *, service: str | None = None
    ) -> None:
        await self._place.download(service or MAIN, source_dir, Path(target_dir))

    @override
    async def stop_service(self, service: str) -> None:
        await self._place.stop_service(service)


class JudgeEnvironment(ArenaEnvironment):
    """For judging again (`harbor job regrade`): only the sandbox, so that neither node nor images need to be there."""

    @classmethod
    @override
    def preflight(cls, kwargs: dict[str, Any] | None = None) -> None:
        cls.parse_options(kwargs)

    @override
    async def start(self, force_build: bool) -> None:
        if self.role == "agent":
            raise _judge_only()
        await super().start(force_build)


def _judge_only() -> ArenaError:
    return UserError(
        "JudgeEnvironment", "only judges recorded trials", "play with -e incident_arena.harbor:ArenaEnvironment"
    )
