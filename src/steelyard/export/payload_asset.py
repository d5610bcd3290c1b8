"""The asset folder of an object: URDF, MJCF, SDF, meshes and numbers, written as one and read back."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import to_document
from steelyard.arrays import Array, checked
from steelyard.audit import Check
from steelyard.errors import DescriptionError, InputError, UnknownNameError
from steelyard.export.object_mesh import ObjectMesh, SeenSurface, fit_findings, obj_content
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.formats.folder import Written, require_free, write_folder
from steelyard.formats.mjcf import body_inertial
from steelyard.formats.read_back import ReadBackError, compiled, mujoco, pinocchio, unread
from steelyard.formats.xml_text import ModelText, attributes, quaternion_words, words
from steelyard.inertia import (
    MUJOCO_LEAST,
    PARAMETER_NAMES,
    PARAMETER_UNITS,
    Body,
    Mesh,
    MujocoPrincipal,
)
from steelyard.pose import Pose
from steelyard.robot import TENSOR_ENTRIES, Box, Geometry, Link, MeshFile, inertial_element

# An object as every format tells it: one rigid body, what is seen of it, and what touches.

COLLISION = "collision"
"""What files of what touches are called."""
THINNEST = 1e-3
"""Least side of the box that stands for an object without a mesh, m."""
_NAME = re.compile(r"[A-Za-z0-9_][\w.-]*")


@dataclass(frozen=True, eq=False)
class ObjectDescription:
    """What the files of an object say.

    Attributes:
        name: of the model and of its only link.
        body: the inertia in the object's frame; a possible one, with mass.
        visual: what is seen, in one or more parts.
        collision: what touches, in one or more parts; convex.
        looks: of each part that is seen; none of a box.
    """

    name: str
    body: Body
    visual: tuple[Geometry, ...]
    collision: tuple[Geometry, ...]
    looks: tuple[SeenSurface, ...] = ()

    @property
    def shaped(self) -> bool:
        """Whether it has a mesh, so that more is seen than touches."""
        return bool(self.looks)


def described_object(
    name: str, body: Body, mesh: ObjectMesh | None
) -> tuple[ObjectDescription, tuple[Finding, ...]]:
    r"""Give an object its shapes: its mesh and the convex parts of it, or the box that its inertia is worth.

    A uniform box with sides $a_i = \sqrt{12\,\sigma_i/m}$, $\sigma_i$ the central second moments, has the
    same inertia. A flat, rod-like or point-like body has sides of zero, which no simulator takes.

    Args:
        name: what to call it.
        body: the inertia in the object's frame.
        mesh: what it looks like, or None.

    Returns:
        The description, and what had to be decided.

    Raises:
        InputError: the name cannot be used, or the body is impossible or has no mass.
    """
    _refuse_unless_possible(name, body)
    if mesh is not None:
        scale = (mesh.scale, mesh.scale, mesh.scale)
        seen = tuple(Geometry(MeshFile(item.file, scale), mesh.pose) for item in mesh.seen)
        parts = tuple(Geometry(MeshFile(file), Pose.identity()) for file in part_files(mesh))
        return ObjectDescription(name, body, seen, parts, mesh.seen), ()
    ellipsoid = body.equivalent_ellipsoid()
    sides = ellipsoid.semi_axes * np.sqrt(12.0 / 5.0)
    thick = np.maximum(sides, THINNEST)
    shape = Geometry(Box(*thick.tolist()), ellipsoid.pose)
    findings = []
    if (thick > sides).any():
        message = (
            f"the box of the inertia has sides of {', '.join(f'{1e3 * side:.3g}' for side in sides)} mm; "
            f"none below {1e3 * THINNEST:g} mm is written. Its inertia is kept."
        )
        findings.append(Finding(Severity.INFO, "box-thickened", message, name))
    return ObjectDescription(name, body, (shape,), (shape,)), tuple(findings)


def part_files(mesh: ObjectMesh) -> dict[str, Mesh]:
    """The convex parts of a mesh by the names of their files."""
    if len(mesh.parts) == 1:
        return {f"{COLLISION}.obj": mesh.parts[0]}
    return {f"{COLLISION}_{k}.obj": part for k, part in enumerate(mesh.parts, start=1)}


def _numbered(name: str, count: int) -> list[str]:
    """A name for each of several, without a number where there is one."""
    return [name] if count == 1 else [f"{name}_{k}" for k in range(1, count + 1)]


def _refuse_unless_possible(name: str, body: Body) -> None:
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is no name that every format takes.",
            place="name",
            remedy="Use letters, digits, '_', '-' and '.'.",
        )
    verdict = body.consistency
    if not verdict:
        why = " ".join(str(reason) for reason in verdict.reasons)
        raise InputError(f"is physically impossible: {why}", place="body")
    if not body.mass > 0.0:
        raise InputError("has no mass.", place="body", remedy="An object weighs something.")


# An object as URDF: one free link with its inertia, what is seen of it and what touches.


def object_urdf(description: ObjectDescription) -> bytes:
    """Write an object as URDF: a link that a floating joint leaves free in the world.

    A link that no joint holds is free to some readers and a part of the world to others, MuJoCo among them,
    so it is said.

    Args:
        description: what to write.

    Returns:
        XML in UTF-8.
    """
    name = attributes({"name": description.name})
    lines = [
        '<?xml version="1.0"?>',
        f"<robot{name}>",
        '  <link name="world"/>',
        f'  <joint{attributes({"name": f"{description.name}_free"})} type="floating">',
        '    <parent link="world"/>',
        f"    <child{attributes({'link': description.name})}/>",
        "  </joint>",
        f"  <link{name}>",
        f"    {inertial_element(description.body)}",
        *(f"    <visual>{_urdf_shape(item)}{look}</visual>" for item, look in _urdf_looks(description)),
        *(f"    <collision>{_urdf_shape(item)}</collision>" for item in description.collision),
        "  </link>",
        "</robot>",
    ]
    return ("\n".join(lines) + "\n").encode()


def _urdf_looks(description: ObjectDescription) -> Iterator[tuple[Geometry, str]]:
    """What is seen, each with its material where its file does not name a picture."""
    names = _numbered(f"{description.name}_look", len(description.visual))
    for k, item in enumerate(description.visual):
        look = description.looks[k] if description.looks else None
        if look is None or look.color is None or look.pictured:
            yield item, ""
        else:
            color = f"<color{attributes({'rgba': words(look.color)})}/>"
            yield item, f"<material{attributes({'name': names[k]})}>{color}</material>"


def _urdf_shape(item: Geometry) -> str:
    match item.shape:
        case Box(x, y, z):
            shape = f'<box size="{words((x, y, z))}"/>'
        case MeshFile(file, scale):
            shape = f"<mesh{attributes({'filename': file, 'scale': words(scale)})}/>"
        case _:
            raise DescriptionError("an object is a mesh or a box.", place="geometry")
    place = {"xyz": words(item.pose.translation), "rpy": words(item.pose.rpy)}
    return f"<origin{attributes(place)}/><geometry>{shape}</geometry>"


# An object as MJCF: one free body with its inertia, what is seen of it and what touches.

_SEEN = {"contype": "0", "conaffinity": "0", "group": "2"}
_TOUCHES = {"group": "3"}
# MuJoCo weighs every mesh it loads, also one whose weight is not asked for, and refuses one without a volume;
# a surface it can always weigh as a shell.
_WEIGHED = {"visual": "shell", "collision": "convex"}


def object_mjcf(description: ObjectDescription) -> ModelText:
    """Write an object as MJCF. Assets carry its name, so that several objects can share a scene.

    Args:
        description: what to write.

    Returns:
        The model, with what MuJoCo could not take as it is.
    """
    findings: list[Finding] = []
    name = description.name
    inertial = body_inertial(Link(name, description.body), findings)
    parts: dict[str, tuple[Geometry, dict[str, str]]] = {"shape": (description.collision[0], {})}
    assets: list[str] = []
    if description.shaped:
        parts, assets = _mjcf_looks(description)
        touching = _numbered("collision", len(description.collision))
        parts |= {part: (item, _TOUCHES) for part, item in zip(touching, description.collision, strict=True)}
    assets += [
        _asset(f"{name}_{part}", item.shape, _WEIGHED[part.partition("_")[0]])
        for part, (item, _) in parts.items()
        if isinstance(item.shape, MeshFile)
    ]
    lines = [
        f"<mujoco{attributes({'model': name})}>",
        '  <compiler angle="radian" inertiafromgeom="false"/>',
        *(["  <asset>", *assets, "  </asset>"] if assets else []),
        "  <worldbody>",
        f"    <body{attributes({'name': name})}>",
        "      <freejoint/>",
        f"      {inertial}",
        *(_geom(f"{name}_{part}", item, extra) for part, (item, extra) in parts.items()),
        "    </body>",
        "  </worldbody>",
        "</mujoco>",
    ]
    return ModelText(("\n".join(lines) + "\n").encode(), tuple(findings))


def _mjcf_looks(
    description: ObjectDescription,
) -> tuple[dict[str, tuple[Geometry, dict[str, str]]], list[str]]:
    """What is seen, with its material or colour, by name; and the pictures and materials."""
    parts: dict[str, tuple[Geometry, dict[str, str]]] = {}
    assets: dict[str, None] = {}  # a picture may lie on several parts
    names = _numbered("visual", len(description.visual))
    for part, item, look in zip(names, description.visual, description.looks, strict=True):
        extra = dict(_SEEN)
        if look.png is not None:
            stem = f"{description.name}_{look.png.removesuffix('.png')}"
            material = f"{description.name}_{part.replace('visual', 'look')}"
            stated = {"name": material, "texture": stem}
            color = {} if look.color is None else {"rgba": words(look.color)}
            assets[f"    <texture{attributes({'name': stem, 'type': '2d', 'file': look.png})}/>"] = None
            assets[f"    <material{attributes(stated | color)}/>"] = None
            extra["material"] = material
        elif look.color is not None:
            extra["rgba"] = words(look.color)
        parts[part] = (item, extra)
    return parts, list(assets)


def _asset(name: str, mesh: MeshFile, weighed: str) -> str:
    stated = {"name": name, "file": mesh.file, "scale": words(mesh.scale), "inertia": weighed}
    return f"    <mesh{attributes(stated)}/>"


def _geom(name: str, item: Geometry, extra: dict[str, str]) -> str:
    match item.shape:
        case Box(x, y, z):
            shape = {"type": "box", "size": words((x / 2, y / 2, z / 2))}
        case MeshFile():
            shape = {"type": "mesh", "mesh": name}
        case _:
            raise DescriptionError("an object is a mesh or a box.", place="geometry")
    place = {"pos": words(item.pose.translation), "quat": words(quaternion_words(item.pose))}
    return f"      <geom{attributes({'name': name, **shape, **place, **extra})}/>"


# An object as SDF: one model of one link with its inertia, what is seen of it and what touches.

VERSION = "1.7"
"""Of the format: the oldest in which every number here means what it means today."""


def object_sdf(description: ObjectDescription) -> bytes:
    """Write an object as SDF. File names are relative to the file, as Gazebo and Drake read them.

    Args:
        description: what to write.

    Returns:
        XML in UTF-8.
    """
    body, name = description.body, attributes({"name": description.name})
    tensor = "".join(f"<{key}>{words(body.inertia[at])}</{key}>" for key, at in TENSOR_ENTRIES.items())
    lines = [
        '<?xml version="1.0"?>',
        f'<sdf version="{VERSION}">',
        f"  <model{name}>",
        f"    <link{name}>",
        "      <inertial>",
        f"        {_pose(body.com)}",
        f"        <mass>{words(body.mass)}</mass>",
        f"        <inertia>{tensor}</inertia>",
        "      </inertial>",
        *_sdf_parts(description),
        "    </link>",
        "  </model>",
        "</sdf>",
    ]
    return ("\n".join(lines) + "\n").encode()


def _sdf_parts(description: ObjectDescription) -> Iterator[str]:
    """What is seen, with a colour where its file does not name a picture, and what touches."""
    names = _numbered("visual", len(description.visual))
    for k, (name, item) in enumerate(zip(names, description.visual, strict=True)):
        look, said = (description.looks[k] if description.looks else None), ""
        if look is not None and look.color is not None and not look.pictured:
            color = words(look.color)
            said = f"<material><ambient>{color}</ambient><diffuse>{color}</diffuse></material>"
        yield f'      <visual name="{name}">{_sdf_shape(item)}{said}</visual>'
    names = _numbered("collision", len(description.collision))
    for name, item in zip(names, description.collision, strict=True):
        yield f'      <collision name="{name}">{_sdf_shape(item)}</collision>'


def _sdf_shape(item: Geometry) -> str:
    match item.shape:
        case Box(x, y, z):
            shape = f"<box><size>{words((x, y, z))}</size></box>"
        case MeshFile(file, scale):
            shape = f"<mesh><uri>{file}</uri><scale>{words(scale)}</scale></mesh>"
        case _:
            raise DescriptionError("an object is a mesh or a box.", place="geometry")
    place = _pose(item.pose.translation, item.pose.rpy)
    return f"{place}<geometry>{shape}</geometry>"


def _pose(translation: Array, angles: Array | None = None) -> str:
    """Position in m, then roll, pitch and yaw in rad, in URDF's convention."""
    return f"<pose>{words(translation)} {'0 0 0' if angles is None else words(angles)}</pose>"


# `parameters.json` of an object: its numbers, how far each is known, and what decided it.

SCHEMA = 1
OBJECT_KIND = "steelyard-object"
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
        "kind": OBJECT_KIND,
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
        "parts": len(mesh.parts),
        "materials": sum(item.color is not None for item in mesh.seen),
        "textures": sum(name.startswith("texture") for name in mesh.files),
        "centroid": mesh.centroid,
        "closed": mesh.solid,
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


# The files of an object read by others' code, and the inertia they find compared with the one meant.

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
    assets = {name: content for name, content in files.items() if name.endswith((".obj", ".png"))}
    _require_named(files)
    if (pin := pinocchio()) is not None:
        _compare(URDF, "Pinocchio", body, _by_pinocchio(pin, files[URDF]))
        judges[URDF].append("Pinocchio")
    _compare(MJCF, "MuJoCo", body, _by_mujoco(MJCF, files[MJCF], assets, description))
    _compare(SDF, "an XML reader", body, _sdf_body(files[SDF]))
    try:
        found = _by_mujoco(URDF, files[URDF], assets, description)
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


def _require_named(files: Mapping[str, bytes]) -> None:
    """Refuse meshes and materials that name a file which is not among those written."""
    for name, content in files.items():
        word = {".obj": b"mtllib", ".mtl": b"map_Kd"}.get(Path(name).suffix)
        for line in content.splitlines() if word is not None else ():
            if line.split(None, 1)[:1] == [word] and line.split(None, 1)[1].decode() not in files:
                raise ReadBackError(
                    f"names {line.split(None, 1)[1].decode()!r}, which is absent.", place=name
                )


def _by_mujoco(place: str, content: bytes, assets: dict[str, bytes], description: ObjectDescription) -> Body:
    try:
        spec = mujoco().MjSpec.from_string(content.decode(), assets=assets)
        model = compiled(spec)
    except ValueError as error:
        raise ReadBackError(f"MuJoCo refuses it: {error}", place=place) from error
    _require_free("MuJoCo", place, model.nv)
    if place == MJCF:
        _require_looks(model, description)
    part = model.body(description.name)
    return MujocoPrincipal(float(part.mass[0]), part.ipos, part.iquat, part.inertia).to_body()


def _require_looks(model: Any, description: ObjectDescription) -> None:
    """Refuse a model without a picture, its places on the mesh, or a part that touches."""
    pictures = {look.png for look in description.looks} - {None}
    pictured = sum(look.png is not None for look in description.looks)
    placed = sum(bool(count) for count in model.mesh_texcoordnum[: len(description.looks)])
    touching = int((model.geom_contype != 0).sum())
    if model.ntex != len(pictures) or placed < pictured or touching != len(description.collision):
        raise ReadBackError(
            f"MuJoCo finds {model.ntex} pictures, {placed} meshes with places in one and {touching} shapes "
            f"that touch; meant are {len(pictures)}, {pictured} and {len(description.collision)}.",
            place=MJCF,
        )


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
        floor = 2.0 * MUJOCO_LEAST if reader == "MuJoCo" else 0.0  # what MuJoCo refuses is raised to it
        if not off <= TOLERANCE * scale + floor:
            raise ReadBackError(
                f"{reader} finds another {what}: it differs by {off:.3g} {unit}.",
                place=place,
                evidence={"meant": meant.parameters, "found": found.parameters},
            )


def _largest(values: Array) -> float:
    return float(np.abs(values).max())


# The asset folder of an object: models for every simulator, meshes and numbers, written as one.


def write_object(
    folder: FilePath,
    body: Body,
    *,
    name: str = "object",
    frame: str = "",
    mesh: ObjectMesh | None = None,
    intervals: Mapping[str, Ends] | None = None,
    bounds: Mapping[str, Ends] | None = None,
    decided_by: Mapping[str, str] | None = None,
    covariance: ArrayLike | None = None,
    checks: Sequence[Check] = (),
    findings: Sequence[Finding] = (),
    extra: Mapping[str, bytes] | None = None,
    record: Callable[[Mapping[str, bytes]], Mapping[str, object]] | None = None,
    force: bool = False,
) -> Written:
    """Write `object.urdf`, `object.xml` (MJCF), `object.sdf`, the meshes and `parameters.json`.

    With a mesh, `visual.obj` is what is seen, numbered where it has several materials, with `visual.mtl` and
    its pictures, and `collision.obj` its convex hull, numbered where it has several parts; without one, the
    box that the inertia is worth stands in the models. Every model is read back and compared first; the
    folder appears only when all of it is there.

    Args:
        folder: where to; it must not exist or be empty.
        body: the inertia in the object's frame; a possible one, with mass.
        name: of the model and of its only link.
        frame: which frame the object's is, in words.
        mesh: what it looks like, see `object_mesh`.
        intervals: 95 % interval of a number by its name in `OBJECT_NAMES`, SI.
        bounds: its guaranteed bounds, SI.
        decided_by: what decided it.
        covariance: of the ten numbers about the frame, shape (10, 10), SI.
        checks: what was asked about the object.
        findings: what was noticed before.
        extra: further files by name, such as a report.
        record: makes the document of `record.json` from the content of all other files by name.
        force: whether what stands there may be replaced, see `require_free`.

    Returns:
        What was written.

    Raises:
        InputError: the folder is not free, the body is impossible or has no mass, or a name is unknown.
        ReadBackError: a model does not say what it should; nothing is left behind.
    """
    folder = Path(folder)
    require_free(folder, force=force)
    description, decided = described_object(name, body, mesh)
    mjcf = object_mjcf(description)
    files = {URDF: object_urdf(description), MJCF: mjcf.content, SDF: object_sdf(description)}
    noticed = [*findings, *decided, *mjcf.findings]
    if mesh is not None:
        files |= {item.file: item.content for item in mesh.seen} | dict(mesh.files)
        files |= {file: obj_content(part) for file, part in part_files(mesh).items()}
        noticed += [x for x in (*mesh.findings, *fit_findings(body, mesh)) if x not in noticed]
    read = check_object(description, files)
    noticed += read.findings
    document = object_document(
        name,
        body,
        frame=frame,
        intervals=intervals,
        bounds=bounds,
        decided_by=decided_by,
        covariance=covariance,
        mesh=mesh,
        checks=checks,
        findings=noticed,
    )
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    files = {**(extra or {}), **files, "parameters.json": text.encode()}
    if record is not None:
        told = {**record(files), "read_back": {file: list(by) for file, by in read.judges.items()}}
        files["record.json"] = (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode()
    write_folder(folder, files, force=force)
    return Written(folder, tuple(sorted(files)), tuple(noticed), read.judges)
