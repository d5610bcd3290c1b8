"""Where searches start: random motions inside all limits, and mixtures of good ones with random ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import NoSolutionError
from steelyard.excitation.problem import DesignProblem
from steelyard.excitation.searcher import Searcher

DRAWS = 12
"""Random motions of which the best is a start."""
SHRINKS = 25
"""How often a motion that is not allowed is made smaller before it is given up."""
MIXED = 0.03, 0.4
"""Smallest and largest share of a random motion in a mixture."""
POSES = 200
"""Random poses among which one is looked for that is clear of everything."""
ATTEMPTS = 20
"""Random motions that are tried before a problem is called infeasible."""


def fresh_start(searcher: Searcher, rng: np.random.Generator) -> Array:
    """The best of some random motions that are allowed.

    Args:
        searcher: of the problem.
        rng: source of the motions.

    Returns:
        Unknowns, shape (nv, n), dimensionless.

    Raises:
        NoSolutionError: none of the motions is allowed.
    """
    f = searcher.function(searcher.stages[0])
    best, least, allowed = None, np.inf, 0
    for draw in range(DRAWS + ATTEMPTS):
        if allowed >= DRAWS or (draw >= DRAWS and best is not None):
            break
        x = random_unknowns(searcher, rng)
        if x is not None:
            allowed += 1
            value = f(x)[0]
            if value < least:
                best, least = x, value
    if best is None:
        raise NoSolutionError(
            "no random motion, however small, keeps all limits and shows every column.",
            place=f"robot '{searcher.problem.robot.name}'",
            remedy="Widen the limits, give the motion more freedom, or ask about fewer parameters.",
        )
    return best


def random_unknowns(searcher: Searcher, rng: np.random.Generator) -> Array | None:
    """A random motion about the start, or about a random pose, as large as the limits allow.

    Args:
        searcher: of the problem.
        rng: source of the motion.

    Returns:
        Unknowns, shape (nv, n), dimensionless; None where even a tiny motion is not allowed.
    """
    still = np.zeros(searcher.unknowns.shape)
    if searcher.problem.start is None:
        still = searcher.unknowns.still(clear_pose(searcher.problem, searcher, rng))
    way = rng.standard_normal(searcher.unknowns.shape)
    way *= rng.uniform(0.6, 0.95) * room(searcher, still, way)[:, None]
    for _ in range(SHRINKS):
        if searcher.allows(still + way):
            return still + way
        way = 0.8 * way
    return None


def mixed_start(searcher: Searcher, elite: Sequence[Array], rng: np.random.Generator) -> Array | None:
    """A good motion on the way to a random one: a convex combination keeps the linear limits.

    Args:
        searcher: of the problem.
        elite: unknowns of good motions, best first, each shape (nv, n), dimensionless.
        rng: source of the choice.

    Returns:
        Unknowns, shape (nv, n), dimensionless; None where no mixture is allowed.
    """
    good = elite[min(int(rng.exponential(1.0)), len(elite) - 1)]
    other = random_unknowns(searcher, rng)
    share = float(np.exp(rng.uniform(*np.log(MIXED))))
    if other is None:
        return None
    for _ in range(SHRINKS):
        mixture = (1.0 - share) * good + share * other
        if searcher.allows(mixture):
            return mixture
        share *= 0.7
    return None


def room(searcher: Searcher, still: Array, way: Array) -> Array:
    """How far each joint can go until its first linear limit.

    Args:
        searcher: of the problem.
        still: unknowns inside the limits, shape (nv, n), dimensionless.
        way: change of them, shape (nv, n), dimensionless.

    Returns:
        Factors on the way, shape (nv,), dimensionless.
    """
    y, dy = searcher.limits.values(still), searcher.limits.change(way)
    return np.asarray(1.0 / np.maximum(dy / (1.0 - y), -dy / (1.0 + y)).max(axis=1))


def clear_pose(problem: DesignProblem, searcher: Searcher, rng: np.random.Generator) -> Array:
    """A random pose within the inner half of the ranges that is clear of everything.

    Args:
        problem: the question.
        searcher: of it.
        rng: source of the pose.

    Returns:
        q, shape (nv,), rad or m.

    Raises:
        NoSolutionError: none is; names the pair that is too near most often.
    """
    ranges = searcher.ranges
    if problem.watched is None:
        return ranges.middle + 0.5 * ranges.reach * rng.uniform(-1.0, 1.0, len(ranges.reach))
    poses = ranges.middle + 0.5 * ranges.reach * rng.uniform(-1.0, 1.0, (POSES, len(ranges.reach)))
    near = problem.watched.distances(poses) <= problem.distance
    clear = np.flatnonzero(~near.any(axis=1))
    if not clear.size:
        worst = int(near.sum(axis=0).argmax())
        raise NoSolutionError(
            f"none of {POSES} random poses keeps {problem.distance:g} m from everything.",
            place=problem.watched.pairs[worst].name,
            remedy="Move the obstacle or the tool, or let the pair touch.",
        )
    return np.asarray(poses[clear[0]])
