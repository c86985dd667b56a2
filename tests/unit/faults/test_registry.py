import pytest

from incident_arena import faults
from incident_arena.errors import UserError
from incident_arena.formats.task import PlantedFault
from incident_arena.stores.mariadb.faults.grants import GrantsParameters, _matches

KINDS = {"mariadb": "mariadb", "redis-queue": "redis", "redis-cache": "redis", "jobs": "rq"}
"""Of the application's stores, as frappe's chart names them."""


def planted(name: str, **parameters: list[str] | str) -> PlantedFault:
    return PlantedFault.model_validate({"name": name, "parameters": parameters})


def test_faults_are_found_by_the_kind_of_each_store() -> None:
    assert faults.names(KINDS) == ("mariadb.grants", "redis-cache.config", "redis-queue.config")
    assert faults.names({"main": "mariadb"}) == ("main.grants",)
    assert (faults.aspects("mariadb"), faults.aspects("rq")) == (("grants",), ())
    with pytest.raises(UserError, match="no such kind"):
        faults.aspects("toaster")


@pytest.mark.parametrize("name", ["mariadb.grant", "postgres.grants", "grants", "jobs.config", "mariadb"])
def test_an_unknown_fault_lists_the_valid_ones(name: str) -> None:
    with pytest.raises(UserError, match=r"mariadb\.grants, redis-cache\.config, redis-queue\.config"):
        faults.read(planted(name), KINDS)


def test_a_fault_is_read_with_its_component_and_parameters() -> None:
    found = faults.read(planted("mariadb.grants", privileges=["DELETE", "LOCK TABLES"]), KINDS)
    assert (found.name, found.component) == ("mariadb.grants", "mariadb")
    assert found.parameters == GrantsParameters(privileges=("DELETE", "LOCK TABLES"))


@pytest.mark.parametrize(
    ("name", "parameters", "told"),
    [
        ("mariadb.grants", {}, "privileges: Field required"),
        ("mariadb.grants", {"privileges": []}, "privileges: Tuple should have at least 1 item"),
        ("mariadb.grants", {"privileges": ["DELET"]}, "'DELETE'"),
        ("redis-queue.config", {"denied_commands": ["blmove"], "users": "app"}, "users: Extra inputs"),
        ("redis-queue.config", {"denied_commands": ["config"]}, "'blmove'"),
    ],
)
def test_wrong_parameters_say_what_is_valid(name: str, parameters: dict[str, list[str]], told: str) -> None:
    with pytest.raises(UserError) as raised:
        faults.read(planted(name, **parameters), KINDS)
    assert told in str(raised.value)
    assert "its parameters: " in str(raised.value)


def test_all_that_is_wrong_comes_at_once() -> None:
    with pytest.raises(UserError) as raised:
        faults.read(planted("mariadb.grants", privileges=["DELET"], hots="%"), KINDS)
    assert "privileges.0" in str(raised.value)
    assert "hots" in str(raised.value)


def test_faults_say_what_is_broken() -> None:
    found = faults.read(planted("redis-queue.config", denied_commands=["blmove"]), KINDS)
    assert found.fault.describe(found.parameters) == "the user app may not call blmove"
    found = faults.read(planted("mariadb.grants", privileges=["DELETE"]), KINDS)
    assert found.fault.describe(found.parameters) == "site@% lacks DELETE on database site"


OLD_LIST = [
    ("mariadb/accounts/site@%/grants/database/site/DELETE", None, [True]),
    ("redis-queue/acl/live/app/commands/blmove", None, [True]),
    ("redis-queue/acl/file/app/commands/blmove", None, [True]),
    ("redis-queue/acl/live/app/commands/blpop", None, [True]),
    ("redis-queue/acl/file/app/commands/blpop", None, [True]),
]
"""What the first task's permitted list said by hand, as (path, before, after)."""


def test_the_repairs_of_the_first_task_are_what_its_list_said_by_hand() -> None:
    first = (
        planted("mariadb.grants", privileges=["DELETE"]),
        planted("redis-queue.config", denied_commands=["blmove", "blpop"]),
    )
    repairs = [permit for each in first for permit in faults.read(each, KINDS).repairs]
    assert sorted((permit.path, permit.before, permit.after) for permit in repairs) == sorted(OLD_LIST)
    rules = [permit.rule for permit in repairs]
    assert len(set(rules)) == len(rules)


def test_repairs_follow_the_component_and_the_parameters() -> None:
    found = faults.read(planted("cache.config", denied_commands=["lpop"], user="jobs"), {"cache": "redis"})
    assert [permit.path for permit in found.repairs] == [
        "cache/acl/live/jobs/commands/lpop",
        "cache/acl/file/jobs/commands/lpop",
    ]
    given = {"privileges": ["INSERT", "LOCK TABLES"], "user": "a", "host": "10.0.0.0/8", "database": "b/c"}
    found = faults.read(planted("main.grants", **given), {"main": "mariadb"})  # type: ignore[arg-type]
    assert [permit.path for permit in found.repairs] == [
        "main/accounts/a@10.0.0.0%2F8/grants/database/b%2Fc/INSERT",
        "main/accounts/a@10.0.0.0%2F8/grants/database/b%2Fc/LOCK TABLES",
    ]


@pytest.mark.parametrize(
    ("pattern", "name", "matching"),
    [
        ("site", "site", True), ("site", "site2", False), ("si%", "site", True), ("si_e", "site", True),
        (r"a\_b", "a_b", True), (r"a\_b", "axb", False), ("s.te", "site", False),
    ],
)  # fmt: skip
def test_database_patterns(pattern: str, name: str, *, matching: bool) -> None:
    assert _matches(pattern, name) is matching
