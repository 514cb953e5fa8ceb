"""Addresses that misbehave below HTTP: nothing listens, nothing answers, TLS never finishes, no TLS at all."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread


@contextmanager
def refusing() -> Iterator[int]:
    """A port on which nobody listens, kept from others for as long as the block lasts."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@contextmanager
def black_hole() -> Iterator[int]:
    """A port that swallows connection attempts: its queue is full, so the kernel drops every further one."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        fillers = [_attempt(port) for _ in range(4)]
        try:
            yield port
        finally:
            for filler in fillers:
                filler.close()


def _attempt(port: int) -> socket.socket:
    filler = socket.socket()
    filler.setblocking(False)
    with suppress(BlockingIOError):
        filler.connect(("127.0.0.1", port))
    return filler


@contextmanager
def silent() -> Iterator[int]:
    """A port that accepts connections and never says a word: the TLS handshake stalls."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        yield listener.getsockname()[1]


@contextmanager
def speaking(words: bytes) -> Iterator[int]:
    """A port that says `words` to everybody at once and hangs up, like a mail server or plain HTTP would."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        speaker = Thread(target=_speak, args=(listener, words), daemon=True)
        speaker.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        speaker.join(5)


def _speak(listener: socket.socket, words: bytes) -> None:
    with suppress(OSError):
        while True:
            peer, _ = listener.accept()
            with peer:
                peer.sendall(words)
                peer.shutdown(socket.SHUT_WR)
                peer.recv(65_536)
