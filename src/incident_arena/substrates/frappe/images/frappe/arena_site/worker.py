"""A worker of one queue."""

import importlib
import sys

from arena_site import framework, probe
from arena_site.health import Health

PRELOADED = (
    "monoframe.client",
    "monoframe.database.mariadb.mysqlclient",
    "monoframe.database.query",
    "monoframe.desk.doctype.bulk_update.bulk_update",
    "monoframe.desk.reportview",
    "monoframe.model.delete_doc",
    "monoframe.query_builder",
    "monoframe.utils.safe_exec",
    "monoframe.utils.scheduler",
    "monoframe.utils.typing_validations",
    "monoframe.website.path_resolver",
)
"""Each job runs in a fork: what is imported before it is not imported once more for every job."""


def main() -> None:
    """Work on the queue that the command line names, until stopped or until jobs can no longer be fetched."""
    framework.prepare()
    for module in PRELOADED:
        importlib.import_module(module)
    from monoframe.utils.background_jobs import start_worker  # noqa: PLC0415  after prepare

    (queue,) = sys.argv[1:]
    probe.serve(Health())
    start_worker(queue=queue)


if __name__ == "__main__":
    main()
