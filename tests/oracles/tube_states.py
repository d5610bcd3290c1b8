"""States of a tube where its law asks for most, and what the law does there, written out plainly.

Random states on the edge of a ball of many dimensions are far from the worst. A linear fit to what they show
says in which direction each torque and each disturbance grows most; states are drawn there too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.dynamics.passivity import passivity_regressor
from steelyard.layout import layout_of
from steelyard.motion import SplineMotion
from steelyard.safe_learning.planning.tube import TubeDynamics

SAMPLES = 64
"""Random states of each stretch."""
_INSIDE = 1.0 - 1e-12


class TubeStates(NamedTuple):
    """States of K stretches and what the law does in them, each (K, S, nv), SI."""

    q: np.ndarray
    v: np.ndarray
    torque: np.ndarray
    disturbance: np.ndarray


def edge_states(
    rng: np.random.Generator,
    dynamics: TubeDynamics,
    plan: SplineMotion,
    start: np.ndarray,
    end: np.ndarray,
) -> TubeStates:
    """Random states, both ends of every joint, and the greatest and smallest torques of linear fits."""
    z = _normalised(rng, dynamics.robot.nv)
    drawn = _states(dynamics, plan, start, end, np.broadcast_to(z, (len(start), *z.shape)))
    directed = _states(dynamics, plan, start, end, _directions(z, drawn))
    return TubeStates(*(np.concatenate(x, axis=1) for x in zip(drawn, directed, strict=True)))


def on_edge(z: np.ndarray, n: int) -> np.ndarray:
    """Time, then e and r of n joints each, (..., 1 + 2n), with e and r made unit vectors or left zero."""
    scaled = z.copy()
    for part in (slice(1, 1 + n), slice(1 + n, None)):
        x = z[..., part]
        length = np.linalg.norm(x, axis=-1, keepdims=True)
        scaled[..., part] = np.divide(_INSIDE * x, length, where=length > 0.0, out=np.zeros_like(x))
    return scaled


def _normalised(rng: np.random.Generator, n: int) -> np.ndarray:
    z = rng.normal(size=(SAMPLES, 1 + 2 * n))
    z[:, 0] = rng.uniform(-1.0, 1.0, SAMPLES)
    joint = np.repeat(np.eye(n), 4, axis=0) * np.tile((1.0, 1.0, -1.0, -1.0), n)[:, None]
    ends = np.column_stack((np.tile((-1.0, 1.0), 2 * n), joint, -joint))
    return on_edge(np.concatenate((z, ends)), n)


def _directions(z: np.ndarray, drawn: TubeStates) -> np.ndarray:
    """Where a linear fit is greatest and smallest for each torque, and greatest for each disturbance."""
    fit = np.linalg.pinv(np.column_stack((np.ones(len(z)), z)))[1:]
    torque, w = (np.einsum("zs,ksj->kjz", fit, x) for x in (drawn.torque, drawn.disturbance))
    towards = np.concatenate((torque, -torque, w), axis=1)
    towards[..., 0] = np.sign(towards[..., 0])
    return on_edge(towards, drawn.q.shape[2])


def _states(
    dynamics: TubeDynamics, plan: SplineMotion, start: np.ndarray, end: np.ndarray, z: np.ndarray
) -> TubeStates:
    robot, tube, n = dynamics.robot, dynamics.tube, dynamics.robot.nv
    t = 0.5 * (start + end)[:, None] + 0.5 * (end - start)[:, None] * z[..., 0]
    d = plan.sample(np.clip(t, start[:, None], end[:, None]).ravel())
    K = tube.kr
    radius = np.sqrt(2.0 * tube.level / tube.smallest_inertia)
    e, r = (radius / K * z[..., 1 : 1 + n]).reshape(-1, n), (radius * z[..., 1 + n :]).reshape(-1, n)
    q, v_a, a_a = d.q - e, d.v + K * e, d.a + K * (r - K * e)
    Y = passivity_regressor(robot, layout_of(robot), q, v_a - r, v_a, a_a)
    links, columns = Y.shape[2], dynamics.layout.drive_columns.T
    phi, rho = dynamics.nominal, dynamics.half_widths
    F, rho_F = (np.where(columns >= 0, x[columns], 0.0) for x in (phi, rho))
    s = np.clip(v_a / dynamics.rest_velocity, -1.0, 1.0)
    torque = Y @ phi[:links] + F[0] * v_a + F[1] * s + F[2] + F[3] * a_a
    w = np.abs(Y) @ rho[:links] + rho_F[0] * np.abs(v_a) + rho_F[1] * np.abs(s) + rho_F[2]
    w += rho_F[3] * np.abs(a_a) + (F[1] + rho_F[1]) * (1.0 - np.abs(s))
    return TubeStates(*(x.reshape(*z.shape[:2], n) for x in (q, v_a - r, torque, w)))
