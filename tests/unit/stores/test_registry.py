"""Stores are found by their kind, and told by the chart."""

import json
from pathlib import Path

import pytest

from incident_arena import stores
from incident_arena.errors import UserError
from incident_arena.stores.base import Account, Store, StoreSpec, read_specs

ACCOUNT = Account("referee", "x")
GIVEN = {"name": "main", "kind": "mariadb", "host": "db", "port": 3306}


def spec(**more: object) -> StoreSpec:
    return StoreSpec.model_validate(GIVEN | more)


def test_kinds_are_folders() -> None:
    assert stores.kinds() == ("kubernetes", "mariadb", "redis", "rq")
    for kind in ("mariadb", "redis", "rq"):
        made = stores.connect(spec(kind=kind), ACCOUNT)
        assert (made.kind, made.name, made.account) == (kind, "main", ACCOUNT)
        assert (stores.folder(kind) / "chart.tpl").is_file()
        made.close()


@pytest.mark.parametrize("kind", ["toaster", "", "base", "mariadb.store"])
def test_an_unknown_kind_lists_the_valid_ones(kind: str) -> None:
    for call in (
        lambda: stores.part(kind, "faults"),
        lambda: stores.folder(kind),
        lambda: stores.connect(spec(kind=kind), ACCOUNT),
    ):
        with pytest.raises(UserError, match=r"(?s)no such kind.*one of: kubernetes, mariadb, redis, rq"):
            call()


def test_a_kind_that_is_no_store_of_an_application_says_so() -> None:
    with pytest.raises(UserError, match=r"'main'.*none that a chart can name"):
        stores.connect(spec(kind="kubernetes"), ACCOUNT)


def test_a_part_that_a_kind_has_not_is_none() -> None:
    assert stores.part("rq", "faults") is None
    assert stores.part("mariadb", "faults") is not None


def test_a_store_that_has_nothing_of_its_own_says_nothing() -> None:
    bare = Store(spec(), ACCOUNT)
    assert bare.picture(None) is None
    assert bare.end_sessions("app") == 0
    assert list(bare.acts("operator", 0, 9e9)) == []
    bare.close()


def test_specs_are_read_with_what_is_left_out() -> None:
    assert read_specs("[]") == ()
    (found,) = read_specs(json.dumps([GIVEN | {"folders": {"audit": "/mariadb-audit"}}]))
    assert (found.account, found.options) == ("", {})
    assert found.folder("audit") == Path("/mariadb-audit")
    with pytest.raises(UserError, match=r"(?s)'main'.*no folder 'config'.*mount 'config'"):
        found.folder("config")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["list: Invalid JSON"]),
        ("{}", ["list: Input should be a valid"]),
        (
            json.dumps([GIVEN | {"port": 0}, {"name": "b", "kind": "rq", "port": 1, "hots": "x"}, 5]),
            ["0.port: ", "1.host: Field required", "1.hots: Extra inputs", "2: Input should be an object"],
        ),
    ],
)
def test_all_that_is_wrong_with_specs_comes_at_once(text: str, told: list[str]) -> None:
    with pytest.raises(UserError) as raised:
        read_specs(text)
    for each in told:
        assert each in str(raised.value)
    assert "mend `stores`" in str(raised.value)
