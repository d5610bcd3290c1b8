"""The MODEL argument: a description that states its numbers, or a result folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.audit import DynamicModel
from steelyard.cli.robot_argument import given_robot, lock_positions
from steelyard.drive import ALL_TERMS
from steelyard.errors import InputError
from steelyard.export import ResultFolder, is_result, read_result, robot_with_parameters
from steelyard.finding import Finding
from steelyard.layout import layout_of
from steelyard.robot import Robot, StatedLimits


@dataclass(frozen=True, eq=False)
class GivenModel:
    """A model with where it comes from.

    Attributes:
        model: the robot with its numbers.
        nominal: the same robot with what the description said before it was identified; None where nobody
            knows.
        stored: the result folder it was read from; None for a description.
        findings: what was noticed about it.
    """

    model: DynamicModel
    nominal: DynamicModel | None = None
    stored: ResultFolder | None = None
    findings: tuple[Finding, ...] = ()


def given_model(
    text: str,
    gravity: str | None = None,
    lock: Sequence[str] | None = None,
    arguments: Sequence[str] | None = None,
    stated: StatedLimits | None = None,
) -> GivenModel:
    """Turn the argument and its options into a model."""
    if is_result(Path(text)):
        if arguments:
            raise InputError("goes with a xacro file, not with a result folder.", place="--arg")
        return _limited(_from_folder(read_result(Path(text)), gravity, lock), stated)
    robot = given_robot(text, gravity, lock, arguments=arguments, snap=True, stated=stated)
    return GivenModel(stated_model(robot), findings=robot.findings)


def _limited(given: GivenModel, stated: StatedLimits | None) -> GivenModel:
    """A stored model whose joints have the limits that were stated."""
    if stated is None:
        return given
    models = [
        None if model is None else replace(model, robot=stated.limited(model.robot))
        for model in (given.model, given.nominal)
    ]
    return replace(given, model=models[0] or given.model, nominal=models[1])


def stated_model(robot: Robot) -> DynamicModel:
    """A robot with the numbers of its description; drive terms that no joint states are absent."""
    driven = [joint.drive for joint in robot.joints if joint.kind.nv == 1]
    terms = [term.name for term in ALL_TERMS if any(drive.value(term.name) for drive in driven)]
    layout = layout_of(robot, terms)
    return DynamicModel(robot, layout, layout.complete_nominal())


def _from_folder(stored: ResultFolder, gravity: str | None, lock: Sequence[str] | None) -> GivenModel:
    robot, layout, phi = stored.robot, stored.layout, stored.parameters.values
    lock = _free_locks(stored, lock or ())
    asked = given_robot(str(stored.model), gravity, lock, snap=True)
    if gravity is not None:
        robot = robot.with_gravity(asked.gravity)
    if lock:
        # Locking joins links, so the numbers have to be in them first.
        carrying = robot_with_parameters(robot, layout, phi)
        positions = {held.name: held.position.tolist() for held in asked.locks}
        locked = carrying.locked({name: q[0] if len(q) == 1 else q for name, q in positions.items()})
        return GivenModel(stated_model(locked), stored=stored, findings=stored.findings)
    known = all(x.nominal is not None for x in layout.parameters[: 10 * len(layout.links)])
    nominal = DynamicModel(robot, layout, layout.complete_nominal()) if known else None
    return GivenModel(DynamicModel(robot, layout, phi), nominal, stored, stored.findings)


def _free_locks(stored: ResultFolder, lock: Sequence[str]) -> list[str]:
    """The locks that the result was not made with; one that it was made with must be where it was."""
    held, free = stored.locks, []
    for text, (name, position) in zip(lock, lock_positions(lock).items(), strict=True):
        if name not in held:
            free.append(text)
        elif not np.allclose(held[name], position, rtol=1e-9, atol=1e-9):
            raise InputError(
                f"the result was identified with it at {', '.join(f'{q:.6g}' for q in held[name])}.",
                place=f"--lock {text}",
                remedy="Leave --lock out for this joint, or identify again with it held there.",
            )
    return free
