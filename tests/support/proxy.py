"""A TCP proxy for a server, which can switch targets, and cut, delay or silence connections."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import Self

_CHUNK_BYTES = 65_536


class Proxy:
    """Forwards new connections to `target`, a port of 127.0.0.1; existing ones keep their target."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.delay_seconds = 0.0  #: delay of all data from the server
        #: True to drop replies: commands are executed, but the client gets no reply
        self.drops_replies = False
        #: number of requests to forward before all connections are cut, also later ones
        self.requests_left: int | None = None
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """The Redis URL of the proxy."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def open_connections(self) -> int:
        """Number of open connections."""
        with self._lock:
            return len(self._pairs)

    def cut(self) -> None:
        """Close all connections in both directions."""
        for sockets in self._open():
            for one in sockets:
                _shut(one, socket.SHUT_RDWR)

    def half_close(self) -> None:
        """Close the connections' sending side to the servers, and leave the clients' side open."""
        for _, server in self._open():
            _shut(server, socket.SHUT_WR)

    def close(self) -> None:
        """Stop listening, and close all connections."""
        _shut(self._listener, socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> list[tuple[socket.socket, socket.socket]]:
        with self._lock:
            return list(self._pairs)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with (
            client,
            suppress(OSError),
            socket.create_connection(("127.0.0.1", self.target)) as server,
        ):
            pair = (client, server)
            with self._lock:
                self._pairs.add(pair)
            answers = threading.Thread(target=self._answer, args=pair, daemon=True)
            answers.start()
            self._ask(client, server)
            answers.join()
            with self._lock:
                self._pairs.discard(pair)

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(_CHUNK_BYTES):
                if self.requests_left == 0:
                    self.cut()
                elif self.requests_left is not None:
                    self.requests_left -= 1
                server.sendall(data)
        _shut(server, socket.SHUT_WR)

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(_CHUNK_BYTES):
                if self.delay_seconds:
                    time.sleep(self.delay_seconds)
                if not self.drops_replies:
                    client.sendall(data)
        _shut(client, socket.SHUT_RDWR)


def _shut(one: socket.socket, how: int) -> None:
    with suppress(OSError):
        one.shutdown(how)
