"""Why data leaves a direction open: the joints that would have to move, found by trying.

The motion is kept but for some joints, which are held at another place or move freely, and a direction shows
when its torque is then no longer small. Where no single joint is enough, all of them move at first and are
put back one after the other as long as the direction still shows.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from steelyard.arrays import Array
from steelyard.dynamics import torque_regressor
from steelyard.identifiability.base_parameters import BaseParameters
from steelyard.identifiability.certificate.remedies import Remedy
from steelyard.identifiability.random_states import random_positions
from steelyard.layout import Layout
from steelyard.robot import Robot

SAMPLES = 32
"""States of the motion that are tried."""
SHOWS = 1e-4
"""A direction shows when its torque is at least this share of what it is when every joint moves freely."""
RISES = 3.0
"""And this many times what it is in the motion as it is."""


class Change(IntEnum):
    """What a joint does differently."""

    NONE = 0
    ELSEWHERE = 1
    MOVES = 2


class Trials:
    """A motion, and what its torques would be if some joints did something else.

    Attributes:
        joints: indices of the joints that move by themselves.
        most: the most a joint can do; in static experiments none moves.
    """

    def __init__(
        self,
        robot: Robot,
        layout: Layout,
        base: BaseParameters,
        motion: tuple[Array, Array, Array],
        rng: np.random.Generator,
        *,
        static: bool,
    ) -> None:
        self.robot, self.layout, self.base = robot, layout, base
        picked = np.linspace(0, len(motion[0]) - 1, min(SAMPLES, len(motion[0]))).round().astype(int)
        self.motion = tuple(x[picked] for x in motion)
        self.most = Change.ELSEWHERE if static else Change.MOVES
        n = len(picked)
        self.places = [random_positions(joint, n, rng, within_limits=True) for joint in robot.joints]
        self.v, self.a = rng.normal(size=(2, n, robot.nv))
        self.joints = [i for i, joint in enumerate(robot.joints) if joint.nv > 0]

    def torque(self, changes: dict[int, Change], directions: Array) -> Array:
        """Root mean square torque of directions when joints do something else.

        Args:
            changes: what each joint does, by its index; the others do what they do in the motion.
            directions: changes of the base parameters, one per column, shape (b, k), SI.

        Returns:
            The torque of each direction, shape (k,), N·m or N.
        """
        q, v, a = (x.copy() for x in self.motion)
        at_q = np.cumsum([0, *(joint.nq for joint in self.robot.joints)])
        at_v = np.cumsum([0, *(joint.nv for joint in self.robot.joints)])
        for i, change in changes.items():
            mine, rates = slice(at_q[i], at_q[i + 1]), slice(at_v[i], at_v[i + 1])
            if change is Change.ELSEWHERE:
                q[:, mine] = self.places[i][0]
            elif change is Change.MOVES:
                q[:, mine], v[:, rates], a[:, rates] = self.places[i], self.v[:, rates], self.a[:, rates]
        Y = torque_regressor(self.robot, self.layout, q, v, a)[..., self.base.columns]
        return np.asarray(np.sqrt(np.mean((Y @ directions) ** 2, axis=(0, 1))))

    def remedies(self, directions: Array) -> list[tuple[Remedy, ...]]:
        """The single joints that would show each direction, or else one set of joints.

        Args:
            directions: changes of the base parameters, one per column, shape (b, k), SI.

        Returns:
            The remedies of each direction; none where even all joints together do not show it.
        """
        everything = dict.fromkeys(self.joints, self.most)
        needed = np.maximum(SHOWS * self.torque(everything, directions), RISES * self.torque({}, directions))
        found: list[list[Remedy]] = [[] for _ in needed]
        for i in self.joints:
            shown = np.zeros(len(needed), dtype=bool)
            for change in (Change.ELSEWHERE, Change.MOVES)[: self.most]:
                shows = self.torque({i: change}, directions) > needed
                for k in map(int, np.flatnonzero(shows & ~shown)):
                    found[k].append(self._remedy({i: change}))
                shown |= shows
        for k, remedies in enumerate(found):
            if not remedies and self.torque(everything, directions[:, [k]])[0] > needed[k]:
                remedies.append(self._remedy(self._fewest(directions[:, [k]], needed[k])))
        return [tuple(mine) for mine in found]

    def _fewest(self, direction: Array, needed: float) -> dict[int, Change]:
        """A set of changes none of which can be spared."""
        changes = dict.fromkeys(self.joints, self.most)
        for i in self.joints:
            for less in list(Change)[: self.most]:
                if self.torque(changes | {i: less}, direction)[0] > needed:
                    changes[i] = less
                    break
        return changes

    def _remedy(self, changes: dict[int, Change]) -> Remedy:
        names = self.robot.joint_names
        moving, elsewhere = (
            tuple(names[i] for i, change in changes.items() if change is kind)
            for kind in (Change.MOVES, Change.ELSEWHERE)
        )
        return Remedy(moving, elsewhere)
