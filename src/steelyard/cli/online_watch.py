"""The run of `steelyard online` in a browser, and the page that is left of it."""

from __future__ import annotations

import math
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from steelyard import __version__
from steelyard.arrays import Array
from steelyard.cli.online_live import LiveView
from steelyard.cli.online_request import OnlineTask
from steelyard.cli.output import say
from steelyard.limits import bounds_of
from steelyard.online import Event, Known, Onlooker, Reading
from steelyard.report import Knowledge, OnlineEvent, OnlineHead, Snapshot

ASSUMED = (
    "The robot's own brakes stop it when they are asked to.",
    "What stands around the robot is where the scene says, and does not move.",
    "The law is proven in continuous time with exact states; between cycles and with the stated errors of "
    "sensors, the tube is checked in every cycle and was kept in all simulated runs.",
)


def head_of(task: OnlineTask) -> OnlineHead:
    """What can be said before the robot moves.

    Args:
        task: what is asked.

    Returns:
        The head of its page.
    """
    setting = task.setting
    robot, tube = setting.arm.robot, setting.tube
    return OnlineHead(
        title=f"{robot.name} learns what it holds",
        robot=robot,
        start=task.start,
        cycle=setting.switch,
        tube_radius=tube.radius,
        position_bound=tube.position,
        effort=bounds_of(robot).effort,
        prior=Knowledge(0.0, setting.prior.lower, setting.prior.upper),
        truth=task.truth,
        clearance=setting.clearance,
        distance=setting.distance,
        frame=setting.arm.held.frame,
        assumptions=(*setting.errors.assumptions, setting.prior.meaning, *ASSUMED),
    )


class _Pictures:
    """Tells a live view what it draws; every cycle, so that no peak is lost."""

    def __init__(self, view: LiveView, task: OnlineTask) -> None:
        self._view, self._kr = view, task.setting.tube.kr
        self._last = Snapshot(0.0, task.start, task.start, 0.0, np.zeros(len(task.start)))
        self._knowledge: Knowledge | None = None
        self._events: tuple[OnlineEvent, ...] = ()

    def cycle(self, reading: Reading, q_ref: Array, v_ref: Array, tau: Array) -> None:
        r = v_ref - reading.v + self._kr * (q_ref - reading.q)
        size = math.sqrt(float(r @ r))
        self._last = Snapshot(reading.time, reading.q, q_ref, size, tau, self._knowledge, self._events)
        self._view.publish(self._last)
        self._knowledge, self._events = None, ()

    def learned(self, known: Known) -> None:
        box, seconds = known.box, known.bounds_seconds
        self._knowledge = Knowledge(known.time, box.lower, box.upper, seconds, known.rows)

    def happened(self, event: Event) -> None:
        self._events = (*self._events, OnlineEvent(event.time, event.severity, event.sentence))

    def finish(self, page: str) -> None:
        """Tell what came after the last cycle, and leave the finished page to who looks on."""
        self._view.publish(replace(self._last, knowledge=self._knowledge, events=self._events))
        self._view.close(page)


class Watch:
    """A live view that opens when a task is known, or nobody who looks on."""

    def __init__(self) -> None:
        self._pictures: list[_Pictures] = []

    def opened(self, task: OnlineTask) -> Onlooker:
        """Open a view.

        Args:
            task: what is asked.

        Returns:
            Who looks on.
        """
        view = LiveView(head_of(task), version=__version__)
        url = view.start()
        say(f"Live view: {url}")
        webbrowser.open(url)
        self._pictures.append(_Pictures(view, task))
        return self._pictures[-1]

    def finish(self, page: str) -> None:
        """Close what was opened.

        Args:
            page: of the finished run, which open browsers get to see.
        """
        for pictures in self._pictures:
            pictures.finish(page)
        self._pictures.clear()


@contextmanager
def watching() -> Iterator[Watch]:
    """A watch that is closed, whatever happens.

    Yields:
        The watch.
    """
    watch = Watch()
    try:
        yield watch
    finally:
        watch.finish("")
