"""The search for a motion of some joints, from rest to rest in a pause, that shows what is still missing."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import compress
from steelyard.errors import NoSolutionError
from steelyard.excitation.families import fourier_family
from steelyard.excitation.feasibility import refuse_infeasible
from steelyard.excitation.pause import Pause
from steelyard.excitation.problem import DesignProblem
from steelyard.excitation.searcher import SHARPENING, Searcher
from steelyard.excitation.shortfall import Shortfall
from steelyard.excitation.starts import fresh_start, room
from steelyard.excitation.torque_meter import measured_times
from steelyard.identifiability import BaseParameters, Criterion
from steelyard.inertia import change_of_frame
from steelyard.layout import Layout, layout_of
from steelyard.limits import Clearance, MotionLimits
from steelyard.motion import FourierMotion
from steelyard.robot import Robot

HARMONICS = 3
"""Of an addition's period: four unknowns for each joint are left by rest at the pose."""
LONGEST_PERIOD = 1.6
"""Longer additions repeat a period of at most this, s: slower ones would show less of the inertias."""
SEARCH_RATE = 50.0
"""Most samples per second at which the search looks, Hz; what is found is judged at the meter's rate."""
HAIR = 1e-6
"""Range left to joints that are held while searching, rad or m; afterwards they stand still."""
SPARE_DISTANCE = 5e-3
"""Clearance beyond the required one that is sought, for the time between samples, m."""
AT_POSE = 0.95
"""Share of the clearance at the pose that is asked for at most."""


class PauseSearch:
    """Searches for additions to one planned motion.

    Attributes:
        pause: where, and what is wanted.
        rounds: local searches for each set of joints and duration.
    """

    def __init__(self, pause: Pause, rounds: int, rng: np.random.Generator) -> None:
        self.pause = pause
        self.rounds = rounds
        self._seed = int(rng.integers(2**63))
        self._layout, self._parameters = _model(pause.limits, pause.meter.unknown)
        self._recorded = self._information_so_far()

    def addition(self, moving: Collection[int], duration: float) -> FourierMotion | None:
        """Search for a motion that shows all that is wanted.

        Args:
            moving: joints that may move; the others stand still.
            duration: of the motion, s.

        Returns:
            The motion; None where none was found.

        Raises:
            NoSolutionError: the pose leaves no room to move at all; says why.
        """
        pause, searcher = self.pause, self.searcher(moving, duration)
        rng = np.random.default_rng([self._seed, len(moving), round(1e3 * duration)])
        still = np.zeros(searcher.unknowns.shape)
        way = rng.standard_normal(still.shape)
        anything = 0.5 * room(searcher, still, way)[:, None] * way
        if not np.isfinite(pause.shortfall(_motion(searcher, anything, moving, duration))):
            # What a random motion of these joints does not show, none does.
            return None
        for _ in range(self.rounds):
            if searcher.apart is not None:
                searcher.apart.forget()
            try:
                local = searcher.search(fresh_start(searcher, rng))
            except NoSolutionError:
                return None
            motion = _motion(searcher, local.x, moving, duration)
            if local.judgement.kept and pause.shortfall(motion) <= 1.0:
                return motion
        return None

    def searcher(self, moving: Collection[int], duration: float) -> Searcher:
        """Everything a local search needs.

        Args:
            moving: joints that may move.
            duration: of the motion, s.

        Returns:
            A searcher whose objective is the `Shortfall`.

        Raises:
            NoSolutionError: the pose leaves no room to move at all; says why.
        """
        problem = self._problem(moving, duration)
        refuse_infeasible(problem)
        searcher = Searcher(problem)
        asked = np.isfinite(self.pause.required)
        searcher.objective = Shortfall(problem, searcher.unknowns, units=_units(self.pause), asked=asked)
        searcher.stages = SHARPENING
        return searcher

    def _problem(self, moving: Collection[int], duration: float) -> DesignProblem:
        pause, limits, meter = self.pause, self.pause.limits, self.pause.meter
        robot = _holding(pause.robot, pause.pose, moving)
        rate, times = min(SEARCH_RATE, meter.rate), _repeats(duration)
        clearance, distance = None, limits.distance
        if limits.clearance is not None and limits.clearance.pairs:
            clearance = Clearance(robot, limits.clearance.pairs)
            nearest = float(clearance.distances(pause.pose[None]).min())
            distance = max(distance, min(distance + SPARE_DISTANCE, AT_POSE * nearest))
        return DesignProblem(
            robot=robot,
            family=fourier_family(pause.robot, HARMONICS, duration / times),
            layout=self._layout,
            base=self._columns(),
            start=pause.pose,
            criterion=Criterion.A,
            rate=rate,
            # One period at few samples, each of less noise, says as much as all of them at the meter's rate.
            noise=meter.noise * np.sqrt(rate / (times * meter.rate)),
            recorded=self._recorded,
            clearance=clearance,
            distance=distance,
            acceleration=True,
            parameters=self._parameters,
        )

    def _columns(self) -> BaseParameters:
        """The payload's ten columns in the link's frame, then the drive terms that are not known."""
        layout, robot = self._layout, self.pause.robot
        ten = range(layout.size)[layout.of_link(robot.link_names[robot.tool_frame.link])]
        drive = [layout.index(f"{joint}.{t}") for joint in layout.joints for t in self.pause.meter.unknown]
        columns: IntArray = np.array([*ten, *sorted(drive)], dtype=np.int64)
        names = tuple(layout.names[k] for k in columns)
        return BaseParameters(names, read_only(np.eye(layout.size)[columns]), read_only(columns), 1.0, 0.0)

    def _information_so_far(self) -> Array:
        """The Gram matrix of the planned motion, rows over the noise, (p, p)."""
        pause, meter = self.pause, self.pause.meter
        at = pause.planned.sample(measured_times(pause.planned.duration, meter.rate))
        block = (at.q, at.v, at.a, np.zeros_like(at.v))
        return compress(pause.robot, self._layout, [block]).gram(1.0 / meter.noise)[:-1, :-1]


def _repeats(duration: float) -> int:
    """Periods in an addition."""
    return math.ceil(duration / LONGEST_PERIOD * (1.0 - 1e-12))


def _motion(searcher: Searcher, x: Array, moving: Collection[int], duration: float) -> FourierMotion:
    """All periods of the motion of unknowns as one series, joints that are held standing still."""
    unknowns, times = searcher.unknowns, _repeats(duration)
    nv, held = len(unknowns.scales), sorted(set(range(len(unknowns.scales))) - set(moving))
    c = unknowns.coefficients(x)
    c[held] = unknowns.middle[held]
    one = unknowns.family.with_coefficients(c)
    assert isinstance(one, FourierMotion)
    sine, cosine = np.zeros((2, nv, times * HARMONICS))
    sine[:, times - 1 :: times], cosine[:, times - 1 :: times] = one.sine, one.cosine
    return FourierMotion(one.joints, duration, one.offset, sine, cosine, robot=one.robot)


def _units(pause: Pause) -> Array:
    """A with phi_L = A z, z in the tool frame and in units of the wanted deviations, (10, 10)."""
    asked = np.isfinite(pause.required)
    units = np.where(asked, pause.required, pause.scale.ten)
    return np.asarray(change_of_frame(pause.robot.tool_frame.placement) * units)


def _holding(robot: Robot, pose: Array, moving: Collection[int]) -> Robot:
    """The robot with all joints but some within a hair of a pose."""
    joints = tuple(
        joint
        if k in moving
        else replace(joint, limits=replace(joint.limits, lower=float(q) - HAIR, upper=float(q) + HAIR))
        for k, (joint, q) in enumerate(zip(robot.joints, pose, strict=True))
    )
    return replace(robot, joints=joints)


def _model(limits: MotionLimits, unknown: tuple[str, ...]) -> tuple[Layout, Array | None]:
    """A layout with the unknown drive terms, and the limits' parameters in it.

    Friction beyond the linear drive is left to the certificate: a search needs columns.
    """
    known = () if limits.layout is None else limits.layout.drive
    terms = tuple(term.name for term in DRIVE_TERMS if term.name in (*known, *unknown))
    layout = layout_of(limits.robot, terms)
    if limits.layout is None or limits.parameters is None:
        return layout, None
    stated = dict(zip(limits.layout.names, limits.parameters.tolist(), strict=True))
    return layout, np.array([stated.get(name, 0.0) for name in layout.names])
