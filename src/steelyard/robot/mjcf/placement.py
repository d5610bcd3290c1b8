"""Where an element of an MJCF file sits, as stated or, on request, as its rounded numbers mean it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.arrays import Array
from steelyard.finding import Finding
from steelyard.pose import Pose
from steelyard.robot.mjcf.orientation import read_rotation, unit
from steelyard.robot.mjcf.settings import Compiler
from steelyard.robot.rounding import ROUND_OFF, ZERO_OFFSET, Rounding, meant_axis, rounding_findings
from steelyard.robot.xml import Element

_ZERO = (0.0, 0.0, 0.0)


class Placements:
    """Reads poses, and either reports rounded numbers or replaces them by what they mean."""

    def __init__(
        self, compiler: Compiler, findings: list[Finding], snapped: list[Rounding] | None = None
    ) -> None:
        """Set up.

        Args:
            compiler: how angles are stated.
            findings: where to report rounded numbers.
            snapped: where to note those replaced; `None` to keep the numbers as stated.
        """
        self._compiler = compiler
        self._findings = findings
        self._snapped = snapped

    def pose(self, element: Element, owner: str) -> Pose:
        """The pose of a body or a frame, as stated or as meant.

        Args:
            element: with `pos` and an orientation.
            owner: the joint to name in findings.

        Returns:
            The pose in what encloses it.
        """
        R, R_meant, roundings = read_rotation(element, self._compiler)
        p, p_meant, offsets = _offset(element)
        if self._keep(owner, roundings + offsets):
            return Pose(R, p)
        return Pose(R_meant, p_meant)

    def plain(self, element: Element) -> Pose:
        """The pose of a geom or an inertia: as stated, since nothing hinges on its roundings.

        Args:
            element: with `pos` and an orientation.

        Returns:
            The pose in what encloses it.
        """
        return Pose(read_rotation(element, self._compiler)[0], np.array(element.vector("pos", _ZERO)))

    def anchor(self, element: Element, owner: str) -> Array:
        """The point a joint turns about.

        Args:
            element: the joint.
            owner: its name.

        Returns:
            The point in what encloses it, shape (3,), m.
        """
        p, p_meant, roundings = _offset(element)
        return p if self._keep(owner, roundings) else p_meant

    def axis(self, element: Element, owner: str) -> Array:
        """The direction of a joint.

        Args:
            element: the joint.
            owner: its name.

        Returns:
            Unit vector in what encloses it, shape (3,), dimensionless.
        """
        stated = unit(element, element.vector("axis", (0.0, 0.0, 1.0)), "axis")
        meant, roundings = meant_axis(stated, " ".join(element.words("axis", "0 0 1")), element.place)
        return stated if self._keep(owner, roundings) else meant

    def _keep(self, owner: str, roundings: Sequence[Rounding]) -> bool:
        if self._snapped is None:
            self._findings += rounding_findings(owner, roundings)
            return True
        self._snapped += roundings
        return False


def _offset(element: Element) -> tuple[Array, Array, list[Rounding]]:
    stated = np.array(element.vector("pos", _ZERO))
    meant, roundings = stated.copy(), []
    for k, literal in enumerate(element.words("pos", "0 0 0")):
        if abs(stated[k]) <= ZERO_OFFSET:
            meant[k] = 0.0
            if abs(stated[k]) > ROUND_OFF:
                error = abs(float(stated[k]))
                roundings.append(
                    Rounding("rounded-offset", "xyz"[k], literal, "0", error, "m", element.place)
                )
    return stated, meant, roundings
