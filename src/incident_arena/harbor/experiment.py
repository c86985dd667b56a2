"""The file of an experiment: agents x models x efforts x tasks x trials. docs/experiments.md tells its format."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import ErrorDetails

from incident_arena.analysis.cost import PriceList, load_prices
from incident_arena.catalogue.finding import Catalogue
from incident_arena.errors import UserError
from incident_arena.harbor.contestants import VARIABLE, Contestant, agent_class, check
from incident_arena.harbor.endpoints import route

CONTROLS = ("oracle", "nop")
"""Play each task of every experiment once: the first must score 1, the second 0."""
HELP = "docs/experiments.md shows the format"
_SECRET = re.compile(r"(api_?key|secret|password|(^|_)token)$", re.IGNORECASE)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AgentEntry(_Part):
    """One [[agents]] table: all its models at all its efforts."""

    agent: str = Field(description="Harbor's name of an agent, or module:Class")
    models: tuple[str, ...] = Field(default=(), description="a list of models, provider/name")
    efforts: tuple[str, ...] = Field(default=(), description="a list of efforts that the agent knows")
    kwargs: dict[str, Any] = Field(default_factory=dict, description="a table of the agent's options")
    env: tuple[str, ...] = Field(default=(), description="a list of names of variables to hand to the agent")
    model_url: str | None = Field(default=None, description="base URL of the models' server")

    @field_validator("agent")
    @classmethod
    def _known(cls, agent: str) -> str:
        if agent in CONTROLS:
            raise ValueError(f"{agent!r} belongs to every experiment by itself; remove the entry")
        _ask(lambda: agent_class(agent))
        return agent

    @field_validator("env")
    @classmethod
    def _names(cls, env: tuple[str, ...]) -> tuple[str, ...]:
        # What is wrong here may be a key: it is not repeated.
        if any(not VARIABLE.fullmatch(name) for name in env):
            raise ValueError("holds more than names of variables; give names alone, and export the values")
        return env

    @field_validator("kwargs")
    @classmethod
    def _no_keys(cls, kwargs: dict[str, Any]) -> dict[str, Any]:
        if secret := [name for name in kwargs if _SECRET.search(name)]:
            raise ValueError(f"{secret[0]!r} looks like a key; export it as a variable and name that in env")
        return kwargs

    @field_validator("model_url")
    @classmethod
    def _url(cls, url: str | None) -> str | None:
        if url is not None:
            _ask(lambda: route(url))
        return url

    @model_validator(mode="after")
    def _possible(self) -> "AgentEntry":
        mistakes = []
        for one in {effort: Contestant(agent=self.agent, effort=effort, kwargs=self.kwargs)
                    for effort in self.efforts or (None,)}.values():  # fmt: skip
            try:
                check(one)
            except UserError as error:
                mistakes.append(_line(error))
        if mistakes:
            raise ValueError("\n".join(dict.fromkeys(mistakes)))
        return self

    @property
    def variants(self) -> tuple[tuple[str | None, str | None], ...]:
        """All pairs of model and effort."""
        return tuple((model, effort) for model in self.models or (None,) for effort in self.efforts or (None,))


class Experiment(_Part):
    """The whole file."""

    version: Literal[1] = Field(description="1")
    tasks: tuple[str, ...] = Field(min_length=1, description="a list of tasks' names; * and ? stand for any")
    trials: Annotated[int, Field(ge=1, description="trials of each task by each agent, model and effort")] = 3
    parallel: Annotated[int, Field(ge=1, description="trials at once")] = 1
    max_retries: Annotated[int, Field(ge=0, description="of a trial that could not be judged")] = 1
    prices: PriceList = Field(
        default_factory=load_prices, description="a price list: a table, or a path beside this file"
    )
    agents: tuple[AgentEntry, ...] = Field(description="a list of tables: [[agents]]")

    @field_validator("tasks")
    @classmethod
    def _found(cls, tasks: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        names = _context(info).catalogue.names()
        unknown = [task for task in tasks if not _matching(names, task)]
        if unknown:
            raise ValueError(
                "\n".join(f"there is no task {task!r}; one of: {', '.join(names) or 'none'}" for task in unknown)
            )
        return tuple(dict.fromkeys(name for task in tasks for name in _matching(names, task)))

    @field_validator("agents")
    @classmethod
    def _some(cls, agents: tuple[AgentEntry, ...]) -> tuple[AgentEntry, ...]:
        # A least length would also be told of a list whose tables are all wrong.
        if not agents:
            raise ValueError("there is none; add a table [[agents]]")
        return agents

    @field_validator("prices", mode="before")
    @classmethod
    def _listed(cls, prices: Any, info: ValidationInfo) -> Any:
        if not isinstance(prices, str):
            return prices
        found: list[PriceList] = []
        _ask(lambda: found.append(load_prices(_context(info).folder / prices)))
        return found[0]


@dataclass(frozen=True)
class _Context:
    catalogue: Catalogue
    folder: Path


def load(path: Path, catalogue: Catalogue) -> Experiment:
    """Read an experiment.

    Args:
        path: the TOML file.
        catalogue: where its tasks are.

    Raises:
        UserError: it can't be read, or is wrong; one line for each mistake, with its remedy.
    """
    try:
        facts = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"experiment '{path}'", str(error), HELP) from error
    mistakes = list(_twice(facts))
    try:
        experiment = Experiment.model_validate(facts, context=_Context(catalogue, path.resolve().parent))
    except ValidationError as error:
        told = [line for each in error.errors(include_url=False, include_input=False) for line in _told(each)]
        mistakes = told + mistakes
    if mistakes:
        raise UserError(f"experiment '{path}'", "\n  " + "\n  ".join(mistakes), HELP)
    return experiment


def _twice(facts: dict[str, Any]) -> Iterator[str]:
    """What is named more than once, also in a file that has other mistakes."""
    entries = facts.get("agents")
    named: Counter[tuple[object, object, object]] = Counter()
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("agent"), str):
            models, efforts = entry.get("models") or [None], entry.get("efforts") or [None]
            if isinstance(models, list) and isinstance(efforts, list):
                named.update((entry["agent"], str(model), str(effort)) for model in models for effort in efforts)
    for (agent, model, effort), count in named.items():
        if count > 1:
            yield f"agents: {agent} with model {model} at effort {effort} is named {count} times; name it once"


def _told(error: ErrorDetails) -> Iterator[str]:
    """One line for each thing that is wrong: where, why; what to do."""
    where = ".".join(str(part) for part in error["loc"]) or "experiment"
    raised = error.get("ctx", {}).get("error")
    if isinstance(raised, ValueError):
        yield from (f"{where}: {line}" for line in str(raised).splitlines())
        return
    fields = _fields(error["loc"][:-1])
    name = str(error["loc"][-1]) if error["loc"] else ""
    if error["type"] == "extra_forbidden":
        yield f"{where}: there is no such field; one of: {', '.join(fields)}"
        return
    wanted = next((fields[str(part)] for part in reversed(error["loc"]) if str(part) in fields), None)
    remedy = f"give {wanted}" if wanted else f"see {name!r} in {HELP.partition(' ')[0]}"
    yield f"{where}: {error['msg'][0].lower()}{error['msg'][1:]}; {remedy}"


def _fields(place: tuple[int | str, ...]) -> dict[str, str]:
    """The fields of the table at a place, each with what it is."""
    if place[:1] == ("prices",):
        return dict.fromkeys(PriceList.model_fields, "what docs/results.md tells of price lists")
    model: type[BaseModel] = AgentEntry if place[:1] == ("agents",) and len(place) > 1 else Experiment
    return {name: field.description or "" for name, field in model.model_fields.items()}


def _matching(names: list[str], task: str) -> list[str]:
    return [name for name in names if fnmatchcase(name, task)]


def _context(info: ValidationInfo) -> _Context:
    assert isinstance(info.context, _Context)
    return info.context


def _ask(what: Any) -> None:
    """A user's error as pydantic gathers it."""
    try:
        what()
    except UserError as error:
        raise ValueError(_line(error)) from error


def _line(error: UserError) -> str:
    reason = " ".join(error.reason.split())
    return f"{error.thing} {reason}; {error.remedy}"
