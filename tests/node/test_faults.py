"""Faults planted into real servers: seen by their observers, felt by the application's account, healed by a repair."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.servers import REFEREE, Maria, Redis

from incident_arena import faults, wait
from incident_arena.errors import InfrastructureError
from incident_arena.faults import Planted
from incident_arena.formats.task import PlantedFault
from incident_arena.stores.base import Store, StoreError, Stores
from incident_arena.stores.fault import Look
from incident_arena.stores.mariadb.store import MariaDbStore

pytestmark = pytest.mark.node

GRANTS = PlantedFault(name="mariadb.grants", parameters={"privileges": ["DELETE"]})
QUEUE = PlantedFault(name="redis-queue.config", parameters={"denied_commands": ["blmove", "blpop"]})


@pytest.fixture
def stores(maria: Maria, redis_server: Redis, tmp_path: Path) -> Iterator[Stores]:
    (tmp_path / "options").mkdir(exist_ok=True)
    opened: dict[str, Store] = {"mariadb": maria.store(tmp_path / "options"), "redis-queue": redis_server.store()}
    yield opened
    for store in opened.values():
        store.close()


def read(stores: Stores, fault: PlantedFault) -> Planted:
    return faults.read(fault, {name: store.kind for name, store in stores.items()})


def plant(stores: Stores, fault: PlantedFault) -> None:
    found = read(stores, fault)
    found.fault.plant(stores[found.component], found.parameters)


def look(stores: Stores, fault: PlantedFault) -> Look:
    found = read(stores, fault)
    return found.fault.observe(stores[found.component], found.parameters)


def facts(stores: Stores, component: str) -> dict[str, object]:
    return dict(stores[component].picture(None) or {})


@pytest.mark.parametrize("fault", [GRANTS, QUEUE], ids=lambda fault: fault.name)
def test_what_is_lifted_leaves_no_difference(stores: Stores, fault: PlantedFault) -> None:
    found = read(stores, fault)
    before = facts(stores, found.component)
    plant(stores, fault)
    assert facts(stores, found.component) != before
    found.fault.lift(stores[found.component], found.parameters)
    assert look(stores, fault).state == "clear"
    assert facts(stores, found.component) == before


def test_grants_are_missing_and_come_back(stores: Stores, maria: Maria) -> None:
    application = maria.connect("site", "site")
    application.query("DELETE FROM site.tabToDo")
    application.close()
    with pytest.raises(StoreError, match="closed"):
        application.query("SELECT 1")
    application = maria.connect("site", "site")
    assert look(stores, GRANTS).state == "clear"
    plant(stores, GRANTS)
    assert look(stores, GRANTS) == Look("planted", {"missing": "DELETE"})
    with pytest.raises(StoreError, match="1142"):
        application.query("DELETE FROM site.tabToDo")
    application.query("SELECT * FROM site.tabToDo")
    application.close()
    application = maria.connect("site", "site")
    maria.sql.query("GRANT DELETE ON site.* TO site@'%'")
    assert look(stores, GRANTS).state == "clear"
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
def test_grants_are_judged_by_their_effect(stores: Stores, maria: Maria, statements: list[str], state: str) -> None:
    plant(stores, GRANTS)
    for statement in statements:
        maria.sql.query(statement)
    assert look(stores, GRANTS).state == state
    application = maria.connect("site", "site")
    application.query("USE site")
    if state == "clear":
        application.query("DELETE FROM tabUser WHERE 1 = 0")
    else:
        with pytest.raises(StoreError, match="1142"):
            application.query("DELETE FROM tabUser WHERE 1 = 0")
    application.close()


def test_the_queue_denies_live_and_in_the_file(stores: Stores, redis_server: Redis) -> None:
    application = redis_server.connect("app")
    assert look(stores, QUEUE).state == "clear"
    plant(stores, QUEUE)
    assert look(stores, QUEUE) == Look("planted", {"denied": "blmove, blpop", "enabled": True})
    with pytest.raises(StoreError, match="blmove"):
        application.command("BLMOVE", "a", "b", "LEFT", "RIGHT", 1)
    application.command("RPUSH", "a", "1")
    redis_server.commands.command("ACL", "LOAD")
    assert look(stores, QUEUE).state == "planted"
    redis_server.commands.command("ACL", "SETUSER", "app", "+blmove")
    assert look(stores, QUEUE) == Look("planted", {"denied": "blpop", "enabled": True})
    redis_server.commands.command("ACL", "SETUSER", "app", "+@all")
    assert look(stores, QUEUE).state == "clear"
    redis_server.commands.command("ACL", "SETUSER", "app", "off")
    assert look(stores, QUEUE).state == "planted"


def test_a_worker_that_waits_returns_at_once(stores: Stores, redis_server: Redis) -> None:
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
    plant(stores, QUEUE)
    thread.join(1)
    assert not thread.is_alive()
    assert answers == [None]


def test_a_queue_without_the_user_is_an_error(stores: Stores) -> None:
    parameters = {**QUEUE.parameters, "user": "nobody"}
    with pytest.raises(InfrastructureError, match="no such user"):
        plant(stores, QUEUE.model_copy(update={"parameters": parameters}))


def test_what_a_repair_changes_is_what_it_is_permitted_to(
    stores: Stores, maria: Maria, redis_server: Redis, tmp_path: Path
) -> None:
    """Each fault's permits are the whole difference that its repair makes, in the real servers' own facts."""
    repaired = {
        "mariadb": lambda: maria.sql.query("GRANT DELETE ON site.* TO site@'%'"),
        "redis-queue": lambda: [
            redis_server.commands.command("ACL", "SETUSER", "app", "+blmove", "+blpop"),
            redis_server.commands.command("ACL", "SAVE"),
        ],
    }
    (tmp_path / "options").mkdir(exist_ok=True)
    with_options = MariaDbStore(maria.spec(tmp_path / "options"), REFEREE)
    opened = {**stores, "mariadb": with_options}
    for fault in (GRANTS, QUEUE):
        found = read(opened, fault)
        whole = facts(opened, found.component)
        plant(opened, fault)
        before = facts(opened, found.component)
        repaired[found.component]()
        after = facts(opened, found.component)
        changed = {
            path: after.get(path) for path in before.keys() | after.keys() if before.get(path) != after.get(path)
        }
        permitted = {permit.path.removeprefix(f"{found.component}/"): permit.after for permit in found.repairs}
        assert {path: [value] for path, value in changed.items()} == permitted
        assert after == whole
    with_options.close()


def test_what_a_redis_counts_tells_not_where_a_fault_is(stores: Stores, redis_server: Redis) -> None:
    def counted(*, planted: bool) -> set[str]:
        found = read(stores, QUEUE)
        store = stores[found.component]
        if planted:
            found.fault.plant(store, found.parameters)
        found.fault.cover(store)
        (other,) = faults.unplanted([read(stores, GRANTS)], stores)
        for _ in range(3):
            found.fault.observe(store, found.parameters if planted else other.parameters)
        return {line.split(",")[0] for line in str(redis_server.commands.command("INFO", "commandstats")).split()[2:]}

    before = counted(planted=False)
    assert counted(planted=True) == before
    assert any("acl|list" in name for name in before)
    assert not any("setuser" in name for name in before)


def test_what_a_mariadb_counts_tells_not_whether_a_grant_was_taken(stores: Stores, maria: Maria) -> None:
    found = read(stores, GRANTS)
    before = facts(stores, "mariadb")

    def counted(*, planted: bool) -> int:
        (start,) = maria.sql.query("SHOW GLOBAL STATUS LIKE 'Com\\_revoke'")
        if planted:
            plant(stores, GRANTS)
            found.fault.lift(stores["mariadb"], found.parameters)
        found.fault.cover(stores["mariadb"])
        (end,) = maria.sql.query("SHOW GLOBAL STATUS LIKE 'Com\\_revoke'")
        return int(end[1]) - int(start[1])

    with_it = {counted(planted=True) for _ in range(30)}
    without = {counted(planted=False) for _ in range(30)}
    assert len(with_it & without) >= 3
    assert facts(stores, "mariadb") == before


def test_a_store_is_looked_at_alike_where_nothing_is_planted(stores: Stores) -> None:
    assert [each.name for each in faults.unplanted([read(stores, GRANTS)], stores)] == ["redis-queue.config"]
    for each in faults.unplanted([], stores):
        assert each.fault.observe(stores[each.component], each.parameters).state == "clear"
