"""A node's certificate authority and certificates. The node is disposable: a day's validity, fast elliptic keys."""

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from incident_arena.node.spec import API_SERVICE_IP, NodeSpec

VALID = dt.timedelta(days=7)
CLIENTS = {
    # file name: (common name, organisation). `system:masters`, because the API server makes the roles for their own
    # names some time after it answers, and a component that is refused meanwhile waits seconds before it asks again.
    "admin": ("incident-arena", "system:masters"),
    "apiserver-kubelet-client": ("kube-apiserver", "system:masters"),
    "kube-controller-manager": ("system:kube-controller-manager", "system:masters"),
    "kube-scheduler": ("system:kube-scheduler", "system:masters"),
    "kube-proxy": ("system:kube-proxy", "system:masters"),
    "kube-policies": ("kube-policies", "system:masters"),
}


@dataclass(frozen=True)
class Authority:
    """A certificate authority: the node's own, or an episode's."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> str:
        """What whoever shall trust it needs."""
        return _pem(self.certificate).decode()

    @property
    def pair_pem(self) -> str:
        """Key and certificate, for whoever signs with it."""
        return _private(self.key).decode() + self.certificate_pem


def create(spec: NodeSpec) -> None:
    """Write `pki/`: ca.crt, apiserver.{crt,key}, sa.{key,pub}, kubelet.{crt,key} and a pair for each client."""
    folder = spec.folder / "pki"
    folder.mkdir(mode=0o700)
    authority = new_authority(f"incident-arena node {spec.name}")
    (folder / "ca.crt").write_bytes(_pem(authority.certificate))
    names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"]
    addresses = [spec.ip, "127.0.0.1", API_SERVICE_IP]
    _issue(authority, folder, "apiserver", "kube-apiserver", "", names=names, addresses=addresses)
    _issue(
        authority, folder, "kubelet", f"system:node:{spec.name}", "system:nodes", names=[spec.name], addresses=[spec.ip]
    )
    for name, (common_name, organisation) in CLIENTS.items():
        _issue(authority, folder, name, common_name, organisation)
    signer = rsa.generate_private_key(65537, 2048)
    (folder / "sa.key").write_bytes(_private(signer))
    public = signer.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (folder / "sa.pub").write_bytes(public)


def new_authority(common_name: str) -> Authority:
    """An authority that may sign certificates of servers and clients, not of other authorities."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    certificate = (
        _builder(name, name, key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Authority(certificate, key)


def _issue(
    authority: Authority,
    folder: Path,
    file: str,
    common_name: str,
    organisation: str,
    *,
    names: list[str] | None = None,
    addresses: list[str] | None = None,
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organisation:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation))
    builder = _builder(x509.Name(attributes), authority.certificate.subject, key).add_extension(
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
    )
    # Strict verifiers (Python 3.13's default) want to find the authority by its key.
    authority_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    builder = builder.add_extension(authority_key, critical=False)
    alternatives: list[x509.GeneralName] = [x509.DNSName(name) for name in names or []]
    alternatives += [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses or []]
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    (folder / f"{file}.crt").write_bytes(_pem(builder.sign(authority.key, hashes.SHA256())))
    (folder / f"{file}.key").write_bytes(_private(key))


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(minutes=5))
        .not_valid_after(now + VALID)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _private(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
