"""The MariaDB picture against a real server."""

import time
from pathlib import Path

import pytest
from tests.support.servers import Maria

from incident_arena.formats.records import Facts
from incident_arena.stores.mariadb import picture as mariadb

pytestmark = pytest.mark.node

ROWS = mariadb.Rows(
    moving={"tabToDo": "the load writes it", "tabUser": "last_active"}, columns={"tabUser": ("name", "enabled")}
)


def picture(maria: Maria, options: Path | None = None) -> Facts:
    return mariadb.snapshot(maria.sql, options, database="site", rows=ROWS)


def changed(before: Facts, after: Facts) -> dict[str, object]:
    paths = before.keys() | after.keys()
    return {path: after.get(path) for path in sorted(paths) if before.get(path) != after.get(path)}


def difference(maria: Maria, *statements: str) -> dict[str, object]:
    before = picture(maria)
    for statement in statements:
        maria.sql.query(statement)
    return changed(before, picture(maria))


def test_what_the_application_does_is_no_difference(maria: Maria) -> None:
    assert (
        difference(
            maria,
            "INSERT INTO site.tabToDo VALUES ('1', 'x')",
            "UPDATE site.tabUser SET last_active = NOW() + INTERVAL 1 DAY",
            "FLUSH TABLES",
            "ANALYZE TABLE site.tabToDo, site.tabRole",
        )
        == {}
    )


def test_a_grant_is_a_difference_of_just_its_privileges(maria: Maria) -> None:
    base = "accounts/site@%/grants"
    assert difference(maria, "REVOKE DELETE ON site.* FROM site@'%'") == {f"{base}/database/site/DELETE": None}
    assert difference(maria, "GRANT DELETE ON site.* TO site@'%'") == {f"{base}/database/site/DELETE": True}
    assert difference(maria, "GRANT ALL ON site.* TO site@'%'") == {}
    assert difference(maria, "GRANT ALL ON site.* TO site@'%' WITH GRANT OPTION") == {
        f"{base}/database/site/GRANT OPTION": True
    }
    assert difference(maria, "GRANT DELETE ON site.tabToDo TO site@'%'") == {f"{base}/table/site.tabToDo/DELETE": True}
    assert difference(maria, "GRANT UPDATE (enabled) ON site.tabUser TO site@'%'") == {
        f"{base}/column/site.tabUser.enabled/UPDATE": True
    }
    everywhere = difference(maria, "GRANT ALL ON *.* TO site@'%'")
    assert everywhere[f"{base}/global/SUPER"] is True
    assert all(path.startswith(f"{base}/global/") or path.endswith("effective") for path in everywhere)


def test_roles_and_public(maria: Maria) -> None:
    found = difference(
        maria, "CREATE ROLE deleter", "GRANT INSERT ON *.* TO deleter", "GRANT DELETE ON site.* TO deleter",
        "GRANT deleter TO site@'%'", "SET DEFAULT ROLE deleter FOR site@'%'",
    )  # fmt: skip
    assert found["accounts/deleter@/grants/database/site/DELETE"] is True
    assert found["accounts/deleter@/grants/global/INSERT"] is True
    assert found["accounts/site@%/grants/role/deleter"] == "member"
    assert found["accounts/site@%/other/default_role"] == "deleter"
    public = difference(maria, "GRANT DELETE ON site.* TO PUBLIC")
    assert public["accounts/PUBLIC@/grants/database/site/DELETE"] is True
    maria.sql.query("REVOKE DELETE ON site.* FROM PUBLIC")


def test_accounts(maria: Maria) -> None:
    base = "accounts/site@%"
    limited = difference(maria, "ALTER USER site@'%' WITH MAX_USER_CONNECTIONS 3")
    assert limited.pop(f"{base}/limits/max_user_connections") == 3
    assert set(limited) == {f"{base}/effective"}
    assert difference(maria, "ALTER USER site@'%' ACCOUNT LOCK")[f"{base}/locked"] is True
    password = difference(maria, "SET PASSWORD FOR site@'%' = PASSWORD('other')")
    assert f"{base}/authentication/0" in password
    assert "other" not in str(password)
    second = difference(maria, "CREATE USER second@'%' IDENTIFIED BY 'x'")
    assert second["accounts/second@%/locked"] is False


def test_globals_schema_and_rows(maria: Maria) -> None:
    assert difference(maria, "SET GLOBAL read_only = 1") == {"globals/live/read_only": "ON"}
    maria.sql.query("SET GLOBAL read_only = 0")
    assert set(difference(maria, "ALTER TABLE site.tabRole ADD COLUMN extra INT")) == {"schema/site/table/tabRole"}
    assert set(difference(maria, "CREATE INDEX i ON site.tabToDo (description(10))")) == {"schema/site/table/tabToDo"}
    assert set(
        difference(maria, "CREATE TRIGGER site.t BEFORE INSERT ON site.tabToDo FOR EACH ROW SET NEW.description = ''")
    ) == {"schema/site/trigger/t"}
    assert set(difference(maria, "CREATE PROCEDURE site.p() SELECT 1")) == {"schema/site/routine/PROCEDURE p"}
    assert set(difference(maria, "CREATE EVENT site.e ON SCHEDULE EVERY 1 HOUR DO SELECT 1")) == {"schema/site/event/e"}
    assert set(difference(maria, "UPDATE site.tabUser SET enabled = 0 WHERE name = 'ann/b'")) == {
        "rows/site.tabUser/ann%2Fb"
    }
    assert set(difference(maria, "DELETE FROM site.tabRole")) == {"rows/site.tabRole"}


def test_a_picture_of_a_site_takes_under_two_seconds(maria: Maria) -> None:
    for number in range(235):
        maria.sql.query(f"CREATE TABLE site.tab{number} (name INT PRIMARY KEY, a TEXT, b INT, KEY (b))")
    started = time.monotonic()
    facts = picture(maria)
    assert time.monotonic() - started < 2
    assert sum(path.startswith("schema/site/table/") for path in facts) == 238


def test_option_files_are_in_it(maria: Maria, tmp_path: Path) -> None:
    (tmp_path / "server.cnf").write_text("[mysqld]\nread-only=1\n")
    assert picture(maria, tmp_path)["globals/file/server/read_only"] == "ON"
