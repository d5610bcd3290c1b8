"""The smallest motion to add to a planned one so that it shows all of the body that is held."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from steelyard.arrays import Array, BoolArray, IntArray, checked, keep_read_only, read_only
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import compress, regressor_adjoint, torque_regressor
from steelyard.errors import InputError, NoSolutionError
from steelyard.excitation.local_search import SHARPENING, Searcher, fresh_start, room
from steelyard.excitation.objective import SIGN_WIDTH, Objective, ObjectiveStage, Surrogate
from steelyard.excitation.payload_observability import (
    SHOWN,
    PayloadObservability,
    PayloadScale,
    TorqueMeter,
    measured_times,
    shown_by,
    shown_by_samples,
)
from steelyard.excitation.problem import DesignProblem, refuse_infeasible
from steelyard.excitation.unknowns import fourier_family
from steelyard.identifiable import BaseParameters, Criterion
from steelyard.inertia import change_of_frame
from steelyard.layout import Layout, layout_of
from steelyard.limits import Certificate, Clearance, MotionLimits, certify
from steelyard.motion import (
    AnyMotion,
    FourierMotion,
    MotionSample,
    SequenceMotion,
    extent,
    in_sequence,
)
from steelyard.robot import Robot

# How far a motion falls short of wanted deviations, with the exact gradient in the unknowns.
#
# The ten numbers of a payload in its link's frame are $\varphi_L = A z$, with z in the tool frame and in
# units of the wanted deviations. The information about z and the drive terms that are not known, recorded
# data included, is $G_z = B^T G B$ with $B = \mathrm{diag}(A, 1)$. Of these, the numbers that are asked about
# are a, all others n; eliminating the others leaves
#
# $$P = M^T G_z M, \qquad M_a = 1, \quad M_n = -G_{nn}^{+} G_{na},$$
#
# and the diagonal of $C = P^{-1}$ holds the squares of deviation over wanted deviation. The largest of them
# is to be made small; the power mean
#
# $$F = \tfrac1p \log \sum_i C_{ii}^p, \qquad \frac{\partial F}{\partial P} = -C\,\mathrm{diag}(w)\,C, \qquad
# w_i = C_{ii}^{p-1} \Big/ \sum_k C_{kk}^p,$$
#
# has no kinks and lies above its logarithm: a motion with F ≤ 0 does all that is wanted.

BLIND = 1e-13
"""Smallest over largest eigenvalue of the information at which some number does not show."""
DEPENDENT = 1e-12
"""Share of the largest eigenvalue of the others, as unit columns, below which they repeat each other."""


@dataclass(frozen=True, eq=False)
class MissingExcitation(Objective):
    """The largest deviation over the wanted one as a function of the unknowns.

    The first ten columns of the problem's base are the payload's, the others drive terms.

    Attributes:
        units: A, shape (10, 10), SI.
        asked: which of the ten numbers in the tool frame are asked about, shape (10,), dimensionless.
    """

    units: Array = field(kw_only=True)
    asked: BoolArray = field(kw_only=True)

    def gradient(self, x: Array, stage: ObjectiveStage) -> tuple[float, Array]:
        """F and its gradient, with the barrier of the torque limits where they count.

        Args:
            x: unknowns, shape (nv, n), dimensionless.
            stage: how sharp to look.

        Returns:
            The value, infinite where the motion is blind or a torque is over its limit, and the gradient,
            shape (nv, n), dimensionless.
        """
        problem, columns = self.problem, self.problem.base.columns
        q, v, a = self.sampled(x)
        Y = torque_regressor(problem.robot, problem.layout, q, v, a, code=self.code)
        dofs, coulomb = self._coulomb
        smooth_sign = np.tanh(v[:, dofs] / SIGN_WIDTH)
        Y[:, dofs, coulomb] = smooth_sign
        judged = self.judged(self._gram(Y)[0], stage.power)
        value, weights = judged.value, np.zeros_like(Y)
        if problem.parameters is not None:
            over, pull = self._torque_barrier(Y @ problem.parameters)
            value += stage.barrier * over
            weights += (stage.barrier * pull)[:, :, None] * problem.parameters
        if not np.isfinite(value):
            return np.inf, np.zeros_like(x)
        weights[:, :, columns] += (2.0 * self._precision[:, None] * Y[:, :, columns]) @ judged.gradient
        slope = regressor_adjoint(problem.robot, problem.layout, weights, q, v, a, code=self.code)
        v_bar = slope.v.copy()
        v_bar[:, dofs] += weights[:, dofs, coulomb] * (1.0 - smooth_sign**2) / SIGN_WIDTH
        return value, self._in_unknowns(slope.q, v_bar, slope.a)

    def judged(self, gram: Array, power: float) -> Surrogate:
        """F and its derivative in the information.

        Args:
            gram: G, shape (b, b), SI.
            power: p, dimensionless.

        Returns:
            The value, infinite where some number does not show, and the gradient, shape (b, b), SI.
        """
        B, (a, n) = self._coordinates, self._places
        G = B.T @ gram @ B
        M = np.zeros((len(G), len(a)))
        M[a, np.arange(len(a))] = 1.0
        M[n] = -_inverse_where_seen(G[np.ix_(n, n)]) @ G[np.ix_(n, a)]
        values, V = np.linalg.eigh(M.T @ G @ M)
        if not values[0] > BLIND * values[-1]:
            return Surrogate(np.inf, np.full_like(gram, np.nan))
        C = (V / values) @ V.T
        largest = float(C.diagonal().max())
        shares = C.diagonal() / largest
        total = float((shares**power).sum())
        w = shares ** (power - 1.0) / (largest * total)
        K = B @ M @ C
        return Surrogate(float(np.log(largest) + np.log(total) / power), -(K * w) @ K.T)

    @cached_property
    def _coordinates(self) -> Array:
        """B, (b, b)."""
        return np.asarray(scipy.linalg.block_diag(self.units, np.eye(self.problem.base.count - 10)))

    @cached_property
    def _places(self) -> tuple[IntArray, IntArray]:
        """Where in z and the drive terms the numbers a stand that are asked about, and the others n."""
        asked = np.zeros(self.problem.base.count, dtype=np.bool_)
        asked[:10] = self.asked
        return np.flatnonzero(asked), np.flatnonzero(~asked)


def _inverse_where_seen(G: Array) -> Array:
    """The inverse in the units in which all columns are of length one; zero where they do not show."""
    lengths = np.sqrt(np.maximum(G.diagonal(), 0.0))
    seen = lengths > 0.0
    N = np.where(seen, 1.0 / np.where(seen, lengths, 1.0), 0.0)
    values, V = np.linalg.eigh(G * np.outer(N, N))
    kept = values > DEPENDENT * values.max(initial=0.0)
    half = N[:, None] * V[:, kept]
    return np.asarray((half / values[kept]) @ half.T)


# A pause in a planned motion, in which more can be done to show the body that is held.

ENOUGH = 0.005
"""Share of an amplitude to which the smallest one is found."""


@dataclass(frozen=True, eq=False)
class Pause:
    """Where a planned motion rests, and what is wanted by its end. The array is read-only.

    Attributes:
        limits: what every motion must respect; its robot holds the body.
        planned: the motion.
        part: how many parts of a sequence come before the pause; None for all, the pause being the end.
        meter: how torques are measured.
        scale: of a body like the one held.
        required: wanted standard deviations of the ten numbers in the tool frame, infinite where any will do,
            shape (10,), SI.
    """

    limits: MotionLimits
    planned: AnyMotion
    part: int | None
    meter: TorqueMeter
    scale: PayloadScale
    required: Array

    def __post_init__(self) -> None:
        wanted = checked("required", self.required, (10,), finite=False)
        if not (wanted > 0.0).all():
            raise InputError(f"must be positive, got {wanted.min():g}.", place="required")
        if self.part is not None and not 0 < self.part <= len(self._parts):
            raise InputError(
                f"must be 1 to {len(self._parts)}, as many parts as the planned motion has, got {self.part}.",
                place="part",
            )
        object.__setattr__(self, "required", read_only(wanted))

    @property
    def robot(self) -> Robot:
        """Which robot moves."""
        return self.limits.robot

    @cached_property
    def pose(self) -> Array:
        """Where it rests, shape (nv,), rad or m."""
        before = self._parts[: self.part][-1]
        return read_only(before.sample([before.duration]).q[0])

    def joined(self, addition: AnyMotion) -> SequenceMotion:
        """The planned motion with another one in its pause.

        Args:
            addition: from rest to rest at the pose.

        Returns:
            All of it.

        Raises:
            InputError: the planned motion does not rest there.
        """
        end = len(self._parts) if self.part is None else self.part
        return in_sequence([*self._parts[:end], addition, *self._parts[end:]])

    def shown(self, addition: AnyMotion | None = None) -> PayloadObservability:
        """What the planned motion shows, with or without another one in its pause.

        Args:
            addition: from rest to rest at the pose; None for none.

        Returns:
            What is shown.
        """
        motion = self.planned if addition is None else self.joined(addition)
        return shown_by(self.robot, motion, self.meter, scale=self.scale)

    def shortfall(self, addition: AnyMotion) -> float:
        """The largest deviation over the wanted one after an addition.

        Args:
            addition: from rest to rest at the pose.

        Returns:
            At most 1 where all is shown as well as wanted, infinite where something is not shown at all.
        """
        asked = np.isfinite(self.required)
        return float((self.shown(addition).deviations[asked] / self.required[asked]).max())

    def shrunk(self, addition: FourierMotion) -> FourierMotion:
        """The same addition at the smallest amplitude that still does.

        Deviations grow as an amplitude shrinks; the amplitude is halved until it does too little, and the
        smallest one sought in between.

        Args:
            addition: one that shows all as well as wanted.

        Returns:
            The smaller addition, which does too and would not with an amplitude 0.5 % smaller.
        """
        still = np.zeros_like(addition.coefficients)
        still[:, 0] = self.pose
        change = addition.coefficients - still
        enough, too_little = 1.0, 0.0
        while enough - too_little > ENOUGH * enough:
            share = 0.5 * (enough + too_little)
            if self.shortfall(addition.with_coefficients(still + share * change)) <= 1.0:
                enough = share
            else:
                too_little = share
        return addition.with_coefficients(still + enough * change)

    @property
    def _parts(self) -> tuple[AnyMotion, ...]:
        return self.planned.parts if isinstance(self.planned, SequenceMotion) else (self.planned,)


# The search for a motion of some joints, from rest to rest in a pause, that shows what is still missing.

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
            A searcher whose objective is the `MissingExcitation`.

        Raises:
            NoSolutionError: the pose leaves no room to move at all; says why.
        """
        problem = self._problem(moving, duration)
        refuse_infeasible(problem)
        searcher = Searcher(problem)
        asked = np.isfinite(self.pause.required)
        searcher.objective = MissingExcitation(
            problem, searcher.unknowns, units=_units(self.pause), asked=asked
        )
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


# The order in which additions to a planned motion are tried, from the smallest to the largest.

WRIST = 3
"""How many joints from the tip inwards are the wrist."""
STATES = 100
"""Random states at which it is seen what the robot can show at all."""


def smallest_addition(search: PauseSearch, durations: Sequence[float]) -> FourierMotion:
    """Of all additions, that of the shortest time and the fewest joints, as large as the limits allow.

    The wrist is tried first, and all joints where it does not do within the longest duration. The shortest
    duration is found by bisection, and in it the fewest joints from the tip inwards that do.

    Args:
        search: for additions to one planned motion.
        durations: to try, increasing, s.

    Raises:
        NoSolutionError: no motion of this robot shows what is wanted, or none that does was found.
    """
    pause = search.pause
    _refuse_unknowable(pause)
    inwards = _from_the_tip(pause.robot)
    fewest, most = 1, min(WRIST, len(inwards))
    found = search.addition(inwards[:most], durations[-1])
    if found is None and most < len(inwards):
        fewest, most = most + 1, len(inwards)
        found = search.addition(inwards, durations[-1])
    if found is None:
        missing = ", ".join(pause.shown().missing(pause.required))
        raise NoSolutionError(
            f"no motion of up to {durations[-1]:g} s was found that shows {missing} as well as wanted.",
            place=f"robot '{pause.robot.name}'",
            remedy="Allow more time or rounds, pause elsewhere, or want less.",
        )
    too_short, enough = -1, len(durations) - 1
    while enough - too_short > 1:
        middle = (too_short + enough) // 2
        shorter = search.addition(inwards[:most], durations[middle])
        if shorter is None:
            too_short = middle
        else:
            enough, found = middle, shorter
    for count in range(fewest, most):
        simpler = search.addition(inwards[:count], durations[enough])
        if simpler is not None:
            return simpler
    return found


def _refuse_unknowable(pause: Pause) -> None:
    """Numbers that stay hidden at random states are hidden from every motion."""
    q, v, a = np.random.default_rng(0).standard_normal((3, STATES, pause.robot.nv))
    at_random = shown_by_samples(pause.robot, MotionSample(q, v, a), pause.meter, scale=pause.scale)
    hidden = at_random.missing(np.where(np.isfinite(pause.required), np.finfo(float).max, np.inf))
    if hidden:
        raise NoSolutionError(
            f"no motion of it shows {', '.join(hidden)}.",
            place=f"robot '{pause.robot.name}'",
            remedy="Let any deviation of these do, or weigh the payload with an arm that turns it otherwise.",
        )


def _from_the_tip(robot: Robot) -> list[int]:
    """The joints that move the tool, from it to the base."""
    joints = [robot.tool_frame.link]
    while robot.joints[joints[-1]].parent >= 0:
        joints.append(robot.joints[joints[-1]].parent)
    return joints


DURATIONS = (0.8, 1.2, 1.6, 2.4, 3.2, 4.8, 6.4)
"""Durations that are tried, s."""


@dataclass(frozen=True, eq=False)
class AddedMotion:
    """A planned motion that shows what is wanted, by an addition where it needs one. Arrays are read-only.

    Attributes:
        motion: all of it.
        addition: from rest to rest; None where nothing is missing.
        amplitude: how far the addition takes each joint from the pose of the pause, zero where it stands
            still, shape (nv,), rad or m.
        units: of the amplitudes.
        required: wanted standard deviations of the ten numbers in the tool frame, shape (10,), SI.
        before: what the planned motion shows.
        after: what all of it shows.
        certificate: the proof that all of it keeps the limits.
    """

    motion: AnyMotion
    addition: FourierMotion | None
    amplitude: Array
    units: tuple[str, ...]
    required: Array
    before: PayloadObservability
    after: PayloadObservability
    certificate: Certificate

    def __post_init__(self) -> None:
        keep_read_only(self, "amplitude", "required")

    @property
    def moving(self) -> tuple[int, ...]:
        """Numbers, from 1, of the joints that the addition moves."""
        return tuple(int(k) + 1 for k in np.flatnonzero(self.amplitude))

    def __str__(self) -> str:
        """One sentence: which joints to move, for how long, how far, and what that shows."""
        if self.addition is None:
            return "Nothing needs to be added: the planned motion shows all that is wanted."
        furthest = int(self.amplitude.argmax())
        return (
            f"Add {self.addition.duration:g} s of motion on {_joints(self.moving)}, up to "
            f"{self.amplitude[furthest]:.2g} {self.units[furthest]} from the pose, to show "
            f"{_listed(self.before.missing(self.required))}."
        )


def added_motion(
    limits: MotionLimits,
    planned: AnyMotion,
    meter: TorqueMeter,
    rng: np.random.Generator,
    *,
    required: ArrayLike | None = None,
    scale: PayloadScale | None = None,
    part: int | None = None,
    durations: Sequence[float] = DURATIONS,
    rounds: int = 2,
) -> AddedMotion:
    """Find the smallest motion to add to a planned one so that it shows the body held as well as wanted.

    An addition is a Fourier series from rest to rest in a pause of the planned motion. Small means, in this
    order: the wrist alone where that does, the shortest time, the fewest joints from the tip inwards, the
    smallest amplitude of the motion that was found.

    Args:
        limits: what the motion must respect; its robot's tool frame is the body's. The weight of a heavy body
            belongs into its parameters.
        planned: a motion that ends at rest, all of it with the body held.
        meter: how torques are measured, and what of the drives is not known.
        rng: source of all random choices; one number is drawn from it where something is missing.
        required: wanted standard deviations of the ten numbers in the tool frame, infinite where any will do,
            shape (10,), SI; None for a tenth of their scales.
        scale: of a body like the one held; None for 1 kg and 0.1 m.
        part: how many parts of a planned sequence come before the pause, where it must rest; None for all.
        durations: to try, increasing, s.
        rounds: local searches for each set of joints and duration.

    Returns:
        The planned motion with its addition, certified.

    Raises:
        NoSolutionError: no motion of this robot shows what is wanted, or none that does was found.
        NotCertifiedError: the whole motion cannot be proven to keep its limits.
        InputError: the planned motion does not fit the robot, or does not rest where more is to be added.
    """
    if len(durations) == 0 or (np.diff(durations) <= 0.0).any():
        raise InputError("must be one or more, and increase.", place="durations")
    body = PayloadScale() if scale is None else scale
    wanted = SHOWN * body.ten if required is None else checked("required", required, (10,), finite=False)
    pause = Pause(limits, planned, part, meter, body, wanted)
    before = after = pause.shown()
    motion, addition, amplitude = planned, None, np.zeros(limits.robot.nv)
    if before.missing(wanted):
        addition = pause.shrunk(smallest_addition(PauseSearch(pause, rounds, rng), durations))
        motion, amplitude = pause.joined(addition), _amplitude(addition, pause.pose)
        after = pause.shown(addition)
    units = tuple(joint.position_unit for joint in limits.robot.joints)
    proof = certify(limits, motion)
    return AddedMotion(motion, addition, amplitude, units, wanted, before, after, proof)


def _amplitude(addition: FourierMotion, pose: Array) -> Array:
    """How far each joint goes, (nv,), rad or m."""
    goes = extent(addition)
    moves = addition.sine.any(axis=1) | addition.cosine.any(axis=1)
    return np.where(moves, np.maximum(goes.upper - pose, pose - goes.lower), 0.0)


def _joints(numbers: tuple[int, ...]) -> str:
    if len(numbers) == 1:
        return f"joint {numbers[0]}"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"joints {numbers[0]}-{numbers[-1]}"
    return f"joints {_listed([str(number) for number in numbers])}"


def _listed(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
