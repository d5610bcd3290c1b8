"""Curves along a motion: quantities of the joints against their limits, and the smallest distance."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.errors import InputError


@dataclass(frozen=True, eq=False)
class ProvenBand:
    """What a quantity never leaves, stretch by stretch of time; arrays are read-only.

    Attributes:
        edges: where the K stretches meet, increasing, shape (K + 1,), s.
        lower: never below, shape (K, nv), unit of the quantity.
        upper: never above, shape (K, nv), unit of the quantity.
    """

    edges: Array
    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        K = len(checked("edges", self.edges, ("K",))) - 1
        nv = checked("lower", self.lower, (K, "nv"), finite=False).shape[1]
        checked("upper", self.upper, (K, nv), finite=False)
        for name in ("edges", "lower", "upper"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class JointCurves:
    """One quantity of every joint along a motion, with its limits; arrays are read-only.

    Attributes:
        name: what it is: position, velocity, acceleration or torque.
        units: its unit at each joint.
        values: at the times of the motion, shape (N, nv), unit of the quantity.
        lower: its limits, infinite where none is stated, shape (nv,), unit of the quantity.
        upper: its limits, infinite where none is stated, shape (nv,), unit of the quantity.
        proven: what it never leaves; None where nothing is proven.
        counted: whether the limits were to be kept; otherwise they are shown only.
    """

    name: str
    units: tuple[str, ...]
    values: Array
    lower: Array
    upper: Array
    proven: ProvenBand | None = None
    counted: bool = True

    def __post_init__(self) -> None:
        nv = len(self.units)
        for name, shape in (("values", ("N", nv)), ("lower", (nv,)), ("upper", (nv,))):
            array = checked(f"{self.name}, {name}", getattr(self, name), shape, finite=name == "values")
            object.__setattr__(self, name, read_only(array))
        if self.proven is not None and self.proven.lower.shape[1] != nv:
            raise InputError(f"has {self.proven.lower.shape[1]} joints, not {nv}.", place="proven")


@dataclass(frozen=True, eq=False)
class ClearanceCurve:
    """The smallest of all distances along a motion; arrays are read-only.

    Attributes:
        pairs: names of what is kept apart.
        smallest: of all signed distances, at the times of the motion, shape (N,), m.
        nearest: which pair that is, shape (N,), dimensionless.
        closest: smallest distance of each pair at those times, shape (P,), m.
        when: the time of that, shape (P,), s.
        required: how far apart every pair must stay, m.
    """

    pairs: tuple[str, ...]
    smallest: Array
    nearest: IntArray
    closest: Array
    when: Array
    required: float

    def __post_init__(self) -> None:
        N, P = len(checked("smallest", self.smallest, ("N",))), len(self.pairs)
        for name, size in (("nearest", N), ("closest", P), ("when", P)):
            checked(name, getattr(self, name), (size,))
        if not ((self.nearest >= 0) & (self.nearest < P)).all():
            raise InputError(f"must count {P} pairs from 0.", place="nearest")
        for name in ("smallest", "nearest", "closest", "when"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
