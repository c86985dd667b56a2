"""Faults planted into real servers: seen by their observers, felt by the application's account, healed by a repair."""

import threading
from collections.abc import Iterator

import pytest
from tests.support.servers import Maria, Redis

from incident_arena import faults, wait
from incident_arena.errors import InfrastructureError
from incident_arena.faults.base import Context, Look
from incident_arena.formats.task import PlantedFault
from incident_arena.stores.base import StoreError

pytestmark = pytest.mark.node

GRANTS = PlantedFault(name="mariadb.grants", parameters={"privileges": ["DELETE"]})
QUEUE = PlantedFault(name="redis-queue.config", parameters={"denied_commands": ["blmove", "blpop"]})


@pytest.fixture
def context(maria: Maria, redis_server: Redis) -> Iterator[Context]:
    return Context(mariadb=maria.sql, redis_queue=redis_server.commands, redis_cache=redis_server.commands)


def plant(context: Context, planted: PlantedFault) -> None:
    faults.get(planted.name).plant(context, faults.validate(planted))


def look(context: Context, planted: PlantedFault) -> Look:
    return faults.get(planted.name).observe(context, faults.validate(planted))


def test_grants_are_missing_and_come_back(context: Context, maria: Maria) -> None:
    application = maria.connect("site", "site")
    application.query("DELETE FROM site.tabToDo")
    application.close()
    with pytest.raises(StoreError, match="closed"):
        application.query("SELECT 1")
    application = maria.connect("site", "site")
    assert look(context, GRANTS).state == "clear"
    plant(context, GRANTS)
    assert look(context, GRANTS) == Look("planted", {"missing": "DELETE"})
    with pytest.raises(StoreError, match="1142"):
        application.query("DELETE FROM site.tabToDo")
    application.query("SELECT * FROM site.tabToDo")
    application.close()
    application = maria.connect("site", "site")
    maria.sql.query("GRANT DELETE ON site.* TO site@'%'")
    assert look(context, GRANTS).state == "clear"
    application.query("DELETE FROM site.tabToDo")
    application.close()


@pytest.mark.parametrize(
    ("statements", "state"),
    [
        (["GRANT DELETE ON site.tabToDo TO site@'%'"], "planted"),
        (["GRANT DELETE ON *.* TO site@'%'"], "clear"),
        (["GRANT DELETE ON `si%`.* TO site@'%'"], "planted"),
        (["CREATE ROLE deleter", "GRANT DELETE ON site.* TO deleter", "GRANT deleter TO site@'%'"], "planted"),
        (
            ["CREATE ROLE deleter", "GRANT DELETE ON site.* TO deleter", "GRANT deleter TO site@'%'",
             "SET DEFAULT ROLE deleter FOR site@'%'"],
            "clear",
        ),
        (["CREATE USER second@'%'", "GRANT DELETE ON site.* TO second@'%'"], "planted"),
    ],
)  # fmt: skip
def test_grants_are_judged_by_their_effect(context: Context, maria: Maria, statements: list[str], state: str) -> None:
    plant(context, GRANTS)
    for statement in statements:
        maria.sql.query(statement)
    assert look(context, GRANTS).state == state
    application = maria.connect("site", "site")
    application.query("USE site")
    if state == "clear":
        application.query("DELETE FROM tabUser WHERE 1 = 0")
    else:
        with pytest.raises(StoreError, match="1142"):
            application.query("DELETE FROM tabUser WHERE 1 = 0")
    application.close()


def test_the_queue_denies_live_and_in_the_file(context: Context, redis_server: Redis) -> None:
    application = redis_server.connect("app")
    assert look(context, QUEUE).state == "clear"
    plant(context, QUEUE)
    assert look(context, QUEUE) == Look("planted", {"denied": "blmove, blpop", "enabled": True})
    with pytest.raises(StoreError, match="blmove"):
        application.command("BLMOVE", "a", "b", "LEFT", "RIGHT", 1)
    application.command("RPUSH", "a", "1")
    redis_server.commands.command("ACL", "LOAD")
    assert look(context, QUEUE).state == "planted"
    redis_server.commands.command("ACL", "SETUSER", "app", "+blmove")
    assert look(context, QUEUE) == Look("planted", {"denied": "blpop", "enabled": True})
    redis_server.commands.command("ACL", "SETUSER", "app", "+@all")
    assert look(context, QUEUE).state == "clear"
    redis_server.commands.command("ACL", "SETUSER", "app", "off")
    assert look(context, QUEUE).state == "planted"


def test_a_worker_that_waits_returns_at_once(context: Context, redis_server: Redis) -> None:
    application = redis_server.connect("app")
    answers: list[object] = []

    def worker() -> None:
        answers.append(application.command("BLMOVE", "a", "b", "LEFT", "RIGHT", 4))

    thread = threading.Thread(target=worker)
    thread.start()
    wait.until(
        "the worker waits",
        lambda: ("cmd=blmove" in redis_server.commands.command("CLIENT", "LIST"), ""),
        deadline_s=3,
    )
    plant(context, QUEUE)
    thread.join(1)
    assert not thread.is_alive()
    assert answers == [None]


def test_a_queue_without_the_user_is_an_error(context: Context) -> None:
    parameters = {**QUEUE.parameters, "user": "nobody"}
    with pytest.raises(InfrastructureError, match="no such user"):
        plant(context, QUEUE.model_copy(update={"parameters": parameters}))
