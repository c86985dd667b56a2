"""What every episode starts with: secrets of the users, records, settings of queues and scheduler.

Environment: LOAD_API_SECRET, USERS_PASSWORD, ADMIN_PASSWORD; SEED_TODOS, SEED_NOTES, SEED_BATCHES, SEED_BATCH_SIZE.
Running it again changes nothing that is there already.

Records (all by name, so that the load and the referee can address them):
    ToDo  seed-todo-0001 …          open, to be read and listed; nothing changes them
    Note  seed-note-0001 …          as above
    ToDo  batch-01-01 … batch-NN-MM for bulk jobs: `description` is what a job writes
"""

import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime

from arena_site import framework
from arena_site.health import look

LOAD_USER = "load@arena.test"
USERS = tuple(f"user{number:02d}@arena.test" for number in range(1, 11))


def main() -> None:
    """Seed, then say so in `tabDefaultValue`: /healthz waits for it."""
    framework.prepare()
    import monoframe  # noqa: PLC0415  after prepare
    from monoframe.utils.password import set_encrypted_password, update_password  # noqa: PLC0415

    wait_for_site()
    monoframe.init()
    monoframe.connect()
    set_encrypted_password("User", LOAD_USER, os.environ["LOAD_API_SECRET"], "api_secret")
    for user in USERS:
        update_password(user, os.environ["USERS_PASSWORD"])
    update_password("Administrator", os.environ["ADMIN_PASSWORD"])
    now = datetime.now(UTC).replace(tzinfo=None)
    monoframe.db.bulk_insert("ToDo", TODO_FIELDS, _todos(now), ignore_duplicates=True)
    monoframe.db.bulk_insert("Note", NOTE_FIELDS, _notes(now), ignore_duplicates=True)
    # Else every job is overdue at once, as the dump is older than the hour.
    monoframe.db.sql("UPDATE `tabScheduled Job Type` SET last_execution = %s", now)
    monoframe.db.set_global("arena_seeded", "1")
    monoframe.db.commit()
    monoframe.clear_cache()
    monoframe.destroy()


def wait_for_site() -> None:
    """Wait until restore-site has ended. No deadline: the Job has one."""
    never = threading.Event()
    while True:
        seen = look("SELECT COUNT(*) FROM arena_restored")
        if isinstance(seen, bool):
            return
        print(f"waiting for the site: {seen}")
        never.wait(0.2)


STANDARD = ["name", "creation", "modified", "owner", "modified_by", "docstatus", "idx"]
TODO_FIELDS = [*STANDARD, "status", "priority", "description"]
NOTE_FIELDS = [*STANDARD, "title", "public", "content"]


def _standard(name: str, now: datetime) -> list[object]:
    return [name, now, now, LOAD_USER, LOAD_USER, 0, 0]


def _todos(now: datetime) -> Iterator[list[object]]:
    for number in range(1, _count("SEED_TODOS", 300) + 1):
        name = f"seed-todo-{number:04d}"
        yield [*_standard(name, now), "Open", "Medium", f"Seeded task {number}"]
    for batch in range(1, _count("SEED_BATCHES", 20) + 1):
        for number in range(1, _count("SEED_BATCH_SIZE", 20) + 1):
            name = f"batch-{batch:02d}-{number:02d}"
            yield [*_standard(name, now), "Open", "Low", "untouched"]


def _notes(now: datetime) -> Iterator[list[object]]:
    for number in range(1, _count("SEED_NOTES", 100) + 1):
        name = f"seed-note-{number:04d}"
        yield [*_standard(name, now), name, 1, f"Seeded note {number}"]


def _count(variable: str, default: int) -> int:
    return int(os.environ.get(variable, default))


if __name__ == "__main__":
    main()
