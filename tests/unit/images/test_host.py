"""What a build takes over from the machine."""

import configparser
from pathlib import Path

from incident_arena.images import host


def apt(tmp_path: Path, **files: str) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    for name, text in files.items():
        (tmp_path / name.replace("__", "/").replace("_", ".")).write_text(text)
    return tmp_path


def test_mirrors_in_the_new_format(tmp_path: Path) -> None:
    text = "Types: deb\nURIs: http://mirror.test/debian/\n\nTypes: deb\nURIs: http://mirror.test/debian-security\n"
    folder = apt(tmp_path, sources_list_d__debian_sources=text)
    assert host.mirrors(folder) == ("http://mirror.test/debian", "http://mirror.test/debian-security")


def test_mirrors_in_the_old_format(tmp_path: Path) -> None:
    text = "# deb http://old.test/debian x main\ndeb [arch=amd64] http://mirror.test/debian bookworm main\n"
    assert host.mirrors(apt(tmp_path, sources_list=text)) == (
        "http://mirror.test/debian",
        "http://mirror.test/debian-security",
    )


def test_a_machine_that_is_no_debian_takes_debians_own(tmp_path: Path) -> None:
    folder = apt(tmp_path, sources_list="deb http://archive.test/ubuntu noble main\n")
    assert host.mirrors(folder) == (host.DEBIAN, f"{host.DEBIAN}-security")


def configuration(text: str) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    return dict(parser["global"])


def test_pip_takes_files_and_variables_and_variables_win(tmp_path: Path) -> None:
    file = tmp_path / ".config/pip/pip.conf"
    file.parent.mkdir(parents=True)
    file.write_text("[global]\nindex-url = https://file.test/simple\ntimeout = 5\n[list]\nformat = json\n")
    told = configuration(host.pip_configuration({"PIP_INDEX_URL": "https://variable.test/simple"}, tmp_path))
    assert told["index-url"] == "https://variable.test/simple"
    assert told["timeout"] == "5"
    assert "format" not in told


def test_local_paths_are_left_out(tmp_path: Path) -> None:
    told = configuration(host.pip_configuration({"PIP_FIND_LINKS": "/opt/wheels", "PIP_TARGET": "x"}, tmp_path))
    assert "find-links" not in told
    assert "target" not in told


def test_certificates_only_when_the_machine_names_some(tmp_path: Path) -> None:
    bundle = tmp_path / "ca.crt"
    assert host.certificates({"SSL_CERT_FILE": str(bundle)}) is None
    assert "cert" not in configuration(host.pip_configuration({}, tmp_path))
    bundle.write_text("x")
    variables = {"SSL_CERT_FILE": str(bundle)}
    assert host.certificates(variables) == bundle
    assert configuration(host.pip_configuration(variables, tmp_path))["cert"] == host.CA_TARGET


def test_npm_is_told_what_the_machines_npm_is_told_without_local_paths(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text(
        "; a comment\nregistry = http://mirror.example/npm/\ncache=/root/.npm\n//mirror.example/:_auth=${WORD}\n"
    )
    (tmp_path / "bundle").write_text("x")
    told = host.npm_configuration({"WORD": "w", "npm_config_fetch_retries": "9"}, tmp_path)
    assert "registry=http://mirror.example/npm/\n" in told
    assert "//mirror.example/:_auth=w\n" in told
    assert "fetch-retries=9\n" in told
    assert "cache" not in told
    assert "cafile" not in told
    assert f"cafile={host.CA_TARGET}\n" in host.npm_configuration({"SSL_CERT_FILE": str(tmp_path / "bundle")}, tmp_path)
