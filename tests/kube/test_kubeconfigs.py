"""What a person pastes: careful people's odd kubeconfigs are understood, and each refusal names the field."""

import base64
import json
from typing import Any

import pytest
import yaml

from clusters_app.kube.kubeconfig import ContextNotChosen, KubeconfigRefused, parse_kubeconfig
from tests.testbed.fake_api.authority import authority

CA = base64.b64encode(authority().pem.encode()).decode()
AUTHORITY = "certificate-authority-data"
type Document = dict[str, Any]


def kubeconfig(**changes: Any) -> Document:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "prod", "cluster": {"server": "https://prod.lab:6443", "certificate-authority-data": CA}}
        ],
        "users": [{"name": "reader", "user": {"token": "token-of-reader"}}],
        "contexts": [{"name": "prod", "context": {"cluster": "prod", "user": "reader"}}],
        "current-context": "prod",
    }
    return {key: value for key, value in (document | changes).items() if value is not None}


def user(**fields: Any) -> list[Document]:
    return [{"name": "reader", "user": fields}]


def cluster(**fields: Any) -> list[Document]:
    return [{"name": "prod", "cluster": {"server": "https://prod.lab:6443"} | fields}]


def parse(document: Document, context: str | None = None) -> Any:
    return parse_kubeconfig(yaml.safe_dump(document), context)


def test_an_ordinary_one_is_read() -> None:
    connection = parse(kubeconfig())
    assert connection.server == "https://prod.lab:6443"
    assert connection.ca_pem == authority().pem
    assert connection.token is not None
    assert connection.token.reveal() == "token-of-reader"


def test_a_client_certificate_is_read() -> None:
    certificate, key = authority().issue(name="reader")
    encoded = {"client-certificate-data": certificate, "client-key-data": key}
    fields = {name: base64.b64encode(text.encode()).decode() for name, text in encoded.items()}
    connection = parse(kubeconfig(users=user(**fields)))
    assert connection.client_certificate_pem == certificate
    assert connection.client_key is not None
    assert connection.token is None


def test_json_is_read_as_well_as_yaml() -> None:
    assert parse_kubeconfig(json.dumps(kubeconfig(), indent=2)).server == "https://prod.lab:6443"


def test_base64_may_be_broken_over_lines() -> None:
    wrapped = "\n".join(CA[start : start + 64] for start in range(0, len(CA), 64))
    assert parse(kubeconfig(clusters=cluster(**{"certificate-authority-data": wrapped}))).ca_pem == authority().pem


def test_a_name_may_be_an_arn() -> None:
    name = "arn:aws:eks:eu-north-1:111122223333:cluster/pay"
    document = kubeconfig(
        clusters=[{"name": name, "cluster": {"server": "https://pay.lab"}}],
        contexts=[{"name": name, "context": {"cluster": name, "user": "reader"}}],
    )
    assert parse(document | {"current-context": name}).server == "https://pay.lab"


@pytest.mark.parametrize("current", [None, ""])
def test_a_single_context_needs_no_choice(current: str | None) -> None:
    document = kubeconfig() | {"current-context": current}
    assert parse({key: value for key, value in document.items() if value is not None}).server == "https://prod.lab:6443"


def four_contexts() -> Document:
    names = ("dev", "stage", "prod", "lab")
    return kubeconfig(
        clusters=[{"name": name, "cluster": {"server": f"https://{name}.lab"}} for name in names],
        users=[
            {"name": "token", "user": {"token": "t-0123456789"}},
            {"name": "plugin", "user": {"exec": {"command": "aws"}}},
        ],
        contexts=[
            {"name": name, "context": {"cluster": name, "user": "plugin" if name == "lab" else "token"}}
            for name in names
        ],
    ) | {"current-context": ""}


def test_without_a_unique_choice_it_asks_and_says_what_each_can_offer() -> None:
    """C053."""
    with pytest.raises(ContextNotChosen) as asked:
        parse(four_contexts())
    offers = {offer.name: offer for offer in asked.value.offers}
    assert list(offers) == ["dev", "stage", "prod", "lab"]
    assert offers["stage"].server == "https://stage.lab"
    assert offers["stage"].offers == "token"
    assert offers["lab"].offers == ""
    assert offers["lab"].refusal == (
        "users[plugin].user.exec: it would run a program here; "
        "create a token instead: kubectl create token flotilla-reader -n flotilla-system"
    )


def test_the_answer_is_taken() -> None:
    assert parse(four_contexts(), "stage").server == "https://stage.lab"
    with pytest.raises(KubeconfigRefused, match="exec"):
        parse(four_contexts(), "lab")


def test_one_usable_context_among_others_is_taken() -> None:
    document = four_contexts()
    document["contexts"] = [entry for entry in document["contexts"] if entry["name"] in {"lab", "prod"}]
    assert parse(document).server == "https://prod.lab"


CLUSTER, USER = "clusters[prod].cluster", "users[reader].user"
NO_PEM = base64.b64encode(b"hello").decode()
TWICE = [*user(token="a-token"), *user(token="b-token")]
REFUSED: list[tuple[Document, str, str]] = [
    (kubeconfig() | {"current-context": "gone"}, "unknown-context", "current-context"),
    (kubeconfig(users=TWICE), "duplicate-name", "users[1].name"),
    (kubeconfig(users=[]), "unknown-user", "contexts[prod].context.user"),
    (kubeconfig(clusters=[]), "unknown-cluster", "contexts[prod].context.cluster"),
    (kubeconfig(contexts=[]) | {"current-context": ""}, "no-context", "contexts"),
    (kubeconfig(kind="Pod"), "not-a-kubeconfig", "kind"),
    (kubeconfig(users=user()), "no-credential", USER),
    (kubeconfig(users=user(token="two words")), "bad-token", f"{USER}.token"),
    (kubeconfig(users=user(token=12345)), "wrong-type", f"{USER}.token"),
    (kubeconfig(users=user(**{"client-certificate-data": CA})), "half-a-certificate", f"{USER}.client-key-data"),
    (kubeconfig(clusters=cluster(server="http://prod.lab")), "bad-server", f"{CLUSTER}.server"),
    (kubeconfig(clusters=cluster(server="https://u:p@prod.lab")), "bad-server", f"{CLUSTER}.server"),
    (kubeconfig(clusters=cluster(**{AUTHORITY: "!!!"})), "not-base64", f"{CLUSTER}.{AUTHORITY}"),
    (kubeconfig(clusters=cluster(**{AUTHORITY: NO_PEM})), "not-pem", f"{CLUSTER}.{AUTHORITY}"),
]
USER_FIELDS: Document = {
    "exec": {"command": "sh"},
    "auth-provider": {"name": "gcp"},
    "tokenFile": "/etc/passwd",
    "client-certificate": "/etc/passwd",
    "client-key": "/etc/passwd",
    "username": "admin",
    "password": "secret",
    "as": "system:admin",
    "as-groups": ["system:masters"],
}
CLUSTER_FIELDS: Document = {
    "certificate-authority": "/etc/passwd",
    "proxy-url": "socks5://evil.lab",
    "insecure-skip-tls-verify": True,
    "api-version": "v1",
}
REFUSED += [
    (kubeconfig(users=user(token="a-token", **{field: value})), "field-refused", f"{USER}.{field}")
    for field, value in USER_FIELDS.items()
]
REFUSED += [
    (kubeconfig(clusters=cluster(**{field: value})), "field-refused", f"{CLUSTER}.{field}")
    for field, value in CLUSTER_FIELDS.items()
]


@pytest.mark.parametrize(("document", "code", "field"), REFUSED, ids=[f"{code} {field}" for _, code, field in REFUSED])
def test_a_refusal_names_the_field(document: Document, code: str, field: str) -> None:
    with pytest.raises(KubeconfigRefused) as refused:
        parse(document)
    assert (refused.value.code, refused.value.field) == (f"kubeconfig.{code}", field)


@pytest.mark.parametrize(
    "text", ["", "   \n", "just text", "- a\n- b", "a: [", "a: 1\n---\na: 2\n", "a: &x [*x]", "{}"]
)
def test_what_is_no_kubeconfig_is_refused(text: str) -> None:
    with pytest.raises(KubeconfigRefused):
        parse_kubeconfig(text)


def test_a_refusal_repeats_no_value() -> None:
    with pytest.raises(KubeconfigRefused) as refused:
        parse(kubeconfig(users=user(token="secret token")))
    assert "secret" not in str(refused.value)
