"""Which parameters generated code carries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.layout import Layout


@dataclass(frozen=True)
class Carried:
    """Which parameters the code carries; the others are zero and leave no trace in it.

    Attributes:
        links: whether each inertial parameter is carried, nb rows of ten.
        drive: whether each drive term is carried, nv rows of four.
    """

    links: tuple[tuple[bool, ...], ...]
    drive: tuple[tuple[bool, ...], ...]

    @property
    def columns(self) -> list[tuple[str, int, int]]:
        """Kind, row and column (in `Numbers`) of every carried parameter, links first."""
        return [
            (kind, row, column)
            for kind, rows in (("links", self.links), ("drive", self.drive))
            for row, entries in enumerate(rows)
            for column, carried in enumerate(entries)
            if carried
        ]


def carried_parameters(layout: Layout, basis: Array | None = None) -> Carried:
    r"""The parameters of a layout that can differ from zero in $\phi = B\theta$.

    Args:
        layout: the order of phi.
        basis: B, shape (p, b), SI; None for the identity.

    Returns:
        Those whose row of B is not zero.
    """
    kept = [True] * layout.size if basis is None else [bool(row.any()) for row in np.asarray(basis)]
    return Carried(
        tuple(tuple(kept[10 * i : 10 * i + 10]) for i in range(len(layout.links))),
        tuple(tuple(c >= 0 and kept[c] for c in columns) for columns in layout.drive_columns.tolist()),
    )
