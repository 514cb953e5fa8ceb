"""The check at registration against the fake: every line, and what each wrong credential or address is told."""

import base64
import json
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from clusters_app.kube.check import CheckLine, check
from clusters_app.kube.connection import Connection
from clusters_app.kube.expiry import expires_at
from clusters_app.kube.manifest import cluster_rules, flux_namespace_rules
from clusters_app.secret import Secret
from tests.kube.conftest import LOOPBACK, QUICK
from tests.testbed.fake_api import FakeApi, FakeCluster, faults
from tests.testbed.fake_api.authority import Authority, authority
from tests.testbed.fake_api.network import refusing

ALL_LINES = [
    "credential", "reachable", "certificate", "host-name", "authenticated", "version",
    "rights-enough", "rights-excess", "flux", "identity", "reading",
]  # fmt: skip


@pytest.fixture
def readable(cluster: FakeCluster) -> FakeCluster:
    """A cluster to which the read role was applied."""
    cluster.rules += cluster_rules()
    cluster.rules += [rule | {"namespace": "flux-system"} for rule in flux_namespace_rules()]
    return cluster


def run(connection: Connection) -> dict[str, CheckLine]:
    return {line.code: line for line in check(connection, LOOPBACK, now=datetime.now(UTC), limits=QUICK)}


def last(lines: dict[str, CheckLine]) -> CheckLine:
    return list(lines.values())[-1]


def test_a_token_of_the_read_role_passes_every_line(api: FakeApi, readable: FakeCluster) -> None:
    lines = run(api.connection(readable))
    assert list(lines) == ALL_LINES
    assert {line.state for line in lines.values()} == {"ok"}
    assert lines["identity"].value == readable.uid
    assert lines["version"].value == "v1.36.3"
    assert lines["flux"].text == "Flux v2.9.5 is installed."
    assert lines["reading"].text == "The first reading found 40 objects."


@pytest.mark.parametrize(
    ("rule", "power"),
    [
        (
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
            "read Secrets, write, impersonate others, run commands",
        ),
        ({"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"]}, "read Secrets"),
        ({"verbs": ["list"], "apiGroups": ["*"], "resources": ["*"]}, "read Secrets"),
        ({"verbs": ["patch"], "apiGroups": ["helm.toolkit.fluxcd.io"], "resources": ["helmreleases"]}, "write"),
        ({"verbs": ["create"], "apiGroups": [""], "resources": ["serviceaccounts/token"]}, "write"),
        ({"verbs": ["escalate"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"]}, "write"),
        ({"verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"]}, "impersonate others"),
        ({"verbs": ["create"], "apiGroups": [""], "resources": ["pods/exec"]}, "run commands in pods"),
        ({"verbs": ["get"], "apiGroups": [""], "resources": ["nodes/proxy"]}, "run commands in pods"),
        (
            {
                "verbs": ["get"],
                "apiGroups": [""],
                "resources": ["secrets"],
                "resourceNames": ["x"],
                "namespace": "team-1",
            },
            "read Secrets",
        ),
    ],
)
def test_a_token_that_can_do_too_much_is_refused(
    api: FakeApi, readable: FakeCluster, rule: dict[str, object], power: str
) -> None:
    readable.rules.append(rule)
    line = run(api.connection(readable))["rights-excess"]
    assert line.state == "failed"
    assert line.text.startswith(f"The credential can do too much: {power}")
    assert "kubectl create token flotilla-reader" in line.remedy


def test_a_token_that_can_read_more_is_warned_about(api: FakeApi, readable: FakeCluster) -> None:
    readable.rules.append({"verbs": ["get", "list"], "apiGroups": ["", "apps"], "resources": ["configmaps"]})
    line = run(api.connection(readable))["rights-excess"]
    assert line.state == "warning"
    assert line.text == "The credential can read more than is needed: configmaps, configmaps.apps."


def test_a_token_that_can_do_too_little_is_told_what_is_missing(api: FakeApi, cluster: FakeCluster) -> None:
    rules = [rule for rule in cluster_rules() if rule["apiGroups"] != ["helm.toolkit.fluxcd.io"]]
    cluster.rules += rules
    with cluster.playing(faults.forbidden(), on="helmreleases"):
        lines = run(api.connection(cluster))
    assert lines["rights-enough"].state == "failed"
    assert "list helmreleases.helm.toolkit.fluxcd.io" in lines["rights-enough"].text
    assert "list leases.coordination.k8s.io in flux-system" in lines["rights-enough"].text
    assert "kustomizations" not in lines["rights-enough"].text
    assert lines["reading"].state == "failed"


def test_a_wrong_token(api: FakeApi, readable: FakeCluster) -> None:
    lines = run(api.connection(readable, token="not-the-token-0123"))
    assert list(lines)[-1] == "authenticated"
    assert last(lines).state == "failed"
    assert last(lines).value == "kube.unauthorized"


def test_a_server_in_trouble_is_reachable_all_the_same(api: FakeApi, readable: FakeCluster) -> None:
    with readable.playing(faults.server_errors(99)):
        lines = run(api.connection(readable))
    assert list(lines) == ["credential", "reachable", "certificate", "host-name", "version"]
    assert last(lines).value == "kube.server-error"


def test_a_wrong_authority(api: FakeApi, readable: FakeCluster) -> None:
    lines = run(replace(api.connection(readable), ca_pem=Authority("other").pem))
    assert list(lines) == ["credential", "reachable", "certificate"]
    assert last(lines).state == "failed"
    assert "is not signed by the certificate authority that was registered" in last(lines).text


def test_a_wrong_name(api: FakeApi, readable: FakeCluster) -> None:
    lines = run(replace(api.connection(readable), tls_server_name="other.lab"))
    assert list(lines) == ["credential", "reachable", "certificate", "host-name"]
    assert last(lines).state == "failed"
    assert "other.lab" in last(lines).text


def test_nobody_at_the_address(api: FakeApi, readable: FakeCluster) -> None:
    with refusing() as port:
        lines = run(replace(api.connection(readable), server=f"https://127.0.0.1:{port}"))
    assert list(lines) == ["credential", "reachable"]
    assert last(lines).text == f"127.0.0.1:{port} refuses connections."


def test_an_address_that_is_not_allowed(api: FakeApi, readable: FakeCluster) -> None:
    lines = run(replace(api.connection(readable), server="https://169.254.169.254"))
    assert last(lines).value == "kube.address-refused"


def test_no_credential_at_all(api: FakeApi, readable: FakeCluster) -> None:
    lines = run(replace(api.connection(readable), token=None))
    assert list(lines) == ["credential"]
    assert last(lines).state == "failed"


def token_ending(ends: datetime) -> Secret:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": int(ends.timestamp())}).encode()).decode().rstrip("=")
    return Secret(f"eyJhbGciOiJub25lIn0.{claims}.c2lnbmF0dXJl")


def test_an_expired_token_is_refused_before_anybody_is_asked(api: FakeApi, readable: FakeCluster) -> None:
    """C054: the end is said with its date."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    lines = run(replace(api.connection(readable), token=token_ending(yesterday)))
    assert list(lines) == ["credential"]
    assert last(lines).state == "failed"
    assert last(lines).text == f"The credential ended on {yesterday:%Y-%m-%d %H:%M} UTC."
    assert not readable.requests


def test_a_certificate_that_ends_in_twenty_hours_is_loudly_warned_about(api: FakeApi, readable: FakeCluster) -> None:
    certificate, key = authority().issue(name="admin", days=(-1, 20 / 24))
    connection = replace(
        api.connection(readable), token=None, client_certificate_pem=certificate, client_key=Secret(key)
    )
    line = run(connection)["credential"]
    assert line.state == "warning"
    assert line.text.startswith("The credential ends soon, on ")
    assert line.value


@pytest.mark.parametrize(
    "token", ["opaque", "a.b.c", "a.!!!.c", "a." + base64.urlsafe_b64encode(b'{"exp":1e300}').decode() + ".c"]
)
def test_a_token_that_does_not_tell_its_end_is_fine(token: str) -> None:
    assert expires_at(Connection("https://prod.lab", token=Secret(token))) is None


def test_flux_is_not_there_yet(api: FakeApi, readable: FakeCluster) -> None:
    for kind in list(readable.kinds()):
        readable.serve(kind)
    lines = run(api.connection(readable))
    assert lines["flux"].state == "warning"
    assert lines["flux"].text.endswith("Flux is not installed on " + api.connection(readable).place + ".")
    assert lines["reading"].state == "ok"


def test_a_cluster_that_does_not_tell_about_rights_is_a_warning(api: FakeApi, readable: FakeCluster) -> None:
    with readable.playing(faults.forbidden(), on="selfsubjectrulesreviews"):
        line = run(api.connection(readable))["rights-excess"]
    assert line.state == "warning"
    assert "does not tell" in line.text


def test_an_old_cluster_that_cannot_say_who_we_are(api: FakeApi, readable: FakeCluster) -> None:
    with readable.playing(faults.refusal(404, "NotFound"), on="selfsubjectreviews"):
        assert run(api.connection(readable))["authenticated"].state == "ok"


@pytest.fixture
def bait(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An environment that would lead the official client astray, if it looked."""
    home = tmp_path_factory.mktemp("home")
    (home / ".kube").mkdir()
    (home / ".kube" / "config").write_text("current-context: evil\n")
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "9")
    return str(home)


def test_the_official_client_looks_at_nothing_of_this_machine(api: FakeApi, readable: FakeCluster, bait: str) -> None:
    run(api.connection(readable))  # imports happen here
    touched: list[str] = []
    is_watched = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if is_watched and (event.startswith(("subprocess.", "os.exec", "os.posix_spawn")) or event == "open"):
            touched.append(f"{event} {arguments[0]!r}")

    sys.addaudithook(hook)
    try:
        lines = run(api.connection(readable))
    finally:
        is_watched = False
    assert {line.state for line in lines.values()} == {"ok"}
    assert [entry for entry in touched if bait in entry or "kube" in entry or "subprocess" in entry] == []
