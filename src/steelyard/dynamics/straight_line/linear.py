"""The linearisation of forward dynamics at one state, as expressions."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.dynamics.straight_line.derivatives import Entries, Motion, derivatives, motions
from steelyard.dynamics.straight_line.expression import Expression, cross
from steelyard.dynamics.straight_line.forward import Factor, accelerations, factorise, mass_matrix
from steelyard.dynamics.straight_line.model import Model


@dataclass
class Linearisation:
    r"""Everything of $H\,da = d\tau - I_q\,dq - I_v\,dv - Y\,d\phi$ at one state.

    Attributes:
        a: accelerations.
        factor: of H.
        position: I_q by row and column, for joints on one way to the base.
        velocity: I_v by row and column; Coulomb friction counts as constant.
        regressor: Y by row and column.
    """

    a: list[Expression]
    factor: Factor
    position: Entries
    velocity: Entries
    regressor: Entries


def linearise(model: Model, columns: list[tuple[str, int, int]]) -> Linearisation:
    """Build the linearisation.

    Args:
        model: the symbols.
        columns: of Y: kind (`links` or `drive`), row and column in `Numbers`.

    Returns:
        The expressions.
    """
    factor = factorise(model, mass_matrix(model))
    a = accelerations(model, factor)
    moving = motions(model, a)
    position, velocity = derivatives(model, moving)
    return Linearisation(a, factor, position, velocity, regressor_entries(model, moving, a, columns))


def regressor_entries(
    model: Model, moving: list[Motion], a: list[Expression], columns: list[tuple[str, int, int]]
) -> Entries:
    """Y by degree of freedom and column.

    Args:
        model: the symbols.
        moving: how every body moves.
        a: accelerations of the joints.
        columns: of Y: kind (`links` or `drive`), row and column in `Numbers`.

    Returns:
        The entries a joint can feel.
    """
    Y: Entries = {}
    place = {given: column for column, given in enumerate(columns)}
    axes: list[dict[int, tuple[Expression, Expression]]] = []
    for i, motion in enumerate(moving):
        R, p, up = model.R[i], model.p[i], model.parent[i]
        below = axes[up] if up >= 0 else {}
        mine = {k: (R.T @ (e + cross(c, p)), R.T @ c) for k, (e, c) in below.items()}
        mine[i] = model.linear[i], model.angular[i]
        axes.append(mine)
        for k, (e, c) in mine.items():
            for term, entry in enumerate(_body_row(motion, e, c)):
                if ("links", i, term) in place:
                    Y[k, place["links", i, term]] = entry
        for term, entry in enumerate((model.v[i], model.sign[i], 1.0, a[i])):
            if ("drive", i, term) in place:
                Y[i, place["drive", i, term]] = entry
    return Y


def _body_row(motion: Motion, e: Expression, c: Expression) -> list[Expression]:
    """The ten entries of one body in the torque row of an axis (e, c), see `regressor.body_columns`."""
    w, b = motion.w, motion.b
    d = motion.A + cross(w, motion.v)
    first = cross(e, b) + cross(cross(e, w), w) + cross(d, c)
    u = cross(c, w)
    return [
        e @ d,
        *(first[r] for r in range(3)),
        c[0] * b[0] + u[0] * w[0],
        c[0] * b[1] + c[1] * b[0] + u[0] * w[1] + u[1] * w[0],
        c[1] * b[1] + u[1] * w[1],
        c[0] * b[2] + c[2] * b[0] + u[0] * w[2] + u[2] * w[0],
        c[1] * b[2] + c[2] * b[1] + u[1] * w[2] + u[2] * w[1],
        c[2] * b[2] + u[2] * w[2],
    ]
