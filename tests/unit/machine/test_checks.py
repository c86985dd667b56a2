"""Every lack is found, each with its remedy."""

from pathlib import Path

import pytest

from incident_arena.machine import checks
from incident_arena.settings import Settings


def test_missing_programs_are_all_found_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {finding.name: finding for finding in checks.all_findings(Settings(home=tmp_path))}
    for program, package in checks.PROGRAMS.items():
        assert not found[program].ok
        assert found[program].package == package
        assert found[program].remedy == f"apt-get install {package}"
    assert not found["go"].ok


def test_a_full_disk_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "DISK_GIB", 10**6)
    found = {finding.name: finding for finding in checks.all_findings(Settings(home=tmp_path))}
    assert not found["disk"].ok
    assert "ARENA_HOME" in found["disk"].remedy


def test_a_plain_user_is_told_to_use_sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    found = {finding.name: finding for finding in checks.all_findings(Settings(home=tmp_path))}
    assert not found["root"].ok
    assert found["root"].seen == "user 1000"
