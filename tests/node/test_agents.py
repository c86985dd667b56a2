"""Each agent's image answers Harbor as the pod's user: with nothing that it can reach, and little that it can write."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from harbor.agents.factory import AgentFactory
from harbor.environments.base import ExecResult
from harbor.models.agent.name import AgentName
from tests.support.pages import ROOT as CHECKOUT
from tests.support.pages import commands

from incident_arena import proc
from incident_arena.folders import PACKAGE
from incident_arena.harbor.agent_images import options
from incident_arena.images import agents, build
from incident_arena.images.buildah import Buildah
from incident_arena.settings import Settings

pytestmark = [pytest.mark.node, pytest.mark.timeout(1200)]

ROOT = PACKAGE
# A network namespace without a way out, a root that is read-only but for the home folder, and a /tmp of 16 MB.
CONFINED = """
set -eu
mounted=$(buildah --root "$1/root" --runroot "$1/run" --storage-driver "$2" mount "$3")
mount --bind "$mounted" "$mounted" && mount -o remount,bind,ro "$mounted"
mount -t proc proc "$mounted/proc" && mount --rbind /dev "$mounted/dev"
mount -t tmpfs -o size=16m,mode=1777 tmpfs "$mounted/tmp"
mount -t tmpfs -o size=1m,mode=1777 tmpfs "$mounted/logs"
mount -t tmpfs -o size=16m,mode=0700,uid=1000,gid=1000 tmpfs /mnt && cp -a "$mounted/home/agent/." /mnt
mount --move /mnt "$mounted/home/agent"
shift 3
exec chroot --userspec=1000:1000 --groups=1000 "$mounted" env -i HOME=/home/agent "$@"
"""


@dataclass
class Confined:
    """Runs what Harbor runs, in a container of an image."""

    buildah: Buildah
    container: str
    environment: list[str]
    default_user: str | None = None

    async def exec(self, command: str, **more: Any) -> ExecResult:
        told = [f"{name}={value}" for name, value in (more.get("env") or {}).items()]
        place = [str(self.buildah.storage), self.buildah.driver, self.container]
        argv = [
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "--net",
            "--pid",
            "--fork",
            "sh",
            "-c",
            CONFINED,
            "sh",
        ]
        inside = [*self.environment, *told, "bash", "-c", command]
        ended = await proc.run_async([*argv, *place, *inside], deadline_s=120, check=False)
        return ExecResult(stdout=ended.stdout, stderr=ended.stderr, return_code=ended.exit)


@pytest.fixture
def confined(request: pytest.FixtureRequest) -> Any:
    settings = Settings.from_environment()
    name = str(request.param)
    image = build.build_images(settings, [name], print)[name]
    buildah = Buildah.open(settings.images / "storage")
    if not buildah.has(image.reference):
        buildah.pull(image.archive)
    container = buildah.run("from", "--pull-never", image.reference).stdout.strip()
    config = json.loads(buildah.run("inspect", container).stdout)["OCIv1"]["config"]
    assert config["User"] == "1000:1000"
    yield Confined(buildah, container, config["Env"])
    buildah.run("rm", container)


@pytest.mark.parametrize(
    ("confined", "name"),
    [(agents.image_for(name), name) for name in agents.recipes(ROOT)],
    indirect=["confined"],
    ids=str,
)
async def test_harbor_finds_the_program_at_its_version_and_installs_nothing(
    confined: Confined, name: str, tmp_path: Path
) -> None:
    agent = AgentFactory.create_agent_from_name(
        AgentName(name), logs_dir=tmp_path, model_name="openai/gpt-5", **options(name)
    )
    command = agent.get_version_command()
    answered = await confined.exec(command)
    assert answered.return_code == 0, answered.stderr
    assert agent.parse_version(answered.stdout) == agents.recipes(ROOT)[name].version
    await agent.setup(confined)
    assert agent.version() == agents.recipes(ROOT)[name].version
    assert (await confined.exec("curl -sS --max-time 5 http://192.0.2.1")).return_code != 0
    assert (await confined.exec("touch /installed-agent/x")).stderr.endswith("Read-only file system\n")


@pytest.mark.parametrize("confined", [agents.PLAIN], indirect=True)
async def test_an_agent_on_the_host_finds_its_terminal(confined: Confined) -> None:
    for program in ("tmux -V", "asciinema --version"):
        assert (await confined.exec(program)).return_code == 0
    shown = await confined.exec(
        "export TERM=xterm; tmux -S /tmp/s new-session -x 80 -y 24 -d -s one 'bash --login' && tmux -S /tmp/s ls; "
        "tmux -S /tmp/s kill-server"
    )
    assert "one: 1 windows" in shown.stdout


@pytest.mark.parametrize(
    "command", [one for one in commands(CHECKOUT / "docs" / "agents.md") if " agents build " in one]
)
def test_the_command_of_the_page_builds_it(command: str) -> None:
    """Where it is built already, it is only told."""
    ended = proc.run(command.split(), deadline_s=1000, cwd=CHECKOUT, check=False)
    assert ended.exit == 0, ended.stderr
    assert re.search(r"agent-codex\S*: \S+\.tar", ended.stderr + ended.stdout)
