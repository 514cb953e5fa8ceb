"""Messages about reaching a server: names, connections, certificates, credentials, limits."""

from __future__ import annotations

from .rule import CHEAT_SHEET, GIT, _, rule

RULES = (
    rule(
        "x509-expired",
        r"x509: certificate has expired or is not yet valid(?:: current time (?P<now>\S+) is "
        r"(?P<relation>after|before) (?P<limit>\S+))?",
        _("The certificate of {host} is outside its dates: at {now} it was {relation} {limit}."),
        _(
            "Renew the certificate of {host}; if its dates are right, correct the clock of the node that runs "
            "{controller}."
        ),
        "openssl s_client -connect {host} </dev/null | openssl x509 -noout -dates",
    ),
    rule(
        "x509-name-mismatch",
        r"x509: (?:certificate is valid for (?P<names>.+?), not (?P<wanted>[\w.:\-]+)|cannot validate"
        r" certificate for (?P<address>[\w.:]+) because it doesn't contain any IP SANs|certificate"
        r" is not valid for any names, but wanted to match (?P<other>[\w.:\-]+)|certificate relies"
        r" on legacy Common Name field)",
        _("{host} answers with a certificate for another name ({names}) than the one that {me} asks for."),
        _(
            "Use a name in the URL that the certificate holds, or give {host} a certificate with this name among "
            "its subject alternative names. Behind a proxy the server may pick its certificate by the name that is "
            "asked for (SNI)."
        ),
        "openssl s_client -connect {host} </dev/null | openssl x509 -noout -ext subjectAltName",
    ),
    rule(
        "x509-unknown-authority",
        (
            r"x509: certificate (?:signed by unknown authority|is not trusted)",
            r"unable to get local issuer certificate",
            r"self[- ]signed certificate(?: in certificate chain)?",
            r"certificate verify failed",
        ),
        _(
            "{controller} does not trust {host}: its certificate is signed by an authority that {controller} does "
            "not know."
        ),
        _(
            "Put the authority's certificate as ca.crt into a Secret of namespace {ns} and name it in "
            "{ca_field} of {me}."
        ),
        "kubectl -n {ns} create secret generic {name}-ca --from-file=ca.crt",
    ),
    rule(
        "tls-handshake-failed",
        (
            r"remote error: tls: (?P<alert>[\w ]+)",
            r"tls: (?:handshake failure|no supported versions|protocol version not supported|bad certificate)",
        ),
        _("{host} and {controller} cannot agree on TLS: {first_line}"),
        _("See which TLS versions and client certificates {host} wants."),
        "openssl s_client -connect {host} </dev/null",
    ),
    rule(
        "ssh-host-key-mismatch",
        (
            r"knownhosts: key (?:mismatch|is unknown)",
            r"host key verification failed",
            r"hostkey could not be verified",
            r"ssh: .*host key.*(?:mismatch|unknown)",
        ),
        _("The SSH key that {host} shows is not the one in known_hosts of the Secret {secret}."),
        _(
            "Make sure that the change is meant (a new server, a new key), then replace known_hosts in the Secret "
            "{ns}/{secret}."
        ),
        "ssh-keyscan {host}",
        f"{GIT}#ssh-authentication",
    ),
    rule(
        "ssh-identity-missing",
        r"'(?P<missing>identity|known_hosts)' is required",
        _("An SSH URL needs a private key and known_hosts, and {me} has no '{missing}'."),
        _("Create a Secret with identity, identity.pub and known_hosts and name it in spec.secretRef."),
        "flux create secret git {secret} -n {ns} --url={url}",
        f"{GIT}#ssh-authentication",
    ),
    rule(
        "rate-limited",
        (
            r"TOOMANYREQUESTS",
            r"too many requests",
            # The limiter of a client's own is no registry that refuses: it speaks when a deadline is near.
            r"(?<!client )rate limit",
            r"\b429\b",
        ),
        _("{host} refuses to answer because too many requests came from here."),
        _(
            "Log in (an account has a higher limit), ask less often with a longer spec.interval, or go through a "
            "mirror."
        ),
    ),
    rule(
        "authentication-failed",
        (
            r"authentication required",
            r"failed to authenticate",
            r"\bUNAUTHORIZED\b",
            r"\b401\b",
            r"(?-i:\bDENIED: )",
            r"denied: requested access to the resource is denied",
            r"authorization failed",
            r"invalid (?:username|credentials|token)",
            r"unable to authenticate",
            r"permission denied \(publickey",
            r"\b403 Forbidden",
            r"status code: 403",
            r"InvalidAccessKeyId",
            r"SignatureDoesNotMatch",
            r"AccessDenied: ",
            r"could not read Username",
            r"bad credentials",
            r"access key id you provided does not exist",
            r"request signature we calculated does not match",
            r"\bAccess Denied\b",
            r"incorrect username or password",
        ),
        _("{host} does not accept the credentials of {me}, or none were given."),
        _(
            "Give a Secret in namespace {ns} with credentials that may do this, and name it in spec.secretRef (now:"
            " {secret})."
        ),
        "kubectl -n {ns} get secret {secret}",
    ),
    rule(
        "dns-failure",
        (
            (
                r"lookup (?P<looked_up>[\w.\-]+)(?: on [\d.:\[\]a-f]+)?: (?:no such host|server misbehaving|.*i/o"
                r" timeout|.*Temporary failure)"
            ),
            r"no such host",
            r"could not resolve host",
        ),
        _("The name {looked_up} cannot be resolved inside the cluster."),
        _("Correct the host in the URL {url}, or teach the cluster's DNS this name."),
        "kubectl run dns --rm -it --restart=Never --image=busybox -- nslookup {looked_up}",
    ),
    rule(
        "connection-refused",
        (
            r"connection refused",
            r"no route to host",
            r"network is unreachable",
            r"connection reset by peer",
            r"host is down",
        ),
        _("{host} does not accept connections: nothing listens there, or a firewall or network policy is in the way."),
        _("See whether {host} is up and reachable from the cluster, and whether the port in {url} is right."),
        "kubectl -n flux-system exec deploy/{controller} -- wget -qO- {url}",
    ),
    rule(
        "forge-unavailable",
        (
            r"status code: 5\d\d",
            r"\b50[0234]\b:? (?:Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out)",
            r"unexpected status(?: code)? 5\d\d",
            r"\b5\d\d (?:Service Unavailable|Bad Gateway)",
        ),
        _("{host} is up but answers with a server error."),
        _("Look at {host}: it is overloaded, in maintenance or broken. Flux keeps trying."),
    ),
    rule(
        "timeout",
        (
            r"context deadline exceeded",
            r"i/o timeout",
            r"Client\.Timeout",
            r"request canceled while waiting",
            r"TLS handshake timeout",
            r"\btimed? ?out\b",
        ),
        _("{host} did not answer in time."),
        _("See whether {host} is slow or blocked; a large repository may need a longer spec.timeout."),
    ),
    rule(
        "connection-lost",
        (
            r"unexpected EOF",
            r"\bEOF\b",
            r"broken pipe",
            r"stream error",
            r"server closed",
        ),
        _("{host} closed the connection in the middle."),
        _("Look at {host} and at proxies between it and the cluster."),
        link=CHEAT_SHEET,
    ),
)
