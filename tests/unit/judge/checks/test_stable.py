"""What the application takes of the machine once it is repaired, and what starts anew by itself."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from tests.support.evidence import AGENT, AGENT_END, GRANTS, START, Episode, build

from incident_arena.formats.records import Container, Usage
from incident_arena.judge.finding import Finding

type Decide = Callable[[Episode, str], Finding]

SOAK, SOAK_END, CHALLENGES_END, END = 204, 234, 251, 289
NAME = "stable"


def edit(episode: Episode, start: float, end: float, change: Callable[[Container, float], Container]) -> Episode:
    """Change the containers as they were seen in [start, end); `change` is told the seconds since `start`."""
    assert episode.usage is not None
    episode.usage = [
        seen.model_copy(update={"containers": tuple(change(one, seen.at - START - start) for one in seen.containers)})
        if start <= seen.at - START < end
        else seen
        for seen in episode.usage
    ]
    return episode


def seen(episode: Episode, start: float, end: float, **fields: Callable[[float], object]) -> Episode:
    """Change whole lines as they were seen in [start, end)."""
    assert episode.usage is not None
    episode.usage = [
        one.model_copy(update={name: value(one.at - START - start) for name, value in fields.items()})
        if start <= one.at - START < end
        else one
        for one in episode.usage
    ]
    return episode


def of(component: str, **fields: object) -> Callable[[Container, float], Container]:
    return lambda one, _: one.model_copy(update=fields) if one.component == component else one


def killed(component: str, at: float, why: str = "OOMKilled") -> Callable[[Container, float], Container]:
    return of(component, restarts=1, ended=why, ended_at=START + at)


def more(component: str, megabytes: float, each_second: float = 0) -> Callable[[Container, float], Container]:
    def change(one: Container, passed: float) -> Container:
        extra = int((megabytes + each_second * passed) * 1e6)
        return one.model_copy(update={"memory": one.memory + extra}) if one.component == component else one

    return change


def busy(cores: float) -> Callable[[Container, float], Container]:
    return lambda one, passed: one.model_copy(update={"cpu": one.cpu + cores * passed})


UNSTABLE: dict[str, tuple[Callable[[], Episode], str]] = {
    "out of memory in the soak": (lambda: edit(build(), 220, END, killed("web", 219)), "web/web ran out of memory"),
    "out of memory in the challenges": (
        lambda: edit(build(), 240, END, killed("web", 239)),
        "web/web ran out of memory",
    ),
    "a new pod out of memory in the challenges": (
        lambda: edit(build(), 240, END, killed("mariadb", 238)),
        "mariadb/mariadb ran out of memory",
    ),
    "ended by itself in the soak": (
        lambda: edit(build(), 215, END, killed("worker-short", 212, "Error")),
        "soak: worker-short",
    ),
    "ended by itself after the challenges": (
        lambda: edit(build(), 270, END, killed("worker-short", 268, "Error")),
        "restarted: worker-short",
    ),
    "out of memory, and ended by something else before anybody asked": (
        lambda: edit(edit(build(), 220, 225, killed("web", 219)), 240, END, killed("web", 239, "Error")),
        "web/web ran out of memory",
    ),
    "ended at the very end, and not started again": (
        lambda: edit(build(), 280, END, of("web", ended="Error", ended_at=START + 279)),
        "restarted: web/web ended",
    ),
    "another pod in the soak": (lambda: edit(build(), 220, END, of("web", pod="another")), "soak: web got another pod"),
    "memory over the healthy window's": (
        lambda: edit(build(), AGENT + 50, END, more("mariadb", 170)),
        "soak: mariadb memory: 370 MB, at most 364",
    ),
    "memory rising in the soak": (lambda: edit(build(), SOAK, SOAK_END, more("web", 0, 10)), "soak: web memory: rises"),
    "memory rising after the challenges": (
        lambda: edit(build(), CHALLENGES_END, END, more("web", 0, 8.8)),
        "restarted: web memory: rises",
    ),
    "a core burnt": (lambda: edit(build(), SOAK, SOAK_END, busy(0.9)), "soak: mariadb CPU: 1.1 cores, at most 0.9"),
    "connections left open": (
        lambda: seen(build(), 150, END, connections=lambda _: {"mariadb": 60}),
        "mariadb connections: 60 open",
    ),
    "connections rising": (
        lambda: seen(build(), SOAK, SOAK_END, connections=lambda passed: {"mariadb": int(12 + 1.4 * passed)}),
        "soak: mariadb connections: rises",
    ),
    "work that nobody does": (lambda: seen(build(), SOAK, END, waiting=lambda _: 30), "soak: waiting work: 30 pieces"),
    "work piling up": (
        lambda: seen(build(), CHALLENGES_END, END, waiting=lambda passed: int(passed * 0.8)),
        "restarted: waiting work: rises",
    ),
}


@pytest.mark.parametrize("name", UNSTABLE)
def test_what_is_not_stable_fails(decide: Decide, name: str) -> None:
    make, shown = UNSTABLE[name]
    found = decide(make(), NAME)
    assert (found.verdict, found.classes) == ("fail", ("not durable",))
    assert shown in found.seen


STABLE: dict[str, Callable[[], Episode]] = {
    "a right repair": build,
    "out of memory and restarted while the agent worked": lambda: edit(
        build(), AGENT + 10, END, killed("web", AGENT + 8)
    ),
    "started again in the challenges, as what it needs was away": lambda: edit(
        build(), 240, END, killed("web", 238, "Error")
    ),
    "out of memory while the agent worked, seen once it was gone": lambda: edit(
        build(), 200, END, killed("web", AGENT_END - 1)
    ),
    "ended in the last challenge, seen in the window after it": lambda: edit(
        build(), 256, END, killed("web", 250, "Error")
    ),
    "a store that gave no answer when healthy": lambda: seen(build(), 26, 60, connections=lambda _: {}),
    "a figure that is seen twice": lambda: edit(
        edit(build(), 220, 225, more("web", 900)), 220, 230, lambda one, _: one.model_copy(update={"measured": 1.0})
    ),
    "a burst of work that is soon done": lambda: seen(build(), CHALLENGES_END, 262, waiting=lambda _: 500),
    "memory given to a cache, within bounds": lambda: edit(build(), AGENT + 50, END, more("mariadb", 120)),
    "a peak of memory in the middle": lambda: edit(build(), 215, 220, more("web", 900)),
    "figures that are missing now and then": lambda: edit(build(), 210, 220, of("web", measured=None)),
}


@pytest.mark.parametrize("name", STABLE)
def test_what_is_stable_passes(decide: Decide, name: str) -> None:
    found = decide(STABLE[name](), NAME)
    assert (found.verdict, found.seen) == ("pass", "stable")


@pytest.mark.parametrize(
    ("start", "end", "named"), [(26, 60, "baseline"), (SOAK, SOAK_END, "soak"), (251, END, "rest")]
)
def test_a_window_without_the_kubelets_figures_is_unknown(decide: Decide, start: int, end: int, named: str) -> None:
    found = decide(seen(build(), start, end, containers=lambda _: ()), NAME)
    assert found.verdict == "unknown"
    assert named in found.reason


def test_an_instability_of_what_is_not_repaired_has_no_class_of_its_own(decide: Decide) -> None:
    episode = seen(build(fixed={GRANTS: None}), SOAK, END, waiting=lambda _: 300)
    found = decide(episode, NAME)
    assert (found.verdict, found.classes) == ("fail", ())


def test_older_evidence_passes_and_says_why(decide: Decide) -> None:
    episode = build()
    episode.usage = None
    found = decide(episode, NAME)
    assert found.verdict == "pass"
    assert "older than this check" in found.reason


def test_the_agents_time_does_not_count(decide: Decide) -> None:
    episode = seen(build(), AGENT, AGENT_END, waiting=lambda _: 5000, connections=lambda _: {"mariadb": 150})
    assert decide(episode, NAME).verdict == "pass"


def test_usage_is_in_the_order_of_time() -> None:
    lines = build().usage or []
    assert all(one.at < other.at for one, other in pairwise(lines))
    assert isinstance(lines[0], Usage)
