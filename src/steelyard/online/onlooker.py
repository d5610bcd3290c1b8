"""Whoever looks on while a robot is driven, such as a live view."""

from __future__ import annotations

from typing import Protocol

from steelyard.arrays import Array
from steelyard.online.journal import Event, Known
from steelyard.online.link import Reading


class Onlooker(Protocol):
    """Is told everything by the thread that drives, and must return within microseconds."""

    def cycle(self, reading: Reading, q_ref: Array, v_ref: Array, tau: Array) -> None:
        """A cycle was driven.

        Args:
            reading: what the robot said.
            q_ref: where it should be, shape (nv,), rad or m.
            v_ref: how fast, shape (nv,), rad/s or m/s.
            tau: what was sent, shape (nv,), N·m or N.
        """
        ...

    def learned(self, known: Known) -> None:
        """Bounds are known.

        Args:
            known: what is known from now on.
        """
        ...

    def happened(self, event: Event) -> None:
        """Something happened.

        Args:
            event: what.
        """
        ...
