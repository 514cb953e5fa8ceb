"""The way out, against real servers that do what they should not."""

import gzip
import socket
import ssl
import threading
import time
import tracemalloc
import warnings
import zlib
from collections.abc import Iterator

import pytest

from clusters_app.egress import EgressError, EgressPermanent, EgressTransient, Policy, Session, tls_context
from clusters_app.secret import Secret
from tests.doors.servers import DAY, NOW, Authority, Handler, answering, ok, read_request, serving

LOOPBACK = Policy.from_settings({"EGRESS_ALLOW_NETWORKS": "127.0.0.0/8"})


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="module")
def context(authority: Authority) -> ssl.SSLContext:
    return authority.server_context()


@pytest.fixture
def session(authority: Authority) -> Iterator[Session]:
    with Session(LOOPBACK, ca_pem=authority.pem, deadline_seconds=5, max_bytes=100_000) as session:
        yield session


def failure(session: Session, handler: Handler, context: ssl.SSLContext, **options: object) -> EgressError:
    with serving(handler, context) as server, pytest.raises(EgressError) as caught:
        session.request("GET", server.url(), **options)  # type: ignore[arg-type]
    assert "127.0.0.1" in caught.value.message
    return caught.value


# What works


def test_an_answer_is_complete_and_the_connection_is_kept(session: Session, context: ssl.SSLContext) -> None:
    with serving(answering(ok(b'{"a": 1}', b"X-Thing: b"), ok(b"two")), context) as server:
        first = session.request("GET", server.url("/a?b=c"))
        second = session.request("GET", server.url())
    assert (first.status, first.body, first.headers["x-thing"]) == (200, b'{"a": 1}', "b")
    assert second.body == b"two"
    assert server.connections == 1


def test_what_is_sent_is_what_was_asked(session: Session, context: ssl.SSLContext) -> None:
    seen: list[bytes] = []

    def handler(connection: socket.socket) -> None:
        seen.append(read_request(connection))
        connection.sendall(ok())

    with serving(handler, context) as server:
        session.request(
            "POST", server.url("/x"), headers={"Authorization": Secret("token abc")}, json={"name": "Щука", "n": [1]}
        )
    head, _, body = seen[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /x HTTP/1.1\r\n")
    assert b"Authorization: token abc" in head
    assert f"Host: 127.0.0.1:{server.port}".encode() in head
    assert body.decode() == '{"name":"Щука","n":[1]}'


def test_errors_of_the_server_are_answers(session: Session, context: ssl.SSLContext) -> None:
    answer = b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"
    with serving(answering(answer), context) as server:
        got = session.request("GET", server.url())
    assert (got.status, got.headers["retry-after"]) == (503, "7")


def test_gzip_and_chunks_are_undone(session: Session, context: ssl.SSLContext) -> None:
    packed = gzip.compress(b"x" * 50_000)
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    for start in range(0, len(packed), 10):
        piece = packed[start : start + 10]
        answer += b"%x\r\n%s\r\n" % (len(piece), piece)
    with serving(answering(answer + b"0\r\n\r\n"), context) as server:
        assert session.request("GET", server.url()).body == b"x" * 50_000


def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again(
    session: Session, context: ssl.SSLContext
) -> None:
    with serving(answering(ok()), context) as server:
        session.request("GET", server.url())
        time.sleep(0.2)
        session.request("GET", server.url())
    assert server.connections == 2


def test_many_threads_share_a_session(session: Session, context: ssl.SSLContext) -> None:
    def handler(connection: socket.socket) -> None:
        while request := read_request(connection):
            connection.sendall(ok(request.split(b" ")[1]))

    wrong: list[bytes] = []

    def ask(number: int) -> None:
        for turn in range(10):
            path = f"/{number}-{turn}"
            body = session.request("GET", server.url(path)).body
            if body != path.encode():
                wrong.append(body)

    with serving(handler, context) as server:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        session.close()
    assert wrong == []


# Time


def drip(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(100):
        connection.sendall(b"x")
        time.sleep(0.1)


def drip_in_the_head(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for _ in range(100):
        connection.sendall(b"X: y\r\n")
        time.sleep(0.2)


def drip_without_length(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    for _ in range(100):
        connection.sendall(b"x")
        time.sleep(0.1)


def continue_for_ever(connection: socket.socket) -> None:
    read_request(connection)
    for _ in range(100):
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        time.sleep(0.1)


def never_answer(connection: socket.socket) -> None:
    read_request(connection)
    connection.recv(1)


def empty_gzip_members_for_ever(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n")
    nothing = gzip.compress(b"")
    for _ in range(100):
        connection.sendall(nothing)
        time.sleep(0.1)


@pytest.mark.parametrize(
    "handler",
    [drip, drip_in_the_head, drip_without_length, continue_for_ever, never_answer, empty_gzip_members_for_ever],
)
def test_the_deadline_is_total(session: Session, context: ssl.SSLContext, handler: Handler) -> None:
    with serving(handler, context) as server:
        started = time.monotonic()
        with pytest.raises(EgressTransient) as caught:
            session.request("GET", server.url(), deadline_seconds=0.6)
        took = time.monotonic() - started
    assert caught.value.code == "egress.timed-out"
    assert 0.5 < took < 2  # room for a busy machine; the servers drip for ten seconds


def test_the_deadline_comes_at_its_second(session: Session, context: ssl.SSLContext) -> None:
    with serving(drip, context) as server:
        started = time.monotonic()
        with pytest.raises(EgressTransient, match=r"within 0\.5 s \(reading the answer\)"):
            session.request("GET", server.url(), deadline_seconds=0.5)
        assert 0.4 < time.monotonic() - started < 1.4


def test_a_stalled_handshake_ends(session: Session) -> None:
    def silent(connection: socket.socket) -> None:
        connection.recv(65536)
        time.sleep(1.5)

    with serving(silent) as server:
        started = time.monotonic()
        with pytest.raises(EgressTransient, match="the TLS handshake"):
            session.request("GET", server.url(), deadline_seconds=0.5)
        assert time.monotonic() - started < 1.4


def test_a_server_that_does_not_read_ends_the_upload(session: Session, context: ssl.SSLContext) -> None:
    def deaf(connection: socket.socket) -> None:
        time.sleep(1.5)

    with serving(deaf, context) as server:
        started = time.monotonic()
        with pytest.raises(EgressTransient, match="sending the request"):
            session.request("POST", server.url(), body=b"x" * 50_000_000, deadline_seconds=0.5)
        assert time.monotonic() - started < 1.4


def test_a_slow_name_server_ends(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    woken = threading.Event()

    def slow(*_: object, **__: object) -> list[object]:
        woken.wait(3)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    started = time.monotonic()
    with pytest.raises(EgressTransient, match="looking up the name"):
        session.request("GET", "https://slow.lab/", deadline_seconds=0.3)
    assert time.monotonic() - started < 1.4
    woken.set()


def test_a_full_backlog_ends(session: Session) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        port = listener.getsockname()[1]
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        started = time.monotonic()
        with pytest.raises(EgressTransient) as caught:
            session.request("GET", f"https://127.0.0.1:{port}/", deadline_seconds=0.5)
        assert time.monotonic() - started < 1.4
        assert caught.value.code == "egress.timed-out"
        for filler in fillers:
            filler.close()


def test_no_thread_and_no_descriptor_stays_behind(session: Session, context: ssl.SSLContext) -> None:
    with serving(drip, context) as server:
        for _ in range(3):
            with pytest.raises(EgressTransient):
                session.request("GET", server.url(), deadline_seconds=0.2)
    time.sleep(0.1)
    assert not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]


# Size


def ten_gigabytes(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
    for _ in range(1000):
        connection.sendall(b"x" * 1_000_000)


def ten_gigabytes_without_length(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    for _ in range(1000):
        connection.sendall(b"x" * 1_000_000)


def endless_chunk_size_line(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;")
    for _ in range(1000):
        connection.sendall(b"x" * 1_000_000)


def endless_trailers(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n")
    for _ in range(1000):
        connection.sendall(b"X: y\r\n" * 100_000)


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """A gigabyte of zeros in about a megabyte; what follows a full flush can be repeated at will."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1_000_000)
    first, again = (packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * 999


def _bombs(bomb: bytes) -> dict[str, bytes]:
    plain = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb
    chunked = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    return {"plain": plain, "chunked": chunked + b"%x\r\n%s\r\n0\r\n\r\n" % (len(bomb), bomb)}


@pytest.mark.parametrize(
    ("handler", "code"),
    [
        (ten_gigabytes, "egress.too-large"),
        (ten_gigabytes_without_length, "egress.too-large"),
        (endless_chunk_size_line, "egress.not-http"),
        (endless_trailers, "egress.too-large"),
    ],
)
def test_a_huge_body_is_refused_in_little_memory(
    session: Session, context: ssl.SSLContext, handler: Handler, code: str
) -> None:
    tracemalloc.start()
    try:
        error = failure(session, handler, context)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (type(error), error.code) == (EgressPermanent, code)
    assert peak < 10_000_000


@pytest.mark.parametrize("kind", ["plain", "chunked"])
def test_a_gzip_bomb_is_refused_in_little_memory(
    session: Session, context: ssl.SSLContext, bomb: bytes, kind: str
) -> None:
    handler = answering(_bombs(bomb)[kind])
    tracemalloc.start()
    try:
        error = failure(session, handler, context, max_bytes=2_000_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert error.code == "egress.too-large"
    assert peak < 12_000_000


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(5000)),
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000,
        b"HTTP/1.1 200 " + b"O" * 200_000,
        b"HTTP/1.1 200 OK\r\n" + (b"X: " + b"y" * 30_000 + b"\r\n") * 50,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000,
    ],
    ids=["many", "long", "status", "much", "continue"],
)
def test_huge_headers_are_refused(session: Session, context: ssl.SSLContext, head: bytes) -> None:
    error = failure(session, answering(head + b"\r\n\r\n"), context)
    assert (type(error), error.code) == (EgressPermanent, "egress.headers-too-large")


@pytest.mark.parametrize("encoding", [b"br", b"deflate", b"gzip, gzip", b"zstd"])
def test_only_the_encoding_that_was_asked_for_is_undone(
    session: Session, context: ssl.SSLContext, encoding: bytes
) -> None:
    error = failure(session, answering(ok(b"x", b"Content-Encoding: " + encoding)), context)
    assert error.code == "egress.bad-encoding"


@pytest.mark.parametrize(
    "body", [b"x", b"plain text", gzip.compress(b"y" * 99, mtime=0)[:-9], gzip.compress(b"a", mtime=0) * 2]
)
def test_broken_gzip_is_refused(session: Session, context: ssl.SSLContext, body: bytes) -> None:
    assert failure(session, answering(ok(body, b"Content-Encoding: gzip")), context).code == "egress.bad-encoding"


def test_an_answer_without_a_body_may_say_gzip(session: Session, context: ssl.SSLContext) -> None:
    answer = b"HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\n\r\n"
    with serving(answering(answer), context) as server:
        assert session.request("GET", server.url()).status == 304


# Cut and twisted answers


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "egress.connection-lost"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf", "egress.connection-lost"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnumber\r\n", "egress.not-http"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "egress.connection-lost"),
        (b"HTTP/1.1 200 OK\r\nX: y\r\n", "egress.connection-lost"),
        (b"", "egress.connection-lost"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "egress.not-http"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n", "egress.not-http"),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "egress.not-http"),
    ],
)
def test_a_cut_answer_never_counts(session: Session, context: ssl.SSLContext, answer: bytes, code: str) -> None:
    assert failure(session, answering(answer), context).code == code


def test_a_body_cut_without_tls_goodbye_never_counts(session: Session, context: ssl.SSLContext) -> None:
    def cut(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"all": "clusters"')
        connection.shutdown(socket.SHUT_RDWR)

    assert failure(session, cut, context).code == "egress.connection-lost"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_answer_and_is_not_followed(session: Session, context: ssl.SSLContext, status: int) -> None:
    seen: list[bytes] = []

    def elsewhere(connection: socket.socket) -> None:
        seen.append(read_request(connection))

    with serving(elsewhere, context) as other:
        answer = b"HTTP/1.1 %d Go\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % (status, other.url().encode())
        with serving(answering(answer), context) as server:
            got = session.request("GET", server.url(), headers={"Authorization": Secret("Bearer x")})
    assert got.status == status
    assert got.headers["location"] == other.url()
    assert seen == []


# Who is at the other end


def certificate_failure(session: Session, context: ssl.SSLContext, host: str = "127.0.0.1") -> str:
    with serving(answering(ok()), context) as server, pytest.raises(EgressPermanent) as caught:
        session.request("GET", server.url(host=host))
    assert host in caught.value.message
    return caught.value.code


def test_an_expired_certificate_is_refused(session: Session, authority: Authority) -> None:
    context = authority.server_context(starts=NOW - 3 * DAY, ends=NOW - DAY)
    assert certificate_failure(session, context) == "egress.certificate-expired"


def test_a_certificate_of_tomorrow_is_refused(session: Session, authority: Authority) -> None:
    context = authority.server_context(starts=NOW + DAY, ends=NOW + 2 * DAY)
    assert certificate_failure(session, context) == "egress.certificate-expired"


@pytest.mark.parametrize("name", ["forge.lab", "127.0.0.2"])
def test_a_certificate_for_another_name_is_refused(session: Session, authority: Authority, name: str) -> None:
    assert certificate_failure(session, authority.server_context(name=name)) == "egress.certificate-name"


def test_an_unknown_authority_is_refused(session: Session) -> None:
    assert certificate_failure(session, Authority().server_context()) == "egress.certificate-authority"


def test_a_private_authority_is_unknown_to_the_public_ones(context: ssl.SSLContext) -> None:
    with Session(LOOPBACK) as public:
        assert certificate_failure(public, context) == "egress.certificate-authority"


def test_a_server_that_does_not_speak_tls_is_named(session: Session) -> None:
    def plain(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with serving(plain) as server, pytest.raises(EgressPermanent) as caught:
        session.request("GET", server.url())
    assert caught.value.code == "egress.tls"


@pytest.mark.parametrize(("version", "works"), [("TLSv1_1", False), ("TLSv1_2", True), ("TLSv1_3", True)])
def test_tls_is_1_2_or_newer(session: Session, authority: Authority, version: str, works: bool) -> None:
    context = authority.server_context()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the old version is meant
        context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    context.set_ciphers("ALL:@SECLEVEL=0")
    with serving(answering(ok()), context) as server:
        if works:
            assert session.request("GET", server.url()).status == 200
            return
        with pytest.raises(EgressPermanent) as caught:
            session.request("GET", server.url())
    assert caught.value.code == "egress.tls"


@pytest.mark.parametrize(
    "pem", ["", "  \n", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "é"]
)
def test_what_is_no_authority_is_refused(pem: str) -> None:
    with pytest.raises(EgressPermanent) as caught:
        Session(LOOPBACK, ca_pem=pem)
    assert caught.value.code == "egress.bad-ca"


def test_session_keys_are_written_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object, authority: Authority, context: ssl.SSLContext
) -> None:
    monkeypatch.setenv("SSLKEYLOGFILE", f"{tmp_path}/keys")
    assert tls_context(authority.pem).keylog_filename is None


# The environment


def test_the_environment_changes_nothing(
    session: Session, context: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    seen: list[bytes] = []

    def handler(connection: socket.socket) -> None:
        seen.append(read_request(connection))
        connection.sendall(ok())

    netrc = f"{tmp_path}/netrc"
    with open(netrc, "w") as file:  # noqa: PTH123
        file.write("machine 127.0.0.1 login somebody password hidden\n")
    monkeypatch.setenv("NETRC", netrc)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    with serving(handler, context) as server:
        session.request("GET", server.url())
    assert b"Authorization" not in seen[0]


# Dead ends


def test_a_closed_port_is_refused(session: Session) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(EgressTransient) as caught:
        session.request("GET", f"https://127.0.0.1:{port}/")
    assert caught.value.code == "egress.connection-refused"


def test_a_name_that_does_not_exist(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    with pytest.raises(EgressTransient, match=r"no address was found for forge\.lab") as caught:
        session.request("GET", "https://forge.lab/")
    assert caught.value.code == "egress.name-not-found"


# URLs and headers


@pytest.mark.parametrize(
    "url",
    [
        "",
        "forge.lab",
        "//forge.lab/",
        "ftp://forge.lab/",
        "file:///etc/passwd",
        "https://",
        "https:///x",
        "https://user:hunter22@forge.lab/",
        "https://hunter22@forge.lab/",
        "https://forge.lab@evil.lab/",
        "https://forge.lab/#hunter22",
        "https://forge.lab:99999/",
        "https://forge.lab:0/",
        "https://forge.lab:x/",
        "https://for ge.lab/",
        "https://forge.lab/a b",
        "https://forge.lab/\r\nX: y",
        "https://forge.lab\\@evil.lab/",
        "https://[::1/",
        "https://[fe80::1%25eth0]/",
        "https://[v1.x]/",
        "https://фордж.lab/",
        "https://a%00b/",
        "https://-x.lab/",
        "https://" + "a" * 300 + "/",
        "https://forge.lab/" + "a" * 9000,
        "javascript:alert(1)",
    ],
)
def test_a_twisted_url_is_refused_and_not_repeated(session: Session, url: str) -> None:
    with pytest.raises(EgressPermanent) as caught:
        session.request("GET", url)
    assert caught.value.code == "egress.bad-url"
    assert "hunter22" not in caught.value.message


def test_http_is_refused(session: Session) -> None:
    with pytest.raises(EgressPermanent, match="write https") as caught:
        session.request("GET", "http://127.0.0.1:1/")
    assert caught.value.code == "egress.https-only"


def test_http_is_spoken_to_loopback_where_the_policy_says_so() -> None:
    policy = Policy(LOOPBACK.allow_networks, frozenset({"127.0.0.1"}))
    with serving(answering(ok(b"plain"))) as server, Session(policy) as session:
        assert session.request("GET", server.url(scheme="http")).body == b"plain"


def test_http_is_not_spoken_beyond_loopback_even_so() -> None:
    policy = Policy.from_settings({"EGRESS_ALLOW_NETWORKS": "10.0.0.0/8", "EGRESS_ALLOW_HTTP_HOSTS": "10.9.9.9"})
    with Session(policy) as session, pytest.raises(EgressPermanent) as caught:
        session.request("GET", "http://10.9.9.9/")
    assert caught.value.code == "egress.https-only"


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": Secret("token hunter22\r\nX: y")},
        {"Authorization": Secret("token hunter22\n")},
        {"Authorization": "tokén hunter22"},
        {"Bad Name": "hunter22"},
        {"Host": "evil.lab"},
        {"Transfer-Encoding": "chunked"},
        {"": "hunter22"},
    ],
)
def test_a_header_that_would_smuggle_is_refused_without_its_value(
    session: Session, headers: dict[str, str | Secret]
) -> None:
    with pytest.raises(EgressPermanent) as caught:
        session.request("GET", "https://127.0.0.1:1/", headers=headers)
    assert caught.value.code == "egress.bad-header"
    assert "hunter22" not in caught.value.message
    assert caught.value.__cause__ is None
