r"""Friction that grows with the torque the gear carries, which in turn depends on the friction.

With the links' share of the mass matrix $H = M - I_a$ and the bias b the gear carries $r = H a + b$, and its
friction is $F_l |r|$ against the motion.
"""

from __future__ import annotations

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.errors import SolverError
from steelyard.simulate.friction import slow_down
from steelyard.simulate.small_systems import copy, hold, product, solve_in_place

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
    friction = np.empty(len(v))
    M_, b, Ia, Fl, v_, f_ = (np.array(x, dtype=float) for x in (M, bias, rotor, load, v, f))
    if not write_load_friction(M_, b, Ia, Fl, v_, f_, friction):
        raise SolverError(
            "the friction of the load was not found.", place="friction", evidence={"v": v, "f": f}
        )
    return friction


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
    end, friction = np.empty((2, len(v)))
    given = (M, v, f, viscous, dry, bias, rotor, load)
    M_, v_, f_, Fv, Fc, b, Ia, Fl = (np.array(x, dtype=float) for x in given)
    if not slow_down_loaded(M_, v_, f_, Fv, Fc, h, b, Ia, Fl, end, friction):
        raise SolverError(
            "the load of a step was not found.", place="friction", evidence={"v": v, "f": f, "h": h}
        )
    return end, friction


@kernel
def carried(M: Array, rotor: Array, j: int, x: Array) -> float:
    """One row of H x."""
    row: float = product(M, j, x) - rotor[j] * x[j]
    return row


@kernel
def write_load_friction(
    M: Array, bias: Array, rotor: Array, load: Array, v: Array, f: Array, friction: Array
) -> bool:
    """Write the friction of `load_friction`; whether it was found."""
    nv = v.size
    A, rows = np.empty((nv, nv)), np.empty((3, nv))
    a, r, sign = rows[0], rows[1], rows[2]
    for j in range(nv):
        for k in range(nv):
            A[j, k] = M[j, k]
        a[j] = f[j] - bias[j]
    solve_in_place(A, a)
    for j in range(nv):
        r[j] = carried(M, rotor, j, a) + bias[j]
    for _ in range(_ROUNDS):
        for j in range(nv):
            sign[j] = np.sign(r[j])
            share = 1.0 + load[j] * np.sign(v[j]) * sign[j]
            for k in range(nv):
                A[j, k] = share * M[j, k]
            A[j, j] += (1.0 - share) * rotor[j]
            a[j] = f[j] - share * bias[j]
        solve_in_place(A, a)
        agree = True
        for j in range(nv):
            r[j] = carried(M, rotor, j, a) + bias[j]
            agree = agree and np.sign(r[j]) == sign[j]
        if agree:
            for j in range(nv):
                friction[j] = load[j] * np.sign(v[j]) * abs(r[j])
            return True
    return False


@kernel
def slow_down_loaded(
    M: Array,
    v: Array,
    f: Array,
    viscous: Array,
    dry: Array,
    h: float,
    bias: Array,
    rotor: Array,
    load: Array,
    x: Array,
    friction: Array,
) -> bool:
    """Write the end velocities x and the friction of `loaded_friction_at_end`; whether they were found."""
    nv = v.size
    rows = np.empty((4, nv))
    r, level, change, guess = rows[0], rows[1], rows[2], rows[3]
    # Accelerations are differences of velocities over a short time, and as inexact as that makes them.
    fastest, strongest, heaviest, loaded = 0.0, 0.0, 0.0, False
    for j in range(nv):
        momentum = 0.0
        for k in range(nv):
            momentum += abs(M[j, k]) * abs(v[k])
        fastest = max(fastest, momentum)
        strongest, heaviest = max(strongest, abs(f[j])), max(heaviest, abs(bias[j]))
        r[j], loaded = bias[j], loaded or load[j] != 0.0
    noise = _ROUND_OFF * (fastest / h + strongest + heaviest)
    for _ in range(_ROUNDS):
        for j in range(nv):
            level[j] = dry[j] + load[j] * abs(r[j])
        found: bool = slow_down(M, v, f, viscous, level, h, x, friction)
        if not (found and loaded):
            return found
        for j in range(nv):
            change[j] = (x[j] - v[j]) / h
        moved = 0.0
        for j in range(nv):
            last = r[j]
            r[j] = carried(M, rotor, j, change) + bias[j]
            moved = max(moved, abs(load[j] * (r[j] - last)))
        if moved <= noise:
            return True
        slide_loaded(M, v, f, viscous, dry, h, bias, rotor, load, x, r, guess)
        agree = True
        for j in range(nv):
            agree = agree and np.sign(guess[j]) == np.sign(x[j])
            change[j] = (guess[j] - v[j]) / h
        for j in range(nv):
            level[j] = carried(M, rotor, j, change) + bias[j]
            agree = agree and np.sign(level[j]) == np.sign(r[j])
        if agree:
            copy(level, r)
    return False


@kernel
def slide_loaded(
    M: Array,
    v: Array,
    f: Array,
    viscous: Array,
    dry: Array,
    h: float,
    bias: Array,
    rotor: Array,
    load: Array,
    moving: Array,
    loaded: Array,
    y: Array,
) -> None:
    """Write the end velocities if joints slide, or are held, and carry loads, by the signs of two vectors."""
    nv = v.size
    A = np.empty((nv, nv))
    for j in range(nv):
        sign = np.sign(moving[j])
        turn = load[j] * sign * np.sign(loaded[j])
        for k in range(nv):
            A[j, k] = (1.0 + turn) * M[j, k]
        A[j, j] += h * viscous[j] - turn * rotor[j]
        own = product(M, j, v) + h * (f[j] - dry[j] * sign)
        y[j] = own + turn * (carried(M, rotor, j, v) - h * bias[j])
    for j in range(nv):
        if moving[j] == 0.0 and dry[j] + load[j] > 0.0:
            hold(A, y, j)
    solve_in_place(A, y)
