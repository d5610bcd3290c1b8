"""`Certificate`: how much of what can be known some data determines, and what the rest would need."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.arrays import Array
from steelyard.identifiability.base_parameters import BaseParameters
from steelyard.identifiability.certificate.directions import Direction
from steelyard.identifiability.certificate.remedies import Remedy, alternatives

LISTED = 10
"""How many missing directions the summary lists."""


@dataclass(frozen=True, eq=False)
class Missing:
    """A direction that data leaves open.

    Attributes:
        direction: the change of base parameters that does not show.
        remedies: what would show it, each enough by itself; empty where only a factor of the data was known.
        facts: what the joints of the remedies do in the data.
    """

    direction: Direction
    remedies: tuple[Remedy, ...] = ()
    facts: tuple[str, ...] = ()

    def __str__(self) -> str:
        """A sentence: what is open, what would show it, and what the data has instead."""
        shown = f"; it shows when {alternatives(self.remedies)}" if self.remedies else ""
        facts = f" ({', '.join(self.facts)})" if self.facts else ""
        return f"{self.direction}{shown}{facts}"


@dataclass(frozen=True, eq=False)
class Certificate:
    """How much of what can be known some data determines.

    Attributes:
        robot: name of the robot.
        equations: number of torques measured, samples times degrees of freedom.
        base: the identifiable combinations.
        singular_values: of the scaled base regressor, decreasing, shape (b,), dimensionless; over the largest
            one, or wanted over attained standard deviations.
        threshold: from which singular value on a direction is determined, dimensionless.
        missing: the directions left open.
        weakest: the directions determined worst, the worst first; singular vectors, not thinned out.
    """

    robot: str
    equations: int
    base: BaseParameters
    singular_values: Array
    threshold: float
    missing: tuple[Missing, ...]
    weakest: tuple[Direction, ...]

    @property
    def determined(self) -> int:
        """Number of combinations the data determines."""
        return self.base.count - len(self.missing)

    @property
    def complete(self) -> bool:
        """Whether the data determines all that can be known."""
        return not self.missing

    def __str__(self) -> str:
        """The verdict, what is missing and why, and what is weak, line by line."""
        lines = [f"this data determines {self.determined} of {self.base.count} combinations"]
        if self.equations < self.base.count:
            lines.append(f"it is too short: {self.equations} torques cannot tell {self.base.count} numbers")
        lines += [f"missing: {missing}" for missing in self.missing[:LISTED]]
        if len(self.missing) > LISTED:
            lines.append(f"missing: {len(self.missing) - LISTED} more")
        lines += [f"weak ({direction.strength:.1e}): {direction}" for direction in self.weakest]
        return "\n".join(lines)
