"""Motion files: JSON with family, joints, coefficients and the robot's digest; every bit survives."""

from __future__ import annotations

import json
from pathlib import Path

from steelyard.archive import from_document, to_document
from steelyard.document import read_json
from steelyard.errors import InputError, UnknownNameError
from steelyard.files import FilePath, write_text
from steelyard.motion.composition import AnyMotion, SequenceMotion, SumMotion
from steelyard.motion.fourier import FourierMotion
from steelyard.motion.sinusoid import SinusoidMotion
from steelyard.motion.spline import SplineMotion

_FAMILIES: dict[str, type[AnyMotion]] = {
    "fourier": FourierMotion,
    "spline": SplineMotion,
    "sinusoid": SinusoidMotion,
    "sum": SumMotion,
    "sequence": SequenceMotion,
}


def write_motion(motion: AnyMotion, path: FilePath) -> None:
    """Write a motion file, whole or not at all.

    Args:
        motion: the motion.
        path: where; an existing file is replaced.

    Raises:
        InputError: the path is a folder, or its folder does not exist or cannot be written to.
    """
    family = next(name for name, cls in _FAMILIES.items() if isinstance(motion, cls))
    document = to_document(motion)
    del document["is"]
    text = json.dumps({"family": family, **document}, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(Path(path), text + "\n")


def read_motion(path: FilePath) -> AnyMotion:
    """Read a motion file.

    Args:
        path: the file.

    Returns:
        The motion, equal in every bit to the one written.

    Raises:
        InputError: there is no such file, or it is not a motion; the message says where.
    """
    path = Path(path)
    document = read_json(path)
    if not isinstance(document, dict) or not isinstance(document.get("family"), str):
        raise InputError("is not a motion: it lacks the text 'family'.", place=str(path))
    family = document.pop("family")
    if family not in _FAMILIES:
        raise UnknownNameError("motion family", family, _FAMILIES, place=str(path))
    try:
        return from_document(_FAMILIES[family], document, place=str(path))
    except InputError as error:
        if error.place.startswith(str(path)):
            raise
        raise InputError(error.message, place=f"{path}: {error.place}", evidence=error.evidence) from error
    except ValueError as error:
        raise InputError("holds an array whose rows differ in length.", place=str(path)) from error
