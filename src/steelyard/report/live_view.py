"""A page of a run while it goes on, served on this machine alone and told what is new many times a second.

The control loop only leaves snapshots in a queue, which never waits and never fails. A thread of its own
gathers them, places the arm where somebody looks, and wakes the threads that answer browsers.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections import deque
from dataclasses import replace
from typing import Self

import numpy as np

from steelyard.arrays import Array
from steelyard.online import Event, Known, Reading
from steelyard.report.live_server import LoopbackServer, Mailbox
from steelyard.report.online_content import OnlineHead
from steelyard.report.online_news import LiveNews, Snapshot
from steelyard.report.online_page import live_page

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

    def cycle(self, reading: Reading, q_ref: Array, v_ref: Array, tau: Array) -> None:
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
        """Something happened.

        Args:
            event: what.
        """
        self._events = (*self._events, event)

    def finish(self, page: str) -> None:
        """Tell what came after the last cycle, and leave the finished page to the open browsers.

        Args:
            page: of the finished run, as HTML; empty where there is none.
        """
        self._view.publish(replace(self._last, knowledge=self._knowledge, events=self._events))
        self._view.close(page)
