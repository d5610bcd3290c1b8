"""`parameters.json` of an object: its numbers, how far each is known, and what decided it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import to_document
from steelyard.arrays import checked
from steelyard.audit import Check
from steelyard.errors import InputError, UnknownNameError
from steelyard.export.object_mesh import ObjectMesh
from steelyard.finding import Finding
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS, Body

SCHEMA = 1
KIND = "steelyard-object"
"""What the document says it is."""
COM_NAMES = ("x", "y", "z")
"""Names of the coordinates of the centre of mass."""
CENTRAL_NAMES = tuple(f"{name}_com" for name in PARAMETER_NAMES[4:])
"""Names of the inertia about the centre of mass."""
OBJECT_NAMES = (*PARAMETER_NAMES, *COM_NAMES, *CENTRAL_NAMES)
"""Names of every number of an object: ten about its frame, then what follows from them."""
_UNITS = (*PARAMETER_UNITS, *("m",) * 3, *("kg m^2",) * 6)

Ends = tuple[float, float]


def object_document(
    name: str,
    body: Body,
    *,
    frame: str = "",
    intervals: Mapping[str, Ends] | None = None,
    bounds: Mapping[str, Ends] | None = None,
    decided_by: Mapping[str, str] | None = None,
    covariance: ArrayLike | None = None,
    mesh: ObjectMesh | None = None,
    checks: Sequence[Check] = (),
    findings: Sequence[Finding] = (),
) -> dict[str, Any]:
    """What is known of an object, as values JSON can hold; infinity is the text `inf`.

    Mass, centre and central inertia stand in the form of a payload file, in its order Ixx, Ixy, Iyy, Ixz,
    Iyz, Izz. Below them each number of `OBJECT_NAMES` has its unit and what was told about it; what was not
    told is null.

    Args:
        name: what the object is called.
        body: its inertia in the object's frame.
        frame: which frame that is, in words.
        intervals: lower and upper end of the 95 % interval of a number by name, SI.
        bounds: its guaranteed lower and upper bound, SI.
        decided_by: what decided it, such as `data` or `prior`.
        covariance: of the ten numbers about the frame, infinite where unknown, shape (10, 10), SI.
        mesh: what it looks like.
        checks: what was asked about it, with the outcomes.
        findings: what was noticed on the way.

    Returns:
        The document.

    Raises:
        InputError: a name is unknown, or two ends are not in order.
    """
    ends = {"interval95": _ends("intervals", intervals), "bounds": _ends("bounds", bounds)}
    decisions = _named("decided_by", decided_by)
    central = body.inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    phi = body.parameters
    values = np.concatenate((phi, body.com, central))
    numbers = {
        key: {
            "value": value,
            "unit": unit,
            **{kind: known.get(key) for kind, known in ends.items()},
            "decided_by": decisions.get(key),
        }
        for key, value, unit in zip(OBJECT_NAMES, values.tolist(), _UNITS, strict=True)
    }
    document = {
        "kind": KIND,
        "schema": SCHEMA,
        "name": name,
        "frame": frame,
        "units": {"mass": "kg", "com": "m", "inertia": "kg m^2", "inertia_about_frame": "kg m^2"},
        "mass": body.mass,
        "com": body.com,
        "inertia": central,
        "inertia_about_frame": phi[4:],
        "numbers": numbers,
        "covariance": None
        if covariance is None
        else checked("covariance", covariance, (10, 10), finite=False),
        "mesh": None if mesh is None else _mesh(mesh),
        "checks": [
            {"name": c.name, "status": c.status, "message": c.message, "evidence": c.evidence} for c in checks
        ],
        "findings": findings,
    }
    plain: dict[str, Any] = to_document(document)
    return plain


def _mesh(mesh: ObjectMesh) -> dict[str, object]:
    return {
        "source": mesh.source,
        "scale": mesh.scale,
        "position": mesh.pose.translation,
        "quaternion_xyzw": mesh.pose.quaternion,
        "corners": len(mesh.surface.vertices),
        "hull_corners": len(mesh.hull.vertices),
    }


def _named(place: str, given: Mapping[str, Any] | None) -> Mapping[str, Any]:
    for key in given or {}:
        if key not in OBJECT_NAMES:
            raise UnknownNameError("number", key, OBJECT_NAMES, place=place)
    return given or {}


def _ends(place: str, given: Mapping[str, Ends] | None) -> dict[str, Ends]:
    found = {}
    for key, ends in _named(place, given).items():
        lower, upper = checked(f"{place} of {key}", ends, (2,), finite=False).tolist()
        if not lower <= upper:
            raise InputError(f"ends of {key} are not in order: {lower}, {upper}.", place=place)
        found[key] = (lower, upper)
    return found
