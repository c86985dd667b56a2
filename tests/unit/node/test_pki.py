"""Certificates that strict verifiers accept, for the names and addresses that are used."""

import socket
import ssl
import threading
from pathlib import Path

import pytest

from incident_arena.node import pki
from incident_arena.node.spec import NodeSpec


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> NodeSpec:
    folder = tmp_path_factory.mktemp("node")
    spec = NodeSpec("n", 7, folder, folder, "10.200", "c/n", "pause")
    pki.create(spec)
    return spec


def greet(spec: NodeSpec, name: str, authority: Path) -> str | None:
    """Shake hands with a server that has the API server's certificate, verifying strictly: the client's name."""
    folder = spec.folder / "pki"
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(folder / "ca.crt"))
    server.load_cert_chain(folder / "apiserver.crt", folder / "apiserver.key")
    server.verify_mode = ssl.CERT_REQUIRED
    client = ssl.create_default_context(cafile=str(authority))
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    client.load_cert_chain(folder / "kubelet.crt", folder / "kubelet.key")
    left, right = socket.socketpair()
    seen: list[str] = []

    def serve() -> None:
        try:
            with server.wrap_socket(right, server_side=True) as connection:
                subject = dict(part[0] for part in connection.getpeercert()["subject"])  # type: ignore[index]
                seen.append(subject["commonName"])
        except (ssl.SSLError, OSError):
            right.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with client.wrap_socket(left, server_hostname=name):
            pass
    finally:
        left.close()
        thread.join(5)
    return seen[0] if seen else None


@pytest.mark.parametrize("name", ["10.200.7.2", "10.96.0.1", "kubernetes.default.svc", "127.0.0.1"])
def test_the_api_server_is_verified_strictly_by_each_of_its_names(spec: NodeSpec, name: str) -> None:
    assert greet(spec, name, spec.folder / "pki" / "ca.crt") == "system:node:n"


def test_another_name_is_refused(spec: NodeSpec) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        greet(spec, "10.200.8.2", spec.folder / "pki" / "ca.crt")


def test_another_authority_is_refused(spec: NodeSpec, tmp_path: Path) -> None:
    other = NodeSpec("n", 7, tmp_path, tmp_path, "10.200", "c/n", "pause")
    pki.create(other)
    with pytest.raises(ssl.SSLCertVerificationError):
        greet(spec, "10.200.7.2", tmp_path / "pki" / "ca.crt")


def test_keys_are_for_root_alone(spec: NodeSpec) -> None:
    assert (spec.folder / "pki").stat().st_mode & 0o077 == 0
