"""Run a motion on a simulated robot: a MuJoCo plant with sensors, controller, load and obstacles."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from steelyard.control import Controller, read_controller
from steelyard.files import FilePath
from steelyard.inertia import Body
from steelyard.limits import Scene, clearance_of, read_scene
from steelyard.motion import Motion, read_motion
from steelyard.progress import Progress, say
from steelyard.recording import Recording, require_writable_log, write
from steelyard.robot import Robot, read_payload
from steelyard.simulation import simulate_motion as simulated
from steelyard.simulation import tracking_error
from steelyard.workflows.destination import make_folder, require_files
from steelyard.workflows.given import given_robot, mesh_folder, stated_limits
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    Option,
    RobotGiven,
    ToolFrameGiven,
    TorqueGiven,
    VelocityGiven,
    path_of,
    workflow,
)


@dataclass(frozen=True, eq=False)
class Simulation:
    """A motion that was run on a simulated robot.

    Attributes:
        robot: the robot that moved, with its load.
        recording: its log.
        tracking: root mean square tracking error by joint, rad or m.
        clipped: control cycles in which a command was cut at the joint's torque limit, by joint.
        nearest_approach: least distance to an obstacle, m; None where none was watched.
        held: what names the load that was held; None without one.
        seconds: what it took.
        files: what was written, by kind.
    """

    robot: Robot = field(repr=False)
    recording: Recording = field(repr=False)
    tracking: Mapping[str, float]
    clipped: Mapping[str, int]
    nearest_approach: Any
    held: str | None
    seconds: float
    files: Mapping[str, str]

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        return {
            "seconds": self.seconds,
            "samples": self.recording.n,
            "tracking": dict(self.tracking),
            "clipped": dict(self.clipped),
            "nearest_approach": self.nearest_approach,
            "tool_frame": self.robot.tool_frame.name,
            "files": dict(self.files),
        }

    def __str__(self) -> str:
        worst = max(self.tracking, key=lambda name: self.tracking[name])
        return (
            f"{self.files.get('log', self.robot.name)}: {self.recording.n} samples over "
            f"{self.recording.duration:g} s; largest rms tracking error {self.tracking[worst]:.2e} at {worst}"
            f"; took {self.seconds:.1f} s."
        )


@workflow
def simulate(
    robot: RobotGiven,
    motion: Annotated[Motion | FilePath, Option("A motion file (JSON).", argument=True, metavar="MOTION")],
    *,
    out: Annotated[
        FilePath | None, Option("Log to write: .csv, .parquet or .npz.", metavar="PATH", required=True)
    ] = None,
    sensor: Annotated[str, Option("Sensor preset.", default=True)] = "ideal",
    controller: Annotated[
        Controller | FilePath | None,
        Option("Controller file (TOML).", metavar="PATH", default="computed torque"),
    ] = None,
    payload: Annotated[
        Body | FilePath | None,
        Option("Body held at the tool frame (JSON), known to the controller's model.", metavar="PATH"),
    ] = None,
    scene: Annotated[
        Scene | FilePath | None,
        Option("Obstacles the arm must not strike (TOML or JSON).", metavar="PATH"),
    ] = None,
    backlash: Annotated[
        float, Option("Play between each joint and its encoder, rad or m.", default=True, least=0.0)
    ] = 0.0,
    rate: Annotated[float | None, Option("Samples per second.", default="the preset's own")] = None,
    seed: Annotated[int, Option("Seed of the sensors' noise.", default=True, least=0)] = 0,
    force: ForceGiven = False,
    gravity: GravityGiven = None,
    lock: LockGiven = None,
    tool_frame: ToolFrameGiven = None,
    argument: ArgumentsGiven = None,
    limits: LimitsGiven = None,
    velocity: VelocityGiven = None,
    acceleration: AccelerationGiven = None,
    torque: TorqueGiven = None,
    progress: Progress | None = None,
) -> Simulation:
    """Run a motion on a simulated robot (MuJoCo) and write the log.

    Args:
        robot: the robot, a zoo name, or the path of a description.
        motion: the motion, or its file.
        out: the log to write, `.csv`, `.parquet` or `.npz`; None to write nothing.
        sensor: preset of the sensors: `ideal`, `industrial` or `low-cost`.
        controller: what follows the motion, or its file; None for computed torque.
        payload: body held at the tool frame, or its file; the controller's model knows it.
        scene: obstacles that the arm must not strike, or their file.
        backlash: play between each joint and its encoder, rad or m.
        rate: samples per second, Hz; None for the preset's own.
        seed: seed of the sensors' noise.
        force: whether an earlier log may be replaced.
        gravity: free fall in the base frame, m/s²; None for the description's.
        lock: positions of joints that are held still, rad or m, by name.
        tool_frame: link whose frame is the tool's; None for the end of the longest chain.
        argument: values of xacro arguments, by name.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        progress: told what is done.

    Returns:
        The log, and how well the motion was followed.

    Raises:
        InputError: something given is not usable; nothing is written.
    """
    target = None if out is None else Path(out)
    if target is not None:
        require_writable_log(target)
        require_files([target], force=force)
    started = time.perf_counter()
    stated = stated_limits(limits, velocity, acceleration, torque)
    found = given_robot(robot, gravity, lock, tool_frame, arguments=argument, stated=stated)
    held = None
    if payload is not None:
        found = found.with_body("payload", payload if isinstance(payload, Body) else read_payload(payload))
        held = "the body" if isinstance(payload, Body) else path_of(payload)
    clearance = None
    if scene is not None:
        around = scene if isinstance(scene, Scene) else read_scene(scene)
        clearance = clearance_of(found, around, meshes=mesh_folder(robot))
        for finding in clearance.findings:
            say(str(finding))
    follower = read_controller(controller, found) if isinstance(controller, str | PathLike) else controller
    recording = simulated(
        found,
        read_motion(motion) if isinstance(motion, str | PathLike) else motion,
        controller=follower,
        sensor=sensor,
        rate=rate,
        rng=np.random.default_rng(seed),
        backlash=backlash,
        clearance=clearance,
    )
    if target is not None:
        make_folder(target.parent)
        write(recording, target)
    # Control cycles in which the command was cut at the joint's torque limit.
    counted = recording.provenance[-1].detail.get("clipped_cycles")
    return Simulation(
        found,
        recording,
        dict(zip(found.joint_names, (float(x) for x in tracking_error(recording)), strict=True)),
        dict(counted) if isinstance(counted, Mapping) else {},
        recording.provenance[-1].detail.get("nearest_approach"),
        held,
        time.perf_counter() - started,
        {} if target is None else {"log": str(out)},
    )
