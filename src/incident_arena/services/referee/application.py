"""What the referee knows of each substrate's application: what it changes by itself, and where its queues are."""

from collections.abc import Mapping
from dataclasses import dataclass

from incident_arena.errors import UserError
from incident_arena.stores.mariadb.picture import Rows


@dataclass(frozen=True)
class Application:
    """One substrate's.

    Attributes:
        rows: which tables and columns change by themselves.
        queue_keys: beginnings of the application's keys in the queue's Redis; None: keys are not looked at.
        cache_keys: the same in the cache's.
        account: the application's MariaDB account, as KILL USER wants it.
    """

    rows: Rows
    queue_keys: tuple[str, ...] | None
    cache_keys: tuple[str, ...] | None
    account: str


_FRAPPE = Application(
    rows=Rows(
        moving={
            "tabToDo": "the load's records; reconciled by the ledger",
            "tabNote": "the load's records; reconciled by the ledger",
            "tabComment": "the load's records; reconciled by the ledger",
            "tabVersion": "written at each update, removed by deletions' jobs",
            "tabDeleted Document": "written at each deletion",
            "tabNotification Log": "written by mentions' jobs",
            "tabNotification Settings": "whether a user has seen the last notification",
            "tabActivity Log": "written at each sign-in",
            "tabSessions": "one row a sign-in",
            "tabUser": "when a user was last active",
            "tabError Log": "errors that the application meets, also those of a fault",
            "tabScheduled Job Type": "when a job last ran",
            "tabScheduled Job Log": "one row a scheduled job",
            "tabScheduler Event": "written by the scheduler",
            "tabLogs To Clear": "the daily cleaning of logs",
            "tabNote Seen By": "who has read a note",
            "tabDocument Follow": "who follows a record that the load makes",
            "tabDocShare": "records that the load shares by a mention",
            "tabTag Link": "tags of the load's records",
            "tabSeries": "counters of names",
            "tabRoute History": "pages that users visited",
            "tabAccess Log": "pages that users visited",
            "tabView Log": "pages that users visited",
            "tabEmail Queue": "mails that a job would send",
            "tabEmail Queue Recipient": "mails that a job would send",
            "tabCommunication": "mails that a job would send",
            "tabCommunication Link": "mails that a job would send",
            "tabPrepared Report": "reports made in the background",
            "tabToken Cache": "renewed by an hourly job",
            "__global_search": "the search index, filled by a job",
            "__UserSettings": "list settings, written by a job",
        },
        columns={
            "tabUser": ("name", "enabled", "email", "user_type", "role_profile_name", "api_key", "api_secret",
                        "simultaneous_sessions", "restrict_ip", "login_after", "login_before"),
            "tabNotification Settings": ("name", "enabled", "enable_email_notifications", "user"),
            "tabScheduled Job Type": ("name", "stopped", "frequency", "cron_format", "method", "server_script"),
        },
    ),
    queue_keys=("rq:",),
    cache_keys=("site|",),
    account="site",
)  # fmt: skip

_KNOWN: Mapping[str, Application] = {"frappe": _FRAPPE}


def of(substrate: str) -> Application:
    """The application of a substrate.

    Raises:
        UserError: there is none; lists those that exist.
    """
    if substrate not in _KNOWN:
        raise UserError(f"substrate '{substrate}'", "the referee does not know it", f"one of: {', '.join(_KNOWN)}")
    return _KNOWN[substrate]
