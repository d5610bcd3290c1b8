"""A description file into a Robot, by its kind."""

from __future__ import annotations

from pathlib import Path

from steelyard.errors import DescriptionError
from steelyard.robot.model import Robot
from steelyard.robot.urdf import load_urdf

_READERS = {".urdf": load_urdf}


def load_robot(path: Path | str) -> Robot:
    """Read a robot description.

    Args:
        path: a `.urdf` file.

    Returns:
        The robot.

    Raises:
        DescriptionError: the file does not exist, is of an unknown kind, or cannot be understood.
    """
    path = Path(path)
    if not path.exists():
        raise DescriptionError("there is no such file.", place=str(path))
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        kinds = ", ".join(_READERS)
        raise DescriptionError(
            f"'{path.suffix}' is not a kind of description this version reads.",
            place=str(path),
            remedy=f"Supported: {kinds}.",
        )
    return reader(path)
