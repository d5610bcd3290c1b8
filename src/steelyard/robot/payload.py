"""Payload files: the body an arm holds, as JSON, in the frame of its tool."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.archive import from_document
from steelyard.arrays import Array, checked
from steelyard.document import read_json
from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.inertia import Body

MOST_BYTES = 1 << 20
"""Longest file that is read."""
SMALLEST_MASS, LARGEST_MASS, LARGEST_LEVER = 1e-9, 1e6, 1e3
"""What a payload may weigh, kg, and how far from the tool frame its centre may be, m."""


@dataclass(frozen=True, eq=False)
class _PayloadFile:
    """The keys of the file; six numbers Ixx, Ixy, Iyy, Ixz, Iyz, Izz state the tensor."""

    mass: float
    com: Array
    inertia: Array

    def require_bounded(self, place: str) -> None:
        """Refuse numbers that are no load of any arm; simulators answer them with nonsense."""
        for name, largest, unit in (
            ("mass", LARGEST_MASS, "kg"),
            ("com", LARGEST_LEVER, "m"),
            ("inertia", LARGEST_MASS * LARGEST_LEVER**2, "kg m²"),
        ):
            numbers = np.abs(np.asarray(getattr(self, name), dtype=float))
            if not (numbers <= largest).all():
                raise InputError(
                    f"holds a number beyond {largest:g} {unit}, which no arm carries.",
                    place=f"{place}: {name}",
                    remedy="State it in kg and m.",
                )
        if 0.0 < abs(self.mass) < SMALLEST_MASS:
            raise InputError(
                f"{self.mass:g} kg is below {SMALLEST_MASS:g} kg, which no arm feels.",
                place=f"{place}: mass",
                remedy="State it in kg, or leave the payload out.",
            )

    def body(self) -> Body:
        xx, xy, yy, xz, yz, zz = checked("inertia", self.inertia, (6,))
        return Body(self.mass, self.com, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def read_payload(path: FilePath) -> Body:
    """Read a payload file.

    It holds `{"mass": kg, "com": [x, y, z], "inertia": [Ixx, Ixy, Iyy, Ixz, Iyz, Izz]}`, the centre of mass
    in m, the inertia about it in kg m^2, all in the robot's tool frame.

    Returns:
        The body in the tool frame.

    Raises:
        InputError: the file cannot be read, is not JSON, a key is missing, unknown or of the wrong kind, or
            no body can have these numbers; the message names the file and says why.
    """
    place = str(path)
    content = from_document(_PayloadFile, read_json(path, most=MOST_BYTES), place=place)
    content.require_bounded(place)
    try:
        body = content.body()
    except InputError as error:
        raise InputError(error.message, place=f"{place}: {error.place}", evidence=error.evidence) from error
    check = body.consistency
    if not check:
        why = " ".join(str(reason) for reason in check.reasons)
        raise InputError(f"is physically impossible: {why}", place=place)
    return body
