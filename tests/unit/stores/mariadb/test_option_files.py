"""Option files are read and written as MariaDB understands them."""

from pathlib import Path

from incident_arena.stores.mariadb import option_files


def test_later_files_win_and_spelling_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "10.cnf").write_text("[mysqld]\nread-only = 1\nmax_connections=5\nskip-name-resolve\n")
    (tmp_path / "20.cnf").write_text("# read_only = 0\n[client]\nmax_connections=1\n[mariadb]\nREAD_ONLY='0'  # why\n")
    (tmp_path / "notes.txt").write_text("[mysqld]\nread_only = 7\n")
    found = option_files.settings(tmp_path)
    assert found == {"read_only": "0", "max_connections": "5", "skip_name_resolve": ""}


def test_a_written_setting_is_the_only_one_and_the_rest_stays(tmp_path: Path) -> None:
    first = tmp_path / "10.cnf"
    first.write_text("[client]\nread_only = 9\n[mysqld]\n# why\nread-only = 1\nmax_connections = 5\n")
    option_files.write(tmp_path, "read_only", "0")
    assert first.read_text() == "[client]\nread_only = 9\n[mysqld]\n# why\nmax_connections = 5\n"
    assert option_files.settings(tmp_path) == {"read_only": "0", "max_connections": "5"}
    option_files.write(tmp_path, "read_only", "1")
    assert option_files.settings(tmp_path)["read_only"] == "1"
    assert (tmp_path / option_files.OWN_FILE).read_text().count("read_only") == 1


def test_unset_takes_it_out_everywhere(tmp_path: Path) -> None:
    (tmp_path / "10.cnf").write_text("[server]\nread_only\n")
    option_files.write(tmp_path, "read_only", "1")
    option_files.write(tmp_path, "read_only", None)
    assert option_files.settings(tmp_path) == {}


def test_files_are_not_writable_for_all(tmp_path: Path) -> None:
    option_files.write(tmp_path, "read_only", "1")
    assert (tmp_path / option_files.OWN_FILE).stat().st_mode & 0o777 == 0o644


def test_meanings_not_bytes() -> None:
    one = option_files.picture(["[mysqld]", "read-only = 1", "innodb_buffer_pool_size=64M", "skip-name-resolve"])
    other = option_files.picture(
        ["# note", "[mariadbd]", "innodb-buffer-pool-size = 67108864", "", "[server]", "READ_ONLY=on  # why",
         "skip_name_resolve=yes"]
    )  # fmt: skip
    assert one == other == {
        "server/read_only": "ON",
        "server/innodb_buffer_pool_size": "67108864",
        "server/skip_name_resolve": "ON",
    }  # fmt: skip


def test_the_last_one_holds_and_groups_are_apart() -> None:
    facts = option_files.picture(["[mysqld]", "port=2", "port=3306", "[client]", "port='3307'", "!includedir /x"])
    assert facts == {"server/port": "3306", "client/port": "3307", "include/0": "!includedir /x"}


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b.cnf").write_text("[mysqld]\nread_only=0\n")
    (tmp_path / "a.cnf").write_text("[mysqld]\nread_only=1\nport=7\n")
    (tmp_path / "c.txt").write_text("[mysqld]\nread_only=1\n")
    (tmp_path / "d.cnf").write_bytes(b"\xff\xfe")
    assert option_files.snapshot(tmp_path) == {
        "server/read_only": "OFF",
        "server/port": "7",
        "error/d.cnf": "UnicodeDecodeError",
    }


def test_a_picture_and_the_settings_see_the_same_options(tmp_path: Path) -> None:
    (tmp_path / "a.cnf").write_text(
        "[mysqld-10.11] # ours\nsort-buffer-size = 1M # why\n[ MariaDB ]\nhz\n[client]\nx=1\n"
    )
    assert option_files.settings(tmp_path) == {"sort_buffer_size": "1M", "hz": ""}
    assert option_files.snapshot(tmp_path) == {
        "server/sort_buffer_size": "1048576",
        "server/hz": "ON",
        "client/x": "ON",
    }
