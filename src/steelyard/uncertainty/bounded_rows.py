r"""Equations for what an arm holds, with errors that are bounded rather than random.

$$|\,y - A\,\theta - B\,\delta\,| \le b, \qquad |\delta| \le d,$$

row by row: $\theta$ the ten numbers of the payload, $\delta$ how far the robot's own parameters are from the
values that y was made with. Nothing is said about how errors are distributed, only how large they can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.errors import InputError

TEN = 10
"""Numbers of a payload."""


@dataclass(frozen=True)
class Place:
    """Where an equation comes from, so that a contradiction can be shown to a person.

    Attributes:
        joint: whose torque.
        begin: when the measurement begins, s.
        end: when it ends, s; equal to `begin` for a single sample.
        run: of which run, where that is not clear.
    """

    joint: str
    begin: float
    end: float
    run: str = ""

    def __str__(self) -> str:
        return f"{self.joint}, {self.begin:.3f} to {self.end:.3f} s{self.run and ' of '}{self.run}"


@dataclass(frozen=True, eq=False)
class BoundedRows:
    r"""The equations $|y - A\theta - B\delta| \le b$ with $|\delta| \le d$.

    Attributes:
        load: A, of the payload's ten parameters in its own frame, shape (m, 10), SI.
        robot: B, of the robot's parameters and of each joint's delay where that is unknown, shape (m, p), SI.
        target: y, what is measured less what the robot at its stated parameters explains, shape (m,), SI.
        error: b, largest error of each row, shape (m,), SI.
        spread: d, largest error of each of these, shape (p,), SI.
        places: where each row comes from.
        assumptions: what the bounds rest on, in words; whoever reports a guarantee lists them.
        untested: those of them that the data cannot show wrong, or only where they are far off.
    """

    load: Array
    robot: Array
    target: Array
    error: Array
    spread: Array
    places: tuple[Place, ...]
    assumptions: tuple[str, ...] = ()
    untested: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        m = len(checked("target", self.target, ("m",)))
        p = len(checked("spread", self.spread, ("p",)))
        shapes: dict[str, tuple[int, ...]] = {
            "load": (m, TEN),
            "robot": (m, p),
            "target": (m,),
            "error": (m,),
            "spread": (p,),
        }
        for name, shape in shapes.items():
            object.__setattr__(self, name, read_only(checked(name, getattr(self, name), shape)))
        for name in ("error", "spread"):
            if (getattr(self, name) < 0.0).any():
                raise InputError("must not be negative.", place=name)
        if len(self.places) != m:
            raise InputError(f"{len(self.places)} for {m} rows.", place="places")

    @property
    def count(self) -> int:
        """Number of rows m."""
        return len(self.target)

    def chosen(self, rows: Sequence[int] | np.ndarray) -> BoundedRows:
        """Some of the rows.

        Args:
            rows: which, shape (k,), dimensionless.

        Returns:
            Rows with the same robot.
        """
        index = np.asarray(rows, dtype=np.int64)
        return replace(
            self,
            load=self.load[index],
            robot=self.robot[index],
            target=self.target[index],
            error=self.error[index],
            places=tuple(self.places[int(k)] for k in index),
        )

    @staticmethod
    def joined(parts: Sequence[BoundedRows]) -> BoundedRows:
        """The rows of several runs of one robot.

        Args:
            parts: with the same robot parameters and spread.

        Returns:
            All rows, in order.

        Raises:
            InputError: there is none, or they disagree about the robot.
        """
        if not parts:
            raise InputError("at least one is needed.", place="parts")
        if any(not np.array_equal(part.spread, parts[0].spread) for part in parts):
            raise InputError("disagree about how far the robot's parameters may be off.", place="parts")
        return BoundedRows(
            np.concatenate([part.load for part in parts]),
            np.concatenate([part.robot for part in parts]),
            np.concatenate([part.target for part in parts]),
            np.concatenate([part.error for part in parts]),
            parts[0].spread,
            tuple(place for part in parts for place in part.places),
            tuple(dict.fromkeys(words for part in parts for words in part.assumptions)),
            tuple(dict.fromkeys(words for part in parts for words in part.untested)),
        )
