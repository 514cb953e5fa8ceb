"""Certificate authorities and server certificates, right and wrong in the ways that certificates go wrong."""

import ssl
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.x509.oid import NameOID

_DAY = timedelta(days=1)


class Authority:
    """One certificate authority, bare like those of older MicroK8s clusters: no key usage, no key identifiers.

    With `is_strict` it has both, for clients that insist on them.
    """

    def __init__(self, name: str = "fake-ca", *, is_strict: bool = False) -> None:
        self._is_strict = is_strict
        self._key = generate_private_key(SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.now(UTC)
        builder = _builder(self._name, self._name, self._key, now - _DAY, now + 365 * _DAY)
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        builder = builder.add_extension(constraints, critical=True)
        if is_strict:
            identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
            builder = builder.add_extension(_signing(), critical=True).add_extension(identifier, critical=False)
        self._certificate = builder.sign(self._key, hashes.SHA256())
        self.pem = self._certificate.public_bytes(serialization.Encoding.PEM).decode()

    def issue(self, *, name: str = "127.0.0.1", days: tuple[float, float] = (-1, 30)) -> tuple[str, str]:
        """A certificate for one host name or address, valid between two offsets in days from now, and its key."""
        key = generate_private_key(SECP256R1())
        now = datetime.now(UTC)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _builder(subject, self._name, key, now + days[0] * _DAY, now + days[1] * _DAY)
        names = x509.SubjectAlternativeName([_general_name(name)])
        builder = builder.add_extension(names, critical=False)
        if self._is_strict:
            identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
            builder = builder.add_extension(identifier, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        return certificate.public_bytes(serialization.Encoding.PEM).decode(), _key_pem(key)

    def server_context(self, *, name: str = "127.0.0.1", days: tuple[float, float] = (-1, 30)) -> ssl.SSLContext:
        """What a server that holds such a certificate needs. A client may show a certificate of this authority."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_verify_locations(cadata=self.pem)
        context.verify_mode = ssl.CERT_OPTIONAL
        certificate, key = self.issue(name=name, days=days)
        with TemporaryDirectory() as folder:
            path = Path(folder, "server.pem")
            path.write_text(certificate + key)
            context.load_cert_chain(path)
        return context


@cache
def authority() -> Authority:
    """The authority of every fake that asks for no other."""
    return Authority()


def _builder(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey, begins: datetime, ends: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins)
        .not_valid_after(ends)
    )


def _signing() -> x509.KeyUsage:
    others = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement")
    unset = dict.fromkeys((*others, "encipher_only", "decipher_only"), False)
    return x509.KeyUsage(key_cert_sign=True, crl_sign=True, **unset)


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _key_pem(key: EllipticCurvePrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
