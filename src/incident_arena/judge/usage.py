"""What the application took of the machine in a stretch of time, and how far from healthy that may move."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
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

    def limit(self, healthy: float) -> float:
        """The most that it may be."""
        return self.factor * healthy + self.extra

    def rise(self, healthy: float) -> float:
        """The most by which it may rise within a window: half the way from healthy to the limit."""
        return (self.limit(healthy) - healthy) / 2


MEMORY = Measure("memory", "MB", 1.5, 64)
CPU = Measure("CPU", "cores", 2, 0.5)
CONNECTIONS = Measure("connections", "open", 2, 20)
WAITING = Measure("work", "waiting", 2, 20)

type Series = dict[tuple[Measure, str], list[float]]
"""Figures in the order of time, by what is measured and of which component; empty name: the whole application."""


def series(usage: Iterable[Usage], start: float, end: float) -> Series:
    """What was seen in [start, end). CPU is one figure: the mean over all of it."""
    within = [seen for seen in usage if start <= seen.at < end]
    found: defaultdict[tuple[Measure, str], list[float]] = defaultdict(list)
    for seen in within:
        for component, bytes_ in _memory(seen.containers).items():
            found[MEMORY, component].append(bytes_ / MB)
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
    """What ends outside of what is allowed, or rises too much; a phrase for each."""
    told = []
    for (measure, component), values in figures.items():
        was = before.get((measure, component), 0.0)
        first, last = _halves(values)
        name = f"{component} {measure.name}".strip()
        if last > measure.limit(was):
            told.append(f"{name}: {last:.4g} {measure.unit}, at most {measure.limit(was):.4g} ({was:.4g} when healthy)")
        elif last - first > measure.rise(was):
            told.append(f"{name}: rises from {first:.4g} to {last:.4g} {measure.unit} ({was:.4g} when healthy)")
    return sorted(told)


def restarted(usage: Iterable[Usage], start: float, end: float) -> dict[str, str]:
    """Containers that the kubelet started again in (start, end], in the same pod: name to why they had ended."""
    known: dict[tuple[str, str], int] = {}
    found: dict[str, str] = {}
    for seen in usage:
        if seen.at > end:
            break
        for one in seen.containers:
            before = known.get((one.pod, one.name), 0 if seen.at > start and known else one.restarts)
            known[one.pod, one.name] = one.restarts
            if seen.at > start and one.restarts > before:
                found[f"{one.component}/{one.name}"] = one.ended
    return found


def _memory(containers: Iterable[Container]) -> dict[str, float]:
    total: defaultdict[str, float] = defaultdict(float)
    for one in containers:
        if one.measured is not None:
            total[one.component] += one.memory
    return total


def _cpu(within: Sequence[Usage]) -> dict[str, float]:
    """Cores by component, from each container's first and last figure."""
    seen: defaultdict[tuple[str, str, str, int], list[Container]] = defaultdict(list)
    for line in within:
        for one in line.containers:
            if one.measured is not None:
                seen[one.component, one.name, one.pod, one.restarts].append(one)
    total: defaultdict[str, float] = defaultdict(float)
    for (component, *_), its in seen.items():
        first, last = its[0], its[-1]
        if last.measured is not None and first.measured is not None and last.measured > first.measured:
            total[component] += (last.cpu - first.cpu) / (last.measured - first.measured)
    return total


def _halves(values: Sequence[float]) -> tuple[float, float]:
    """The median of the first half and of the second; one figure is both."""
    middle = len(values) // 2
    return statistics.median(values[:middle] or values), statistics.median(values[middle:])
