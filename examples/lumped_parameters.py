r"""Two other ways to the data matrix of a small arm, beside ours.

A log is explained by $\tau = W(q, \dot q, \ddot q)\,\alpha$. Lambert (2023; section 4.1.3) finds the data
matrix W

- by taking symbolic equations of motion apart: terms with the same coefficient are lumped together, once for
  all motions, or again at every sample after its numbers were put in (Algorithm 1);
- by automatic differentiation of the inverse dynamics in the parameters (4.6).

Both are done here for one and for two hanging rods, and compared with `steelyard.dynamics.torque_regressor`.
All of them are right. But taking terms apart does not tell which lumped parameters torques determine: of the
seven of the two rods, the set (5.6) of the paper, only six combinations do. `steelyard.identifiable` says
which, before any log is there.

Run it with `python examples/lumped_parameters.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
import sympy
from numpy.typing import NDArray

from steelyard.dynamics import torque_regressor
from steelyard.identifiable import exact_identifiability
from steelyard.layout import layout_of
from steelyard.zoo import zoo_robot

Array = NDArray[np.float64]
Function = Callable[[Any], Any]
ARMS = {"one_link": 1, "two_link": 2}
LENGTH, GRAVITY = 1.0, 9.81
"""From the first joint down to the second, m, and what pulls, m/s²."""
SAMPLES = 20
TERMS = ("m", "mx", "mz", "Iyy")
"""What a link that moves in the xz plane could show."""


def lagrangian(q: Any, v: Any, links: Sequence[Sequence[Any]], sin: Function, cos: Function) -> Any:
    r"""Kinetic less potential energy of links $(m, mx, mz, I)$ on joints about y, of numbers or of symbols.

    $$L = \sum_k \tfrac12 m_k |u_k|^2 + u_k \cdot (\omega_k \times m_k c_k) + \tfrac12 I_k \omega_k^2
        - g\,(m_k p_k + m_k c_k)_z$$

    Origin $p_k$ and velocity $u_k$ of a link's frame; inertia is about this origin.
    """
    total = turn = u_x = u_z = p_z = s = 0.0
    c = 1.0
    for k, (m, mx, mz, inertia) in enumerate(links):
        if k:
            u_x, u_z, p_z = u_x - LENGTH * c * turn, u_z + LENGTH * s * turn, p_z - LENGTH * c
        s, c = s * cos(q[k]) + c * sin(q[k]), c * cos(q[k]) - s * sin(q[k])
        turn = turn + v[k]
        along, up = c * mx + s * mz, c * mz - s * mx
        total += m * (u_x**2 + u_z**2) / 2 + turn * (u_x * up - u_z * along) + inertia * turn**2 / 2
        total -= GRAVITY * (m * p_z + up)
    return total


@dataclass(frozen=True)
class Equations:
    """Symbolic equations of motion.

    Attributes:
        states: q, v and a of every joint.
        theta: m, cx, cz and G of every link, of which torques are polynomials.
        torque: one expression per joint.
        standard: m, m·cx, m·cz and m·G of every link.
    """

    states: tuple[sympy.Symbol, ...]
    theta: tuple[sympy.Symbol, ...]
    torque: sympy.Matrix
    standard: tuple[sympy.Expr, ...]


def equations_of_motion(n: int) -> Equations:
    r"""Lagrange's equations $\tau = \frac{d}{dt}\partial_v L - \partial_q L$ of n links."""
    q, v, a = (sympy.symbols(f"{name}1:{n + 1}") for name in "qva")
    links = [sympy.symbols(f"m{k} cx{k} cz{k} G{k}") for k in range(1, n + 1)]
    standard = [(m, m * cx, m * cz, m * G) for m, cx, cz, G in links]
    L = sympy.Matrix([lagrangian(q, v, standard, sympy.sin, sympy.cos)])
    momentum = L.jacobian(v).T
    torque = momentum.jacobian(v) * sympy.Matrix(a) + momentum.jacobian(q) * sympy.Matrix(v) - L.jacobian(q).T
    theta = tuple(symbol for link in links for symbol in link)
    return Equations((*q, *v, *a), theta, torque, tuple(product for link in standard for product in link))


def decomposed(
    torque: sympy.Matrix, theta: Sequence[sympy.Symbol]
) -> tuple[sympy.Matrix, tuple[sympy.Expr, ...]]:
    """Take equations apart into a data matrix times lumped parameters, knowing nothing of mechanics.

    Within one equation the parameters of terms with the same coefficient, its number included, are added up;
    equal sums are one lumped parameter. No identity is applied, so sin² and cos² stay two coefficients.
    """
    columns: dict[sympy.Expr, list[sympy.Expr]] = {}
    for row, equation in enumerate(torque):
        lumped: dict[sympy.Expr, sympy.Expr] = {}
        for term in sympy.Add.make_args(sympy.expand(equation)):
            coefficient, parameters = term.as_independent(*theta, as_Add=False)
            lumped[coefficient] = lumped.get(coefficient, 0) + parameters
        for coefficient, alpha in lumped.items():
            columns.setdefault(alpha, [sympy.Integer(0)] * len(torque))[row] += coefficient
    columns.pop(sympy.Integer(0), None)
    return sympy.Matrix(list(columns.values())).T, tuple(columns)


def by_decomposition(equations: Equations, states: Array) -> tuple[Array, tuple[sympy.Expr, ...]]:
    """The data matrix, shape (N, n, A), of equations that were taken apart once."""
    W, alpha = decomposed(equations.torque, equations.theta)
    evaluate = sympy.lambdify(equations.states, W)
    return np.array([evaluate(*state) for state in states]), alpha


def by_substitution(equations: Equations, states: Array) -> tuple[Array, list[int]]:
    """Algorithm 1: put a sample's numbers in, then take apart; sample after sample.

    A sample whose numbers make a coefficient vanish lacks a lumped parameter, and is left out.
    """
    expected = [product for product in equations.standard if product != equations.standard[0]]
    rows, kept = [], []
    for k, state in enumerate(states):
        numbers = map(sympy.Float, state)
        put_in = equations.torque.xreplace(dict(zip(equations.states, numbers, strict=True)))
        W, alpha = decomposed(put_in, equations.theta)
        if set(alpha) == set(expected):
            rows.append([[float(w[alpha.index(product)]) for product in expected] for w in W.tolist()])
            kept.append(k)
    return np.array(rows), kept


def by_differentiation(n: int, states: Array) -> Array:
    """The data matrix, shape (N, n, 4 n), as derivative of the inverse dynamics in the parameters (4.6)."""
    q, v, a, phi = (casadi.SX.sym(*of) for of in (("q", n), ("v", n), ("a", n), ("phi", 4 * n)))
    links = [casadi.vertsplit(phi)[4 * k : 4 * k + 4] for k in range(n)]
    L = lagrangian(q, v, links, casadi.sin, casadi.cos)
    momentum = casadi.gradient(L, v)
    torque = casadi.jtimes(momentum, v, a) + casadi.jtimes(momentum, q, v) - casadi.gradient(L, q)
    W = casadi.Function("W", [casadi.vertcat(q, v, a)], [casadi.jacobian(torque, phi)])
    return np.array([W(state).full() for state in states])


def our_columns(name: str, states: Array) -> Array:
    """The data matrix by `torque_regressor`, its columns in the plane, shape (N, n, 4 n)."""
    robot = zoo_robot(name)
    layout = layout_of(robot, ())
    columns = [layout.index(f"{link}.{term}") for link in robot.link_names for term in TERMS]
    return torque_regressor(robot, layout, *np.split(states, 3, axis=1))[..., columns]


def lumping(equations: Equations, alpha: Sequence[sympy.Expr]) -> Array:
    """How lumped parameters add up the standard ones, shape (A, 4 n)."""
    letters = sympy.symbols(f"phi:{len(equations.standard)}")
    names = dict(zip(equations.standard, letters, strict=True))
    sums = [sum(names[product] for product in sympy.Add.make_args(each)) for each in alpha]
    return np.array(sympy.Matrix(sums).jacobian(letters), dtype=float)


def hidden_direction(W: Array) -> Array | None:
    """The change of lumped parameters that no torque shows, shape (A,), its first entry 1; None for none."""
    stacked = W.reshape(-1, W.shape[-1])
    _, s, Vt = np.linalg.svd(stacked / np.linalg.norm(stacked, axis=0))
    if s[-1] > 1e-10 * s[0]:
        return None
    n = Vt[-1] / np.linalg.norm(stacked, axis=0)
    return np.asarray(n / n[np.flatnonzero(np.abs(n) > 1e-9)[0]])


def main() -> None:
    """Compare the ways on both arms."""
    rng = np.random.default_rng(0)
    for name, n in ARMS.items():
        # The last sample is at rest and hangs straight down.
        states = np.vstack([rng.uniform(-2.0, 2.0, (SAMPLES, 3 * n)), np.zeros(3 * n)])
        equations, ours = equations_of_motion(n), our_columns(name, states)
        W, alpha = by_decomposition(equations, states)
        samples, kept = by_substitution(equations, states)
        differences = {
            "taken apart once": np.abs(W @ lumping(equations, alpha) - ours).max(),
            "taken apart at every sample": np.abs(samples - ours[kept][..., 1:]).max(),
            "automatic differentiation": np.abs(by_differentiation(n, states) - ours).max(),
        }
        print(f"{name}: {len(alpha)} lumped parameters, {', '.join(map(str, alpha))}")
        for way, difference in differences.items():
            left_out = len(states) - len(kept) if "every" in way else 0
            note = f"; {left_out} of {len(states)} samples left out" if left_out else ""
            print(f"  {way + ':':30}differs from torque_regressor by {difference:.0e}{note}")
        hidden = hidden_direction(W)
        if hidden is not None:
            change = ", ".join(f"{a} {h:+.0f}" for h, a in zip(hidden, alpha, strict=True) if abs(h) > 1e-9)
            print(f"  no torque shows this change:  {change}")
        robot = zoo_robot(name)
        proven = exact_identifiability(robot, layout_of(robot, ()))
        print(f"  torques determine {proven.count} combinations:")
        for row in proven.groupings.values():
            print("    " + " ".join(f"{float(factor):+g} {parameter}" for parameter, factor in row.items()))


if __name__ == "__main__":
    main()
