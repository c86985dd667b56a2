"""What the referee knows of each substrate's application: what it changes by itself, and where its queues are."""

from collections.abc import Mapping
from dataclasses import dataclass

from incident_arena.errors import UserError
from incident_arena.verify.stores.mariadb import Rows


@dataclass(frozen=True)
class Application:
    """One substrate's.

    Attributes:
        rows: which tables and columns change by themselves.
        queue_keys: beginnings of the application's keys in the queue's Redis; None: keys are not looked at.
        cache_keys: the same in the cache's.
        account: the application's MariaDB account, as KILL USER wants it.
        harness: programs of the harness that must answer, by component, with the path to ask.
    """

    rows: Rows
    queue_keys: tuple[str, ...] | None
    cache_keys: tuple[str, ...] | None
    account: str


_FRAPPE = Application(
    rows=Rows(moving={"*": "not yet looked at"}),
    queue_keys=("rq:",),
    cache_keys=None,
    account="site",
)

_KNOWN: Mapping[str, Application] = {"frappe": _FRAPPE}


def of(substrate: str) -> Application:
    """The application of a substrate.

    Raises:
        UserError: there is none; lists those that exist.
    """
    if substrate not in _KNOWN:
        raise UserError(f"substrate '{substrate}'", "the referee does not know it", f"one of: {', '.join(_KNOWN)}")
    return _KNOWN[substrate]
