"""One run on the simulated arm: MuJoCo's dynamics, velocities slightly wrong, torques that are limited."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paper_000.methods import CYCLE
from steelyard.arrays import Array, read_only, read_only_view
from steelyard.control import Controller
from steelyard.errors import NoSolutionError
from steelyard.motion import MotionSample
from steelyard.robot import Robot
from steelyard.simulation import Plant

VELOCITY_ERROR = 1e-3
"""Of every measured velocity, drawn anew in every cycle, rad/s."""
LOST = 1.0
"""Error of a joint beyond which a run is over, rad."""


@dataclass(frozen=True, eq=False)
class Trial:
    """What happened in a run, cycle by cycle. Arrays are read-only.

    Attributes:
        reference: what was to be followed.
        q: true positions, shape (N, nv), rad; fewer rows than the reference where the run was lost.
        v: true velocities, shape (N, nv), rad/s.
        commands: torques that the law asked for, shape (N, nv), N·m.
        memory: the law's state before each cycle, shape (N, m), SI.
        effort: largest torques, to which commands are clipped, shape (nv,), N·m.
        lost: whether the arm left its reference for good.
    """

    reference: MotionSample
    q: Array
    v: Array
    commands: Array
    memory: Array
    effort: Array
    lost: bool

    def __post_init__(self) -> None:
        for name in ("q", "v", "commands", "memory", "effort"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def torques(self) -> Array:
        """What the drives exerted, shape (N, nv), N·m."""
        return np.clip(self.commands, -self.effort, self.effort)

    @property
    def errors(self) -> Array:
        """Reference less position, shape (N, nv), rad."""
        return np.asarray(self.reference.q[: len(self.q)] - self.q)

    @property
    def load(self) -> Array:
        """Commands over their limits, the worst joint of every cycle, shape (N,), dimensionless."""
        return np.asarray((np.abs(self.commands) / self.effort).max(axis=1))


def run(
    robot: Robot,
    law: Controller,
    reference: MotionSample,
    rng: np.random.Generator,
    memory: Array | None = None,
) -> Trial:
    """Let a law follow a reference from rest.

    Args:
        robot: the true arm with all that it holds.
        law: the law.
        reference: at every cycle, q, v and a of shape (N, nv), SI.
        rng: source of the velocity's errors.
        memory: the law's state at the beginning, shape (m,), SI; None for its own.

    Returns:
        The run.
    """
    plant, effort = Plant(robot), robot.limit_array("effort")
    plant.place(reference.q[0], np.zeros(robot.nv))
    state = np.array(law.memory if memory is None else memory)
    model = (law.tree, law.numbers, read_only_view(law.gains), state)
    wanted = [read_only_view(x) for x in (reference.q, reference.v, reference.a)]
    off = VELOCITY_ERROR * rng.uniform(-1.0, 1.0, reference.q.shape)
    n, nv = reference.q.shape
    q, v, commands = np.empty((3, n, nv))
    memories = np.empty((n, len(state)))
    for k in range(n):
        q[k], v[k], memories[k] = plant.q, plant.v, state
        seen = read_only_view(q[k]), read_only_view(v[k] + off[k])
        law.step(*model, *seen, wanted[0][k], wanted[1][k], wanted[2][k], commands[k])
        lost = bool(np.abs(reference.q[k] - q[k]).max() > LOST)
        try:
            if not lost:
                plant.advance(np.clip(commands[k], -effort, effort), CYCLE)
        except NoSolutionError:
            lost = True
        if lost:
            n = k + 1
            break
    return Trial(reference, q[:n], v[:n], commands[:n], memories[:n], effort, lost)
