"""Numbers and poses as XML says them, exact to the last bit, and a model as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.finding import Finding
from steelyard.pose import Pose

# Numbers and poses as XML says them, exact to the last bit.


def words(values: ArrayLike) -> str:
    """Numbers with the shortest text that reads back to the same bits; minus zero is zero.

    Args:
        values: any shape and unit.

    Returns:
        The numbers, separated by blanks.
    """
    return " ".join(repr(float(x) + 0.0) for x in np.ravel(values))


def attributes(values: Mapping[str, str]) -> str:
    """Attributes of an element, each with a blank before it.

    Args:
        values: the text of each attribute by name.

    Returns:
        The attributes, quoted and escaped.
    """
    return "".join(f" {name}={quoteattr(value)}" for name, value in values.items())


def quaternion_words(pose: Pose) -> Array:
    """The rotation of a pose as MuJoCo writes it.

    Returns:
        The quaternion w, x, y, z, shape (4,), dimensionless.
    """
    return np.asarray(pose.quaternion[[3, 0, 1, 2]])


# A model as text, with what was decided while it was written.


@dataclass(frozen=True)
class ModelText:
    """A description of a robot, ready to be written to a file.

    Attributes:
        content: XML in UTF-8.
        findings: what the format could not take as it is, and what was done instead.
        judges: the programs that read it back and agree, by name.
    """

    content: bytes
    findings: tuple[Finding, ...] = ()
    judges: tuple[str, ...] = ()
