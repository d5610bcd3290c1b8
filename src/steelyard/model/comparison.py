"""How far predicted torques are from measured ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.special

from steelyard.arrays import Array, checked
from steelyard.errors import InputError


@dataclass(frozen=True)
class TorqueError:
    """How far predicted torques are from measured ones, in percent of the measured rms.

    Attributes:
        overall: over all joints together.
        joints: per joint.
        shares: rms torque of each joint over that of all together, dimensionless; empty where not known.
    """

    overall: float
    joints: tuple[float, ...]
    shares: tuple[float, ...] = ()


def torque_error(measured: Array, predicted: Array) -> TorqueError:
    r"""Relative torque error, $100\,\mathrm{rms}(\tau - \hat\tau) / \mathrm{rms}(\tau)$.

    Args:
        measured: tau, shape (N, nv), N·m or N.
        predicted: tau_hat, shape (N, nv), N·m or N.

    Returns:
        Percentages per joint and over all; infinite for a joint that carries no torque at all.

    Raises:
        InputError: the shapes differ.
    """
    tau = checked("measured", measured, ("N", "nv"))
    tau_hat = checked("predicted", predicted, ("N", "nv"))
    if tau.shape != tau_hat.shape:
        raise InputError(f"shapes differ: {tau.shape} and {tau_hat.shape}.", place="measured, predicted")
    error = np.sqrt(((tau - tau_hat) ** 2).mean(axis=0))
    size = np.sqrt((tau**2).mean(axis=0))
    return TorqueError(
        overall=_percent(float(np.linalg.norm(error)), float(np.linalg.norm(size))),
        joints=tuple(_percent(float(e), float(s)) for e, s in zip(error, size, strict=True)),
        shares=tuple((size / (float(np.linalg.norm(size)) or 1.0)).tolist()),
    )


def _percent(error: float, size: float) -> float:
    if size == 0.0:
        return 0.0 if error == 0.0 else float("inf")
    return 100.0 * error / size


# What moved between two estimates of the same parameters, beyond what their uncertainty explains.
#
# Each difference is measured by its own spread,
#
# $$z_k = \frac{b_k - a_k}{\sqrt{\sigma_{a,k}^2 + \sigma_{b,k}^2}}, \qquad p_k = 2\,\Phi(-|z_k|),$$
#
# as of two independent estimates; those that share data differ by less, so that nothing is named for it.
# Among many parameters some lie far apart by chance. Holm's step-down rule accounts for that: ordered by $p$,
# a parameter counts as moved while $p_{(k)} \le \alpha / (n - k + 1)$. The chance of naming any that did not
# move is then at most $\alpha$, however the estimates depend on each other.

ROUND_OFF = 1e-9
"""Difference of two numbers without any uncertainty that counts as none, relative to them."""


@dataclass(frozen=True)
class Difference:
    """One parameter in two estimates.

    Attributes:
        name: the parameter.
        first: its value in the first, SI.
        second: its value in the second, SI.
        deviation: standard deviation of the difference, SI; zero where both are stated exactly.
        chance: probability of a difference this large among all that are compared when nothing moved (Holm's
            adjusted p), dimensionless.
    """

    name: str
    first: float
    second: float
    deviation: float
    chance: float

    @property
    def change(self) -> float:
        """Second minus first, SI."""
        return self.second - self.first

    @property
    def score(self) -> float:
        """The change in standard deviations, dimensionless; infinite where it has no spread."""
        if self.deviation > 0.0:
            return self.change / self.deviation
        return 0.0 if self.chance == 1.0 else float(np.copysign(np.inf, self.change))


@dataclass(frozen=True)
class Comparison:
    """Two estimates of the same parameters.

    Attributes:
        moved: differences beyond the intervals, the clearest first.
        within: differences the intervals explain, the largest in deviations first.
        unknown: names of the parameters that one of the two does not know.
        level: probability that no parameter is named that did not move, dimensionless.
    """

    moved: tuple[Difference, ...]
    within: tuple[Difference, ...]
    unknown: tuple[str, ...]
    level: float


def compared(
    names: Sequence[str],
    first: Array,
    first_deviations: Array,
    second: Array,
    second_deviations: Array,
    *,
    level: float = 0.95,
) -> Comparison:
    """Sort the parameters of two estimates into those that moved and those that need not have.

    Args:
        names: of the parameters.
        first: values, shape (n,), SI.
        first_deviations: standard deviations; zero for an exact statement, infinite where unknown,
            shape (n,), SI.
        second: values, shape (n,), SI.
        second_deviations: the same of the second, shape (n,), SI.
        level: probability that no parameter is named that did not move, in (0, 1).

    Raises:
        InputError: a deviation is negative or no number, or the level is no probability.
    """
    if not 0.0 < level < 1.0:
        raise InputError(f"must be between 0 and 1, got {level}.", place="level")
    n = len(names)
    a, b = checked("first", first, (n,)), checked("second", second, (n,))
    spreads = [
        checked(name, value, (n,), finite=False)
        for name, value in (("first_deviations", first_deviations), ("second_deviations", second_deviations))
    ]
    for name, spread in zip(("first_deviations", "second_deviations"), spreads, strict=True):
        if not (spread >= 0.0).all():
            raise InputError("must not be negative.", place=name)
    deviation = np.hypot(*spreads)
    known = np.isfinite(deviation)
    chance = adjusted(_chances(a[known], b[known], deviation[known]))
    found = [
        Difference(names[k], float(a[k]), float(b[k]), float(deviation[k]), float(p))
        for k, p in zip(np.flatnonzero(known).tolist(), chance, strict=True)
    ]
    found.sort(key=lambda difference: -abs(difference.score))
    return Comparison(
        tuple(x for x in found if x.chance <= 1.0 - level),
        tuple(x for x in found if x.chance > 1.0 - level),
        tuple(name for name, sure in zip(names, known, strict=True) if not sure),
        level,
    )


def adjusted(chances: Array) -> Array:
    r"""Holm's adjusted chances, $\tilde p_{(k)} = \max_{j \le k} \min(1, (n - j + 1)\,p_{(j)})$.

    Args:
        chances: p of each test by itself, shape (n,), dimensionless.

    Returns:
        The chances among all n, shape (n,), dimensionless.
    """
    p = checked("chances", chances, ("n",))
    order = np.argsort(p, kind="stable")
    factors = np.arange(p.size, 0, -1)
    result = np.empty_like(p)
    result[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return result


def _chances(a: Array, b: Array, deviation: Array) -> Array:
    exact = deviation == 0.0
    same = np.abs(b - a) <= ROUND_OFF * np.maximum(np.abs(a), np.abs(b))
    z = np.abs(b - a) / np.where(exact, 1.0, deviation)
    return np.where(exact, same.astype(float), 2.0 * scipy.special.ndtr(-z))
