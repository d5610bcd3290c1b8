r"""Gains, limits, friction and delay of servos, by simulating what a log's commands make an arm do.

Levenberg and Marquardt's method on the logarithms of what is positive, over short pieces with starts of
their own, see `segments`. The spread is that of the pieces: leaving piece s out moves the estimate by
$-(H - H_s)^{-1} g_s$, and the sum of the squares of these moves is the jackknife's variance, whatever the
colour of the residuals inside a piece.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from steelyard.arrays import Array, checked, keep_read_only
from steelyard.drive import SERVO_TERMS, Servo, servo_numbers, servos_of
from steelyard.dynamics import Numbers
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.estimation.equations import OnBlind
from steelyard.estimation.servo.log import ServoLog, smoothed_log
from steelyard.estimation.servo.segments import (
    Answers,
    MeasuredNoise,
    Segment,
    answers,
    reduced,
    segments_of,
)
from steelyard.estimation.servo.start import scaled_servos, servo_start
from steelyard.layout import layout_of
from steelyard.rollout import Columns, ServoArm, servo_columns
from steelyard.threads import with_one_blas_thread

TERMS = ("stiffness", "armature", "viscous", "coulomb", "delay")
"""What is sought where nothing else is asked for. Damping is part of viscous friction: without a limit that
holds, a log shows their sum alone."""

SEGMENT = 1.0
"""Length of a piece, s."""

HIDDEN = 3.0
"""A standard deviation of this size in the logarithm, a factor of 20, counts as not knowing."""

_LINEAR = {"delay": 0.01, "offset": 0.05}
"""Terms whose unknown is no logarithm, and the change that counts as much as one there."""
_NAMES = tuple(term.name for term in SERVO_TERMS)
_TORQUES = ("stiffness", "damping", "limit", "armature", "viscous", "coulomb", "stribeck")
_LATE = ("damping", "stribeck", "stribeck_velocity")
_ITERATIONS = 40
_LONGEST_STEP = 1.0
_NEARLY = 1e-3
_FRESH_STARTS = 4
_SETTLED = 0.01
_SMALL_DAMPING = 1e-4
_LEAST_SHARE = 1e-5
_ROUND_OFF = 1e-13
_SHARE = 1e-4


@dataclass(frozen=True, eq=False)
class ServoEstimate:
    """What a log says of the servos.

    Attributes:
        servos: one for each joint; where damping was not sought, `viscous` is its sum with damping.
        names: of what was estimated, `<joint>.<term>`, `delay` where one is common to all, then the links'.
        values: shape (p,), SI.
        deviations: standard deviations, infinite for what the log hides, shape (p,), SI.
        intervals: of 95 %, shape (p, 2), SI.
        hidden: names of what the log does not show.
        residual: root mean square of measured less simulated positions, shape (n,), rad or m.
        link_values: beta of the links that were sought, shape (l,), SI; empty where none was.
        segments: number of pieces.
        iterations: steps taken.
        converged: whether next to nothing was left to gain.
        costs: weighted sum of squares per sample and joint, start first, shape (iterations + 1,),
            dimensionless.
        start: where the fit began.
    """

    servos: tuple[Servo, ...]
    names: tuple[str, ...]
    values: Array
    deviations: Array
    intervals: Array
    hidden: tuple[str, ...]
    residual: Array
    link_values: Array
    segments: int
    iterations: int
    converged: bool
    costs: Array
    start: tuple[Servo, ...]

    def __post_init__(self) -> None:
        keep_read_only(self, "values", "deviations", "intervals", "residual", "link_values", "costs")


@dataclass(frozen=True, eq=False)
class _Question:
    """What is sought: the columns, and how unknowns x become numbers."""

    arm: ServoArm
    columns: Columns
    names: tuple[str, ...]
    terms: tuple[str, ...]
    links: Array
    beta_scale: Array
    parameters: Array

    @property
    def size(self) -> int:
        return self.columns.first_start

    def unknowns(self, servo: Array) -> Array:
        """The unknowns at some servo numbers, links as given."""
        x = np.zeros(self.size)
        for joint, term, target in zip(*self._entries, strict=True):
            value = servo[joint, term]
            name = _NAMES[term]
            x[target] = value / _LINEAR[name] if name in _LINEAR else math.log(value)
        return x

    def servo(self, x: Array, known: Array) -> Array:
        """Servo numbers at some unknowns."""
        servo = np.array(known)
        for joint, term, target in zip(*self._entries, strict=True):
            name = _NAMES[term]
            servo[joint, term] = x[target] * _LINEAR[name] if name in _LINEAR else math.exp(x[target])
        return servo

    def given(self, x: Array) -> Numbers:
        """Link numbers at some unknowns."""
        beta = x[self.columns.first_link : self.size] * self.beta_scale
        return self.arm.links(self.parameters + self.links @ beta)

    def slopes(self, x: Array) -> Array:
        """Derivatives of the numbers in the unknowns, starts included."""
        slopes = np.ones(self.columns.total)
        for target, term in enumerate(self.terms):
            slopes[target] = _LINEAR[term] if term in _LINEAR else math.exp(x[target])
        slopes[self.columns.first_link : self.size] = self.beta_scale
        return slopes

    @property
    def _entries(self) -> tuple[list[int], list[int], list[int]]:
        c = self.columns
        return c.joint.tolist(), c.term.tolist(), c.target.tolist()


def _asked(
    arm: ServoArm,
    terms: Sequence[str],
    fixed: Collection[str],
    common_delay: bool,
    links: Array | None,
    parameters: Array,
) -> _Question:
    for term in terms:
        if term not in _NAMES:
            raise UnknownNameError("servo term", term, _NAMES)
    every = [f"{name}.{term}" for term in terms for name in arm.robot.joint_names]
    for name in fixed:
        if name not in every:
            raise UnknownNameError("sought number", name, every)
    entries: list[tuple[int, str, int]] = []
    names: list[str] = []
    of: list[str] = []
    for term in terms:
        for joint, name in enumerate(arm.robot.joint_names):
            if f"{name}.{term}" in fixed:
                continue
            if term == "delay" and common_delay and joint > 0:
                entries.append((joint, term, len(names) - 1))
                continue
            entries.append((joint, term, len(names)))
            names.append(term if term == "delay" and common_delay else f"{name}.{term}")
            of.append(term)
    B = np.zeros((10 * len(arm.robot.links), 0)) if links is None else links
    scale = np.array([max(abs(float(b @ parameters)) / float(b @ b), 1e-3) for b in B.T])
    names += [f"link{k}" for k in range(B.shape[1])]
    columns = servo_columns(arm, entries, B)
    return _Question(arm, columns, tuple(names), tuple(of), B, scale, parameters)


@with_one_blas_thread
def fit_servos(
    arm: ServoArm,
    logs: Sequence[ServoLog],
    *,
    terms: Sequence[str] = TERMS,
    known: Sequence[Servo] | None = None,
    start: Sequence[Servo] | None = None,
    parameters: Array | None = None,
    links: Array | None = None,
    fixed: Collection[str] = (),
    common_delay: bool = True,
    segment: float = SEGMENT,
    on_blind: OnBlind = "infinite",
) -> ServoEstimate:
    """Find the servos with which the simulated arm does what the real one did.

    Args:
        arm: the robot and how it is simulated.
        logs: commands and positions, of one or more runs.
        terms: what is sought at every joint, names of `drive.SERVO_TERMS`.
        known: numbers of the terms that are not sought; None for a servo without limit, damping, offset and
            Stribeck friction.
        start: where to begin; None for `servo_start`, which needs no guess.
        parameters: ten numbers of every link, shape (10 nb,), SI; None for those of the description.
        links: B of link numbers that are sought too, phi = parameters + B beta, shape (10 nb, l), SI. Unless
            something fixes it, no log without torque then shows the scale of torques.
        fixed: numbers `<joint>.<term>` that are known although the term is sought; their values are those of
            `known`.
        common_delay: whether all joints are late alike.
        segment: length of a piece, s.
        on_blind: `infinite` gives what the log hides an infinite interval, `refuse` names it in an error.

    Returns:
        The estimate.

    Raises:
        InputError: an argument does not fit; names it.
        NoSolutionError: no start could be simulated, or the log hides something and `on_blind` refuses.
    """
    n = arm.robot.nv
    if not logs:
        raise InputError("there is none.", place="logs")
    for log in logs:
        if log.position.shape[1] != n:
            raise InputError(
                f"it has {log.position.shape[1]} joints, but '{arm.robot.name}' has {n}.", place="log"
            )
    phi = layout_of(arm.robot).complete_nominal() if parameters is None else parameters
    phi = checked("parameters", phi, (10 * len(arm.robot.links),))
    B = None if links is None else checked("links", links, (len(phi), "l"))
    asked = _asked(arm, tuple(terms), fixed, common_delay, B, phi)
    if start is None and (early := tuple(term for term in terms if term not in _LATE)) != tuple(terms):
        # What is told apart by little comes last: from afar its gradients lead astray.
        start = fit_servos(
            arm,
            logs,
            terms=early,
            known=known,
            parameters=phi,
            links=links,
            fixed=[name for name in fixed if name.rpartition(".")[2] in early],
            common_delay=common_delay,
            segment=segment,
        ).servos
    noise = _first_noise(logs)
    pieces = segments_of(logs, segment, noise)
    begin = _start(asked, logs, pieces, noise, terms, fixed, known, start)
    first = servo_numbers(begin)
    search = _Search(asked, first, pieces, noise)
    search.run()
    if not math.isfinite(search.cost):
        raise NoSolutionError(
            "the start cannot be simulated: it diverges in every piece.",
            place="servo fit",
            remedy="Check units and signs of commands and positions, or give a start.",
        )
    # The residuals know the noise better than the smoothing did, and joints differ.
    search.weigh()
    search.run()
    return _estimate(search, begin, on_blind)


def _first_noise(logs: Sequence[ServoLog]) -> MeasuredNoise:
    """What smoothing takes away, and at least a quarter of the resolution of the encoder."""
    squares, steps, speeds = [], [], []
    for log in logs:
        motion = smoothed_log(log)
        on_grid = np.stack([np.interp(motion.time, log.time, c) for c in log.position.T], axis=1)
        squares.append(np.mean((on_grid - motion.q) ** 2, axis=0))
        change = np.abs(np.diff(log.position, axis=0))
        steps.append(np.where(change > 0.0, change, np.inf).min(axis=0))
        speeds.append(np.mean(motion.v**2, axis=0))
    size = np.sqrt(np.mean(squares, axis=0))
    smallest = np.min(steps, axis=0)
    position = np.maximum(size, 0.25 * np.where(np.isfinite(smallest), smallest, 0.0))
    position = np.maximum(position, 1e-9)
    return MeasuredNoise(position, np.maximum(0.05 * np.sqrt(np.mean(speeds, axis=0)), 1e-6))


def _start(
    asked: _Question,
    logs: Sequence[ServoLog],
    pieces: list[Segment],
    noise: MeasuredNoise,
    terms: Sequence[str],
    fixed: Collection[str],
    known: Sequence[Servo] | None,
    start: Sequence[Servo] | None,
) -> tuple[Servo, ...]:
    """The best of a start and of the same with other scales of torque, by simulating some pieces."""
    arm = asked.arm
    base = servo_numbers(known) if known is not None else None
    if fixed and base is None:
        raise InputError(f"{', '.join(fixed)} is fixed, but no value is given.", place="known")
    if base is not None and len(base) != arm.robot.nv:
        raise InputError(f"there are {len(base)}, but there are {arm.robot.nv} joints.", place="known")
    guess = tuple(start) if start is not None else ()
    if not guess:
        guess = servo_start(
            arm, logs, asked.parameters, offset="offset" in terms, limit="limit" in terms
        ).servos
    if len(guess) != arm.robot.nv:
        raise InputError(f"there are {len(guess)}, but there are {arm.robot.nv} joints.", place="start")
    sought = [_NAMES.index(term) for term in terms]
    some = pieces[:: max(1, len(pieces) // 8)]
    starts = np.array([piece.start for piece in some])
    best, least = None, math.inf
    for scale in (1.0, 0.3, 3.0) if start is None else (1.0,):
        servo = np.array(servo_numbers(scaled_servos(guess, scale)))
        if base is not None:
            mine = servo.copy()
            servo = np.array(base)
            servo[:, sought] = mine[:, sought]
            for name in fixed:
                joint, _, term = name.rpartition(".")
                k, column = arm.robot.joint_names.index(joint), _NAMES.index(term)
                if term == "stiffness":
                    # The start knows ratios best: the joint's other torques follow its known gain.
                    scaled = [c for c in sought if _NAMES[c] in _TORQUES]
                    servo[k, scaled] *= base[k, column] / servo[k, column]
                servo[k, column] = base[k, column]
        servo = _placed(servo, sought, logs)
        at = asked.unknowns(servo)
        found = answers(
            arm,
            asked.given(at),
            servo,
            some,
            starts,
            noise,
            asked.columns,
            asked.slopes(at),
            derivatives=False,
        )
        cost = float(np.sum(np.minimum(found.cost, 1e12)))
        if best is None or cost < least:
            best, least = servo, cost
    assert best is not None
    return servos_of(best)


def _placed(servo: Array, sought: Sequence[int], logs: Sequence[ServoLog]) -> Array:
    """Values for terms that are sought and that a start leaves at zero or without limit."""
    limit, damping, stribeck, fading = (
        _NAMES.index(name) for name in ("limit", "damping", "stribeck", "stribeck_velocity")
    )
    lead = np.max(
        [
            np.abs(log.command.at(np.repeat(log.time[:, None], len(servo), axis=1)) - log.position).max(
                axis=0
            )
            for log in logs
        ],
        axis=0,
    )
    for k in range(len(servo)):
        if limit in sought and not math.isfinite(servo[k, limit]):
            servo[k, limit] = 0.5 * servo[k, 0] * max(lead[k], 1e-3)
        if damping in sought and servo[k, damping] == 0.0:
            servo[k, damping] = 0.2 * servo[k, 4]
            servo[k, 4] *= 0.8
        if stribeck in sought and servo[k, stribeck] == 0.0:
            servo[k, stribeck] = 0.3 * servo[k, 5]
            servo[k, fading] = 0.3
            servo[k, 10] = 1.0
        for term in sought:
            if _NAMES[term] not in _LINEAR and servo[k, term] <= 0.0:
                servo[k, term] = 1e-3 * servo[k, 0]
    return servo


def _promised(H: Array, g: Array) -> float:
    """What a full step would gain where the model is straight, in directions that are shown at all."""
    w, V = np.linalg.eigh(H)
    shown = w > max(1.0 / HIDDEN**2, _ROUND_OFF * len(w) * float(w[-1]))
    return float(0.5 * np.sum((V[:, shown].T @ g) ** 2 / w[shown]))


class _Search:
    """Levenberg and Marquardt's method; its state is the best point so far."""

    def __init__(self, asked: _Question, servo: Array, pieces: list[Segment], noise: MeasuredNoise) -> None:
        self.asked, self.known, self.pieces, self.noise = asked, servo, pieces, noise
        self.x = asked.unknowns(servo)
        self.floor = self._floor(servo)
        self.starts = np.array([piece.start for piece in pieces])
        self.found = self._answers(self.x, self.starts)
        self.costs = [self._per_sample(self.cost)]
        self.iterations, self.damping, self.first = 0, 1e-3, True
        self.converged = self.stopped = False

    @property
    def cost(self) -> float:
        return float(np.sum(self.found.cost))

    @property
    def servo(self) -> Array:
        return self.asked.servo(self.x, self.known)

    def weigh(self) -> None:
        """Take the residuals for the noise."""
        samples = sum(piece.last - piece.first for piece in self.pieces)
        size = np.sqrt(np.sum(self.found.square, axis=0) / samples)
        speed = np.sqrt(np.sum(self.found.velocity_square, axis=0) / samples)
        self.noise = MeasuredNoise(np.maximum(size, 1e-9), np.maximum(speed, 1e-9))
        self.found = self._answers(self.x, self.starts)
        self._start_afresh()
        self.converged = self.stopped = False
        self.damping, self.first = 1e-5, False
        self.costs.append(self._per_sample(self.cost))

    def _start_afresh(self) -> None:
        """Let every piece start from its smoothed state again, and keep what is better.

        On the way from afar a start may have settled on the wrong side of rest, where it is held by friction.
        """
        p = self.asked.size
        starts = np.array([piece.start for piece in self.pieces])
        for _ in range(_FRESH_STARTS):
            found = self._answers(self.x, starts)
            better = found.cost < self.found.cost
            self.starts = np.where(better[:, None], starts, self.starts)
            self.found = self.found.with_better(found, better)
            own = reduced(found, p, 1e-3).own
            starts = starts + np.where(np.isfinite(found.cost)[:, None], own, 0.0)

    def run(self) -> None:
        for _ in range(_ITERATIONS):
            if self.stopped or not math.isfinite(self.cost):
                return
            self._step()

    def _step(self) -> None:
        p, enough = self.asked.size, _NEARLY * self.cost if self.first else _SETTLED
        system = reduced(self.found, p, 0.0)
        H, g = system.H.sum(axis=0), system.g.sum(axis=0)
        free = ~((self.x <= self.floor) & (g > 0.0))
        promised = _promised(H[np.ix_(free, free)], g[free])
        if promised < enough:
            self.converged = self.stopped = True
            return
        for _ in range(8):
            system = reduced(self.found, p, self.damping)
            H, g = system.H.sum(axis=0), system.g.sum(axis=0)
            # A unit of every unknown is a large change, so one belongs on the diagonal of the hidden too.
            D = self.damping * (np.diag(H) + 1e-9 * np.trace(H) / p + 1e-12)
            dx = np.zeros(p)
            dx[free] = -np.linalg.solve((H + np.diag(D))[np.ix_(free, free)], g[free])
            dx *= min(1.0, _LONGEST_STEP / max(float(np.abs(dx).max(initial=0.0)), 1e-300))
            x = np.maximum(self.x + dx, self.floor)
            dx = x - self.x
            starts = self.starts + system.own + system.back @ dx
            found = self._answers(x, starts)
            before, after = self.cost, float(np.sum(found.cost))
            if after < before:
                self.x, self.starts, self.found = x, starts, found
                self.iterations += 1
                self.costs.append(self._per_sample(after))
                # Friction's kinks leave a little to gain that no straight line finds.
                if before - after < enough and self.damping < _SMALL_DAMPING:
                    self.converged = self.stopped = True
                self.damping = max(self.damping / 8.0, 1e-10)
                return
            self.damping = max(self.damping * 8.0, 1e-6)
        # Nothing better lies on the way; whether more was promised than the noise hides is said.
        self.converged, self.stopped = promised < 1.0, True

    def _answers(self, x: Array, starts: Array) -> Answers:
        asked = self.asked
        return answers(
            asked.arm,
            asked.given(x),
            asked.servo(x, self.known),
            self.pieces,
            starts,
            self.noise,
            asked.columns,
            asked.slopes(x),
        )

    def _floor(self, servo: Array) -> Array:
        """Least values: delays are not negative, friction and inertia not less than next to nothing."""
        floor = np.full(self.asked.size, -np.inf)
        c = self.asked.columns
        for joint, term, target in zip(c.joint.tolist(), c.term.tolist(), c.target.tolist(), strict=True):
            name = _NAMES[term]
            if name == "delay":
                floor[target] = 0.0
            elif name == "stribeck_velocity":
                floor[target] = math.log(1e-3)
            elif name != "offset":
                floor[target] = min(math.log(_LEAST_SHARE * servo[joint, 0]), self.x[target])
        return floor

    def _per_sample(self, cost: float) -> float:
        samples = sum(piece.last - piece.first for piece in self.pieces)
        return 2.0 * cost / (samples * self.asked.arm.robot.nv)


def _estimate(search: _Search, begin: tuple[Servo, ...], on_blind: OnBlind) -> ServoEstimate:
    asked, p, S = search.asked, search.asked.size, len(search.pieces)
    system = reduced(search.found, p, 0.0)
    H, x = system.H.sum(axis=0), search.x
    covariance, blind = _spread(system.H, system.g, H, search.found, p)
    size = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    hidden = blind | (size > HIDDEN)
    names = tuple(name for name, one in zip(asked.names, hidden, strict=True) if one)
    if names and on_blind == "refuse":
        raise NoSolutionError(
            f"the log does not show {', '.join(names)}.",
            place="servo fit",
            remedy="Fix what is known of it, drive the joints with more of their range and speed, or accept "
            "infinite intervals.",
            evidence={"hidden": names},
        )
    slopes = asked.slopes(x)[:p]
    servo = asked.servo(x, search.known)
    values = np.zeros(p)
    c = asked.columns
    for joint, term, target in zip(c.joint.tolist(), c.term.tolist(), c.target.tolist(), strict=True):
        values[target] = servo[joint, term]
    values[c.first_link : p] = x[c.first_link : p] * asked.beta_scale
    wide = float(student.ppf(0.975, max(S - 1, 1)))
    deviations = np.where(hidden, np.inf, slopes * size)
    intervals = np.zeros((p, 2))
    for k in range(p):
        linear = k >= len(asked.terms) or asked.terms[k] in _LINEAR
        if hidden[k]:
            signed = k >= len(asked.terms) or asked.terms[k] == "offset"
            intervals[k] = (-np.inf if signed else 0.0), np.inf
        elif linear:
            intervals[k] = values[k] + wide * deviations[k] * np.array([-1.0, 1.0])
        elif size[k] < 0.3:
            intervals[k] = values[k] * np.exp(wide * size[k] * np.array([-1.0, 1.0]))
        else:
            # So little is known that the logarithm's bell is no better than the number's own.
            intervals[k] = max(0.0, values[k] - wide * deviations[k]), values[k] + wide * deviations[k]
    samples = sum(piece.last - piece.first for piece in search.pieces)
    return ServoEstimate(
        servos_of(servo),
        asked.names,
        values,
        deviations,
        intervals,
        names,
        np.sqrt(np.sum(search.found.square, axis=0) / samples),
        values[c.first_link : p],
        S,
        search.iterations,
        search.converged,
        np.array(search.costs),
        begin,
    )


def _spread(pieces: Array, g: Array, H: Array, found: Answers, p: int) -> tuple[Array, np.ndarray]:
    """Covariance of the unknowns, and which of them have a share in what nothing shows."""
    w, V = np.linalg.eigh(H)
    # An unknown's unit is a large change: a direction worth less than 1 / HIDDEN² is not known.
    nothing = w <= _ROUND_OFF * p * float(w[-1])
    lost = nothing | (w < 1.0 / HIDDEN**2)
    faint = lost & ~nothing
    blind = (np.abs(V[:, nothing]) > _SHARE).any(axis=1)
    blind |= np.sum(V[:, faint] ** 2 / w[faint], axis=1) > HIDDEN**2
    kept = V[:, ~lost]
    moves = np.zeros((len(pieces), p))
    for s, (one, own) in enumerate(zip(pieces, g, strict=True)):
        rest = kept.T @ (H - one) @ kept
        left, U = np.linalg.eigh(rest)
        # What this piece alone shows: without it nothing is left, and nothing bounds the move.
        left = np.maximum(left, 1e-12 * max(float(left[-1]), 1e-300))
        moves[s] = kept @ (U @ ((U.T @ (kept.T @ own)) / left))
    moves -= moves.mean(axis=0)
    jackknife = (len(pieces) - 1) / len(pieces) * moves.T @ moves
    white = (kept / w[~lost]) @ kept.T
    # Where pieces agree by chance, the noise itself is the least that must be said.
    scale = np.sqrt(np.maximum(np.diag(white) / np.maximum(np.diag(jackknife), 1e-300), 1.0))
    return np.asarray(jackknife * np.outer(scale, scale)), blind
