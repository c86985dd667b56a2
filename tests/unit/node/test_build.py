"""Which Go is used, and that the key follows the sources."""

import re
from pathlib import Path

import pytest

from incident_arena.errors import UserError
from incident_arena.node import build, manifests
from incident_arena.settings import Settings

SERVER = Path(build.__file__).parent / "go" / "coredns" / "main.go"


def program(folder: Path, version: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "go").write_text(f"#!/bin/sh\necho {version}\n")
    (folder / "go").chmod(0o755)


@pytest.mark.parametrize("version", ["go1.26.0", "go1.27rc1", "devel"])
def test_a_new_enough_go_on_the_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    program(tmp_path, version)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert build.find_go() == str(tmp_path / "go")


def test_an_old_go_is_refused_by_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "go1.19.8")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("sys.prefix", str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match=r"needs 1\.26 or newer; .* is go1\.19\.8"):
        build.find_go()


def test_the_go_beside_this_python_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "old", "go1.19.8")
    (tmp_path / "venv").mkdir()
    program(tmp_path / "venv" / "bin", "go1.26.8")
    monkeypatch.setenv("PATH", f"{tmp_path / 'old'}:/usr/bin:/bin")
    monkeypatch.setattr("sys.prefix", str(tmp_path / "venv"))
    assert build.find_go() == str(tmp_path / "venv" / "bin" / "go")


def test_binaries_of_another_source_do_not_count(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    (tmp_path / "bin-0000000000000000").mkdir()
    (tmp_path / "bin").symlink_to("bin-0000000000000000")
    assert not build.is_built(settings)
    with pytest.raises(UserError) as raised:
        build.require(settings)
    assert raised.value.remedy == "arena node build"
    (tmp_path / f"bin-{build.key()}").mkdir()
    (tmp_path / "bin").unlink()
    (tmp_path / "bin").symlink_to(f"bin-{build.key()}")
    assert build.require(settings) == tmp_path / f"bin-{build.key()}"


def test_the_name_servers_plugins_are_those_that_the_corefiles_name() -> None:
    """One that is missing ends CoreDNS at its start; one too many is compiled for nothing."""
    chart = Path(build.__file__).parents[1] / "harness" / "chart" / "templates" / "egress.yaml"
    ours = chart.read_text().partition("Corefile: |")[2].partition("\n{{- $")[0].partition("---")[0]
    blocks = [line.strip() for text in (manifests.COREFILE, ours) for line in text.splitlines()]
    named = {line.split()[0] for line in blocks if re.fullmatch(r"[a-z]+( .*)?", line)}
    known = set(re.findall(r'"github.com/coredns/coredns/plugin/(\w+)"', SERVER.read_text()))
    ordered = re.findall(r'"(\w+)",', SERVER.read_text().partition("Directives")[2])
    assert known == set(ordered)
    assert known == {name for name in named if name not in {"pods", "ttl", "rcode"}}
