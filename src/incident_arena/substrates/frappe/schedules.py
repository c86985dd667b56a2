"""Scheduled jobs of the application that an episode can let fall due."""

from incident_arena.errors import InfrastructureError
from incident_arena.stores.mariadb.client import Sql, quoted

METHODS = {
    "expired-sessions": "sessions.clear_expired_sessions",
    "search-index": "utils.global_search.sync_global_search",
}
"""By our name: the end of the method's name, whatever the framework's package is called."""
LONG_AGO = "2000-01-01 00:00:00"
"""As the last execution: the job is due at the scheduler's next tick."""
_GOING = "SELECT 1 FROM {database}.`tabScheduled Job Type` WHERE method LIKE %s AND stopped = 0"
_DUE = "UPDATE {database}.`tabScheduled Job Type` SET last_execution = %s WHERE method LIKE %s"
_BEGUN = "SELECT name, create_log, last_execution > %s FROM {database}.`tabScheduled Job Type` WHERE method LIKE %s"
_LOG = (
    "SELECT status FROM {database}.`tabScheduled Job Log` WHERE scheduled_job_type = %s ORDER BY creation DESC LIMIT 1"
)


def make_due(sql: Sql, database: str, name: str) -> None:
    """Let a job be due.

    Raises:
        StoreError: the database does not answer.
        InfrastructureError: the site has no such job.
    """
    method = f"%.{METHODS[name]}"
    if not sql.query(_GOING.format(database=quoted(database)), (method,)):
        raise InfrastructureError(f"scheduled job '{name}'", "the site has none, or it is stopped")
    sql.query(_DUE.format(database=quoted(database)), (LONG_AGO, method))


def has_run(sql: Sql, database: str, name: str) -> tuple[bool, str]:
    """Whether a job has run since `make_due`: it begins by writing when, and one that is logged says how it ended.

    Raises:
        StoreError: the database does not answer.
    """
    begun_query, log_query = _BEGUN.format(database=quoted(database)), _LOG.format(database=quoted(database))
    ((job, logged, begun),) = sql.query(begun_query, (LONG_AGO, f"%.{METHODS[name]}"))
    if not begun:
        return False, "has not begun"
    if not logged:
        return True, "has run"
    last = sql.query(log_query, (job,))
    status = str(last[0][0]) if last else "not logged"
    return status == "Complete", status
