r"""The states of a tube around a plan over stretches of time, as forms that share one set of symbols.

The symbols are time, then the n components of e, then those of r. With $q = q_d - e$ and
$\dot e = r - K_r e$,

$$\dot q = \dot q_d + K_r e - r, \qquad
  \dot q_a = \dot q_d + K_r e, \qquad \ddot q_a = \ddot q_d + K_r r - K_r^2 e.$$
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.control import Tube
from steelyard.enclosure import Curve, Forms, motion_forms

_LOST = 2.0**-48
"""More than any sum below loses to rounding, as a share of its terms."""


@dataclass(frozen=True, eq=False)
class TubeForms:
    """What a robot in its tube may do over K stretches, each shape (K, nv), in common symbols.

    Attributes:
        q: positions, rad or m.
        reference_v: velocities of the reference $q_a$, rad/s or m/s.
        reference_a: accelerations of the reference, rad/s² or m/s².
        mean_v: half the sum of the robot's velocities and the reference's, rad/s or m/s.
    """

    q: Forms
    reference_v: Forms
    reference_a: Forms
    mean_v: Forms


def tube_forms(plan: Curve, start: ArrayLike, end: ArrayLike, tube: Tube) -> TubeForms:
    """Enclose the states of the tube around a plan.

    Args:
        plan: where the robot is meant to be.
        start: where each stretch starts, shape (K,), s.
        end: where it ends, not before, shape (K,), s; no break of the plan lies inside a stretch.
        tube: the errors that are allowed.

    Returns:
        The forms. Their symbols lie in the two balls, which `ball_deviation` counts on.

    Raises:
        InputError: a stretch ends before it starts, leaves the duration, or has a break inside.
    """
    exact = motion_forms(plan, start, end)
    K, e, r = tube.kr, tube.position, tube.radius
    return TubeForms(
        q=_with_errors(exact.q, -e, 0.0),
        reference_v=_with_errors(exact.v, K * e, 0.0),
        reference_a=_with_errors(exact.a, -(K * K) * e, K * r),
        mean_v=_with_errors(exact.v, K * e, -0.5 * r),
    )


def ball_deviation(forms: Forms) -> Array:
    r"""How far forms of `tube_forms` symbols can be from their centres, the errors being in balls.

    A linear form $g \cdot x$ over a ball $\|x\| \le 1$ is at most $\|g\|$, where over the box around it it
    reaches the sum of the $|g_k|$.

    Args:
        forms: any shape (...), with 1 + 2 n symbols.

    Returns:
        The deviation, rounded up, shape (...), SI.
    """
    g = forms.generators
    n = forms.symbols // 2
    lengths = np.linalg.norm(g[..., 1 : 1 + n], axis=-1) + np.linalg.norm(g[..., 1 + n :], axis=-1)
    deviation: Array = (np.abs(g[..., 0]) + lengths + forms.radius) * (1.0 + (16 + n) * _LOST)
    return deviation


def _with_errors(exact: Forms, e: float, r: float) -> Forms:
    """Add e times the symbols of the position error and r times those of the other."""
    K, n = exact.centre.shape
    g = np.zeros((K, n, 1 + 2 * n))
    g[:, :, 0] = exact.generators[:, :, 0]
    joint = np.arange(n)
    g[:, joint, 1 + joint] = e
    g[:, joint, 1 + n + joint] = r
    return Forms(exact.centre, g, exact.radius + _LOST * (abs(e) + abs(r)))
