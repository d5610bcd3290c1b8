"""The fast side of the loop: one cycle after the other, read, look, compute, send, write down."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, read_only_view
from steelyard.control import Controller
from steelyard.motion import MotionSample
from steelyard.online.link import Link, Reading
from steelyard.online.online_run import Cycles
from steelyard.online.onlooker import Onlooker
from steelyard.online.watchdog import Alarm, Watchdog
from steelyard.recording import Recording


class _Row(NamedTuple):
    q_ref: Array
    v_ref: Array
    a_ref: Array
    command: Array


class Pilot:
    """Drives a robot along references under a law, and keeps the log.

    Args:
        link: the robot.
        watchdog: what looks at every reading.
        onlooker: who is told of every cycle; None for nobody.
    """

    def __init__(self, link: Link, watchdog: Watchdog, onlooker: Onlooker | None = None) -> None:
        self._link, self._watchdog, self._onlooker = link, watchdog, onlooker
        self._readings: list[Reading] = []
        self._rows: list[_Row] = []

    @property
    def cycles(self) -> int:
        """How many torques were sent so far."""
        return len(self._rows)

    def drive(
        self, law: Controller, memory: Array, reference: MotionSample, first: int, last: int
    ) -> Alarm | None:
        """Follow some cycles of a reference.

        Args:
            law: what computes the torques.
            memory: its state, updated in place, shape (m,), SI.
            reference: at every cycle, q, v and a of shape (N, nv), SI.
            first: first row of it to follow.
            last: one past the last.

        Returns:
            What was wrong; the robot's own brakes were asked to stop it then. None where all is well.
        """
        link, step, watch = self._link, law.step, self._watchdog
        model = (law.tree, law.numbers, read_only_view(law.gains), memory)
        q_ref, v_ref, a_ref = (read_only_view(x) for x in (reference.q, reference.v, reference.a))
        for k in range(first, last):
            reading = link.read()
            self._readings.append(reading)
            want = q_ref[k], v_ref[k], a_ref[k]
            alarm = watch.alarm(reading, want[0], want[1])
            if alarm is not None:
                link.stop()
                return alarm
            tau = np.empty(len(reading.q))
            step(*model, read_only_view(reading.q), read_only_view(reading.v), *want, tau)
            link.send(tau)
            self._rows.append(_Row(*want, tau))
            if self._onlooker is not None:
                self._onlooker.cycle(reading, want[0], want[1], tau)
        return None

    def brake(self) -> None:
        """Let the robot's own brakes stop it."""
        self._link.stop()

    def recording(self, first: int = 0, last: int | None = None) -> Recording:
        """What was read, from one cycle to another; a row's torque is the one measured over its own cycle.

        Args:
            first: first cycle.
            last: one past the last; None for all whose torque has been read.

        Returns:
            The recording, with references.
        """
        end = self.cycles - 1 if last is None else min(last, self.cycles - 1)
        log = self.log(first, end + 1)
        n = end - first
        parts = {name: getattr(log, name)[:n] for name in ("q_ref", "v_ref", "a_ref")}
        return Recording(self._link.joints, log.time[:n], q=log.q[:n], v=log.v[:n], tau=log.tau[1:], **parts)

    def log(self, first: int = 0, last: int | None = None) -> Cycles:
        """All that went over the link.

        Args:
            first: first cycle.
            last: one past the last; None for all, and a last reading that was not answered.

        Returns:
            The cycles.
        """
        readings, rows = self._readings[first:last], self._rows[first:last]
        nv = len(self._link.joints)
        columns = [np.array(column).reshape(len(rows), nv) for column in zip(*rows, strict=True)]
        time, *states = (np.array(column) for column in zip(*readings, strict=True))
        return Cycles(time, *states, *(columns or [np.empty((0, nv))] * 4))
