"""How a server proves that it is the one that was meant."""

import ssl

import certifi

from clusters_app.egress.errors import EgressPermanent


def tls_context(ca_pem: str | None) -> ssl.SSLContext:
    """Chain, name and dates are verified, always; TLS 1.2 or newer.

    With `ca_pem` these authorities alone are trusted, whatever their form: cluster authorities often lack the key
    identifiers that OpenSSL's strict mode asks for. Raises `EgressPermanent` when the text holds no certificate.
    """
    # Not `create_default_context`: it writes session keys into the file that SSLKEYLOGFILE names.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.set_alpn_protocols(["http/1.1"])
    if ca_pem is None:
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        _trust_public_authorities(context)
    else:
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        _trust_only(context, ca_pem)
    return context


def _trust_public_authorities(context: ssl.SSLContext) -> None:
    paths = ssl.get_default_verify_paths()
    if paths.cafile or paths.capath:
        context.load_default_certs()
    else:
        context.load_verify_locations(certifi.where())


def _trust_only(context: ssl.SSLContext, ca_pem: str) -> None:
    try:
        context.load_verify_locations(cadata=ca_pem)
    except (ssl.SSLError, ValueError, TypeError) as error:
        raise EgressPermanent(
            "egress.bad-ca",
            "",
            "the certificate authority is no certificate in PEM form: paste it with its BEGIN and END lines",
        ) from error
