"""Models with estimated parameters, read back and compared before they count as written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked
from steelyard.drive import ALL_TERMS, FRICTION_TERMS, Drive, Servo
from steelyard.errors import DescriptionError, InputError
from steelyard.finding import Finding, Severity
from steelyard.formats.mjcf import mjcf_text
from steelyard.formats.read_back import check_mjcf, check_urdf
from steelyard.formats.urdf import edited_urdf, new_urdf, urdf_of
from steelyard.formats.xml_text import ModelText
from steelyard.inertia import Body
from steelyard.layout import Layout
from steelyard.robot import Joint, Link, Robot

# A robot that carries a parameter vector: its links and drives say what phi says.


def robot_with_parameters(robot: Robot, layout: Layout, parameters: ArrayLike) -> Robot:
    """The robot whose nominal numbers are those of a parameter vector.

    The ten numbers of a moving link are those of everything bolted to it. The bolted links keep what the
    description states of them and the moving link carries the rest. Where that rest cannot exist (the
    bolted links are heavier than what was found, say) the moving link carries everything, the bolted ones
    carry nothing, and a finding says so: the sum is right either way, and no split is invented. A link whose
    ten numbers are the nominal ones to the last bit stays as it was. Drive terms that the layout lacks
    were taken as absent when the vector was found, so they are absent in the result;
    joints that float or are spherical have no drive.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI; every link must be possible.

    Returns:
        A new robot; its findings end with what had to be decided.

    Raises:
        InputError: the layout is of another robot, a link cannot exist, or a drive would create energy.
    """
    phi = checked("parameters", parameters, (layout.size,))
    driven = tuple(joint.name for joint in robot.joints if joint.kind.nv == 1)
    if layout.links != robot.link_names or layout.joints != driven:
        raise InputError(
            f"is not of robot '{robot.name}'.", place="layout", remedy="Make it with layout_of(robot)."
        )
    findings: list[Finding] = []
    links = [_link(link, phi[layout.of_link(link.name)], findings) for link in robot.links]
    joints = [_joint(joint, layout, phi) for joint in robot.joints]
    return replace(robot, links=tuple(links), joints=tuple(joints), findings=(*robot.findings, *findings))


def _link(link: Link, ten: Array, findings: list[Finding]) -> Link:
    place = f"link '{link.name}'"
    if link.virtual:
        if ten.any():
            raise InputError("it is a frame without mass, but has parameters that are not zero.", place=place)
        return link
    if link.body is not None and np.array_equal(link.body.parameters, ten):
        return link
    total = Body.from_parameters(ten)
    if not total.consistency.consistent:
        why = " ".join(str(reason) for reason in total.consistency.reasons)
        raise InputError(
            f"its parameters are physically impossible. {why}",
            place=place,
            remedy="Export a consistent estimate; every simulator would refuse this one.",
            evidence={"reasons": total.consistency.reasons},
        )
    bolted = [part.body.moved(part.placement) for part in link.fixed if part.body is not None]
    if not bolted:
        return replace(link, own=total)
    rest = _without(total, bolted)
    if rest is not None:
        return replace(link, own=rest)
    mass = sum(body.mass for body in bolted)
    message = (
        f"what is left of {total.mass:.6g} kg without the {mass:.6g} kg bolted to it cannot exist; it "
        "carries everything and the links bolted to it carry nothing."
    )
    findings.append(Finding(Severity.WARNING, "bolted-links-emptied", message, place))
    return replace(link, own=total, fixed=tuple(replace(part, body=None) for part in link.fixed))


def _without(total: Body, bolted: list[Body]) -> Body | None:
    """What is left of a body, or None where that cannot exist."""
    rest = total
    for body in bolted:
        if rest.mass == body.mass and body.mass != 0.0:
            return None
        rest = rest - body
    return rest if rest.mass > 0.0 and rest.consistency.consistent else None


def _joint(joint: Joint, layout: Layout, phi: Array) -> Joint:
    if joint.kind.nv != 1:
        return replace(joint, drive=Drive())
    own = phi[layout.of_joint(joint.name)].tolist()
    found = dict(zip(layout.drive, own, strict=True))
    shape = layout.stribeck[layout.joints.index(joint.name)] if layout.stribeck else None
    try:
        drive = Drive(**{term.name: found.get(term.name) for term in ALL_TERMS}, stribeck_shape=shape)
    except InputError as error:
        raise InputError(
            f"{error.place} {error.message}",
            place=f"joint '{joint.name}'",
            remedy=error.remedy,
            evidence=error.evidence,
        ) from error
    return replace(joint, drive=drive)


# Models that are read back and compared before they count as written.


def urdf_model(
    robot: Robot, layout: Layout, parameters: ArrayLike, *, description: bytes | None = None
) -> ModelText:
    """A URDF that carries a parameter vector, compared with it in MuJoCo and, if installed, in Pinocchio.

    The file the robot was read from is edited where its numbers stand. Where that cannot be, because there is
    no such file, or it is no URDF, or the robot was changed since, the URDF is written anew and says so.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI; every link must be possible.
        description: the URDF the robot was read from, in UTF-8.

    Returns:
        The model, with what had to be decided.

    Raises:
        InputError: a link or a drive is impossible, or URDF cannot state a joint.
        ReadBackError: a reader does not find in it what was to be written.
    """
    anew: list[Finding] = []
    if description is not None:
        try:
            file = urdf_of(description, robot)
        except DescriptionError as error:
            message = f"the URDF is written anew, without meshes: the given file {error.message}"
            anew.append(Finding(Severity.WARNING, "written-anew", message, error.place))
        else:
            # What is bolted to a link is taken off where the file has it, not where its roundings mean it.
            carried = robot_with_parameters(_placed_like(robot, file), layout, parameters)
            content = edited_urdf(description, carried)
            findings = [*carried.findings[len(robot.findings) :], *_unworded(carried, "URDF")]
            findings += _kinematic_findings(file, robot)
            read = check_urdf(content, carried, layout, parameters)
            return ModelText(content, (*findings, *read.findings), read.judges)
    carried = robot_with_parameters(robot, layout, parameters)
    findings = [*carried.findings[len(robot.findings) :], *_unworded(carried, "URDF"), *anew]
    content = new_urdf(carried)
    read = check_urdf(content, carried, layout, parameters)
    return ModelText(content, (*findings, *read.findings), read.judges)


def mjcf_model(
    robot: Robot, layout: Layout, parameters: ArrayLike, servos: Mapping[str, Servo] | None = None
) -> ModelText:
    """An MJCF that carries a parameter vector, compared with it in MuJoCo.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI; every link must be possible.
        servos: position servos by joint, which the file has in place of motors.

    Returns:
        The model, with what had to be decided.

    Raises:
        InputError: a link or a drive is impossible, or MJCF cannot state a joint.
        ReadBackError: MuJoCo does not find in it what was to be written.
    """
    carried = robot_with_parameters(robot, layout, parameters)
    model = mjcf_text(carried, servos)
    read = check_mjcf(model.content, carried, layout, parameters)
    return replace(model, findings=(*model.findings, *_unworded(carried, "MJCF")), judges=read.judges)


def _unworded(robot: Robot, language: str) -> list[Finding]:
    """A word about friction that a language cannot state: what the file holds at these joints instead."""
    findings = []
    for term in FRICTION_TERMS:
        numbers = {x.name: x.drive.value(term.name) for x in robot.joints if x.drive.value(term.name)}
        if not numbers:
            continue
        unit = "" if term.name == "load" else f" {term.unit_revolute}"
        listed = ", ".join(f"{name} {value:.3g}{unit}" for name, value in numbers.items())
        message = (
            f"{language} has no word for {term.name} friction ({listed}); the file holds the viscous and "
            "Coulomb part of these joints alone. parameters.json and the feedforward code hold all of it."
        )
        findings.append(Finding(Severity.WARNING, "friction-left-out", message, language))
    return findings


def _placed_like(robot: Robot, file: Robot) -> Robot:
    """The robot with its joints, and what is bolted to its links, where the file puts them."""
    joints = [
        replace(joint, placement=other.placement, axis=other.axis)
        for joint, other in zip(robot.joints, file.joints, strict=True)
    ]
    links = [
        replace(
            link,
            fixed=tuple(
                replace(part, placement=there.placement)
                for part, there in zip(link.fixed, other.fixed, strict=True)
            ),
        )
        for link, other in zip(robot.links, file.links, strict=True)
    ]
    return replace(robot, joints=tuple(joints), links=tuple(links))


def _kinematic_findings(file: Robot, robot: Robot) -> list[Finding]:
    """A word where the file's joints stand elsewhere than those the parameters were found with."""
    off = max(
        max(
            float(np.abs(one.placement.matrix - other.placement.matrix).max()),
            float(np.abs(one.axis - other.axis).max()),
        )
        for one, other in zip(file.joints, robot.joints, strict=True)
    )
    if off <= 1e-12:
        return []
    message = (
        f"the file places its joints up to {off:.2g} (m or dimensionless) from where the parameters were "
        "found; its placements are kept."
    )
    return [Finding(Severity.WARNING, "placements-differ", message)]
