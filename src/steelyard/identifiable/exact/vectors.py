"""Linear algebra without a tolerance: sparse vectors over any field, and echelon forms that grow row by row.

A number is whatever adds, multiplies, divides and knows whether it is zero: a rational, or a fraction of
polynomials in the lengths of a robot. Vectors are dictionaries of their nonzero entries by index.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Number = Any
"""An element of a field."""
Vector = dict[int, Number]
"""Nonzero entries by index."""
Rows = dict[int, Vector]
"""K by the index of each base parameter: coefficients of the parameters grouped with it, its own first."""
Columns = Sequence[Mapping[int, Number]]
"""A matrix by what it makes of each unit vector."""


def add_at(x: Vector, index: int, value: Number) -> None:
    """Add a value to one entry, in place.

    Args:
        x: the vector.
        index: which entry.
        value: what is added.
    """
    if not value:
        return
    total = x[index] + value if index in x else value
    if total:
        x[index] = total
    else:
        del x[index]


def add_multiple(x: Vector, factor: Number, y: Mapping[int, Number]) -> None:
    """Add a multiple of a vector, in place.

    Args:
        x: the vector.
        factor: of y.
        y: what is added.
    """
    for index, value in y.items():
        add_at(x, index, factor * value)


def image(columns: Columns, x: Mapping[int, Number]) -> Vector:
    """The product of a matrix and a vector.

    Args:
        columns: the matrix.
        x: the vector.

    Returns:
        The product.
    """
    y: Vector = {}
    for k, value in x.items():
        add_multiple(y, value, columns[k])
    return y


def stacked(matrices: Sequence[Columns], height: int) -> list[Vector]:
    """Matrices of the same width on top of each other.

    Args:
        matrices: from top to bottom.
        height: rows of each.

    Returns:
        The stack.
    """
    if len(matrices) == 1:
        return [dict(column) for column in matrices[0]]
    return [
        {height * b + i: value for b, column in enumerate(parts) for i, value in column.items()}
        for parts in zip(*matrices, strict=True)
    ]


def diagonal(matrices: Sequence[Columns], height: int) -> list[Vector]:
    """Matrices along the diagonal of a larger one.

    Args:
        matrices: from top left to bottom right.
        height: rows of each.

    Returns:
        The larger matrix.
    """
    return [
        {height * b + i: value for i, value in column.items()}
        for b, columns in enumerate(matrices)
        for column in columns
    ]


class Echelon:
    """A span by its reduced row echelon form, which is the same whatever vectors it was made of.

    Attributes:
        width: length of the vectors.
        rows: the rows by their pivot, the first entry of each, which is one and alone in its column.
    """

    def __init__(self, width: int, vectors: Iterable[Vector] = ()) -> None:
        self.width = width
        self.rows: dict[int, Vector] = {}
        for x in vectors:
            self.absorb(x)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def basis(self) -> list[Vector]:
        """The rows, ordered by pivot."""
        return [self.rows[pivot] for pivot in sorted(self.rows)]

    def reduced(self, x: Vector) -> Vector:
        """What is left of a vector when the rows have taken their pivots out of it; empty within the span.

        Returns:
            The rest.
        """
        rest = dict(x)
        for pivot in x.keys() & self.rows.keys():
            add_multiple(rest, -x[pivot], self.rows[pivot])
        return rest

    def absorb(self, x: Vector) -> Vector | None:
        """Extend the span by a vector.

        Returns:
            The new row, or `None` where the vector lies in the span already.
        """
        if len(self.rows) == self.width:
            return None
        row = self.reduced(x)
        if not row:
            return None
        pivot = min(row)
        scale = 1 / row[pivot]
        row = {k: scale * value for k, value in row.items()}
        for other in self.rows.values():
            if pivot in other:
                add_multiple(other, -other[pivot], row)
        self.rows[pivot] = row
        return row

    def close(self, vectors: Iterable[Vector], maps: Sequence[Columns]) -> None:
        """Extend the span by vectors and by all that maps make of them, again and again.

        Args:
            vectors: the vectors.
            maps: square matrices.
        """
        waiting = deque(vectors)
        while waiting:
            row = self.absorb(waiting.popleft())
            if row is not None:
                waiting.extend(image(columns, row) for columns in maps)
