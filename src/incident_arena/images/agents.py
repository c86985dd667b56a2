"""Agents' recipes: one file an agent makes the image `agent-<name>`, a layer over the image `agent`.

agent_recipes/<name>.toml, the name being Harbor's:
    manager = "npm"                         or "pypi"
    package = "@openai/codex"
    version = "0.153.4"                     the one that is built when no other is asked for
    with = ["orjson"]                       more packages, may be missing
    executables = ["codex"]                 get a link in /usr/local/bin
    node = true                             it runs on Node; else Node is only there while it is installed
    check = "codex --version"               run as the agent when it is built; must say the version
    steps = ["rm -rf node_modules/x"]       shell lines in /opt/program after the installation, may be missing
    lines = ["RUN …"]                       lines of the image's Dockerfile, as root, may be missing
    [environment]                           variables that it is to find, may be missing
agent_recipes/<name>.lock: a package-lock.json, or a requirements.txt with hashes, for that version; other versions, and
agents without a lock, take the dependencies that the registry serves when they are built.

An image's name is `agent-<name>`, or `agent-<name>@<version>` for another version than the recipe's.
"""

import json
import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from incident_arena.errors import UserError
from incident_arena.images.recipes import Extras, Recipe, Source, used_by

PLAIN = "agent"
"""The image without any agent's program: for agents that run on the host, and for scripts."""

FOLDER = "images/agent_recipes"
_PREFIX = f"{PLAIN}-"
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+-]*")

_NPM = """\
FROM arena.local/nodejs AS build
USER 0:0
WORKDIR /opt/program
COPY . ./
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=secret,id=ca.crt,target=/run/secrets/ca.crt \\
    npm {install} --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error --cache=/tmp/npm && rm -rf /tmp/npm
{steps}
RUN find node_modules -type f '(' -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' ')' -delete

FROM arena.local/agent
USER 0:0
# Harbor's classes read nvm's file, which there is no other use for here.
RUN install -d -o 1000 -g 1000 /home/agent/.nvm && install -m 644 /dev/null /home/agent/.nvm/nvm.sh
"""
_NODE = "COPY --from=arena.local/nodejs /usr/local/bin/node /usr/local/bin/node\n"
_PYPI = """\
FROM arena.local/agent AS build
USER 0:0
RUN apt-get update -q && apt-get install -y -q python3-venv
WORKDIR /opt/program
COPY requirements.txt /opt/
RUN --mount=type=secret,id=pip.conf,target=/etc/pip.conf --mount=type=secret,id=ca.crt,target=/run/secrets/ca.crt \\
    python3 -m venv /opt/program \\
 && bin/pip install --no-cache-dir --quiet --only-binary=:all: {install} -r /opt/requirements.txt \\
 && bin/pip uninstall --quiet --yes pip setuptools
{steps}

FROM arena.local/agent
USER 0:0
"""
_END = """\
COPY --from=build /opt/program /opt/program
{links}{environment}{lines}USER 1000:1000
RUN export HOME=$(mktemp -d) PATH=/opt/program/bin:$PATH \\
 && (({check}) > $HOME/said 2>&1 && grep -F -e '{version}' $HOME/said || (cat $HOME/said; exit 1)) && rm -rf $HOME
"""


class AgentRecipe(BaseModel):
    """agent_recipes/<name>.toml, and whether there is a lock beside it."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    manager: Literal["npm", "pypi"]
    package: str
    version: str
    with_: tuple[str, ...] = Field(default=(), alias="with")
    executables: tuple[str, ...] = Field(min_length=1)
    node: bool = False
    check: str
    steps: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}


def recipes(root: Path) -> dict[str, AgentRecipe]:
    """Every agent's recipe of the package at `root`, by Harbor's name of the agent.

    Raises:
        UserError: a recipe can't be read.
    """
    return {file.stem: _load(file) for file in sorted((root / FOLDER).glob("*.toml"))}


def image_for(name: str, version: str | None = None, *, default: str | None = None) -> str:
    """The name of an agent's image, as `build.find_images` and `build.build_images` take it.

    Args:
        name: Harbor's name of the agent.
        version: of its package; None for the recipe's.
        default: the recipe's version, when it is known; asking for it is asking for none.

    Raises:
        UserError: no version.
    """
    if version is not None and not _VERSION.fullmatch(version):
        raise UserError(f"agent {name!r}", f"{version!r} is no version", "give one as the registry names it: 1.2.3")
    return f"{_PREFIX}{name}" if version in {None, default} else f"{_PREFIX}{name}@{version}"


def is_locked(root: Path, name: str, version: str | None) -> bool:
    """Whether everything that goes into an agent's image is pinned by its lock."""
    return version in {None, recipes(root)[name].version} and (root / FOLDER / f"{name}.lock").exists()


def image_recipes(root: Path, asked: Collection[str] = ()) -> dict[str, Recipe]:
    """The images of all agents at their recipes' versions, and those of other versions among `asked`.

    Raises:
        UserError: a recipe can't be read.
    """
    known = recipes(root)
    made = {image_for(name): _image(root, name, agent, agent.version) for name, agent in known.items()}
    for image in asked:
        name, _, version = image.removeprefix(_PREFIX).partition("@")
        if version and name in known:
            made[image] = _image(root, name, known[name], version)
    return made


def _image(root: Path, name: str, agent: AgentRecipe, version: str) -> Recipe:
    locked = is_locked(root, name, version)
    npm = agent.manager == "npm"
    made = {"Dockerfile": _dockerfile(agent, version, locked=locked)}
    if npm:
        packages = {agent.package: version, **dict.fromkeys(agent.with_, "*")}
        made["package.json"] = f"{json.dumps({'dependencies': packages}, indent=2)}\n"
    elif not locked:
        made["requirements.txt"] = "".join(f"{line}\n" for line in requirements(agent, version))
    to = "package-lock.json" if npm else "requirements.txt"
    sources = (Source(path=f"{FOLDER}/{name}.lock", to=to),) if locked else ()
    note = "" if locked else f"{name} {version} has no lock: its dependencies are the registry's newest of today"
    return Recipe(
        name=f"{_PREFIX}{name}",
        folder=None,
        extras=Extras(sources=sources),
        uses=used_by(made["Dockerfile"]),
        made=made,
        note=note,
    )


def requirements(agent: AgentRecipe, version: str) -> tuple[str, ...]:
    """What a lock of a PyPI agent is compiled from."""
    return (f"{agent.package}=={version}", *agent.with_)


def _dockerfile(agent: AgentRecipe, version: str, *, locked: bool) -> str:
    steps = "\n".join(f"RUN {step}" for step in agent.steps)
    if agent.manager == "npm":
        head = _NPM.format(install="ci" if locked else "install", steps=steps) + (_NODE if agent.node else "")
        programs = "/opt/program/node_modules/.bin"
    else:
        head = _PYPI.format(install="--require-hashes" if locked else "", steps=steps)
        programs = "/opt/program/bin"
    links = " && ".join(f"ln -s {programs}/{name} /usr/local/bin/{name}" for name in agent.executables)
    environment = "".join(f"ENV {name}={json.dumps(value)}\n" for name, value in agent.environment.items())
    lines = "".join(f"{line.strip()}\n" for line in agent.lines)
    check = agent.check
    return head + _END.format(
        links=f"RUN {links}\n", environment=environment, lines=lines, check=check, version=version
    )


def _load(file: Path) -> AgentRecipe:
    try:
        return AgentRecipe.model_validate(tomllib.loads(file.read_text()))
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"agent {file.stem!r}", f"its recipe can't be read: {error}") from None
