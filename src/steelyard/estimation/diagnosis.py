r"""What is wrong with a description or a log, told by what explains the torques it leaves unexplained.

A *reading* says how a log is to be understood: which column is which joint, what positions and torques are
multiplied by, where zero is, how late the torque is, and where the description's joints and gravity are. Each
possible mistake has a reading with a few unknowns $\theta$ that would undo it, none for an inverted sign, one
for a gear, two for a tilted axis. For each the model is fitted anew,

$$r(\theta) = \tau(\theta) - W(\theta)\,\phi, \qquad
  \min_{\theta, \phi} \sum_k \log \sigma_k, \qquad \sigma_k^2 = \operatorname{mean}_t r_k^2 / \gamma_k^2,$$

with $\gamma_k$ the factor of the torque, by Gauss-Newton steps in $\theta$ from nothing wrong. All mistakes
with unknowns are looked at in their linearisation first, and the most promising of each kind followed up.

A mistake is named where three things hold: its reading leaves clearly less than the log as it stands; the
likelihood of normal noise, in which a sample that repeats its neighbour does not count, rises by a factor of
at least $e^{10}$; and it rises by as much against every other mistake. What the parameters can absorb, such
as a link that is a little longer, no log can show, and nothing is said. Nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.interpolate import make_interp_spline

from steelyard.arrays import Array, IntArray
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.estimation.noise import effective_samples
from steelyard.estimation.sign_checks import (
    MOST_SAMPLES,
    NOTHING,
    OVERWHELMING,
    FlippedEquations,
    normal_solver,
    sign_checks,
)
from steelyard.finding import Finding, Severity
from steelyard.pose import Pose
from steelyard.problem import Evidence, Problem
from steelyard.robot import JointKind, Robot
from steelyard.threads import with_one_blas_thread

LONGEST = 0.05
"""Longest delay looked for, either way, s."""
CLEARLY = 0.9
"""Share of the residual, as a geometric mean over degrees of freedom, that a reading must leave at most."""
WORTH = 0.5
"""Torque, percent of its rms, that a factor, zero, delay or displacement must be worth to be an error."""
FALLS = 0.95
"""Share of the residual of all degrees of freedom together, each by its torque, that may be left at most."""
_ROUNDS, _RANK, _DEGREE = 20, 1e-8, 5
_STEPS, _FOLLOWED = 8, 2
_LOST = 0.1
"""Share of a joint's torque left unexplained from which on it may be another joint's."""
_DEGREES = np.pi / 180.0


@dataclass(frozen=True, eq=False)
class Interpretation:
    """A way to understand a log.

    Attributes:
        robot: the description.
        order: which column of the log's motion is which degree of freedom, shape (nv,), dimensionless.
        factors: what positions and their derivatives are multiplied by, shape (nv,), dimensionless.
        zeros: what is then added to positions, shape (nv,), rad or m.
        late: how late the torque is, s.
        torque_order: which column of the log's torque is which degree of freedom, shape (nv,), dimensionless.
        gains: what torques are multiplied by, shape (nv,), dimensionless.
    """

    robot: Robot
    order: tuple[int, ...]
    factors: Array
    zeros: Array
    late: float
    torque_order: tuple[int, ...]
    gains: Array

    def same_motion(self, other: Interpretation) -> bool:
        """Whether another reading has the same regressor.

        Args:
            other: the other reading.

        Returns:
            Whether it has.
        """
        mine, its = (self.order, self.late), (other.order, other.late)
        same = np.array_equal(self.factors, other.factors) and np.array_equal(self.zeros, other.zeros)
        return self.robot is other.robot and mine == its and same


@dataclass(frozen=True, eq=False)
class Mistake:
    """One thing that may be wrong.

    Attributes:
        code: what kind of mistake, as in the code of its finding.
        place: the joints concerned, or what else.
        size: number of unknowns.
        undone: the reading that undoes it, of the unknowns, shape (size,), SI.
        said: what is wrong and what to do, of the unknowns, shape (size,), SI.
        most: largest size of each unknown, SI.
    """

    code: str
    place: str
    size: int
    undone: Callable[[Array], Interpretation]
    said: Callable[[Array], str]
    most: float = np.inf


@dataclass(frozen=True, eq=False)
class Explained:
    """How well a mistake explains the log.

    Attributes:
        mistake: which one.
        unknowns: its unknowns, shape (size,), SI.
        deviations: residual deviations over the torque's factors, shape (nv,), N·m or N.
        parameters: phi, shape (p,), SI.
    """

    mistake: Mistake
    unknowns: Array
    deviations: Array
    parameters: Array


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What may be wrong with a description or a log.

    Attributes:
        findings: what is named, with what to do about it; none where nothing is.
        left: unexplained torque as the log stands, percent of its rms.
        repaired: the same if what is named were undone, percent.
    """

    findings: tuple[Finding, ...]
    left: float
    repaired: float


@with_one_blas_thread
def diagnose(problem: Problem) -> Diagnosis:
    """Name the mistake in a description or a log that explains what the model leaves, if there is one.

    Torque signs, inverted axes, gravity, the order of joints, degrees, factors of torque and position, zeros
    of position, a delay of the torque and displaced or tilted joints are tried, on at most
    `MOST_SAMPLES` samples. Robots with joints of several degrees of freedom, or that mimic others, are tried
    for signs and gravity alone.

    Args:
        problem: the question, with its samples.

    Raises:
        InputError: the samples were not kept.
        RecordingError: the problem was posed without accelerations.
    """
    signs = sign_checks(problem)
    simple = problem.robot.nq == problem.robot.nv and problem.robot.ties is None
    log = _Log.of(problem) if simple else None
    if log is None or len(log.instants) * problem.robot.nv <= 2 * problem.base.count:
        return Diagnosis(signs.findings, signs.before, signs.after)
    stated = log.stated
    nothing = Explained(_nothing(stated), np.zeros(0), *log.levels(stated))
    tried = [*log.tried(nothing)]
    if signs.findings:
        tried.append(log.explained(_inverted(stated, signs.gravity, signs.signs, signs.findings), nothing))
    tried.sort(key=lambda x: float(np.log(x.deviations).sum()))
    return log.judged(nothing, tried, signs.findings)


@dataclass(frozen=True, eq=False)
class _Equations:
    """The torque equations of a reading's motion.

    Attributes:
        reading: one of those with this motion.
        regressor: Y, shape (n, nv, p), SI.
        grams: products of the columns of [Y_k tau] for each degree of freedom k, shape (nv, p + nv, p + nv).
    """

    reading: Interpretation
    regressor: Array
    grams: Array


@dataclass(frozen=True, eq=False)
class _Log:
    """Some samples of a log, and the equations of every reading of it."""

    problem: Problem
    instants: IntArray

    @classmethod
    def of(cls, problem: Problem) -> _Log:
        posed = FlippedEquations.of(problem).problem
        return cls(posed, _instants(posed.samples))

    @cached_property
    def stated(self) -> Interpretation:
        nv = self.problem.robot.nv
        order = tuple(range(nv))
        return Interpretation(self.problem.robot, order, np.ones(nv), np.zeros(nv), 0.0, order, np.ones(nv))

    @cached_property
    def torque(self) -> Array:
        """Root mean square torque, shape (nv,), N·m or N."""
        return np.asarray(np.sqrt((self.problem.samples.tau[self.instants] ** 2).mean(axis=0)))

    @cached_property
    def _splines(self) -> list[tuple[Array, Callable[[Array], Array]]]:
        at, found = self.problem.samples, []
        for part in at.motions:
            mine = self.instants[(self.instants >= part.start) & (self.instants < part.stop)]
            if len(mine):
                motion = np.hstack([at.q[part], at.v[part], at.a[part]])
                found.append((at.time[mine], make_interp_spline(at.time[part], motion, k=_DEGREE)))
        return found

    @cached_property
    def _as_stated(self) -> _Equations:
        return self._made(self.stated)

    @cached_property
    def _kept(self) -> list[_Equations]:
        """Those of the two last motions looked at: mistakes of the torque alone follow one another."""
        return []

    def motion(self, reading: Interpretation) -> tuple[Array, Array, Array]:
        """q, v and a as a reading understands them, each of shape (n, nv)."""
        if reading.late == 0.0:
            at = self.problem.samples
            q, v, a = at.q[self.instants], at.v[self.instants], at.a[self.instants]
        else:
            q, v, a = np.hsplit(np.vstack([s(t - reading.late) for t, s in self._splines]), 3)
        order, factors = list(reading.order), reading.factors
        return q[:, order] * factors + reading.zeros, v[:, order] * factors, a[:, order] * factors

    def left(self, reading: Interpretation, phi: Array) -> Array:
        """What parameters leave of the torque of a reading, shape (n, nv)."""
        tau = self.problem.samples.tau[self.instants][:, list(reading.torque_order)] * reading.gains
        model = inverse_dynamics(reading.robot, self.problem.layout, phi, *self.motion(reading))
        return np.asarray(tau - model)

    def levels(self, reading: Interpretation, start: Array | None = None) -> tuple[Array, Array]:
        """Residual deviations by any numbers, each degree of freedom weighted by its own, and phi."""
        grams = self._equations(reading).grams
        p, nv = self.problem.layout.size, self.problem.robot.nv
        floor = np.where(self.torque > 0.0, NOTHING * self.torque, 1.0)
        sigma = np.where(self.torque > 0.0, self.torque, 1.0) if start is None else start
        index = [p + k for k in reading.torque_order]
        for _ in range(_ROUNDS):
            weights = 1.0 / (sigma * reading.gains) ** 2
            G = np.tensordot(weights, grams[:, :p, :p], 1)
            g = sum(weights[k] * reading.gains[k] * grams[k, :p, index[k]] for k in range(nv))
            phi = self._solved(G, np.asarray(g))
            power = np.array(
                [
                    phi @ grams[k, :p, :p] @ phi / reading.gains[k] ** 2
                    - 2.0 * phi @ grams[k, :p, index[k]] / reading.gains[k]
                    + grams[k, index[k], index[k]]
                    for k in range(nv)
                ]
            )
            before = sigma
            sigma = np.maximum(np.sqrt(np.maximum(power, 0.0) / len(self.instants)), floor)
            if np.abs(np.log(sigma / before)).max() < 0.01:
                break
        return np.where(self.torque > 0.0, sigma, 1.0), phi

    def _solved(self, G: Array, g: Array) -> Array:
        """The free parameters by normal equations, on columns that the data tells apart."""
        free, phi = self.problem.layout.free, np.array(self.problem.known)
        phi[free] = normal_solver(G[np.ix_(free, free)], _RANK)((g - G @ phi)[free])
        return phi

    def _equations(self, reading: Interpretation) -> _Equations:
        """The equations of a reading's motion, made once for readings that follow one another."""
        for known in (self._as_stated, *self._kept):
            if known.reading.same_motion(reading):
                return known
        self._kept.append(self._made(reading))
        del self._kept[:-2]
        return self._kept[-1]

    def _made(self, reading: Interpretation) -> _Equations:
        at = self.motion(reading)
        Y = torque_regressor(reading.robot, self.problem.layout, *at, code="generic")
        tau = self.problem.samples.tau[self.instants]
        p = Y.shape[2]
        grams = np.zeros((Y.shape[1], p + tau.shape[1], p + tau.shape[1]))
        for k, gram in enumerate(grams):
            # A joint feels none of the links that do not hang on it.
            felt = np.flatnonzero(Y[:, k].any(axis=0))
            rows = np.column_stack([Y[:, k, felt], tau])
            columns = np.concatenate([felt, np.arange(p, gram.shape[0])])
            gram[np.ix_(columns, columns)] = rows.T @ rows
        return _Equations(reading, Y, grams)

    def explained(self, mistake: Mistake, nothing: Explained) -> Explained:
        """Follow a mistake's unknowns to where they explain most."""
        theta = np.zeros(mistake.size)
        sigma, phi = self.levels(self._undone(mistake, theta), nothing.deviations)
        for _ in range(_STEPS if mistake.size else 0):
            step = self._step(mistake, theta, phi, sigma)
            for length in (1.0, 0.5, 0.2):
                trial = np.clip(theta + length * step, -mistake.most, mistake.most)
                level, found = self.levels(mistake.undone(trial), sigma)
                if np.log(level).sum() < np.log(sigma).sum() - 1e-4:
                    break
            else:
                break
            fell = float(np.log(sigma / level).sum())
            theta, sigma, phi = trial, level, found
            if fell < 0.01:
                break
        return Explained(mistake, theta, sigma, phi)

    def _undone(self, mistake: Mistake, theta: Array) -> Interpretation:
        """The reading that undoes a mistake; unknowns of zero undo nothing, and its equations are known."""
        return self.stated if mistake.size and not theta.any() else mistake.undone(theta)

    def _slopes(self, mistake: Mistake, theta: Array, phi: Array, here: Array) -> Array:
        """Slopes of the residual, which is given here, in the unknowns, shape (n, nv, size)."""
        epsilon = 1e-4 * min(mistake.most, 1.0)
        moved = [self.left(mistake.undone(theta + epsilon * e), phi) for e in np.eye(mistake.size)]
        return np.stack([(there - here) / epsilon for there in moved], axis=-1)

    def _step(self, mistake: Mistake, theta: Array, phi: Array, sigma: Array) -> Array:
        reading = self._undone(mistake, theta)
        weights = 1.0 / (sigma * np.abs(reading.gains))
        left = self.left(reading, phi)
        stacked = np.concatenate([self._slopes(mistake, theta, phi, left), left[..., None]], axis=-1)
        across = self._across(self._equations(reading), weights, stacked)
        return np.asarray(-np.linalg.lstsq(across[:, :-1], across[:, -1], rcond=1e-10)[0])

    def _across(self, equations: _Equations, weights: Array, columns: Array) -> Array:
        """What no free parameters explain of columns, shape (n, nv, m): weighted, shape (n nv, m)."""
        free, p = self.problem.layout.free, self.problem.layout.size
        A = (equations.regressor[..., free] * weights[:, None]).reshape(-1, int(free.sum()))
        G = np.tensordot(weights**2, equations.grams[:, :p, :p], 1)[np.ix_(free, free)]
        solve = normal_solver(G, _RANK)
        left = (columns * weights[:, None]).reshape(len(A), -1)
        for _ in range(2):
            left = left - A @ solve(A.T @ left)
        return np.asarray(left)

    def tried(self, nothing: Explained) -> Iterator[Explained]:
        """Every mistake without unknowns, and the most promising of each kind of the others."""
        lost = bool((nothing.deviations > _LOST * self.torque)[self.torque > 0.0].any())
        for mistake in _without_unknowns(self.stated, lost):
            yield self.explained(mistake, nothing)
        weights = 1.0 / nothing.deviations
        kinds: dict[str, list[tuple[float, Mistake]]] = {}
        mistakes = _with_unknowns(self.stated, self.problem.robot)
        phi, left = nothing.parameters, self.left(self.stated, nothing.parameters)
        slopes = [self._slopes(x, np.zeros(x.size), phi, left) for x in mistakes]
        stacked = np.concatenate([*slopes, left[..., None]], axis=-1)
        across = self._across(self._as_stated, weights, stacked)
        r, first = across[:, -1], 0
        for mistake in mistakes:
            J = across[:, first : first + mistake.size]
            first += mistake.size
            beyond = r - J @ np.linalg.lstsq(J, r, rcond=1e-10)[0]
            kinds.setdefault(mistake.code, []).append((float(beyond @ beyond), mistake))
        for found in kinds.values():
            for _, mistake in sorted(found, key=lambda x: x[0])[:_FOLLOWED]:
                yield self.explained(mistake, nothing)

    def share(self, sigma: Array) -> float:
        """Deviations in percent of the torque's rms over all degrees of freedom."""
        return 100.0 * float(np.linalg.norm(sigma[self.torque > 0.0]) / np.linalg.norm(self.torque))

    def judged(
        self, nothing: Explained, tried: Sequence[Explained], sign_findings: tuple[Finding, ...]
    ) -> Diagnosis:
        """Name the best where it is clearly better than nothing and than every other."""
        best = tried[0]
        left = self.share(nothing.deviations)
        reading = best.mistake.undone(best.unknowns)
        memory = effective_samples(self.left(reading, best.parameters), NOTHING * self.torque)
        counted = np.maximum(memory - self.problem.base.count / len(memory), 0.0)
        gain = np.log(nothing.deviations / best.deviations)
        repaired = self.share(best.deviations)
        share = max(float(np.exp(-gain.mean())) / CLEARLY, repaired / (FALLS * left))
        if share > 1.0 or float(counted @ gain) < OVERWHELMING:
            # All signs inverted are told by links that can exist alone: any numbers explain them as well.
            return Diagnosis(sign_findings, left, left)
        close = [
            other
            for other in tried[1:]
            if float(counted @ np.log(other.deviations / best.deviations)) < OVERWHELMING
        ]
        # Of mistakes that explain alike, those with the fewest unknowns are believed.
        fewest = min(x.mistake.size for x in (best, *close))
        best, *close = [x for x in (best, *close) if x.mistake.size == fewest]
        return Diagnosis(_findings(best, close, left, repaired, sign_findings), left, repaired)


def _instants(at: Evidence) -> IntArray:
    """Samples far enough from the ends of their motion to look both ways, evenly spread over the log."""
    inside = [np.zeros(0, dtype=np.int64)]
    for part in at.motions:
        t = at.time[part]
        if len(t) > _DEGREE:
            inside.append(part.start + np.flatnonzero((t >= t[0] + LONGEST) & (t <= t[-1] - LONGEST)))
    index = np.concatenate(inside)
    chosen = np.linspace(0, max(len(index) - 1, 0), min(len(index), MOST_SAMPLES)).round()
    return np.asarray(index[chosen.astype(np.int64)])


def _nothing(stated: Interpretation) -> Mistake:
    return Mistake("", "", 0, lambda _: stated, lambda _: "")


def _inverted(
    stated: Interpretation, gravity: Sequence[float], signs: Sequence[float], findings: tuple[Finding, ...]
) -> Mistake:
    """Signs and gravity that links which can exist ask for; what is said are the findings themselves."""
    same = np.allclose(gravity, stated.robot.gravity)
    robot = stated.robot if same else stated.robot.with_gravity(np.asarray(gravity))
    reading = replace(stated, robot=robot, gains=np.asarray(signs, dtype=float))
    place = ", ".join(finding.place for finding in findings)
    return Mistake(SIGNS, place, 0, lambda _: reading, lambda _: "")


def _changed(values: Array, k: int, value: float) -> Array:
    return np.where(np.arange(len(values)) == k, value, values)


def _exchanged(order: tuple[int, ...], j: int, k: int) -> tuple[int, ...]:
    swap = {j: k, k: j}
    return tuple(order[swap.get(i, i)] for i in range(len(order)))


def _without_unknowns(stated: Interpretation, lost: bool) -> Iterator[Mistake]:
    """Signs, directions, units and, where a joint's torque is lost, the order of joints."""
    joints, nv = stated.robot.joints, stated.robot.nv
    names = [joint.name for joint in joints]

    def fixed(code: str, place: str, said: str, reading: Interpretation) -> Mistake:
        return Mistake(code, place, 0, lambda _: reading, lambda _: said)

    for k, name in enumerate(names):
        inverted = replace(stated, gains=_changed(stated.gains, k, -1.0))
        yield fixed("torque-sign", name, _SIGN.format(name=name), inverted)
    for j in range(nv if lost else 0):
        for k in range(j + 1, nv):
            both = f"{names[j]}, {names[k]}"
            torques = replace(stated, torque_order=_exchanged(stated.torque_order, j, k))
            said = f"the torques of {names[j]} and {names[k]} are exchanged in the log"
            yield fixed("joint-order", both, f"{said}. {_ORDER}", torques)
    for k, name in enumerate(names):
        around = replace(stated, factors=_changed(stated.factors, k, -1.0))
        said = f"the positions of {name} count the other way round than the description's axis does"
        yield fixed("joint-direction", name, f"{said}, its torques do not. {_POSITION_SIGN}", around)
        around = replace(around, gains=_changed(stated.gains, k, -1.0))
        said = f"{name} turns the other way round in the log than about the description's axis"
        yield fixed("joint-direction", name, f"{said}. {_DIRECTION}", around)
    for j in range(nv if lost else 0):
        for k in range(j + 1, nv):
            both = f"{names[j]}, {names[k]}"
            motions = replace(stated, order=_exchanged(stated.order, j, k))
            said = f"the positions of {names[j]} and {names[k]} are exchanged in the log"
            yield fixed("joint-order", both, f"{said}. {_ORDER}", motions)
            columns = replace(motions, torque_order=_exchanged(stated.torque_order, j, k))
            said = f"{names[j]} and {names[k]} are exchanged in the log"
            yield fixed("joint-order", both, f"{said}. {_ORDER}", columns)
    turns = np.array([joint.kind.rotates for joint in joints])
    if turns.any():
        degrees = replace(stated, factors=np.where(turns, _DEGREES, 1.0))
        said = "positions are in degrees. State their unit in the column map, or convert them"
        yield fixed("degrees-suspected", "q", f"{said}.", degrees)


def _with_unknowns(stated: Interpretation, robot: Robot) -> list[Mistake]:
    """Factors, zeros, gravity, a delay and displaced or tilted joints."""
    found: list[Mistake] = []
    for k, joint in enumerate(robot.joints):
        found += _of_joint(stated, k, joint.name, joint.kind is JointKind.PRISMATIC)
    g = np.asarray(robot.gravity)

    def gravity(theta: Array) -> Interpretation:
        return replace(stated, robot=robot.with_gravity(g + theta))

    def delay(theta: Array) -> Interpretation:
        return replace(stated, late=float(theta[0]))

    found.append(Mistake("gravity-direction", "gravity", 3, gravity, lambda x: _gravity_said(g, g + x)))
    found.append(Mistake("torque-delay", "tau", 1, delay, lambda x: _delay_said(float(x[0])), LONGEST))
    return found


def _of_joint(stated: Interpretation, k: int, name: str, slides: bool) -> Iterator[Mistake]:
    joint = stated.robot.joints[k]
    unit = "m" if slides else "rad"

    def gain(theta: Array) -> Interpretation:
        return replace(stated, gains=_changed(stated.gains, k, float(np.exp(theta[0]))))

    def gear(theta: Array) -> Interpretation:
        return replace(stated, factors=_changed(stated.factors, k, float(np.exp(theta[0]))))

    def zero(theta: Array) -> Interpretation:
        return replace(stated, zeros=_changed(stated.zeros, k, float(theta[0])))

    def placed(pose: Pose) -> Interpretation:
        joints = list(stated.robot.joints)
        joints[k] = replace(joint, placement=joint.placement @ pose)
        return replace(stated, robot=replace(stated.robot, joints=tuple(joints)))

    # Two directions across the axis: a turn about it is another zero, which is a mistake of its own.
    across = np.linalg.svd(np.asarray(joint.axis)[None])[2][1:]

    def tilt(theta: Array) -> Interpretation:
        return placed(Pose.from_quaternion(_quaternion(theta @ across)))

    def shift(theta: Array) -> Interpretation:
        return placed(Pose(np.eye(3), np.asarray(theta)))

    yield Mistake("torque-scale", name, 1, gain, lambda x: _gain_said(name, float(x[0])), 3.0)
    yield Mistake("gear-ratio", name, 1, gear, lambda x: _gear_said(name, float(x[0])), 3.0)
    yield Mistake("joint-zero", name, 1, zero, lambda x: _zero_said(name, float(x[0]), unit), np.pi)
    if joint.parent >= 0:  # the first axis tilted is the base tilted, which is gravity's mistake
        yield Mistake("kinematics-suspected", name, 2, tilt, lambda x: _tilt_said(name, x), 1.6)
    yield Mistake("kinematics-suspected", name, 3, shift, lambda x: _shift_said(name, x), 2.0)


def _quaternion(rotation: Array) -> Array:
    """The quaternion x, y, z, w of a rotation vector."""
    angle = float(np.linalg.norm(rotation))
    return np.append(0.5 * np.sinc(0.5 * angle / np.pi) * rotation, np.cos(0.5 * angle))


SIGNS = "turned"
"""Code of the mistake whose findings are those of signs and gravity together."""
_OF_SIGNS = {SIGNS, "torque-sign", "gravity-direction"}
_SIGN = "the torque of {name} has the other sign than the description's axis. Give --torque-sign {name}=-1."
_ORDER = "Assign the columns to their joints with --columns."
_POSITION_SIGN = "Turn their sign in the log."
_DIRECTION = "Turn the axis around in the description, or the signs of position and torque in the log."


def _gravity_said(stated: Array, found: Array) -> str:
    lengths = float(np.linalg.norm(stated)), float(np.linalg.norm(found))
    numbers = ",".join(f"{x:.4g}" for x in found)
    remedy = f"Give --gravity {numbers} (m/s²), or mount the base so in the description."
    if min(lengths) == 0.0:
        return f"gravity is ({numbers}) m/s² in the log's base frame, not as described. {remedy}"
    angle = np.degrees(np.arccos(np.clip(stated @ found / (lengths[0] * lengths[1]), -1.0, 1.0)))
    return f"the base is tilted by {angle:.1f} degrees against the description's gravity. {remedy}"


def _delay_said(d: float) -> str:
    way = "late" if d > 0.0 else "early"
    more = " or more" if abs(d) > 0.99 * LONGEST else ""
    remedy = f"Take it out of the log (signals.without_delay by {d:.2g} s), or log both at the same instant."
    return f"torques come {1e3 * abs(d):.2g} ms{more} too {way} for the motion. {remedy}"


def _gain_said(name: str, theta: float) -> str:
    return (
        f"the torque of {name} is {np.exp(-theta):.3g} times what the other joints' torques say. "
        "Check its torque constant, its gear and its unit."
    )


def _gear_said(name: str, theta: float) -> str:
    return (
        f"{name} moves {np.exp(theta):.4g} times as far as its logged position does. Check the gear ratio or "
        "the scale of its encoder, and multiply its positions and velocities in the log by that."
    )


def _zero_said(name: str, theta: float, unit: str) -> str:
    return (
        f"the zero of {name} is off: {theta:+.3g} {unit} added to its logged positions explains the torques. "
        "Add it in the log, or move the joint's frame in the description."
    )


def _tilt_said(name: str, theta: Array) -> str:
    return (
        f"the axis of {name} seems to be tilted by {np.degrees(np.linalg.norm(theta)):.1f} degrees against "
        "the description's. Check the joint's origin and axis there, and those of its neighbours."
    )


def _shift_said(name: str, theta: Array) -> str:
    return (
        f"{name} seems to be {1e3 * np.linalg.norm(theta):.0f} mm from where the description has it. Check "
        "its origin there, and the lengths of the links before and after it."
    )


def _findings(
    best: Explained,
    close: Sequence[Explained],
    left: float,
    repaired: float,
    sign_findings: tuple[Finding, ...],
) -> tuple[Finding, ...]:
    """What is said of the best mistake, and of those that explain as much."""
    codes = [x.mistake.code for x in (best, *close)]
    if best.mistake.code in _OF_SIGNS and SIGNS in codes and set(codes) <= _OF_SIGNS:
        return sign_findings
    fit = f" What is left of the torque falls from {left:.2g} % to {repaired:.2g} %."
    removed = np.sqrt(max(left**2 - repaired**2, 0.0))
    certain = best.mistake.size == 0 or best.mistake.code in _OF_SIGNS or removed >= WORTH
    severity = Severity.ERROR if certain else Severity.WARNING
    different: dict[tuple[str, str], Explained] = {}
    for x in (best, *close):
        if x.mistake.code != SIGNS:
            different.setdefault((x.mistake.code, x.mistake.place), x)
    said = [x.mistake.said(x.unknowns) for x in different.values()]
    if len(different) == 1:
        (code, place), message = next(iter(different)), said[0]
    else:
        heads = "; or ".join(text.partition(". ")[0] for text in said)
        message = f"the log contradicts the description, and several mistakes explain it alike: {heads}."
        place = ", ".join(dict.fromkeys(where for _, where in different))
        code = codes[0] if len(set(codes)) == 1 else "description-mismatch"
    return (Finding(severity, code, message + fit, place),)
