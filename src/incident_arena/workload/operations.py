"""What a substrate's kinds of operation have to offer the generator."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from incident_arena.formats.records import LedgerLine

type Result = Literal["ok", "failed", "indeterminate", "wrong"]


@dataclass(frozen=True)
class Answer:
    """What came of one operation. `at`: when the answer was complete or, for a kind judged by it, the effect seen."""

    result: Result
    status: int | None = None
    error: str = ""
    records: tuple[str, ...] = ()
    owed: bool = False
    at: float = field(default_factory=time.time)
    witnessed: tuple[tuple[str, str], ...] = ()
    """What its client saw: pairs of subject and value (records.Witness)."""


@dataclass(frozen=True)
class Plan:
    """One operation about to go out: what its intent says, and how to perform it.

    `perform` gets no deadline of its own: the generator cancels it. It may raise aiohttp.ClientError and OSError
    (the outcome is then indeterminate).
    """

    perform: Callable[[], Awaitable[Answer]]
    records: tuple[str, ...] = ()
    effect: str = ""


class Operations(Protocol):
    """The kinds of operation of one substrate, with what they know of the application's data."""

    @property
    def kinds(self) -> Sequence[str]:
        """Names of all kinds that there are."""
        ...

    async def prepare(self, before: Sequence[LedgerLine]) -> tuple[str, ...]:
        """Learn what there is, and what an earlier process of the ledger left; called again until it succeeds.

        Returns:
            Names of the records that are there before the load, as `Doctype/name`.

        Raises:
            NotReadyError: the application does not answer, or not yet with all that the load needs.
        """
        ...

    def plan(self, kind: str, id_: int) -> Plan:
        """Choose the records of operation `id_`. Always possible: no kind depends on another's success."""
        ...

    def settle(self, id_: int, answer: Answer) -> None:
        """Take in what came of operation `id_`; also called when it was cancelled."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class NotReadyError(Exception):
    """The application is not ready for the load; says what was seen."""
