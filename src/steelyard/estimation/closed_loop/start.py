r"""Where a refinement starts: least squares on the base parameters of a minimal model, and links near it.

A minimal model has fewer parameters than a `Problem` asks about, such as links without products of inertia:
$\phi = \phi_0 + B\beta$. Its torque equations are

$$W\beta = \tau - Y\phi_0, \qquad W = YB,$$

kept as the triangle R of $[W\ \ \tau - Y\phi_0]$.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, checked, read_only
from steelyard.dynamics import compress, inverse_dynamics
from steelyard.errors import RecordingError
from steelyard.estimation.closed_loop.constraints import FeasibleLinks, Point
from steelyard.identifiable import MinimalModel
from steelyard.recording import Recording
from steelyard.threads import with_one_blas_thread


@dataclass(frozen=True, eq=False)
class MinimalFit:
    """Least squares on the base parameters of a minimal model.

    Attributes:
        factor: triangle of the equations, shape (b + 1, b + 1), SI.
        values: beta, shape (b,), SI.
        condition: condition number of W as it is, in SI units.
        scaled_condition: the same with columns of unit norm, dimensionless.
        residual: rms of the torques left, shape (nv,), N·m or N.
        samples: how many were used.
    """

    factor: Array
    values: Array
    condition: float
    scaled_condition: float
    residual: Array
    samples: int

    def __post_init__(self) -> None:
        b = len(checked("values", self.values, ("b",)))
        for name, shape in (("factor", (b + 1, b + 1)), ("values", (b,)), ("residual", ("nv",))):
            object.__setattr__(self, name, read_only(checked(name, getattr(self, name), shape)))


@with_one_blas_thread
def fit_minimal(model: MinimalModel, recording: Recording) -> MinimalFit:
    """Fit base parameters by ordinary least squares, samples and joints weighed alike.

    Args:
        model: the robot with its base parameters.
        recording: a log with q, v, a and tau.

    Raises:
        RecordingError: a channel is missing.
    """
    if missing := [name for name in ("q", "v", "a", "tau") if name not in recording.channels]:
        raise RecordingError(f"has no {', '.join(missing)}.", place="recording")
    q, v, a, tau = (recording.channels[name] for name in ("q", "v", "a", "tau"))
    R = compress(model.robot, model.layout, [(q, v, a, tau)]).factor()
    reduced = np.column_stack([R[:, :-1] @ model.basis, R[:, -1] - R[:, :-1] @ model.offset])
    factor = np.asarray(np.linalg.qr(reduced, mode="r"))
    W = factor[: model.size, : model.size]
    beta = np.linalg.lstsq(W, factor[: model.size, -1], rcond=None)[0]
    left = tau - inverse_dynamics(model.robot, model.layout, model.standard(beta), q, v, a)
    return MinimalFit(
        factor,
        beta,
        float(np.linalg.cond(W)),
        float(np.linalg.cond(W / np.linalg.norm(W, axis=0))),
        np.sqrt((left**2).mean(axis=0)),
        len(q),
    )


def possible_start(links: FeasibleLinks, factor: Array) -> Point:
    """The possible links that fit the torque equations best: nearest to least squares, in torques.

    Args:
        links: base parameters of links that can exist.
        factor: triangle of the equations, shape (b + 1, b + 1), SI.

    Returns:
        The point, with a full vector strictly inside the possible.

    Raises:
        NoSolutionError: round-off hides the optimum.
    """
    b = links.model.size
    W, z = factor[:b, :b], factor[:b, -1]
    middle = np.asarray(np.linalg.lstsq(W, z, rcond=None)[0], dtype=float)
    return links.best(W, z - W @ middle, Point(middle))
