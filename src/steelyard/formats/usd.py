"""A USD stage, as Isaac Sim reads it, with identified masses and inertias; needs the extra `usd`.

Links are prims of the same name (as OpenUSD makes a name valid), and their numbers are those of the physics
schema: `physics:mass`, `physics:centerOfMass`, `physics:diagonalInertia` and `physics:principalAxes`, in the
stage's units and in single precision. They are stated in the root layer, over whatever it refers to. The
schema has no word for friction or rotors of a joint.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.errors import DescriptionError, InputError, MissingExtraError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.formats.model_files import robot_with_parameters
from steelyard.formats.read_back import ReadBackError
from steelyard.inertia import Body, MujocoPrincipal
from steelyard.layout import Layout
from steelyard.pose import Pose
from steelyard.robot import Joint, Link, PatchedNumber, Robot

USD_ENDINGS = (".usd", ".usda", ".usdc", ".usdz")
"""How files of stages are called."""
SINGLE = 1e-6
"""Relative difference that numbers in single precision may have."""
SAME_FRAME = 1e-5
"""Distance of two joints, m, or of their axes, dimensionless, that single precision explains."""
_CRATE = b"PXR-USDC"
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_NAMED = 5


@dataclass(frozen=True, eq=False)
class PatchedStage:
    """A stage with other numbers.

    Attributes:
        content: its root layer, in the file format it was in.
        before: the layer as text, as it was.
        after: the same with the numbers.
        changed: every number that changes; lines are 0, since a stage has none.
        difference: largest relative difference of what was read back.
        bolted: mass that the stage states of links bolted to moving ones, kg, by name.
        findings: what could not be looked at.
    """

    content: bytes
    before: str
    after: str
    changed: tuple[PatchedNumber, ...]
    difference: float
    bolted: Mapping[str, float]
    findings: tuple[Finding, ...]


def patched_usd(path: FilePath, robot: Robot, layout: Layout, parameters: ArrayLike) -> PatchedStage:
    """State a robot's masses and inertias in a USD file; nothing is written.

    Args:
        path: a `.usd`, `.usda` or `.usdc` file whose links are prims of the robot's names.
        robot: the robot that was identified.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI; every link must be possible.

    Returns:
        The stage.

    Raises:
        MissingExtraError: OpenUSD is not installed.
        InputError: a prim is missing, is not the only one of its name, cannot be changed, or its joints stand
            elsewhere than those of the robot.
        ReadBackError: the numbers are not read back.
    """
    return _Stage(Path(path)).patched(robot, layout, parameters)


class _Stage:
    """A stage that is open; what is changed in it is dropped again."""

    def __init__(self, path: Path) -> None:
        try:
            from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics
        except ImportError as error:
            raise MissingExtraError("patching a USD file", "usd-core", "usd") from error
        self.Gf, self.Sdf, self.UsdPhysics, self.UsdGeom = Gf, Sdf, UsdPhysics, UsdGeom
        self.path, self.valid = path, Tf.MakeValidIdentifier
        if path.suffix.lower() == ".usdz":
            raise DescriptionError(
                "is packed.", place=str(path), remedy="Unpack it, and patch what it holds."
            )
        if not path.is_file():
            raise DescriptionError("there is no such file.", place=str(path))
        try:
            self.stage = Usd.Stage.Open(str(path))
        except Tf.ErrorException as error:
            raise DescriptionError("is no USD stage that OpenUSD opens.", place=str(path)) from error
        self.metre = float(UsdGeom.GetStageMetersPerUnit(self.stage))
        self.kilogram = float(UsdPhysics.GetStageKilogramsPerUnit(self.stage))
        self.prims: dict[str, list[Any]] = {}
        for prim in self.stage.Traverse(Usd.TraverseInstanceProxies()):
            self.prims.setdefault(str(prim.GetName()), []).append(prim)

    def patched(self, robot: Robot, layout: Layout, parameters: ArrayLike) -> PatchedStage:
        layer = self.stage.GetRootLayer()
        before = str(layer.ExportToString())
        links = self._links(robot)
        findings = self._require_same_kinematics(robot)
        stated = self._stated(robot, links)
        carrying = robot_with_parameters(stated, layout, parameters)
        for link, was in zip(carrying.links, stated.links, strict=True):
            for part, old in zip(link.fixed, was.fixed, strict=True):
                if part.body is None and old.body is not None:
                    raise InputError(
                        f"what is left of link '{link.name}' without '{part.name}', which is bolted to it, "
                        "cannot exist, and a prim without mass is given one by its shapes.",
                        place=str(self.path),
                        remedy="Lower the mass that the stage states of the bolted link.",
                    )
        changed: list[PatchedNumber] = []
        try:
            for link, was in zip(carrying.links, stated.links, strict=True):
                if link.own is not None and not link.virtual:
                    self._state(links[link.name], link.name, link.own, was.own, changed)
            worst = max(
                (self._read(links[x.name], x) for x in carrying.links if x.own is not None), default=0.0
            )
            after = str(layer.ExportToString())
            content = self._exported(layer) if changed else self.path.read_bytes()
        finally:
            # Layers are shared by everyone in the process who opens the file.
            layer.Reload(True)
        bolted = {p.name: p.body.mass for x in stated.links for p in x.fixed if p.body is not None}
        return PatchedStage(content, before, after, tuple(changed), worst, bolted, tuple(findings))

    def _prims(self, name: str) -> list[Any]:
        found = self.prims.get(self.valid(name), [])
        api = self.UsdPhysics
        physical = [x for x in found if x.HasAPI(api.RigidBodyAPI) or x.HasAPI(api.MassAPI)]
        return physical or [x for x in found if x.IsA(self.UsdGeom.Xformable)]

    def _links(self, robot: Robot) -> dict[str, Any]:
        """The prim of each moving link."""
        found = {link.name: self._prims(link.name) for link in robot.links if not link.virtual}
        for what, wrong in (
            ("has no prim for", [name for name, prims in found.items() if not prims]),
            ("has several prims for", [name for name, prims in found.items() if len(prims) > 1]),
        ):
            if wrong:
                listed = ", ".join(map(repr, wrong[:_NAMED])) + (" …" if len(wrong) > _NAMED else "")
                raise InputError(
                    f"{what} the result's links {listed}.",
                    place=str(self.path),
                    remedy="Patch the stage of the robot that was identified; prims are found by name.",
                )
        for name, (prim,) in found.items():
            if prim.IsInstanceProxy():
                raise InputError(
                    f"link '{name}' is part of an instance, which cannot be changed.",
                    place=str(self.path),
                    remedy="Set instanceable to false.",
                )
            world = np.array(self.UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(0.0))[:3, :3]
            if np.abs(np.linalg.norm(world, axis=1) - 1.0).max() > SAME_FRAME:
                raise InputError(
                    f"the prim of link '{name}' is scaled, so that its lengths are no metres.",
                    place=str(self.path),
                    remedy="Scale its shapes instead.",
                )
        return {name: prim for name, (prim,) in found.items()}

    def _stated(self, robot: Robot, links: Mapping[str, Any]) -> Robot:
        """The robot with what the stage states of its links and of those bolted to them."""

        def own(link: Link) -> Link:
            parts = []
            for part in link.fixed:
                prims = self._prims(part.name)
                body = self._body(prims[0]) if len(prims) == 1 else None
                parts.append(replace(part, body=body))
            body = self._body(links[link.name]) if link.name in links else None
            return replace(link, own=body, fixed=tuple(parts))

        return replace(robot, links=tuple(own(link) for link in robot.links))

    def _body(self, prim: Any) -> Body | None:
        """What a prim states; None where its shapes say what it weighs."""
        api = self.UsdPhysics.MassAPI(prim)
        mass = float(api.GetMassAttr().Get() or 0.0) * self.kilogram
        com = np.array(api.GetCenterOfMassAttr().Get(), dtype=float) * self.metre
        moments = np.array(api.GetDiagonalInertiaAttr().Get(), dtype=float) * self.kilogram * self.metre**2
        axes = _quaternion(api.GetPrincipalAxesAttr().Get())
        if not mass > 0.0 or not np.isfinite(com).all() or not moments.any():
            return None
        return MujocoPrincipal(mass, com, axes if axes.any() else np.array([1.0, 0, 0, 0]), moments).to_body()

    def _state(
        self, prim: Any, name: str, body: Body, was: Body | None, changed: list[PatchedNumber]
    ) -> None:
        MassAPI, Gf = self.UsdPhysics.MassAPI, self.Gf
        api = MassAPI(prim) if prim.HasAPI(MassAPI) else MassAPI.Apply(prim)
        principal = MujocoPrincipal.from_body(body)
        c, I = body.com / self.metre, principal.diaginertia / (self.kilogram * self.metre**2)  # noqa: E741
        w, x, y, z = (float(q) for q in principal.iquat)
        # A tensor that is the same but for single precision keeps its axes, which may be stated in any order.
        same = (
            was is not None
            and np.abs(was.inertia - body.inertia).max() <= SINGLE * np.abs(body.inertia).max()
        )
        old: tuple[Any, Any, Any] = (None, None, None)
        if was is not None:
            old = (was.mass, tuple(was.com.tolist()), _six(was))
        if _set(api.GetMassAttr(), float(body.mass / self.kilogram)):
            changed.append(self._number(name, "mass", old[0], body.mass))
        if _set(api.GetCenterOfMassAttr(), Gf.Vec3f(*(float(v) for v in c))):
            changed.append(self._number(name, "com", old[1], tuple(body.com.tolist())))
        if not same:
            api.GetDiagonalInertiaAttr().Set(Gf.Vec3f(*(float(v) for v in I)))
            api.GetPrincipalAxesAttr().Set(Gf.Quatf(w, x, y, z))
            changed.append(self._number(name, "inertia", old[2], _six(body)))

    def _number(self, name: str, quantity: str, old: Any, new: Any) -> PatchedNumber:
        return PatchedNumber(self.path.name, 0, "link", name, quantity, old, new)

    def _read(self, prim: Any, link: Link) -> float:
        """Refuse numbers that the composed stage does not show; the largest relative difference."""
        found = self._body(prim)
        if found is None or link.own is None:
            raise ReadBackError(
                f"link '{link.name}' states nothing when it is read back.", place=str(self.path)
            )
        wanted, read = link.own.parameters, found.parameters
        off, scale = float(np.abs(wanted - read).max()), float(np.abs(wanted).max())
        if off > SINGLE * scale:
            raise ReadBackError(
                f"read back, link '{link.name}' differs by {off:.3g} of {scale:.3g} SI; a stronger layer may "
                "state it.",
                place=str(self.path),
            )
        return off / scale

    def _exported(self, layer: Any) -> bytes:
        """The layer in the format of its file, read back."""
        ending = ".usdc" if self.path.read_bytes().startswith(_CRATE) else ".usda"
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"layer{ending}"
            layer.Export(str(file))
            again = self.Sdf.Layer.OpenAsAnonymous(str(file))
            if again is None or again.ExportToString() != layer.ExportToString():
                raise ReadBackError("the layer is not read back as it is.", place=str(self.path))
            return file.read_bytes()

    def _require_same_kinematics(self, robot: Robot) -> list[Finding]:
        """Compare the joints of the stage with the robot's; a finding where they cannot be."""
        api, apart, unseen = self.UsdPhysics, {}, []
        for joint in robot.joints:
            prims = [x for x in self.prims.get(self.valid(joint.name), []) if x.IsA(api.Joint)]
            if not prims or joint.kind.nv != 1:
                unseen.append(joint.name)
                continue
            off = self._distance(api.Joint(prims[0]), prims[0], robot, joint)
            if off is None:
                unseen.append(joint.name)
            elif off > SAME_FRAME:
                apart[joint.name] = off
        if apart:
            told = ", ".join(f"'{name}' by {off:.3g}" for name, off in list(apart.items())[:_NAMED])
            raise InputError(
                f"its kinematics are not those of the result: joint {told} (m, or dimensionless).",
                place=str(self.path),
                remedy="Numbers of a link are about its own frame; patch the stage of the same description.",
            )
        if not unseen:
            return []
        message = f"where these joints stand could not be compared: {', '.join(unseen[:_NAMED])}."
        return [Finding(Severity.WARNING, "joints-not-compared", message, self.path.name)]

    def _distance(self, api: Any, prim: Any, robot: Robot, joint: Joint) -> float | None:
        """How far a joint of the stage is from the robot's, m or dimensionless; None where it is not said."""
        ends = [[str(x.name) for x in rel.GetTargets()] for rel in (api.GetBody0Rel(), api.GetBody1Rel())]
        child = robot.links[robot.joint_names.index(joint.name)]
        frames = {self.valid(frame.name): frame for frame in robot.frames}
        if ends[1] != [self.valid(child.name)] or not ends[0] or ends[0][0] not in frames:
            return None
        carrier = frames[ends[0][0]]
        if carrier.link != joint.parent:
            return float("inf")
        X_0J = self._pose(api.GetLocalPos0Attr().Get(), api.GetLocalRot0Attr().Get())
        X_1J = self._pose(api.GetLocalPos1Attr().Get(), api.GetLocalRot1Attr().Get())
        X_PC = carrier.placement @ X_0J @ X_1J.inverse()
        off = float(np.abs(X_PC.matrix - joint.placement.matrix).max())
        for kind in (self.UsdPhysics.RevoluteJoint, self.UsdPhysics.PrismaticJoint):
            if prim.IsA(kind):
                axis = X_1J.rotation @ np.array(_AXES[str(kind(prim).GetAxisAttr().Get())])
                # Which way round an axis points does not move the numbers of a link.
                off = max(off, min(float(np.abs(axis - s * joint.axis).max()) for s in (1.0, -1.0)))
        return off

    def _pose(self, position: Any, rotation: Any) -> Pose:
        w, x, y, z = _quaternion(rotation)
        return Pose.from_quaternion((x, y, z, w), np.array(position, dtype=float) * self.metre)


def _quaternion(value: Any) -> Array:
    x, y, z = value.GetImaginary()
    return np.array([value.GetReal(), x, y, z], dtype=float)


def _six(body: Body) -> tuple[float, ...]:
    return tuple(float(body.inertia[at]) for at in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)))


def _set(attribute: Any, value: Any) -> bool:
    """Give an attribute a value; whether it had another, beyond single precision."""
    old = attribute.Get()
    if old is not None and attribute.HasAuthoredValue() and _close(old, value):
        return False
    attribute.Set(value)
    return True


def _close(old: Any, new: Any) -> bool:
    one, other = (np.atleast_1d(np.array(x, dtype=float)) for x in (old, new))
    return bool(np.abs(one - other).max() <= 2.0**-23 * np.abs(other).max())
