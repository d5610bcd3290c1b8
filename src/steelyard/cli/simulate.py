"""`steelyard simulate`: runs a motion on a simulated robot and writes its log."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.destination import ForceOption, make_folder, require_files
from steelyard.cli.output import JsonOption, announce_compilation, print_json, say, stdout
from steelyard.cli.robot_argument import (
    AccelerationOption,
    ArgumentOption,
    GravityOption,
    LimitsOption,
    LockOption,
    RobotArgument,
    ToolFrameOption,
    TorqueOption,
    VelocityOption,
    given_robot,
)
from steelyard.robot import StatedLimits, read_payload


def simulate(
    robot: RobotArgument,
    motion: Annotated[Path, typer.Argument(help="A motion file (JSON).", show_default=False)],
    out: Annotated[Path, typer.Option(help="Log to write: .csv, .parquet or .npz.", show_default=False)],
    sensor: Annotated[str, typer.Option(help="Sensor preset.")] = "ideal",
    controller: Annotated[
        Path | None, typer.Option(help="Controller file (TOML).", show_default="computed torque")
    ] = None,
    payload: Annotated[
        Path | None,
        typer.Option(
            help="Body held at the tool frame (JSON), known to the controller's model.", show_default=False
        ),
    ] = None,
    scene: Annotated[
        Path | None,
        typer.Option(help="Obstacles the arm must not strike (TOML or JSON).", show_default=False),
    ] = None,
    backlash: Annotated[
        float, typer.Option(help="Play between each joint and its encoder, rad or m.", min=0.0)
    ] = 0.0,
    rate: Annotated[
        float | None, typer.Option(help="Samples per second.", show_default="the preset's own")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sensors' noise.", min=0)] = 0,
    force: ForceOption = False,
    gravity: GravityOption = None,
    lock: LockOption = None,
    tool_frame: ToolFrameOption = None,
    argument: ArgumentOption = None,
    limits: LimitsOption = None,
    velocity: VelocityOption = None,
    acceleration: AccelerationOption = None,
    torque: TorqueOption = None,
    json: JsonOption = False,
) -> None:
    """Run a motion on a simulated robot (MuJoCo) and write the log."""
    # Simulator and kernels take a second to load, which the other commands are spared.
    import numpy as np

    from steelyard.control import read_controller
    from steelyard.limits import clearance_of, read_scene
    from steelyard.motion import read_motion
    from steelyard.recording import require_writable_log, write
    from steelyard.simulate import simulate as run
    from steelyard.simulate import tracking_error

    announce_compilation("simulate")
    require_writable_log(out)
    require_files([out], force=force)
    started = time.perf_counter()
    stated = StatedLimits(limits=limits, velocity=velocity, acceleration=acceleration, torque=torque)
    found = given_robot(robot, gravity, lock, tool_frame, arguments=argument, stated=stated)
    if payload is not None:
        found = found.with_body("payload", read_payload(payload))
    clearance = None
    if scene is not None:
        described = Path(robot)
        meshes = described.parent if described.is_file() else None
        clearance = clearance_of(found, read_scene(scene), meshes=meshes)
        for finding in clearance.findings:
            say(str(finding))
    recording = run(
        found,
        read_motion(motion),
        controller=None if controller is None else read_controller(controller, found),
        sensor=sensor,
        rate=rate,
        rng=np.random.default_rng(seed),
        backlash=backlash,
        clearance=clearance,
    )
    make_folder(out.parent)
    write(recording, out)
    seconds = time.perf_counter() - started
    errors = dict(zip(found.joint_names, (float(x) for x in tracking_error(recording)), strict=True))
    # Control cycles in which the command was cut at the joint's torque limit.
    counted = recording.provenance[-1].detail.get("clipped_cycles")
    clipped = dict(counted) if isinstance(counted, Mapping) else {}
    nearest = recording.provenance[-1].detail.get("nearest_approach")
    if json:
        print_json(
            {
                "seconds": seconds,
                "samples": recording.n,
                "tracking": errors,
                "clipped": clipped,
                "nearest_approach": nearest,
                "tool_frame": found.tool_frame.name,
                "files": {"log": str(out)},
            }
        )
        return
    for name, cycles in clipped.items():
        if cycles:
            say(f"{name}: the command was cut at the torque limit in {cycles} of the control cycles.")
    worst = max(errors, key=lambda name: errors[name])
    if payload is not None:
        held = f"{payload} is held at {found.tool_frame.name}."
        stdout.print(held, highlight=False, markup=False, soft_wrap=True)
    stdout.print(
        f"{out}: {recording.n} samples over {recording.duration:g} s; largest rms tracking error "
        f"{errors[worst]:.2e} at {worst}; took {seconds:.1f} s.",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
