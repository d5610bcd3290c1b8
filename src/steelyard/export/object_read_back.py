"""The files of an object read by others' code, and the inertia they find compared with the one meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.export.mjcf_body import LEAST
from steelyard.export.object_description import ObjectDescription
from steelyard.export.read_back import ReadBackError, compiled, pinocchio, unread
from steelyard.finding import Finding, Severity
from steelyard.inertia import Body, MujocoPrincipal

TOLERANCE = 1e-12
"""Largest difference of mass, centre and central inertia, relative to the size of each."""
URDF, MJCF, SDF = "object.urdf", "object.xml", "object.sdf"
"""The models of an asset."""


@dataclass(frozen=True)
class ObjectReadBack:
    """What other programs found in the models of an asset: that they say what they should.

    Attributes:
        judges: for each model, the programs that read it and agree, by name.
        findings: what a reader would not take.
    """

    judges: Mapping[str, tuple[str, ...]]
    findings: tuple[Finding, ...]


def check_object(description: ObjectDescription, files: Mapping[str, bytes]) -> ObjectReadBack:
    """Read every model of an asset and compare its inertia: the URDF in Pinocchio too where it is installed.

    MuJoCo judges the triangle inequality to the last bit. It so refuses the URDF of a flat or rod-like
    object, which is said; the MJCF is written for it and is always read.

    Args:
        description: what the files should say.
        files: content by name: the three models and the meshes they name.

    Returns:
        Who read what.

    Raises:
        ReadBackError: a model is refused, or says something else.
    """
    body = description.body
    findings: list[Finding] = []
    judges: dict[str, list[str]] = {URDF: [], MJCF: ["MuJoCo"], SDF: ["an XML reader"]}
    assets = {name: content for name, content in files.items() if name.endswith(".obj")}
    if (pin := pinocchio()) is not None:
        _compare(URDF, "Pinocchio", body, _by_pinocchio(pin, files[URDF]))
        judges[URDF].append("Pinocchio")
    _compare(MJCF, "MuJoCo", body, _by_mujoco(MJCF, files[MJCF], assets, description.name))
    _compare(SDF, "an XML reader", body, _sdf_body(files[SDF]))
    try:
        found = _by_mujoco(URDF, files[URDF], assets, description.name)
    except ReadBackError as error:
        message = f"{error.message} Use {MJCF} there."
        findings.append(Finding(Severity.INFO, "mujoco-refuses-urdf", message, URDF))
    else:
        _compare(URDF, "MuJoCo", body, found)
        judges[URDF].insert(0, "MuJoCo")
    if not judges[URDF]:
        findings.append(unread(URDF))
    return ObjectReadBack({name: tuple(by) for name, by in judges.items()}, tuple(findings))


def _by_pinocchio(pin: Any, content: bytes) -> Body:
    try:
        model = pin.buildModelFromXML(content.decode())
    except (ValueError, RuntimeError) as error:
        raise ReadBackError(f"Pinocchio refuses it: {error}", place=URDF) from error
    _require_free("Pinocchio", URDF, model.nv)
    found = model.inertias[1]
    return Body(found.mass, found.lever, found.inertia)


def _by_mujoco(place: str, content: bytes, assets: dict[str, bytes], name: str) -> Body:
    try:
        spec = mujoco.MjSpec.from_string(content.decode(), assets=assets)
        model = compiled(spec)
    except ValueError as error:
        raise ReadBackError(f"MuJoCo refuses it: {error}", place=place) from error
    _require_free("MuJoCo", place, model.nv)
    part = model.body(name)
    return MujocoPrincipal(float(part.mass[0]), part.ipos, part.iquat, part.inertia).to_body()


def _require_free(reader: str, place: str, nv: int) -> None:
    if nv != 6:
        raise ReadBackError(f"{reader} finds {nv} degrees of freedom; a free body has 6.", place=place)


def _sdf_body(content: bytes) -> Body:
    try:
        inertial = ElementTree.fromstring(content).find("model/link/inertial")
        if inertial is None:
            raise ReadBackError("has no inertial.", place=SDF)
        x, y, z, *turn = _numbers(inertial, "pose")
        (mass,) = _numbers(inertial, "mass")
        xx, xy, xz, yy, yz, zz = (
            _numbers(inertial, f"inertia/{key}")[0] for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        found = Body(mass, np.array([x, y, z]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    except (ElementTree.ParseError, ValueError, IndexError, InputError) as error:
        raise ReadBackError(f"cannot be read: {error}", place=SDF) from error
    if any(turn):
        raise ReadBackError(f"turns the axes of the inertia by {turn} rad.", place=SDF)
    return found


def _numbers(parent: ElementTree.Element, path: str) -> list[float]:
    return [float(word) for word in parent.findtext(path, "").split()]


def _compare(place: str, reader: str, meant: Body, found: Body) -> None:
    size = float(np.abs(meant.inertia).max())
    length = float(np.linalg.norm(meant.com)) + float(np.sqrt(size / meant.mass))
    differences: dict[str, tuple[float, float, str]] = {
        "mass": (abs(found.mass - meant.mass), meant.mass, "kg"),
        "centre of mass": (_largest(found.com - meant.com), length, "m"),
        "inertia": (_largest(found.inertia - meant.inertia), size, "kg m^2"),
    }
    for what, (off, scale, unit) in differences.items():
        floor = 2.0 * LEAST if reader == "MuJoCo" else 0.0  # what MuJoCo refuses is raised to it
        if not off <= TOLERANCE * scale + floor:
            raise ReadBackError(
                f"{reader} finds another {what}: it differs by {off:.3g} {unit}.",
                place=place,
                evidence={"meant": meant.parameters, "found": found.parameters},
            )


def _largest(values: Array) -> float:
    return float(np.abs(values).max())
