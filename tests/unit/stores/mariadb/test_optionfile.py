from pathlib import Path

from incident_arena.stores.mariadb import optionfile


def test_meanings_not_bytes() -> None:
    one = optionfile.read(["[mysqld]", "read-only = 1", "innodb_buffer_pool_size=64M", "skip-name-resolve"])
    other = optionfile.read(
        ["# note", "[mariadbd]", "innodb-buffer-pool-size = 67108864", "", "[server]", "READ_ONLY=on  # why",
         "skip_name_resolve=yes"]
    )  # fmt: skip
    assert one == other == {
        "server/read_only": "ON",
        "server/innodb_buffer_pool_size": "67108864",
        "server/skip_name_resolve": "ON",
    }  # fmt: skip


def test_the_last_one_holds_and_groups_are_apart() -> None:
    facts = optionfile.read(["[mysqld]", "port=2", "port=3306", "[client]", "port='3307'", "!includedir /x"])
    assert facts == {"server/port": "3306", "client/port": "3307", "include/0": "!includedir /x"}


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b.cnf").write_text("[mysqld]\nread_only=0\n")
    (tmp_path / "a.cnf").write_text("[mysqld]\nread_only=1\nport=7\n")
    (tmp_path / "c.txt").write_text("[mysqld]\nread_only=1\n")
    (tmp_path / "d.cnf").write_bytes(b"\xff\xfe")
    assert optionfile.snapshot(tmp_path) == {
        "server/read_only": "OFF",
        "server/port": "7",
        "error/d.cnf": "UnicodeDecodeError",
    }
