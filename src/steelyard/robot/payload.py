"""Payload files: the body an arm holds, as JSON, in the frame of its tool."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from steelyard.archive import from_document
from steelyard.arrays import Array, checked
from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.inertia import Body


@dataclass(frozen=True, eq=False)
class _PayloadFile:
    """The keys of the file; six numbers Ixx, Ixy, Iyy, Ixz, Iyz, Izz state the tensor."""

    mass: float
    com: Array
    inertia: Array

    def body(self) -> Body:
        xx, xy, yy, xz, yz, zz = checked("inertia", self.inertia, (6,))
        return Body(self.mass, self.com, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def read_payload(path: FilePath) -> Body:
    """Read a payload file.

    It holds `{"mass": kg, "com": [x, y, z], "inertia": [Ixx, Ixy, Iyy, Ixz, Iyz, Izz]}`, the centre of mass
    in m, the inertia about it in kg m^2, all in the robot's tool frame.

    Args:
        path: the file.

    Returns:
        The body in the tool frame.

    Raises:
        InputError: the file cannot be read, is not JSON, a key is missing, unknown or of the wrong kind, or
            no body can have these numbers; the message names the file and says why.
    """
    place = str(path)
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", place=place) from error
    except UnicodeDecodeError as error:
        raise InputError("is not text in UTF-8.", place=place) from error
    except json.JSONDecodeError as error:
        where = f"{place}:{error.lineno}"
        raise InputError(f"is not JSON: {error.msg}, column {error.colno}.", place=where) from error
    except RecursionError as error:
        raise InputError("is nested too deeply for a payload.", place=place) from error
    except ValueError as error:
        raise InputError("holds an integer too large for a number.", place=place) from error
    content = from_document(_PayloadFile, document, place=place)
    try:
        body = content.body()
    except InputError as error:
        raise InputError(error.message, place=f"{place}: {error.place}", evidence=error.evidence) from error
    check = body.consistency
    if not check:
        why = " ".join(str(reason) for reason in check.reasons)
        raise InputError(f"is physically impossible: {why}", place=place)
    return body
