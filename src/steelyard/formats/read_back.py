r"""A written model read by another's code and compared: torque for torque, friction for friction.

MuJoCo reads the MJCF and the URDF, and Pinocchio, where it is installed, the URDF too. Each must ask for the
torques the parameter vector asks for, at random states and within `TOLERANCE`, in all that the format
carries: links, viscous friction, and in MJCF also the rotor. Coulomb friction is compared as the number it
is. Joints that mimic others are compared as if they were free, which is the stronger test.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.dynamics import rigid_torque
from steelyard.errors import SteelyardError
from steelyard.finding import Finding, Severity
from steelyard.inertia import MUJOCO_LEAST, Body, MujocoPrincipal
from steelyard.layout import Layout
from steelyard.pose import Pose
from steelyard.robot import DescriptionSource, Joint, JointKind, Robot

TOLERANCE = 1e-9
"""Largest difference of a joint's torque, relative to the largest of that joint."""
FLOOR = 1e-12
"""The same relative to the largest torque of any joint: round-off travels along the chain."""
STATES = 16
"""Random states at which torques are compared."""


class ReadBackError(SteelyardError, RuntimeError):
    """A model that was written does not say what it should when another program reads it."""


@dataclass(frozen=True)
class ReadBack:
    """What other programs found in a model: that it says what it should.

    Attributes:
        judges: the programs that read it and agree, by name.
        difference: largest difference of torque any of them found, relative to the largest torque of the
            joint, dimensionless; zero where none read it.
        findings: who would not read it.
    """

    judges: tuple[str, ...]
    difference: float
    findings: tuple[Finding, ...] = ()


def pinocchio() -> ModuleType | None:
    """Pinocchio where it is installed, which the extra `pinocchio` does."""
    try:
        import pinocchio as found
    except ImportError:
        return None
    module: ModuleType = found
    return module


def mujoco() -> ModuleType:
    """MuJoCo, loaded when the first model is read back."""
    import mujoco as found

    module: ModuleType = found
    return module


def load_judges() -> None:
    """Load the programs that read models back, which the first model would wait for."""
    mujoco()
    pinocchio()


def check_urdf(content: bytes, robot: Robot, layout: Layout, parameters: ArrayLike) -> ReadBack:
    """Read a URDF with MuJoCo, and with Pinocchio where it is installed, and compare it.

    MuJoCo does not take every URDF that is right: it refuses flat links to the last bit, and joints that move
    no mass. That is a finding; then Pinocchio alone judges.

    Args:
        content: the URDF.
        robot: the robot it should describe, with its drives.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.

    Returns:
        Who read it, and how far apart they are.

    Raises:
        ReadBackError: Pinocchio refuses it, or a reader finds other joints, torques or friction.
    """
    pin = pinocchio()
    found: dict[str, float] = {}
    findings = []
    if pin is not None:
        found["Pinocchio"] = _urdf_in_pinocchio(pin, content, robot, layout, parameters)
    try:
        model = _urdf_in_mujoco(content, robot)
    except ValueError as error:
        message = f"MuJoCo does not read this URDF: {' '.join(str(error).split())}. Use the MJCF there."
        findings.append(Finding(Severity.INFO, "mujoco-refuses-urdf", message, "URDF"))
    else:
        found["MuJoCo"] = _compared_in_mujoco(
            "URDF", model, robot, layout, parameters, ("viscous", "coulomb")
        )
    if not found:
        findings.append(unread("URDF"))
    return ReadBack(tuple(sorted(found)), max(found.values(), default=0.0), tuple(findings))


def unread(place: str) -> Finding:
    """The finding that nobody judged a URDF."""
    message = (
        "no other program has read this URDF: MuJoCo does not take it, and Pinocchio is not installed. To "
        "have it judged: pip install 'steelyard[pinocchio]'"
    )
    return Finding(Severity.WARNING, "not-read-back", message, place)


def _urdf_in_pinocchio(
    pin: Any, content: bytes, robot: Robot, layout: Layout, parameters: ArrayLike
) -> float:
    free = robot.untied
    try:
        model = pin.buildModelFromXML(content.decode())
    except (ValueError, RuntimeError) as error:
        raise ReadBackError(f"Pinocchio refuses it: {error}", place="URDF") from error
    _same_names("URDF", robot, list(model.names)[1:])
    model.gravity.linear = np.array(robot.gravity)
    joints = [model.joints[model.getJointId(name)] for name in robot.joint_names]
    order = np.concatenate([np.arange(joint.idx_v, joint.idx_v + joint.nv) for joint in joints])
    for numbers, name in ((model.damping, "viscous"), (model.upperDryFrictionLimit, "coulomb")):
        _same_numbers("URDF", name, robot, np.asarray(numbers)[order])
    data = model.createData()
    q, v, a = _states(free)
    tau = np.empty(v.shape)
    for n in range(STATES):
        at = np.empty(model.nq)
        for joint, own in zip(joints, _own(free, q[n]), strict=True):
            at[joint.idx_q : joint.idx_q + joint.nq] = (
                [np.cos(own[0]), np.sin(own[0])] if (joint.nq, own.size) == (2, 1) else own
            )
        rates = np.empty((2, model.nv))
        rates[:, order] = v[n], a[n]
        tau[n] = pin.rnea(model, data, at, rates[0], rates[1])[order]
    return _compared("URDF", free, rigid_torque(free, layout, parameters, q, v, a), tau)


def _urdf_in_mujoco(content: bytes, robot: Robot) -> Any:
    """The URDF as a model of MuJoCo's, with the robot's gravity; ValueError where it is refused."""
    try:
        tree = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise ReadBackError(f"is not XML: {error}", place="URDF") from error
    # Meshes may stand anywhere or nowhere, and have no say in the dynamics.
    for link in tree.iter("link"):
        for shape in [part for part in link if part.tag in ("visual", "collision")]:
            link.remove(shape)
    engine = mujoco()
    spec = engine.MjSpec.from_string(ElementTree.tostring(tree, encoding="unicode"))
    # A free body must stand on the world, so there the bolted links stay merged.
    if all(joint.type != engine.mjtJoint.mjJNT_FREE for joint in spec.joints):
        spec.compiler.fusestatic = False
    model = compiled(spec)
    model.opt.gravity = robot.gravity
    return model


def compiled(spec: Any) -> Any:
    """The model of what MuJoCo read, with the inertia tensors turned into moments and axes by us.

    Some of its versions keep but six to nine digits when they do that themselves, which the file must not be
    blamed for. ValueError where MuJoCo refuses the file as it stands.
    """
    model = spec.compile()
    tensors = [part for part in spec.bodies if np.isfinite(part.fullinertia[0])]
    for part in tensors:
        xx, yy, zz, xy, xz, yz = part.fullinertia
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        exact = MujocoPrincipal.from_body(Body(float(part.mass), np.array(part.ipos), tensor))
        part.inertia, part.iquat = exact.diaginertia, exact.iquat
        part.fullinertia = np.array([np.nan, 0.0, 0.0, 0.0, 0.0, 0.0])
    return spec.compile() if tensors else model


def check_mjcf(content: bytes, robot: Robot, layout: Layout, parameters: ArrayLike) -> ReadBack:
    """Read an MJCF with MuJoCo and compare it.

    Args:
        content: the MJCF.
        robot: the robot it should describe, with its drives.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI.

    Returns:
        Who read it, and how far apart they are.

    Raises:
        ReadBackError: MuJoCo refuses it, or finds other joints, torques or friction.
    """
    try:
        model = mujoco().MjModel.from_xml_string(content.decode())
    except ValueError as error:
        raise ReadBackError(f"MuJoCo refuses it: {error}", place="MJCF") from error
    terms = ("viscous", "coulomb", "rotor")
    return ReadBack(("MuJoCo",), _compared_in_mujoco("MJCF", model, robot, layout, parameters, terms))


def check_patched_mjcf(before: DescriptionSource, after: DescriptionSource) -> ReadBack:
    """Have MuJoCo load an MJCF before and after its numbers were changed, and compare.

    Bodies and joints must carry what our reader finds in them. Whatever else MuJoCo's model holds must be the
    same, but for what it derives from masses (`CONSEQUENCES`); another array that differs is a finding.

    Args:
        before: the description as it lies on the disk, with all files around it.
        after: the same with other numbers.

    Returns:
        That MuJoCo read it, and the largest relative difference of an inertia; nobody where MuJoCo does not
        even load the description as it was, for want of its meshes say.

    Raises:
        ReadBackError: MuJoCo refuses the outcome, or finds other numbers in it.
    """
    place = after.path.name
    try:
        old = _loaded(before)
    except ValueError as error:
        message = f"MuJoCo does not load it as it was, so it could not judge: {' '.join(str(error).split())}"
        return ReadBack((), 0.0, (Finding(Severity.INFO, "not-read-by-mujoco", message, place),))
    try:
        new = _loaded(after)
    except ValueError as error:
        raise ReadBackError(f"MuJoCo refuses it: {' '.join(str(error).split())}", place=place) from error
    worst = _same_bodies(place, new, after.mujoco_bodies)
    for name, drive in after.mujoco_drives.items():
        dof = new.joint(name).dofadr[0]
        for term, found in (
            ("viscous", new.dof_damping[dof]),
            ("coulomb", new.dof_frictionloss[dof]),
            ("rotor", new.dof_armature[dof]),
        ):
            if found != (drive.value(term) or 0.0) and "springdamper" not in _attributes(after, name):
                raise ReadBackError(
                    f"MuJoCo reads {found!r} for the {term} term of joint '{name}', not {drive.value(term)}.",
                    place=place,
                )
    findings = []
    if others := _other_arrays(old, new):
        message = f"what MuJoCo derives from these numbers changed with them: {', '.join(others)}."
        findings.append(Finding(Severity.INFO, "derived-by-mujoco", message, place))
    return ReadBack(("MuJoCo",), worst, tuple(findings))


IDENTIFIED = (
    "body_mass",
    "body_ipos",
    "body_iquat",
    "body_inertia",
    "dof_damping",
    "dof_frictionloss",
    "dof_armature",
)
"""The arrays of MuJoCo's model that hold identified numbers."""
CONSEQUENCES = (
    "actuator_acc0",
    "body_invweight0",
    "body_sameframe",
    "body_simple",
    "body_subtreemass",
    "bvh_aabb",
    "bvh_nodeid",
    "cam_poscom0",
    "dof_M0",
    "dof_invweight0",
    "dof_length",
    "dof_simplenum",
    "geom_sameframe",
    "light_poscom0",
    "site_sameframe",
    "tendon_invweight0",
)
"""Arrays that follow from masses and inertial frames."""


def _loaded(source: DescriptionSource) -> Any:
    """The model of a description's files as they are held, not as they lie on the disk."""
    files = {str(path): content for path, content in source.texts.contents.items()}
    with warnings.catch_warnings():
        # What MuJoCo thinks of the file's other words was so before.
        warnings.simplefilter("ignore")
        return compiled(mujoco().MjSpec.from_file(str(source.path.resolve()), include=files))


def _attributes(source: DescriptionSource, joint: str) -> Mapping[str, str]:
    return {} if source.mjcf is None else source.mjcf.joints[joint].resolved.attributes


def _same_bodies(place: str, model: Any, bodies: Mapping[str, Body]) -> float:
    names = {model.body(k).name for k in range(model.nbody)}
    worst = 0.0
    # Bodies that the compiler fuses into their parents are not there any more.
    for name in [x for x in bodies if x in names] if set(bodies) <= names else []:
        body = model.body(name)
        found = MujocoPrincipal(float(body.mass[0]), body.ipos, body.iquat, body.inertia).to_body()
        wanted, read = bodies[name].parameters, found.parameters
        off, scale = float(np.abs(read - wanted).max()), float(np.abs(wanted).max())
        if off > TOLERANCE * scale + 2.0 * MUJOCO_LEAST:
            raise ReadBackError(
                f"MuJoCo reads other numbers for body '{name}', by {off:.3g} of {scale:.3g} SI.",
                place=place,
                evidence={"read": read, "wanted": wanted},
            )
        worst = max(worst, off / scale if scale > 0.0 else 0.0)
    return worst


def _other_arrays(old: Any, new: Any) -> list[str]:
    known = {*IDENTIFIED, *CONSEQUENCES}
    arrays = (name for name in dir(old) if not name.startswith("_") and name not in known)
    return [
        name
        for name in arrays
        if isinstance(getattr(old, name), np.ndarray)
        and not np.array_equal(getattr(old, name), getattr(new, name))
    ]


def _compared_in_mujoco(
    place: str, model: Any, robot: Robot, layout: Layout, parameters: ArrayLike, terms: Sequence[str]
) -> float:
    """Compare a model that MuJoCo has read, with the drive's terms that its format carries."""
    engine = mujoco()
    free = robot.untied
    _same_names(place, robot, [model.joint(k).name for k in range(model.njnt)])
    model.opt.disableflags |= engine.mjtDisableBit.mjDSBL_CONSTRAINT
    # To save time MuJoCo takes principal axes for the body's own that are turned by less than about 1e-7 rad,
    # which the file must not be blamed for: it holds them.
    model.body_sameframe[:] = engine.mjtSameFrame.mjSAMEFRAME_NONE
    joints = [model.joint(name) for name in robot.joint_names]
    order = np.concatenate(
        [np.arange(j.dofadr[0], j.dofadr[0] + k.kind.nv) for j, k in zip(joints, free.joints, strict=True)]
    )
    stated = {"viscous": model.dof_damping, "coulomb": model.dof_frictionloss, "rotor": model.dof_armature}
    for name in terms:
        _same_numbers(place, name, robot, stated[name][order])
    data = engine.MjData(model)
    q, v, a = _states(free)
    tau = np.empty(v.shape)
    for n in range(STATES):
        for found_joint, joint, own in zip(joints, free.joints, _own(free, q[n]), strict=True):
            start = found_joint.qposadr[0]
            data.qpos[start : start + joint.nq] = _mujoco_position(joint, own)
        twist, rates = _mujoco_rates(free, q[n], v[n], a[n])
        data.qvel[order], data.qacc[order] = rates
        engine.mj_inverse(model, data)
        tau[n] = twist.T @ data.qfrc_inverse[order]
    wanted = rigid_torque(free, layout, parameters, q, v, a)
    for name, rate in (("viscous", v), ("rotor", a)):
        if name in terms:
            wanted = wanted + np.array([_term(j, name) for j in free.joints for _ in range(j.nv)]) * rate
    return _compared(place, free, wanted, tau)


def _term(joint: Joint, name: str) -> float:
    return joint.drive.value(name) or 0.0


def _states(free: Robot) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, (STATES, free.nq))
    at = 0
    for joint in free.joints:
        if joint.nq > 1:
            turn = rng.standard_normal((STATES, 4))
            q[:, at + joint.nq - 4 : at + joint.nq] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
        at += joint.nq
    return q, rng.standard_normal((STATES, free.nv)), 3.0 * rng.standard_normal((STATES, free.nv))


def _own(free: Robot, q: Array) -> list[Array]:
    """The coordinates of each joint."""
    return np.split(q, np.cumsum([joint.nq for joint in free.joints])[:-1])


def _mujoco_position(joint: Joint, own: Array) -> Array:
    """A joint's coordinates as MuJoCo writes them: w first, and a free body's pose in the world."""
    if joint.kind.nv == 1:
        return own
    X = joint.placement @ joint.motion(own) if joint.kind is JointKind.FLOATING else joint.motion(own)
    x, y, z, w = X.quaternion
    turn = np.array([w, x, y, z])
    return np.concatenate((X.translation, turn)) if joint.kind is JointKind.FLOATING else turn


def _mujoco_rates(free: Robot, q: Array, v: Array, a: Array) -> tuple[Array, tuple[Array, Array]]:
    """The map from our rates to MuJoCo's, and those; a free body's linear velocity is in the world's axes."""
    twist, qvel, qacc = np.eye(free.nv), v.copy(), a.copy()
    k = 0
    for joint, own in zip(free.joints, _own(free, q), strict=True):
        if joint.kind is JointKind.FLOATING:
            X: Pose = joint.placement @ joint.motion(own)
            line = slice(k, k + 3)
            twist[line, line] = X.rotation
            qvel[line] = X.rotation @ v[line]
            qacc[line] = X.rotation @ (a[line] + np.cross(v[k + 3 : k + 6], v[line]))
        k += joint.nv
    return twist, (qvel, qacc)


def _same_names(place: str, robot: Robot, found: Sequence[str]) -> None:
    if set(found) != set(robot.joint_names):
        raise ReadBackError(
            f"has the joints {sorted(found)}, the robot {sorted(robot.joint_names)}.", place=place
        )


def _same_numbers(place: str, term: str, robot: Robot, found: Array) -> None:
    wanted = np.array([_term(joint, term) for joint in robot.joints for _ in range(joint.kind.nv)])
    if not np.array_equal(found, wanted):
        raise ReadBackError(f"states a {term} friction or inertia of {found}, not {wanted}.", place=place)


def _compared(place: str, free: Robot, wanted: Array, found: Array) -> float:
    scale = np.abs(wanted).max(axis=0)
    off = np.abs(found - wanted).max(axis=0)
    allowed = TOLERANCE * scale + FLOOR * scale.max()
    if not (off <= allowed).all():
        worst = int(np.argmax(off - allowed))
        names = [joint.name for joint in free.joints for _ in range(joint.nv)]
        raise ReadBackError(
            f"read back, it asks joint '{names[worst]}' for torques that differ by {off[worst]:.3g} of "
            f"{scale[worst]:.3g} N·m or N.",
            place=place,
            evidence={"difference": off, "scale": scale},
        )
    seen = scale > 0.0
    return float((off[seen] / scale[seen]).max(initial=0.0))
