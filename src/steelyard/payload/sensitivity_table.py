"""What a sensitivity study found: errors by motion, noise and filter, as frozen tables."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, IntArray, checked, read_only
from steelyard.errors import InputError, UnknownNameError

SCHEMA = 1


@dataclass(frozen=True)
class Noise:
    """Standard deviations of white Gaussian noise, the same at every joint.

    Attributes:
        position: of q, rad or m.
        velocity: of v, rad/s or m/s.
        torque: of tau, in the loaded run and in the empty one, N·m or N.
    """

    position: float = 0.0
    velocity: float = 0.0
    torque: float = 0.0

    def __post_init__(self) -> None:
        for name in ("position", "velocity", "torque"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f"must be zero or more, got {value}.", place=f"noise of {name}")

    @property
    def name(self) -> str:
        """What is not zero, as the command writes it."""
        parts = (("q", self.position), ("v", self.velocity), ("tau", self.torque))
        return ",".join(f"{symbol}={value:g}" for symbol, value in parts if value) or "none"


@dataclass(frozen=True, eq=False)
class ErrorCell:
    """One motion weighed again and again under one noise and one filter.

    Attributes:
        motion: kind of the motion.
        noise: what was added to the logs.
        filter: how the logs were filtered.
        errors: estimate less truth of the trials that gave an answer, shape (n, 10), SI.
        refused: number of trials that gave none.
        reason: why the first of them did not; empty where all answered.
    """

    motion: str
    noise: Noise
    filter: str
    errors: Array
    refused: int = 0
    reason: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "errors", read_only(checked("errors", self.errors, ("n", 10))))

    @property
    def answered(self) -> int:
        """Number of trials that gave an answer."""
        return len(self.errors)

    @property
    def squared(self) -> Array:
        """Mean squared error of the ten numbers, shape (10,), SI squared; NaN where no trial answered."""
        return np.mean(self.errors**2, axis=0) if self.answered else np.full(10, np.nan)

    @property
    def rms(self) -> Array:
        """Root of the mean squared error, shape (10,), SI."""
        return np.sqrt(self.squared)

    @property
    def mean(self) -> Array:
        """Mean error, what more trials do not average out, shape (10,), SI."""
        return np.mean(self.errors, axis=0) if self.answered else np.full(10, np.nan)

    @property
    def deviation(self) -> Array:
        """Standard deviation of the error among the trials, shape (10,), SI; NaN below two trials."""
        return np.std(self.errors, axis=0, ddof=1) if self.answered > 1 else np.full(10, np.nan)


@dataclass(frozen=True, eq=False)
class RunningMass:
    """The mass after so many samples, without any filter.

    Attributes:
        motion: kind of the motion.
        noise: what was added to the logs.
        samples: numbers of samples, increasing, shape (k,), dimensionless.
        mass: least squares of all samples so far, shape (trials, k), kg.
    """

    motion: str
    noise: Noise
    samples: IntArray
    mass: Array

    def __post_init__(self) -> None:
        mass = checked("mass", self.mass, ("trials", len(self.samples)))
        object.__setattr__(self, "samples", read_only(np.asarray(self.samples, dtype=np.int64)))
        object.__setattr__(self, "mass", read_only(mass))


@dataclass(frozen=True, eq=False)
class MotionSpread:
    """Several motions of one kind, each weighed once without any filter.

    Attributes:
        motion: the kind.
        noise: what was added to the logs.
        durations: of the motions, shape (n,), s.
        conditions: condition numbers of the data matrices without noise, in SI units, shape (n,),
            dimensionless.
        errors: estimate less truth, shape (n, 10), SI.
    """

    motion: str
    noise: Noise
    durations: Array
    conditions: Array
    errors: Array

    def __post_init__(self) -> None:
        n = len(checked("durations", self.durations, ("n",)))
        for name, shape in (("durations", (n,)), ("conditions", (n,)), ("errors", (n, 10))):
            array = checked(name, getattr(self, name), shape, finite=name != "conditions")
            object.__setattr__(self, name, read_only(array))

    @property
    def rms(self) -> Array:
        """Root of the mean squared error of the ten numbers, shape (10,), SI."""
        return np.asarray(np.sqrt(np.mean(self.errors**2, axis=0)))


@dataclass(frozen=True, eq=False)
class SensitivityTable:
    """Everything a study found out.

    Attributes:
        frame: name of the frame that the ten numbers are stated in.
        truth: the ten numbers of the payload, shape (10,), SI.
        rate: samples per second, Hz.
        trials: noise was drawn so often for each cell.
        cells: errors by motion, noise and filter.
        running: the mass against the number of samples, by motion and noise.
        spreads: many motions of each kind beside each other.
        schema: number of this layout.
    """

    frame: str
    truth: Array
    rate: float
    trials: int
    cells: tuple[ErrorCell, ...]
    running: tuple[RunningMass, ...]
    spreads: tuple[MotionSpread, ...]
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        object.__setattr__(self, "truth", read_only(checked("truth", self.truth, (10,))))

    @property
    def motions(self) -> tuple[str, ...]:
        """Kinds of motions, in their order."""
        return tuple(spread.motion for spread in self.spreads)

    @property
    def noises(self) -> tuple[Noise, ...]:
        """Noises, in their order."""
        return tuple(dict.fromkeys(cell.noise for cell in self.cells))

    @property
    def filters(self) -> tuple[str, ...]:
        """Filters, in their order."""
        return tuple(dict.fromkeys(cell.filter for cell in self.cells))

    def cell(self, motion: str, noise: Noise, name: str) -> ErrorCell:
        """One cell.

        Args:
            motion: kind of the motion.
            noise: what was added.
            name: of the filter.

        Returns:
            The cell.

        Raises:
            UnknownNameError: there is no such cell.
        """
        by_name = {(cell.motion, cell.noise, cell.filter): cell for cell in self.cells}
        if (motion, noise, name) not in by_name:
            choices = (f"{cell.motion} {cell.noise.name} {cell.filter}" for cell in self.cells)
            raise UnknownNameError("cell", f"{motion} {noise.name} {name}", choices)
        return by_name[motion, noise, name]
