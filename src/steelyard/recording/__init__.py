"""Recordings: named, united, validated time series with their history; readers and writers of logs.

`recording` is the noun. `files` reads and writes it by suffix: CSV, npz and Parquet in `formats`, tensors
in `tensors`, ROS 2 bags in `bags`, LeRobot datasets in `lerobot`; `given` takes data that is in memory.
`columns` decides which column is what (`channels` lists the names, `joint_arrays` those of legged stacks),
`servo_units` makes SI of degrees, normalised values and counts, `wrench` finds the columns of force-torque
sensors, `assembly` makes the recording, and `inspection` says what is wrong with it.
"""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.recording.channels import CHANNELS
    from steelyard.recording.files import (
        Calibration,
        Reading,
        log_files,
        read,
        require_readable_logs,
        require_writable_log,
        same_episodes,
        single_log,
        single_logs,
        write,
    )
    from steelyard.recording.given import DataFrame, Log, log_name
    from steelyard.recording.inspection.inspect import inspect_recording, saturated
    from steelyard.recording.inspection.phases import main_motion_rows, same_motion
    from steelyard.recording.recording import Recording, Step
    from steelyard.recording.servo_units import LIMITS, Units, units_of
    from steelyard.recording.wrench import AXES, wrench_columns_of, wrench_in

__all__ = [
    "AXES",
    "CHANNELS",
    "LIMITS",
    "Calibration",
    "DataFrame",
    "Log",
    "Reading",
    "Recording",
    "Step",
    "Units",
    "inspect_recording",
    "log_files",
    "log_name",
    "main_motion_rows",
    "read",
    "require_readable_logs",
    "require_writable_log",
    "same_episodes",
    "same_motion",
    "saturated",
    "single_log",
    "single_logs",
    "units_of",
    "wrench_columns_of",
    "wrench_in",
    "write",
]

open_door(__name__)
