"""Invariants over what clients witnessed: what must be true whatever came of the single operations. Pure."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence

from incident_arena.formats.records import LedgerLine, Witness
from incident_arena.formats.task import Invariant


def broken(lines: Iterable[LedgerLine], invariants: Sequence[Invariant]) -> list[str]:
    """Where an invariant does not hold.

    Args:
        lines: the ledger, in the order in which it was written.
        invariants: the substrate's.

    Returns:
        A sentence each, in the order of invariants and of subjects' names; empty when all hold.
    """
    seen: defaultdict[str, list[str]] = defaultdict(list)
    for line in lines:
        if isinstance(line, Witness):
            seen[line.subject].append(line.value)
    return [
        f"{each.name}: {found}" for each in invariants for found in RULES[each.rule](each, dict(sorted(seen.items())))
    ]


def _once(invariant: Invariant, seen: dict[str, list[str]]) -> Iterable[str]:
    for subject, values in seen.items():
        if subject.startswith(invariant.of) and len(different := dict.fromkeys(values)) > 1:
            yield f"{subject} was seen as {', '.join(different)}"


def _in_order(invariant: Invariant, seen: dict[str, list[str]]) -> Iterable[str]:
    for subject, values in seen.items():
        if not subject.startswith(invariant.of):
            continue
        for before, after in itertools.pairwise(values):
            if not after.isdigit() or (before.isdigit() and int(after) <= int(before)):
                yield f"{subject} had {after} after {before}"
                break


def _paired(invariant: Invariant, seen: dict[str, list[str]]) -> Iterable[str]:
    for subject in seen:
        if (
            subject.startswith(invariant.of)
            and (other := invariant.other + subject.removeprefix(invariant.of)) not in seen
        ):
            yield f"{subject} was seen, and {other} never"


RULES = {"once": _once, "in order": _in_order, "paired": _paired}
