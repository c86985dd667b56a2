"""What the runbook calls intended is what the chart sets up, and what the second right fix restores."""

import pytest
import yaml

from incident_arena.folders import PACKAGE

FRAPPE = PACKAGE / "substrates" / "frappe"
SECOND = FRAPPE / "tasks" / "deletes-and-jobs-fail" / "solution" / "second.sh"


@pytest.fixture(scope="module")
def runbook() -> str:
    return (FRAPPE / "runbook.md").read_text()


@pytest.fixture(scope="module")
def values() -> dict:
    return yaml.safe_load((FRAPPE / "chart" / "values.yaml").read_text())


def test_the_runbook_has_the_intended_values(runbook: str, values: dict) -> None:
    mariadb, redis = values["mariadb"], values["redis"]
    assert f"    {redis['appRules']}\n" in runbook
    assert f"on database `site`: {', '.join(mariadb['sitePrivileges'])};" in runbook
    assert f"at most {mariadb['siteMaxUserConnections']} connections" in runbook
    assert f"| mariadb `max_connections` | {mariadb['options']['max_connections']} |" in runbook
    for store in ("redis-cache", "redis-queue"):
        size, policy = redis[store]["maxmemory"].replace("mb", " MB"), redis[store]["maxmemory-policy"]
        assert f"| {store} `maxmemory`, `maxmemory-policy` | {size}, `{policy}`" in runbook
    assert f"every {values['scheduler']['tickSeconds']} s" in runbook


def test_the_runbook_names_every_component(runbook: str, values: dict) -> None:
    for component in values["harness"]["application"]["components"]:
        assert component in runbook


def test_the_runbook_knows_nothing_of_an_incident(runbook: str) -> None:
    for word in ("incident-arena", "a fault", "planted", "blmove", "blpop", "1142", "NOPERM"):
        assert word not in runbook


def test_the_second_fix_sets_the_intended_rules(values: dict) -> None:
    line = next(line for line in SECOND.read_text().splitlines() if "acl-set" in line)
    given = line.replace("'", "").split("acl-set app ")[1].split()
    assert [rule for rule in given if not rule.startswith("reset")] == sorted(
        values["redis"]["appRules"].split(), key=given.index
    )
    assert given.index("resetkeys") < given.index("~*")
