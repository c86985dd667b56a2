import pytest

from incident_arena import faults
from incident_arena.errors import UserError
from incident_arena.formats.task import PlantedFault
from incident_arena.stores.mariadb.faults import GrantsParameters, _matches


def test_faults_are_found_by_folder() -> None:
    assert faults.names() == ("mariadb.grants", "redis-queue.config")
    assert [faults.get(name).name for name in faults.names()] == list(faults.names())


def test_an_unknown_fault_lists_the_valid_ones() -> None:
    with pytest.raises(UserError, match=r"mariadb\.grants, redis-queue\.config"):
        faults.validate(PlantedFault(name="mariadb.grant"))


def test_parameters_are_read() -> None:
    planted = PlantedFault(name="mariadb.grants", parameters={"privileges": ["DELETE", "LOCK TABLES"]})
    assert faults.validate(planted) == GrantsParameters(privileges=("DELETE", "LOCK TABLES"))


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
        faults.validate(PlantedFault.model_validate({"name": name, "parameters": parameters}))
    assert told in str(raised.value)
    assert "its parameters: " in str(raised.value)


def test_all_that_is_wrong_comes_at_once() -> None:
    parameters = {"privileges": ["DELET"], "hots": "%"}
    with pytest.raises(UserError) as raised:
        faults.validate(PlantedFault.model_validate({"name": "mariadb.grants", "parameters": parameters}))
    assert "privileges.0" in str(raised.value)
    assert "hots" in str(raised.value)


def test_faults_say_what_is_broken() -> None:
    parameters = faults.validate(PlantedFault(name="redis-queue.config", parameters={"denied_commands": ["blmove"]}))
    assert faults.get("redis-queue.config").describe(parameters) == "the queue's user app may not call blmove"


@pytest.mark.parametrize(
    ("pattern", "name", "matching"),
    [
        ("site", "site", True), ("site", "site2", False), ("si%", "site", True), ("si_e", "site", True),
        (r"a\_b", "a_b", True), (r"a\_b", "axb", False), ("s.te", "site", False),
    ],
)  # fmt: skip
def test_database_patterns(pattern: str, name: str, *, matching: bool) -> None:
    assert _matches(pattern, name) is matching
