"""A motion on a simulated robot: a MuJoCo plant with sensors, controller, load and obstacles."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.control import Controller, read_controller
from steelyard.files import FilePath
from steelyard.inertia import Body
from steelyard.limits import Scene, clearance_of
from steelyard.motion import Motion, read_motion
from steelyard.progress import say
from steelyard.recording import Recording, require_writable_log, write
from steelyard.robot import Robot, read_payload
from steelyard.simulation import simulate_motion, tracking_error
from steelyard.workflows.destination import make_folder, require_files
from steelyard.workflows.given import given_robot, stated_limits
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    PackagePathGiven,
    RobotGiven,
    ToolFrameGiven,
    TorqueGiven,
    VelocityGiven,
    path_of,
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


def simulated_run(
    robot: RobotGiven,
    motion: Motion | FilePath,
    *,
    out: FilePath | None,
    sensor: str,
    controller: Controller | FilePath | None,
    payload: Body | FilePath | None,
    scene: Scene | FilePath | None,
    wrench: str | None,
    backlash: float,
    rate: float | None,
    seed: int,
    force: ForceGiven,
    gravity: GravityGiven,
    lock: LockGiven,
    tool_frame: ToolFrameGiven,
    argument: ArgumentsGiven,
    package_path: PackagePathGiven,
    limits: LimitsGiven,
    velocity: VelocityGiven,
    acceleration: AccelerationGiven,
    torque: TorqueGiven,
) -> Simulation:
    """Run a motion, by the arguments of `simulate`."""
    target = None if out is None else Path(out)
    if target is not None:
        require_writable_log(target)
        require_files([target], force=force)
    started = time.perf_counter()
    stated = stated_limits(limits, velocity, acceleration, torque)
    found = given_robot(
        robot, gravity, lock, tool_frame, arguments=argument, stated=stated, package_path=package_path
    )
    held = None
    if payload is not None:
        found = found.with_body("payload", payload if isinstance(payload, Body) else read_payload(payload))
        held = "the body" if isinstance(payload, Body) else path_of(payload)
    clearance = None
    if scene is not None:
        around = scene if isinstance(scene, Scene) else Scene.read(scene)
        clearance = clearance_of(found, around)
        for finding in clearance.findings:
            say(str(finding))
    follower = read_controller(controller, found) if isinstance(controller, str | PathLike) else controller
    recording = simulate_motion(
        found,
        read_motion(motion) if isinstance(motion, str | PathLike) else motion,
        controller=follower,
        sensor=sensor,
        rate=rate,
        rng=np.random.default_rng(seed),
        backlash=backlash,
        clearance=clearance,
        wrench=wrench,
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
