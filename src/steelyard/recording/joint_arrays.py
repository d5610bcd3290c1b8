"""Arrays by name, as stacks of legged robots save them: what each of them is, and of which joints.

Isaac Gym and its descendants write `dof_pos`, Isaac Lab `joint_pos`; PACE (leggedrobotics/pace-sim2real)
saves `time`, `dof_pos` and `des_dof_pos`. Policies' `actions` are no positions: their scale and what they are
added to stand in no log, so they stay extra columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import RecordingError
from steelyard.finding import Finding, Severity
from steelyard.recording.channels import CHANNELS, is_time, spelling
from steelyard.recording.table import Column, Table

WORDS = {
    "q": ("dof_pos", "joint_pos", "dof_positions", "joint_positions"),
    "v": ("dof_vel", "joint_vel", "dof_velocities", "joint_velocities"),
    "a": ("dof_acc", "joint_acc"),
    "tau": ("dof_torque", "dof_torques", "joint_torques", "applied_torque", "joint_effort", "tau_est"),
    "q_ref": (
        "dof_pos_target",
        "joint_pos_target",
        "des_dof_pos",
        "des_joint_pos",
        "dof_pos_des",
        "joint_pos_des",
    ),
    "v_ref": ("dof_vel_target", "joint_vel_target", "des_dof_vel", "des_joint_vel"),
}
"""What arrays of a quantity are called; the first that is there counts."""
NAMES = ("joint_names", "dof_names")
"""What an array of the joints' names is called."""
STEP = ("dt", "control_dt", "sim_dt")
"""What the time between two rows is called, where there is no column of time, s."""


def joint_table(arrays: Mapping[str, NDArray[Any]]) -> Table:
    """Split arrays of another tool into columns: of a matrix `x` the columns `x_1`, `x_2`, ….

    Args:
        arrays: the arrays by name, of any shape and unit.

    Returns:
        The columns, with what they mean where a stack of legged robots called them.

    Raises:
        RecordingError: several robots are in one array, or names do not fit.
    """
    joints = _joint_names(arrays)
    quantities = dict(_quantities(arrays))
    columns: list[Column] = []
    meanings: dict[str, str] = {}
    findings: list[Finding] = []
    for name, array in arrays.items():
        whole = _of_one_robot(name, array) if name in quantities or is_time(name) else array
        made = list(columns_of(name, whole))
        columns += made
        if name not in quantities or whole.ndim != 2:
            continue
        if joints and len(joints) != len(made):
            raise RecordingError(
                f"array '{name}' has {len(made)} columns, and {len(joints)} joints are named.",
                remedy="Save names and columns of the same joints.",
            )
        labels = joints or [str(number) for number in range(1, len(made) + 1)]
        prefix = CHANNELS[quantities[name]].prefix
        meanings |= {column.name: f"{prefix}_{label}" for column, label in zip(made, labels, strict=True)}
    if quantities and not joints:
        findings.append(
            Finding(
                Severity.WARNING,
                "joint-order-assumed",
                "joints are not named; columns are taken in the order of the robot's joints. Name them in an "
                f"array '{NAMES[0]}', or with --columns.",
                ", ".join(quantities),
            )
        )
    if not any(is_time(name) for name in arrays) and (timed := _stepped(arrays, quantities)) is not None:
        columns.append(timed)
        columns = [column for column in columns if column.name not in STEP]
    return Table(tuple(columns), findings=tuple(findings), meanings=meanings)


def columns_of(name: str, array: NDArray[Any]) -> Iterator[Column]:
    """Columns of an array: of a matrix `x` the columns `x_1`, `x_2`, ….

    Args:
        name: its name.
        array: its values, shape (N,) or (N, n), SI.

    Yields:
        The columns; one without numbers where the array holds none.
    """
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2):
        yield Column.without_numbers(name, f"is an array of type {array.dtype} and shape {array.shape}")
    elif array.ndim == 1:
        yield Column.of(name, array.astype(np.float64))
    else:
        for index, column in enumerate(array.T, start=1):
            yield Column.of(f"{name}_{index}", column.astype(np.float64))


def _quantities(arrays: Mapping[str, NDArray[Any]]) -> Iterator[tuple[str, str]]:
    """Arrays whose names are a stack's for a quantity that no array has by a name of ours."""
    known = {reading.channel for name in arrays if (reading := spelling(name)) is not None}
    for channel, words in WORDS.items():
        there = [word for word in words if word in arrays]
        if there and channel not in known:
            yield there[0], channel


def _joint_names(arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    for name in NAMES:
        if name in arrays:
            found = np.atleast_1d(arrays[name])
            if found.dtype.kind != "U" or found.ndim != 1:
                raise RecordingError(
                    f"array '{name}' is of type {found.dtype} and shape {found.shape}; expected names.",
                    remedy="Save a list of texts.",
                )
            return [str(one) for one in found]
    return []


def _of_one_robot(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """An array without the axis of the robots, of which there must be one."""
    if array.ndim == 3 and array.shape[1] == 1:
        return array[:, 0, :]
    if is_time(name) and array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim == 3:
        raise RecordingError(
            f"array '{name}' has the shape {array.shape}: {array.shape[1]} robots.",
            remedy=f"Save one of them, as {name}[:, 0].",
        )
    return array


def _stepped(arrays: Mapping[str, NDArray[Any]], quantities: Mapping[str, str]) -> Column | None:
    """Times by the time between two rows, where an array says it."""
    found = next((name for name in STEP if name in arrays and arrays[name].size == 1), None)
    if found is None or not quantities:
        return None
    step = arrays[found].reshape(-1)[0]
    if arrays[found].dtype.kind not in "biuf" or not (np.isfinite(step) and step > 0.0):
        raise RecordingError(
            f"'{found}' must be a positive number of seconds, got {step!r}.", remedy="Repair it."
        )
    return Column.of("time", float(step) * np.arange(len(arrays[next(iter(quantities))]), dtype=np.float64))
