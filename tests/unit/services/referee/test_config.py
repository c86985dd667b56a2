import json
from pathlib import Path

import pytest

from incident_arena.errors import UserError
from incident_arena.services.referee.config import Config
from incident_arena.stores.base import Account
from incident_arena.stores.mariadb.store import MariaDbStore
from incident_arena.stores.rq.store import RqStore

STORES = [
    {"name": "main", "kind": "mariadb", "host": "db", "port": 3306, "options": {"database": "site"}},
    {"name": "jobs", "kind": "rq", "host": "queue", "port": 6379},
]
REQUIRED = {"EPISODE": "e", "STORES": json.dumps(STORES), "STORES_PASSWORD": "p", "LOAD_TOKEN": "l"}


def test_defaults_are_those_of_the_pod() -> None:
    config = Config.from_environment(REQUIRED)
    assert config.task_file == Path("/task/task.json")
    assert config.ledger == Path("/ledger/ledger.jsonl")
    assert config.account == Account("referee", "p")
    assert config.kinds == {"main": "mariadb", "jobs": "rq"}


def test_it_connects_to_every_store_in_the_charts_order() -> None:
    opened = Config.from_environment(REQUIRED).connect(timeout_s=1.5)
    assert [(name, type(store)) for name, store in opened.items()] == [("main", MariaDbStore), ("jobs", RqStore)]
    assert {(store.account.user, store.timeout_s) for store in opened.values()} == {("referee", 1.5)}
    for store in opened.values():
        store.close()


def test_a_store_of_an_unknown_kind_lists_the_kinds() -> None:
    told = json.dumps([STORES[0] | {"kind": "toaster"}])
    with pytest.raises(UserError, match=r"(?s)'toaster'.*one of: .*mariadb, redis, rq"):
        Config.from_environment(REQUIRED | {"STORES": told}).connect()


def test_all_that_is_wrong_comes_at_once() -> None:
    with pytest.raises(UserError) as raised:
        Config.from_environment({"EPISODE": "e", "STORES": "[]", "LOAD_TOKEN": ""})
    for told in ("STORES_PASSWORD", "LOAD_TOKEN"):
        assert told in str(raised.value)
    assert "EPISODE" not in str(raised.value)
    with pytest.raises(UserError, match="STORES"):
        Config.from_environment(REQUIRED | {"STORES": "mariadb"})
