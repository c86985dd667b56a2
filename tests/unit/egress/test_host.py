"""The machine's own proxy and authorities, as its environment names them."""

from pathlib import Path

import pytest

from incident_arena.egress import host
from incident_arena.egress.connect import Target, Via
from incident_arena.errors import UserError

MODEL = Target("api.example.com", 443)


@pytest.mark.parametrize(
    ("environment", "via"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://proxy:3128"}, Via("proxy", 3128)),
        ({"https_proxy": "http://proxy:3128"}, Via("proxy", 3128)),
        ({"ALL_PROXY": "http://proxy:3128"}, Via("proxy", 3128)),
        ({"HTTP_PROXY": "http://proxy:3128"}, None),
        ({"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "example.com"}, None),
        ({"HTTPS_PROXY": "http://proxy:3128", "no_proxy": "other.com,.example.com"}, None),
        ({"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "other.com"}, Via("proxy", 3128)),
        ({"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "*"}, None),
    ],
)
def test_the_machines_proxy(environment: dict[str, str], via: Via | None) -> None:
    assert host.proxy_for(MODEL, environment) == via


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1"])
def test_a_server_on_the_machine_itself_is_never_asked_through_a_proxy(name: str) -> None:
    assert host.proxy_for(Target(name, 8000), {"HTTPS_PROXY": "http://proxy:3128"}) is None


def test_a_proxy_that_is_set_wrongly_is_said_before_anything_starts() -> None:
    with pytest.raises(UserError, match="no HTTP proxy"):
        host.dialler({"HTTPS_PROXY": "socks5://proxy:1080"})


def test_everybody_whom_the_machine_trusts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system, own = tmp_path / "system.crt", tmp_path / "own.crt"
    system.write_text("system\n")
    own.write_text("own\n")
    monkeypatch.setattr(host, "SYSTEM_BUNDLE", system)
    assert host.authorities({}) == "system\n"
    assert host.authorities({"SSL_CERT_FILE": str(own), "REQUESTS_CA_BUNDLE": str(own)}) == "system\nown\n"
    monkeypatch.setattr(host, "SYSTEM_BUNDLE", tmp_path / "none")
    assert host.authorities({}) == ""
    with pytest.raises(UserError, match="certificates"):
        host.authorities({"SSL_CERT_FILE": str(tmp_path / "missing")})
