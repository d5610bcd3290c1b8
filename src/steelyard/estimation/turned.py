r"""Torque signs and gravity directions that make the model fit far better when turned.

A log is read in another way when two things hold. The residual deviations of all degrees of freedom together,
$\prod_k \sigma_k$, at least halve: one joint's residual halves and no other pays for it. And the likelihood
of normal noise, in which a sample that repeats its neighbour does not count, rises by a factor of at least
$e^{10}$, so that chance is no explanation for any of some twenty ways to read it. Nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.arrays import Array
from steelyard.estimation.residual_memory import effective_samples
from steelyard.estimation.turned_equations import NOTHING, Turn, TurnedEquations
from steelyard.finding import Finding, Severity
from steelyard.problem import Problem

HALVED = float(np.log(2.0))
"""Least fall of the logarithm of the product of residuals for a log to be read in another way."""
OVERWHELMING = 10.0
"""Least rise of the logarithm of the likelihood."""
_FREE_FALL = 9.80665
_MOST_PROMISING = 6


@dataclass(frozen=True)
class Turned:
    """How a log is read best, as far as signs and gravity go.

    Attributes:
        findings: one for each thing that should be turned; none where the log is best as it is.
        gravity: acceleration of free fall in the base frame, m/s².
        signs: what the torque of each degree of freedom is multiplied by, dimensionless.
        before: unexplained torque as the log stands, percent of its rms.
        after: the same as it is read best, percent.
    """

    findings: tuple[Finding, ...]
    gravity: tuple[float, float, float]
    signs: tuple[float, ...]
    before: float
    after: float


def turned_readings(problem: Problem) -> Turned:
    """Say which torque signs, or which direction of gravity, would explain a log far better than the stated.

    Signs of single joints and of all joints are tried, gravity along each axis of the base frame, and none at
    all; one after the other, each kept while it helps. At most `MOST_SAMPLES` samples are looked at. A joint
    whose torque the model hardly explains either way is not named: a weak motion hides its own mistakes.

    Args:
        problem: the question, with its samples.

    Returns:
        What should be turned.

    Raises:
        InputError: the samples were not kept.
        RecordingError: the problem was posed without accelerations.
    """
    equations = TurnedEquations.of(problem)
    g = problem.robot.gravity
    now = Turn((float(g[0]), float(g[1]), float(g[2])), (1.0,) * problem.robot.nv)
    stated, (sigma, _) = now, equations.levels(now, possible=True)
    worst = sigma
    while (better := _best(equations, now, sigma)) is not None:
        now, sigma = better
    findings = tuple(_findings(problem, equations, stated, now, worst, sigma))
    share = [100.0 * float(np.linalg.norm(x[equations.alive])) for x in (worst, sigma)]
    torque = float(np.linalg.norm(equations.torque)) or 1.0
    return Turned(findings, now.gravity, now.signs, share[0] / torque, share[1] / torque)


def _best(equations: TurnedEquations, now: Turn, sigma: Array) -> tuple[Turn, Array] | None:
    """The turn that explains most, and its residuals; None where none is overwhelming."""
    found: tuple[Turn, Array] | None = None
    most = 0.0
    turns = list(_neighbours(equations, now))
    bounds = [equations.levels(turn, possible=False)[0] for turn in turns]
    # To turn signs and gravity at once must explain as much more as any other turn: a single link under
    # another gravity is a link with another centre of mass.
    dues = [HALVED if t.gravity != now.gravity and t.signs != now.signs else 0.0 for t in turns]
    promise = [_gain(sigma, bound) - due for bound, due in zip(bounds, dues, strict=True)]
    for i in np.argsort(-np.array(promise), kind="stable")[:_MOST_PROMISING]:
        if promise[i] < max(HALVED, most):
            break
        level, phi = equations.levels(turns[i], bounds[i], possible=True)
        counted = _counted(equations, turns[i], phi)
        sure = float(counted @ np.log(sigma / level)) >= OVERWHELMING
        gain = _gain(sigma, level) - dues[i]
        if sure and gain >= max(HALVED, most):
            found, most = (turns[i], level), gain
    return found


def _neighbours(equations: TurnedEquations, now: Turn) -> Iterator[Turn]:
    for k in np.flatnonzero(equations.alive):
        yield replace(now, signs=tuple(-s if i == k else s for i, s in enumerate(now.signs)))
    turned = tuple(-s for s in now.signs)
    if len(turned) > 1:
        yield replace(now, signs=turned)
    size = float(np.linalg.norm(equations.problem.robot.gravity)) or _FREE_FALL
    for axis in (*np.eye(3), *-np.eye(3), np.zeros(3)):
        x, y, z = (float(c) for c in size * axis)
        if not np.allclose((x, y, z), now.gravity):
            yield Turn((x, y, z), now.signs)
            yield Turn((x, y, z), turned)


def _gain(before: Array, after: Array) -> float:
    return float(np.log(before / after).sum())


def _counted(equations: TurnedEquations, turn: Turn, phi: Array) -> Array:
    """Samples of each degree of freedom that do not repeat their neighbours, less those that phi takes."""
    tau = np.asarray(turn.signs) * equations.problem.samples.tau[equations.chosen]
    left = tau - equations.regressor(turn) @ phi
    counted = effective_samples(left, NOTHING * equations.torque)
    return np.asarray(np.maximum(counted - equations.problem.base.count / len(counted), 0.0))


def _findings(
    problem: Problem,
    equations: TurnedEquations,
    stated: Turn,
    now: Turn,
    before: Array,
    after: Array,
) -> Iterator[Finding]:
    names = [joint.name for joint in problem.robot.joints for _ in range(joint.nv)]
    most = int(np.argmax(np.log(before / after)))
    share = 100.0 * np.array([before[most], after[most]]) / max(equations.torque[most], np.finfo(float).tiny)
    fit = f"what is left of the torque of {names[most]} falls from {share[0]:.3g} % to {share[1]:.3g} %"
    turned = [k for k, sign in enumerate(now.signs) if sign < 0.0]
    if turned and len(turned) == int(equations.alive.sum()) and len(turned) > 1:
        yield _sign("the torques of all joints fit", "tau", fit, "-")
    else:
        for k in turned:
            # One option states them all: it replaces, it does not add.
            signs = ",".join(f"{names[j]}=-1" for j in turned)
            yield _sign("its torque fits", names[k], fit, signs)
    if now.gravity != stated.gravity:
        yield Finding(
            Severity.ERROR,
            "gravity-direction",
            f"the log fits far better with gravity {_direction(now.gravity)} of the base frame than "
            f"{_direction(stated.gravity)}: {fit}. State how the base is mounted: --gravity "
            f"{','.join(f'{x + 0.0:.4g}' for x in now.gravity)}"
            + ("." if any(now.gravity) else ", or log torques from which gravity is not taken off."),
            "gravity",
        )


def _sign(what: str, place: str, fit: str, signs: str) -> Finding:
    message = (
        f"{what} far better with the sign turned: {fit}. Where the log's convention is the other, give "
        f"--torque-sign {signs}."
    )
    return Finding(Severity.ERROR, "torque-sign", message, place)


def _direction(gravity: Sequence[float]) -> str:
    size = float(np.linalg.norm(gravity))
    if size == 0.0:
        return "along no axis"
    for axis, component in zip("xyz", gravity, strict=True):
        if abs(component) > (1.0 - 1e-9) * size:
            return f"along {'+' if component > 0.0 else '-'}{axis}"
    return f"along ({', '.join(f'{x:.3g}' for x in gravity)})"
