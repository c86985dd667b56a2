"""What the application took of the machine in a stretch of time, and how far from healthy that may move."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from incident_arena.formats.records import Container, Usage

MB = 1e6


@dataclass(frozen=True)
class Measure:
    """What is measured, in which unit; it may reach `factor` times the healthy figure, and `extra` more."""

    name: str
    unit: str
    factor: float
    extra: float
    """In the unit."""

    def limit(self, healthy: float) -> float:
        """The most that it may be."""
        return self.factor * healthy + self.extra

    def rise(self, healthy: float) -> float:
        """The most by which it may rise within a window: half the way from healthy to the limit."""
        return (self.limit(healthy) - healthy) / 2


MEMORY = Measure("memory", "MB", 1.5, 64)
CPU = Measure("CPU", "cores", 2, 0.5)
CONNECTIONS = Measure("connections", "open", 2, 20)
WAITING = Measure("waiting work", "pieces", 2, 20)

type Series = dict[tuple[Measure, str], list[float]]
"""Figures in the order of time, by what is measured and of which component; empty name: the whole application."""


def series(usage: Iterable[Usage], start: float, end: float) -> Series:
    """What was seen in [start, end). CPU is one figure: the mean over all of it."""
    within = [seen for seen in usage if start <= seen.at < end]
    found: defaultdict[tuple[Measure, str], list[float]] = defaultdict(list)
    for component, bytes_ in _memory(within, start):
        found[MEMORY, component].append(bytes_ / MB)
    for seen in within:
        for store, count in seen.connections.items():
            found[CONNECTIONS, store].append(count)
        if seen.waiting is not None:
            found[WAITING, ""].append(seen.waiting)
    for component, cores in _cpu(within).items():
        found[CPU, component].append(cores)
    return dict(found)


def has_memory(figures: Series) -> bool:
    """Whether the kubelet's figures are among them, of any component."""
    return any(measure is MEMORY for measure, _ in figures)


def highest(figures: Series) -> dict[tuple[Measure, str], float]:
    """The most that was seen of each."""
    return {key: max(values) for key, values in figures.items()}


def moved(figures: Series, before: Mapping[tuple[Measure, str], float]) -> list[str]:
    """What ends outside of what is allowed, or rises too much; a phrase for each.

    What has no healthy figure has no limit.
    """
    told = []
    for key in figures.keys() & before.keys():
        (measure, component), was = key, before[key]
        first, last = _halves(figures[key])
        name = f"{component} {measure.name}".strip()
        if last > measure.limit(was):
            told.append(f"{name}: {last:.4g} {measure.unit}, at most {measure.limit(was):.4g} ({was:.4g} when healthy)")
        elif last - first > measure.rise(was):
            told.append(f"{name}: rises from {first:.4g} to {last:.4g} {measure.unit} ({was:.4g} when healthy)")
    return sorted(told)


def endings(usage: Iterable[Usage], start: float, end: float) -> list[tuple[str, str]]:
    """Containers that ended in (start, end], whenever it was seen: name and reason, once for each time."""
    found = {
        (one.ended_at, f"{one.component}/{one.name}", one.pod): one.ended
        for seen in usage
        for one in seen.containers
        if one.ended_at is not None and start < one.ended_at <= end
    }
    return [(name, why) for (_, name, _), why in sorted(found.items())]


def replaced(usage: Iterable[Usage], start: float, end: float) -> list[str]:
    """Components that got another pod in (start, end], after those with which they were first seen in it."""
    first: dict[str, set[str]] = {}
    found: set[str] = set()
    for seen in (one for one in usage if start < one.at <= end):
        pods: defaultdict[str, set[str]] = defaultdict(set)
        for one in seen.containers:
            pods[one.component].add(one.pod)
        for component, its in pods.items():
            if not its <= first.setdefault(component, its):
                found.add(component)
    return sorted(found)


def _memory(within: Iterable[Usage], start: float) -> Iterator[tuple[str, float]]:
    """Each component's working set, whenever the kubelet had measured one of its containers anew."""
    known: set[tuple[str, str, float]] = set()
    for seen in within:
        total: defaultdict[str, float] = defaultdict(float)
        fresh: set[str] = set()
        for one in seen.containers:
            if one.measured is None or one.measured < start:
                continue
            total[one.component] += one.memory
            if (one.pod, one.name, one.measured) not in known:
                known.add((one.pod, one.name, one.measured))
                fresh.add(one.component)
        yield from ((component, total[component]) for component in sorted(fresh))


def _cpu(within: Iterable[Usage]) -> dict[str, float]:
    """Cores by component: what all its containers took between the first figure and the last, over that time."""
    seen: defaultdict[str, list[Container]] = defaultdict(list)
    for line in within:
        for one in line.containers:
            if one.measured is not None:
                seen[one.component].append(one)
    cores = {}
    for component, its in seen.items():
        moments = [one.measured for one in its if one.measured is not None]
        if (span := max(moments) - min(moments)) > 0:
            cores[component] = _seconds(its) / span
    return cores


def _seconds(figures: Iterable[Container]) -> float:
    """CPU that containers took between their figures. One that was started again counts from nothing."""
    last: dict[tuple[str, str], float] = {}
    total = 0.0
    for one in figures:
        total += max(0.0, one.cpu - last.get((one.pod, one.name), one.cpu))
        last[one.pod, one.name] = one.cpu
    return total


def _halves(values: Sequence[float]) -> tuple[float, float]:
    """The median of the first half and of the second; one figure is both."""
    middle = len(values) // 2
    return statistics.median(values[:middle] or values), statistics.median(values[middle:])
