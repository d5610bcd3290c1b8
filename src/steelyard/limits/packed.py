"""The cores of many shapes in flat arrays, the form compiled kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.limits.core import Core


class Cores(NamedTuple):
    """Cores one after the other, each in the frame of the link that carries it; -1 is the base.

    Attributes:
        link: which link carries each core, shape (S,), dimensionless.
        radius: of each core, shape (S,), m.
        start: where each core's corners start, shape (S + 1,), dimensionless.
        points: corners, shape (n, 3), m.
        normal_start: where each core's normals start, shape (S + 1,), dimensionless.
        normals: of faces, shape (f, 3), dimensionless.
        edge_start: where each core's edges start, shape (S + 1,), dimensionless.
        edges: directions of edges, shape (e, 3), dimensionless.
    """

    link: IntArray
    radius: Array
    start: IntArray
    points: Array
    normal_start: IntArray
    normals: Array
    edge_start: IntArray
    edges: Array


def pack(links: Sequence[int], cores: Sequence[Core]) -> Cores:
    """Put cores one after the other.

    Args:
        links: index of the link that carries each core, -1 for the base.
        cores: each in the frame of its link.

    Returns:
        The arrays, read-only.
    """
    return Cores(
        read_only(np.array(links, dtype=np.int64)),
        read_only(np.array([core.radius for core in cores], dtype=np.float64)),
        *_stacked([core.points for core in cores]),
        *_stacked([core.normals for core in cores]),
        *_stacked([core.edges for core in cores]),
    )


def _stacked(arrays: Sequence[Array]) -> tuple[IntArray, Array]:
    starts = np.cumsum([0, *(len(array) for array in arrays)], dtype=np.int64)
    return read_only(starts), read_only(np.concatenate([np.empty((0, 3)), *arrays]))
