"""The server behind a live view: one page and a stream of what is new, for browsers on this machine alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR, socket
from typing import Any

LOOPBACK = "127.0.0.1"
MOST = 48
"""Connections at a time; each has a thread. Whoever comes then takes the place of the oldest."""
SILENCE = 10.0
"""How long a connection may neither ask nor take what is sent, s."""
HEARTBEAT = 1.0
"""After this long without news something is sent all the same, so that who has left is noticed, s."""


class Mailbox:
    """News for every open browser: one that opens late gets all of it, a slow one skips states."""

    def __init__(self) -> None:
        """Nothing is told yet."""
        self._news = threading.Condition()
        self._told: dict[str, list[Any]] = {"past": [], "bounds": [], "events": []}
        self._state: Mapping[str, Any] = {"time": None}
        self._count = 0
        self._end: str | None = None
        self._lookers = 0

    @property
    def lookers(self) -> int:
        """How many look on."""
        return self._lookers

    def add(self, state: Mapping[str, Any] | None = None, **more: Sequence[Any]) -> None:
        """Tell something new: a state that replaces the last one, and what is added to the lists."""
        with self._news:
            self._state = state or self._state
            for name, entries in more.items():
                self._told[name].extend(entries)
            self._count += 1
            self._news.notify_all()

    def end(self, words: str) -> int:
        """Tell everybody that nothing follows; returns how many look on."""
        with self._news:
            self._end = words
            self._news.notify_all()
            return self._lookers

    def letters(self) -> Iterator[str]:
        """What one who looks on is sent, as server-sent events, until the end."""
        sent = dict.fromkeys(self._told, 0)
        count = -1
        with self._news:
            self._lookers += 1
        try:
            while True:
                with self._news:
                    if self._end is None and self._count == count:
                        self._news.wait(HEARTBEAT)
                    fresh, count, end = self._count > count, self._count, self._end
                    letter = {**self._state, **{name: self._told[name][k:] for name, k in sent.items()}}
                    sent = {name: len(entries) for name, entries in self._told.items()}
                yield f"data: {json.dumps(letter, allow_nan=False)}\n\n" if fresh else ": nothing new\n\n"
                if end is not None:
                    yield f"event: end\ndata: {end}\n\n"
                    return
        finally:
            with self._news:
                self._lookers -= 1


class LoopbackServer(ThreadingHTTPServer):
    """Serves a page and its mailbox at a free port of this machine; stops when told to."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = MOST

    def __init__(self, page: str, mailbox: Mailbox) -> None:
        """Listen, and answer in threads of its own."""
        super().__init__((LOOPBACK, 0), _Answers)
        self.page = page
        self.mailbox = mailbox
        self.fetched = 0
        """How often the page was fetched."""
        self._connections: dict[socket, None] = {}
        self._counting = threading.Lock()
        self._thread = threading.Thread(
            target=self.serve_forever, args=(0.05,), name="live page", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{LOOPBACK}:{self.server_port}/"

    def stop(self) -> None:
        """Answer nobody any more."""
        self.shutdown()
        self.server_close()
        self._thread.join()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own; the oldest connection gives way where there are too many."""
        with self._counting:
            if len(self._connections) >= MOST:
                oldest = next(iter(self._connections))
                del self._connections[oldest]
                # Its thread finds it closed; it may have been closed by the other side already.
                with suppress(OSError):
                    oldest.shutdown(SHUT_RDWR)
            self._connections[request] = None
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget a connection that was answered."""
        with self._counting:
            self._connections.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away in the middle of an answer is no error."""


class _Answers(BaseHTTPRequestHandler):
    server: LoopbackServer
    timeout = SILENCE

    def do_GET(self) -> None:
        # A page from elsewhere can make a name of its own lead here; it cannot make a browser say this name.
        port = self.server.server_port
        if self.headers.get_all("Host") not in ([f"{LOOPBACK}:{port}"], [f"localhost:{port}"]):
            self.send_error(HTTPStatus.FORBIDDEN)
        elif self.path == "/":
            self._head("text/html; charset=utf-8")
            self.wfile.write(self.server.page.encode())
            self.server.fetched += 1
        elif self.path == "/events":
            self._head("text/event-stream")
            for letter in self.server.mailbox.letters():
                self.wfile.write(letter.encode())
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _head(self, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse in the words of the standard; nothing of what was asked is repeated."""
        super().send_error(code)

    def log_message(self, *_: object) -> None:
        """The terminal belongs to the run."""
