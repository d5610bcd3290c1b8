"""The table of forms that kernels work on: what they are given, and where in it everything stands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array
from steelyard.compiled import kernel
from steelyard.enclosure.arithmetic import FIRST
from steelyard.enclosure.forms import Forms


class Given(NamedTuple):
    """Forms as kernels read them.

    Attributes:
        centre: shape (K, n), SI.
        generators: shape (K, n, S), SI.
        radius: shape (K, n), SI.
    """

    centre: Array
    generators: Array
    radius: Array


def given(x: Forms) -> Given:
    """Take forms to a kernel.

    Args:
        x: the forms.

    Returns:
        Their arrays, read-only.
    """
    return Given(x.centre, x.generators, x.radius)


class Rows(NamedTuple):
    """Where the forms of one stretch stand in their table: body i at + i, or at + 3 i if they are vectors.

    Attributes:
        q: positions.
        v: velocities.
        a: accelerations.
        sine: of the positions.
        cosine: of the positions.
        tau: torques.
        w: vectors, angular velocities.
        b: vectors, angular accelerations.
        d: vectors, accelerations of the origins less free fall.
        F: vectors, forces.
        N: vectors, moments.
        spare: six vectors for what lies between.
        end: behind the last.
    """

    q: int
    v: int
    a: int
    sine: int
    cosine: int
    tau: int
    w: int
    b: int
    d: int
    F: int
    N: int
    spare: int
    end: int


@kernel
def rows_for(nb: int) -> Rows:
    """Rows for nb bodies: six forms and five vectors each, and the spare ones."""
    w = 6 * nb
    spare = w + 15 * nb
    return Rows(
        q=0,
        v=nb,
        a=2 * nb,
        sine=3 * nb,
        cosine=4 * nb,
        tau=5 * nb,
        w=w,
        b=w + 3 * nb,
        d=w + 6 * nb,
        F=w + 9 * nb,
        N=w + 12 * nb,
        spare=spare,
        end=spare + 18,
    )


@kernel
def table(rows: int, q: Given) -> Array:
    """Room for forms with the symbols of q."""
    return np.zeros((rows, FIRST + q.generators.shape[2]))
