"""A run told while it goes on: snapshots of the robot, and what a live page is told of them."""

from __future__ import annotations

import json
import math
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR, socket
from typing import Any, Self

import numpy as np

from steelyard.arrays import Array, checked, keep_read_only
from steelyard.dynamics import forward_kinematics
from steelyard.report.html import visible_text
from steelyard.report.motion.page import number_or_none
from steelyard.report.online.content import OnlineHead, tool_tube, used_shares
from steelyard.report.online.page import live_page
from steelyard.safe_learning import Event, JointReading, Known
from steelyard.uncertainty import PayloadBox

_DECIMALS = 6
"""Of places and directions on a screen: a micrometre is nothing there."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A robot at one instant, and what is new then; arrays are read-only.

    Attributes:
        time: since the beginning of the run, s.
        q: joint positions, shape (nv,), rad or m.
        q_ref: where they should be, shape (nv,), rad or m.
        r_norm: ‖r‖, rad/s or m/s.
        tau: commanded torques, shape (nv,), N·m or N.
        knowledge: bounds that hold from now on; None where they did not change.
        events: what has just happened.
    """

    time: float
    q: Array
    q_ref: Array
    r_norm: float
    tau: Array
    knowledge: Known | None = None
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        # Not checked here: it is made inside a control loop. Who tells it checks it.
        keep_read_only(self, "q", "q_ref", "tau")

    @property
    def is_tiding(self) -> bool:
        """Whether it brings something that is told once only."""
        return bool(self.events) or self.knowledge is not None


class LiveNews:
    """What a live page is told, gathered from snapshots; remembers the most that was used of each limit."""

    def __init__(self, head: OnlineHead) -> None:
        """Nothing has happened yet.

        Args:
            head: what could be said before the run.
        """
        self._head = head
        self._peaks = np.zeros(head.robot.nv + 1)

    def opening(self) -> dict[str, Any]:
        """What is told first, before the robot moves; compiles what later news need.

        Returns:
            Values JSON can hold.
        """
        nothing = np.zeros(self._head.robot.nv)
        self._state(Snapshot(0.0, self._head.start, self._head.start, 0.0, nothing))
        return {"bounds": [_bounds(0.0, self._head.prior)]}

    def gathered(self, states: Sequence[Snapshot], tidings: Sequence[Snapshot], seen: bool) -> dict[str, Any]:
        """What is new since the last time.

        Args:
            states: all snapshots since then, in order.
            tidings: those that bring bounds or events.
            seen: whether anybody looks on; otherwise the arm is not placed.

        Returns:
            Values JSON can hold: the latest `state`, empty where there is none; and what is added to the
            lists of the `past`, time and largest ‖r‖, of `bounds` and of `events`.
        """
        state: dict[str, Any] = {}
        past: list[tuple[float, float]] = []
        if states:
            r = np.array([snapshot.r_norm for snapshot in states])
            used = used_shares(self._head, r, np.array([snapshot.tau for snapshot in states]))
            self._peaks = np.maximum(self._peaks, used.max(axis=0))
            worst = int(r.argmax())
            past.append((states[worst].time, float(r[worst])))
            if seen:
                state = self._state(states[-1])
        return {
            "state": state,
            "past": past,
            "bounds": [
                _bounds(known.time, known.box) for told in tidings if (known := told.knowledge) is not None
            ],
            "events": [_event(event) for told in tidings for event in told.events],
        }

    def _state(self, snapshot: Snapshot) -> dict[str, Any]:
        head = self._head
        q = checked("q", snapshot.q, (head.robot.nv,))
        frames = np.concatenate((np.eye(4)[None], forward_kinematics(head.robot, q[None])[0]))
        tube = tool_tube(head.robot, q[None], snapshot.q_ref[None], head.position_bound)
        return {
            "time": snapshot.time,
            "frames": np.round(frames[:, :3], _DECIMALS).ravel().tolist(),
            "offset": tube.offset[0].tolist(),
            "radius": float(tube.radius[0]),
            "shares": _shares(used_shares(head, np.array([snapshot.r_norm]), snapshot.tau[None])[0]),
            "peaks": _shares(self._peaks),
        }


def _shares(shares: Array) -> list[float | None]:
    return [number_or_none(share) for share in shares.tolist()]


def _bounds(time: float, box: PayloadBox) -> dict[str, Any]:
    return {"time": time, "lower": box.lower.tolist(), "upper": box.upper.tolist()}


def _event(event: Event) -> dict[str, Any]:
    return {"time": event.time, "severity": event.severity.value, "sentence": visible_text(event.sentence)}


# The server behind a live view: one page and a stream of what is new, for browsers on this machine alone.

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


# A page of a run while it goes on, served on this machine alone and told what is new many times a second.
#
# The control loop only leaves snapshots in a queue, which never waits and never fails. A thread of its own
# gathers them, places the arm where somebody looks, and wakes the threads that answer browsers.

RATE = 20.0
"""How often whoever looks on is told what is new, Hz."""
KEPT = 1000
"""Snapshots that wait to be gathered at most; older ones are dropped, unless they bring bounds or events."""
PATIENCE = 5.0
"""How long browsers are given at most to fetch the page of the finished run, s."""


class LiveView:
    """The page of a run while it goes on, at an address of this machine that no other machine reaches.

    `publish` may be called from any thread, at any rate, before `start` and after `close` as well.
    """

    def __init__(self, head: OnlineHead, *, version: str = "") -> None:
        """Prepare the page; nothing is served yet.

        Args:
            head: what can be said before the robot moves.
            version: of the software, for the foot of the page.
        """
        self._page = live_page(head, version=version)
        self._news = LiveNews(head)
        # A deque takes and gives without a lock. There are two: what is told once must not be dropped.
        self._states: deque[Snapshot] = deque(maxlen=KEPT)
        self._tidings: deque[Snapshot] = deque()
        self._mailbox = Mailbox()
        self._server: LoopbackServer | None = None
        self._stopping = threading.Event()
        self._gatherer = threading.Thread(target=self._gather, name="live view", daemon=True)

    def start(self) -> str:
        """Serve the page, and compile what it needs before the robot moves.

        Returns:
            The address to open in a browser.
        """
        self._mailbox.add(**self._news.opening())
        self._server = LoopbackServer(self._page, self._mailbox)
        self._gatherer.start()
        return self._server.url

    def publish(self, snapshot: Snapshot) -> None:
        """Tell what is; takes microseconds, waits for nothing, and is dropped where nobody gathers it.

        Args:
            snapshot: the robot now.
        """
        if snapshot.is_tiding:
            self._tidings.append(snapshot)
        self._states.append(snapshot)

    def close(self, page: str = "", words: str = "The run has ended.") -> None:
        """Show the page of the finished run to every open browser, then stop serving.

        Args:
            page: the finished run's page, as HTML; empty to leave the last picture standing.
            words: what is said of the end.
        """
        server, self._server = self._server, None
        if server is None:
            return
        self._stopping.set()
        self._gatherer.join()
        server.page = page or self._page
        fetched = server.fetched
        lookers = self._mailbox.end(json.dumps({"words": words, "again": bool(page)}))
        until = time.monotonic() + PATIENCE
        while page and server.fetched < fetched + lookers and time.monotonic() < until:
            time.sleep(0.02)
        server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _gather(self) -> None:
        while not self._stopping.wait(1.0 / RATE):
            self._tell()
        self._tell()

    def _tell(self) -> None:
        states = [self._states.popleft() for _ in range(len(self._states))]
        tidings = [self._tidings.popleft() for _ in range(len(self._tidings))]
        if states or tidings:
            self._mailbox.add(**self._news.gathered(states, tidings, self._mailbox.lookers > 0))


class LiveObserver:
    """Hands what a control loop says to a live view, every cycle so that no peak is lost."""

    def __init__(self, view: LiveView, start: Array, kr: float) -> None:
        """Nothing has happened yet.

        Args:
            view: the page that is told, already started.
            start: where the robot stands, shape (nv,), rad or m.
            kr: K_r of r = v_ref - v + K_r (q_ref - q), 1/s.
        """
        self._view, self._kr = view, kr
        self._last = Snapshot(0.0, start, start, 0.0, np.zeros(len(start)))
        self._knowledge: Known | None = None
        self._events: tuple[Event, ...] = ()

    def cycle(self, reading: JointReading, q_ref: Array, v_ref: Array, tau: Array) -> None:
        """A cycle was driven.

        Args:
            reading: what the robot said.
            q_ref: where it should be, shape (nv,), rad or m.
            v_ref: how fast, shape (nv,), rad/s or m/s.
            tau: what was sent, shape (nv,), N·m or N.
        """
        r = v_ref - reading.v + self._kr * (q_ref - reading.q)
        size = math.sqrt(float(r @ r))
        self._last = Snapshot(reading.time, reading.q, q_ref, size, tau, self._knowledge, self._events)
        self._view.publish(self._last)
        self._knowledge, self._events = None, ()

    def learned(self, known: Known) -> None:
        """Bounds are known.

        Args:
            known: what is known from now on.
        """
        self._knowledge = known

    def happened(self, event: Event) -> None:
        """Something happened."""
        self._events = (*self._events, event)

    def finish(self, page: str) -> None:
        """Tell what came after the last cycle, and leave the finished page to the open browsers.

        Args:
            page: of the finished run, as HTML; empty where there is none.
        """
        self._view.publish(replace(self._last, knowledge=self._knowledge, events=self._events))
        self._view.close(page)
