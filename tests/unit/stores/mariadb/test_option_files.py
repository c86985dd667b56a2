"""Option files are read and written as MariaDB understands them."""

from pathlib import Path

from incident_arena.stores.mariadb import option_files


def test_later_files_win_and_spelling_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "10.cnf").write_text("[mysqld]\nread-only = 1\nmax_connections=5\nskip-name-resolve\n")
    (tmp_path / "20.cnf").write_text("# read_only = 0\n[client]\nmax_connections=1\n[mariadb]\nREAD_ONLY='0'\n")
    (tmp_path / "notes.txt").write_text("[mysqld]\nread_only = 7\n")
    found = option_files.read(tmp_path)
    assert found == {"read_only": "0", "max_connections": "5", "skip_name_resolve": ""}


def test_a_written_setting_is_the_only_one_and_the_rest_stays(tmp_path: Path) -> None:
    first = tmp_path / "10.cnf"
    first.write_text("[client]\nread_only = 9\n[mysqld]\n# why\nread-only = 1\nmax_connections = 5\n")
    option_files.write(tmp_path, "read_only", "0")
    assert first.read_text() == "[client]\nread_only = 9\n[mysqld]\n# why\nmax_connections = 5\n"
    assert option_files.read(tmp_path) == {"read_only": "0", "max_connections": "5"}
    option_files.write(tmp_path, "read_only", "1")
    assert option_files.read(tmp_path)["read_only"] == "1"
    assert (tmp_path / option_files.OWN_FILE).read_text().count("read_only") == 1


def test_unset_takes_it_out_everywhere(tmp_path: Path) -> None:
    (tmp_path / "10.cnf").write_text("[server]\nread_only\n")
    option_files.write(tmp_path, "read_only", "1")
    option_files.write(tmp_path, "read_only", None)
    assert option_files.read(tmp_path) == {}


def test_files_are_not_writable_for_all(tmp_path: Path) -> None:
    option_files.write(tmp_path, "read_only", "1")
    assert (tmp_path / option_files.OWN_FILE).stat().st_mode & 0o777 == 0o644
