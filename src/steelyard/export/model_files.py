"""Models that are read back and compared before they count as written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from steelyard.drive import FRICTION_TERMS
from steelyard.errors import DescriptionError
from steelyard.export.estimated import robot_with_parameters
from steelyard.export.mjcf import mjcf_text
from steelyard.export.model_text import ModelText
from steelyard.export.read_back import check_mjcf, check_urdf
from steelyard.export.urdf import new_urdf
from steelyard.export.urdf_edit import edited_urdf
from steelyard.finding import Finding, Severity
from steelyard.layout import Layout
from steelyard.robot import Robot, parse_urdf


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
    carried = robot_with_parameters(robot, layout, parameters)
    findings = [*carried.findings[len(robot.findings) :], *_unworded(carried, "URDF")]
    if description is not None:
        try:
            content = edited_urdf(description, carried)
        except DescriptionError as error:
            message = f"the URDF is written anew, without meshes: the given file {error.message}"
            findings.append(Finding(Severity.WARNING, "written-anew", message, error.place))
        else:
            findings += _kinematic_findings(parse_urdf(content), robot)
            placed = _placed_like(carried, parse_urdf(content))
            read = check_urdf(content, placed, layout, parameters)
            return ModelText(content, (*findings, *read.findings), read.judges)
    content = new_urdf(carried)
    read = check_urdf(content, carried, layout, parameters)
    return ModelText(content, (*findings, *read.findings), read.judges)


def mjcf_model(robot: Robot, layout: Layout, parameters: ArrayLike) -> ModelText:
    """An MJCF that carries a parameter vector, compared with it in MuJoCo.

    Args:
        robot: the robot.
        layout: the order of the parameters.
        parameters: phi, shape (p,), SI; every link must be possible.

    Returns:
        The model, with what had to be decided.

    Raises:
        InputError: a link or a drive is impossible, or MJCF cannot state a joint.
        ReadBackError: MuJoCo does not find in it what was to be written.
    """
    carried = robot_with_parameters(robot, layout, parameters)
    model = mjcf_text(carried)
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
    """The robot with its joints where the file puts them."""
    joints = [
        replace(joint, placement=other.placement, axis=other.axis)
        for joint, other in zip(robot.joints, file.joints, strict=True)
    ]
    return replace(robot, joints=tuple(joints))


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
