r"""Friction that grows with the torque the gear carries, which in turn depends on the friction.

With the links' share of the mass matrix $H = M - I_a$ and the bias b the gear carries $r = H a + b$, and its
friction is $F_l |r|$ against the motion.
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import SolverError
from steelyard.simulate.friction import friction_at_end

_ROUND_OFF = 1e-14
_ROUNDS = 1000


def load_friction(M: Array, bias: Array, rotor: Array, load: Array, v: Array, f: Array) -> Array:
    r"""The friction of the load in a state that moves: $F_l |r| \operatorname{sign}(v)$.

    Solves $H a + I_a a + b + F_l \operatorname{sign}(v)\,|r| = f$. For assumed signs of r it is linear; with
    $F_l < 1$ exactly one choice of signs agrees with its own answer.

    Args:
        M: mass matrix with the rotors, shape (nv, nv), SI.
        bias: b, shape (nv,), N·m or N.
        rotor: I_a, shape (nv,), kg·m² or kg.
        load: F_l, shape (nv,), dimensionless.
        v: velocities, shape (nv,), rad/s or m/s.
        f: torques less all other friction, shape (nv,), N·m or N.

    Returns:
        Friction torques that the motor must overcome, shape (nv,), N·m or N.

    Raises:
        SolverError: the signs were not found.
    """
    H = M - np.diag(rotor)
    r = H @ np.linalg.solve(M, f - bias) + bias
    for _ in range(_ROUNDS):
        sign = np.sign(r)
        share = 1.0 + load * np.sign(v) * sign
        a = np.linalg.solve(share[:, None] * H + np.diag(rotor), f - share * bias)
        r = H @ a + bias
        if (np.sign(r) == sign).all():
            return np.asarray(load * np.sign(v) * np.abs(r))
    raise SolverError("the friction of the load was not found.", place="friction", evidence={"v": v, "f": f})


def loaded_friction_at_end(
    M: Array,
    v: Array,
    f: Array,
    viscous: Array,
    dry: Array,
    h: float,
    bias: Array,
    rotor: Array,
    load: Array,
) -> tuple[Array, Array]:
    """Solve for the end velocity of one step, dry friction growing with the load of that step.

    The load is found by repetition: each round shrinks its error by F_l or so. Once the signs of velocities
    and loads are right a linear system has the answer, so each round also tries the one of its own signs.

    Args:
        M: mass matrix with the rotors, shape (nv, nv), SI.
        v: velocities at the start, shape (nv,), rad/s or m/s.
        f: all other generalised forces, the bias among them, shape (nv,), N·m or N.
        viscous: slopes of viscous friction, shape (nv,), N·m·s/rad or N·s/m.
        dry: dry friction without load, shape (nv,), N·m or N.
        h: length of the step, s.
        bias: b, shape (nv,), N·m or N.
        rotor: I_a, shape (nv,), kg·m² or kg.
        load: F_l, shape (nv,), dimensionless.

    Returns:
        End velocities, shape (nv,), rad/s or m/s, and the friction force, shape (nv,), N·m or N; see
        `friction_at_end`.

    Raises:
        SolverError: the load was not found, which happens to stiff joints with F_l above 0.9 or so.
    """
    H = M - np.diag(rotor)
    # Accelerations are differences of velocities over a short time, and as inexact as that makes them.
    noise = _ROUND_OFF * ((np.abs(M) @ np.abs(v)).max() / h + np.abs(f).max() + np.abs(bias).max())

    def with_signs(moving: Array, loaded: Array) -> Array:
        """The end velocities if joints slide by these signs, held where they are 0, under loads of these."""
        turn = load * moving * loaded
        A = M + h * np.diag(viscous) + turn[:, None] * H
        y = M @ v + h * (f - dry * moving) + turn * (H @ v - h * bias)
        free = (moving != 0.0) | (dry + load == 0.0)
        x = np.zeros(len(v))
        x[free] = np.linalg.solve(A[np.ix_(free, free)], y[free])
        return x

    r = bias
    for _ in range(_ROUNDS):
        x, friction = friction_at_end(M, v, f, viscous, dry + load * np.abs(r), h)
        last, r = r, H @ (x - v) / h + bias
        if np.abs(load * (r - last)).max() <= noise:
            return x, friction
        guess = with_signs(np.sign(x), np.sign(r))
        carried = H @ (guess - v) / h + bias
        if (np.sign(guess) == np.sign(x)).all() and (np.sign(carried) == np.sign(r)).all():
            r = carried
    raise SolverError(
        "the load of a step was not found.", place="friction", evidence={"v": v, "f": f, "h": h}
    )
