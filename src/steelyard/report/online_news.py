"""A run told while it goes on: snapshots of the robot, and what a live page is told of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.dynamics import forward_kinematics
from steelyard.online import Event, Known
from steelyard.report.motion_data import number_or_none
from steelyard.report.online_content import OnlineHead
from steelyard.report.online_gauges import used_shares
from steelyard.report.online_tube import tool_tube
from steelyard.report.safe_text import visible
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
        for name in ("q", "q_ref", "tau"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

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
    return {"time": event.time, "severity": event.severity.value, "sentence": visible(event.sentence)}
