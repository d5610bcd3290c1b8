"""What callers give in place of objects: names and paths of robots, text for positions and directions.

An object is taken as it is; a path is read. Messages name the option of the command line (`--lock`), which is
the parameter of the same name in Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.formats import robot_with_parameters
from steelyard.model import Model, ResultFolder, is_result
from steelyard.robot import Robot, StatedLimits, mesh_source
from steelyard.workflows.options import ByJoint, ByName, Numbers, folders_of, path_of, text_of, texts_of
from steelyard.zoo import find_robot

if TYPE_CHECKING:
    from steelyard.workflows.identification import Identification


def given_robot(
    robot: Robot | FilePath,
    gravity: Numbers | None = None,
    lock: ByName | None = None,
    tool_frame: str | None = None,
    *,
    arguments: Sequence[str] | Mapping[str, str] | None = None,
    snap: bool = True,
    floating: bool = False,
    stated: StatedLimits | None = None,
    package_path: FilePath | Sequence[FilePath] | None = None,
) -> Robot:
    """The robot that is meant, as the options change it; rounded angles are read as meant unless told not to.

    Args:
        robot: the robot, or a zoo name, or the path of its description.
        gravity: free fall in the base frame, m/s²; `none` for no gravity, None for the description's.
        lock: where joints are held, rad or m, by name.
        tool_frame: link whose frame is the tool's; None for the end of the longest chain.
        arguments: values of xacro arguments, by name.
        snap: whether rounded numbers of a file are read as what they mean.
        floating: whether the base is free to move.
        stated: limits beside the description.
        package_path: folders in which packages of meshes and xacro files are looked for.

    Raises:
        InputError: an option is no number or names nothing, or the description cannot be read.
    """
    if isinstance(robot, Robot):
        if arguments:
            raise InputError("goes with a xacro file, not with a robot that is read already.", place="--arg")
        found = _with_package_path(robot.floating() if floating else robot, folders_of(package_path))
    else:
        found = find_robot(
            robot,
            snap=snap,
            arguments=xacro_arguments(arguments),
            floating=floating,
            package_path=folders_of(package_path),
        )
    if gravity is not None:
        found = found.with_gravity(_gravity(text_of(gravity, "--gravity") or ""))
    if tool_frame is not None:
        found = found.with_tool_frame(tool_frame)
    if locks := texts_of(lock, "--lock"):
        found = found.locked(lock_positions(locks))
    return found if stated is None else stated.limited(found)


def _with_package_path(robot: Robot, folders: Sequence[str]) -> Robot:
    """A robot that was read already, whose meshes are looked for in further folders."""
    if not folders:
        return robot
    if robot.meshes is None:
        raise InputError("goes with a robot that was read from a file.", place="--package-path")
    path = mesh_source(robot.meshes.folder, folders).package_path
    return replace(robot, meshes=replace(robot.meshes, package_path=path))


def given_model(
    model: Model | Robot | FilePath,
    gravity: Numbers | None = None,
    lock: ByName | None = None,
    arguments: Sequence[str] | Mapping[str, str] | None = None,
    stated: StatedLimits | None = None,
    package_path: FilePath | Sequence[FilePath] | None = None,
) -> Model:
    """The model that is meant: an object, a result folder, or the numbers that a description states.

    Args:
        model: the model, a robot, a result folder, a zoo name, or the path of a description.
        gravity: free fall in the base frame, m/s²; `none` for no gravity, None for the model's own.
        lock: where joints are held, rad or m, by name; those that a result was made with must be where they
            were.
        arguments: values of xacro arguments, by name.
        stated: limits beside the description.
        package_path: folders in which packages of meshes and xacro files are looked for.

    Raises:
        InputError: an option is no number or names nothing, or the model cannot be read.
    """
    if isinstance(model, str | PathLike) and is_result(model):
        model = Model.of_result(ResultFolder.read(model))
    if not isinstance(model, Model):
        return Model.of_robot(
            given_robot(model, gravity, lock, arguments=arguments, stated=stated, package_path=package_path)
        )
    if arguments:
        raise InputError("goes with a xacro file, not with a result folder.", place="--arg")
    found = _with_gravity_and_locks(model, gravity, lock)
    return found if stated is None else replace(found, robot=stated.limited(found.robot))


def given_result(result: Identification | Model | FilePath) -> Model:
    """The model of a result: an identification, a model, or a result folder; no description.

    Args:
        result: the result.

    Returns:
        The model.

    Raises:
        InputError: the path is no result folder, or what it holds cannot be read.
        NoSolutionError: an identification found no set of links that can exist.
    """
    if isinstance(result, Model):
        return result
    if isinstance(result, str | PathLike):
        return Model.of_result(ResultFolder.read(result))
    return result.model


def _with_gravity_and_locks(model: Model, gravity: Numbers | None, lock: ByName | None) -> Model:
    texts = _free_locks(model.stored, texts_of(lock, "--lock"))
    asked = given_robot(model.robot, gravity, texts)
    if not texts:
        return model if gravity is None else replace(model, robot=model.robot.with_gravity(asked.gravity))
    # Locking joins links, so the numbers have to be in them first.
    carrying = robot_with_parameters(model.robot, model.layout, model.parameters)
    carrying = carrying.with_gravity(asked.gravity)
    free = model.robot.joint_names
    positions = {held.name: held.position.tolist() for held in asked.locks if held.name in free}
    locked = carrying.locked({name: q[0] if len(q) == 1 else q for name, q in positions.items()})
    return replace(Model.of_robot(locked), stored=model.stored, findings=model.findings)


def _free_locks(stored: ResultFolder | None, lock: Sequence[str]) -> list[str]:
    """The locks that a result was not made with; one that it was made with must be where it was."""
    held, free = {} if stored is None else stored.locks, []
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


def stated_limits(
    limits: FilePath | None = None,
    velocity: ByJoint | None = None,
    acceleration: ByJoint | None = None,
    torque: ByJoint | None = None,
    jerk: ByJoint | None = None,
) -> StatedLimits:
    """Limits as options state them beside a description.

    Args:
        limits: file of limits.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        jerk: largest jerks, rad/s³ or m/s³.

    Returns:
        The limits, as `given_robot` takes them.
    """
    return StatedLimits(
        limits=path_of(limits),
        velocity=text_of(velocity, "--velocity"),
        acceleration=text_of(acceleration, "--acceleration"),
        torque=text_of(torque, "--torque"),
        jerk=text_of(jerk, "--jerk"),
    )


def xacro_arguments(given: Sequence[str] | Mapping[str, str] | None) -> dict[str, str]:
    """Values of xacro arguments by name.

    Args:
        given: texts such as `prefix=left_`, or a dictionary; None for none.

    Returns:
        The values.

    Raises:
        InputError: a text has no name or no value.
    """
    values: dict[str, str] = {}
    for text in texts_of(given, "--arg"):
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise InputError(
                f"expected a name and a value, got '{text}'.", place="--arg", remedy="Write name=value."
            )
        values[name] = value
    return values


def _gravity(text: str) -> list[float]:
    if text == "none":
        return [0.0, 0.0, 0.0]
    values = _numbers(text)
    if len(values) != 3:
        raise InputError(
            f"expected three numbers or 'none', got '{text}'.", place="--gravity", remedy="Write 0,0,-9.81."
        )
    return values


def lock_positions(locks: Sequence[str]) -> dict[str, float | list[float]]:
    """Positions by joint: one number each, or seven where a joint floats."""
    positions: dict[str, float | list[float]] = {}
    for text in locks:
        joint, _, number = text.rpartition("=")
        values = _numbers(number)
        if not joint or not values:
            raise InputError(
                f"expected a joint and its position, got '{text}'.",
                place="--lock",
                remedy="Write joint=0.5, in rad or m.",
            )
        if joint in positions:
            raise InputError(f"joint '{joint}' is locked twice.", place="--lock", remedy="Lock it once.")
        positions[joint] = values[0] if len(values) == 1 else values
    return positions


def _numbers(text: str) -> list[float]:
    """Numbers between commas; none at all where one of them is not a number."""
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        return []


def load(
    robot: Robot | FilePath,
    *,
    gravity: Numbers | None = None,
    lock: ByName | None = None,
    tool_frame: str | None = None,
    argument: Sequence[str] | Mapping[str, str] | None = None,
    package_path: FilePath | Sequence[FilePath] | None = None,
    floating: bool = False,
    limits: FilePath | None = None,
    velocity: ByJoint | None = None,
    acceleration: ByJoint | None = None,
    torque: ByJoint | None = None,
) -> Robot:
    """Load a robot as every command does: rounded angles are read as what they mean.

    Args:
        robot: a zoo name, or the path of a URDF, xacro or MJCF file; a robot is changed by the options alone.
        gravity: free fall in the base frame, m/s²; `none` for no gravity, None for the description's.
        lock: positions of joints that are held still, rad or m, by name.
        tool_frame: link whose frame is the tool's; None for the end of the longest chain.
        argument: values of xacro arguments, by name.
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        floating: whether the base is free to move.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.

    Returns:
        The robot, with what is wrong with its description in `findings`.

    Raises:
        InputError: the description cannot be read, or an option is not usable.
    """
    stated = stated_limits(limits, velocity, acceleration, torque)
    return given_robot(
        robot,
        gravity,
        lock,
        tool_frame,
        arguments=argument,
        floating=floating,
        stated=stated,
        package_path=package_path,
    )
