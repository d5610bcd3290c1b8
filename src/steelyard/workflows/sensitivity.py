"""Tabulate how noise, filters and motions spoil the numbers of a payload: tables, a page and a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from steelyard.files import FilePath
from steelyard.progress import Progress
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    ForceGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    Option,
    PackagePathGiven,
    RobotGiven,
    ToolFrameGiven,
    TorqueGiven,
    VelocityGiven,
    workflow,
)

if TYPE_CHECKING:
    from steelyard.inertia import Body
    from steelyard.payloads import Noise
    from steelyard.workflows.sensitivity_study import SensitivityStudy

USUAL = "sinusoid,pick-and-place"
"""Kinds of motions where none are asked for; one that the robot cannot do is left out."""


@workflow
def sensitivity(
    robot: RobotGiven,
    *,
    out: Annotated[
        FilePath | None, Option("Folder for tables and page.", metavar="PATH", required=True)
    ] = None,
    payload: Annotated[
        Body | FilePath | None,
        Option(
            "Body held at the tool frame (JSON).",
            metavar="PATH",
            default="the object of Lambert (2023), Table 5.4",
        ),
    ] = None,
    motions: Annotated[
        str | Sequence[str] | None,
        Option(
            "Kinds of motions, out of sinusoid, pick-and-place and excitation.",
            metavar="LIST",
            default=f"{USUAL}, as far as the robot reaches",
        ),
    ] = None,
    noise: Annotated[
        str | Sequence[Noise] | None,
        Option(
            "Standard deviations to add, rad, rad/s and N·m; several cases between semicolons.",
            metavar="q=…,v=…,tau=…;…",
            default="q=0.01,v=0.01;tau=0.01;tau=0.1;q=1e-5,v=1e-5,tau=0.1",
        ),
    ] = None,
    filters: Annotated[
        str | Sequence[str] | None,
        Option(
            "Filters to compare, out of none, clean, butterworth, prepared, weighted and momentum.",
            metavar="LIST",
            default="all of them",
        ),
    ] = None,
    trials: Annotated[int, Option("How often noise is drawn for each case.", default=True, least=1)] = 18,
    count: Annotated[int, Option("Motions of each kind that are compared.", default=True, least=1)] = 10,
    rate: Annotated[float, Option("Samples per second.", metavar="HZ", default=True)] = 200.0,
    seed: Annotated[int, Option("Seed of motions and noise.", default=True, least=0)] = 0,
    force: ForceGiven = False,
    gravity: GravityGiven = None,
    lock: LockGiven = None,
    tool_frame: ToolFrameGiven = None,
    argument: ArgumentsGiven = None,
    package_path: PackagePathGiven = None,
    limits: LimitsGiven = None,
    velocity: VelocityGiven = None,
    acceleration: AccelerationGiven = None,
    torque: TorqueGiven = None,
    progress: Progress | None = None,
) -> SensitivityStudy:
    """Add noise to runs of known torque, weigh the payload again and again, and tabulate the errors.

    Args:
        robot: the robot, a zoo name, or the path of a description.
        out: folder for tables, page and record; None to write nothing.
        payload: body held at the tool frame, or its file; None for the object of Lambert (2023), Table 5.4.
        motions: kinds of motions, between commas or in a list: `sinusoid`, `pick-and-place`, `excitation`;
            None for the first two, as far as the robot reaches.
        noise: standard deviations to add, rad, rad/s and N·m: text as `q=0.01,v=0.01;tau=0.1`, or a list;
            None for the usual ones.
        filters: names between commas or in a list; None for all of them.
        trials: how often noise is drawn for each case.
        count: motions of each kind that are compared.
        rate: samples per second, Hz.
        seed: seed of motions and noise.
        force: whether an earlier result may be replaced.
        gravity: free fall in the base frame, m/s²; None for the description's.
        lock: positions of joints that are held still, rad or m, by name.
        tool_frame: link whose frame is the tool's; None for the end of the longest chain.
        argument: values of xacro arguments, by name.
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        limits: file with limits beside the description.
        velocity: largest speeds, rad/s or m/s.
        acceleration: largest accelerations, rad/s² or m/s².
        torque: largest torques or forces, N·m or N.
        progress: told what is done.

    Returns:
        The errors of each motion, noise and filter.

    Raises:
        InputError: something given is not usable; nothing is written.
        NoSolutionError: the robot cannot do one of the motions that were asked for.
    """
    given = dict(locals())
    from steelyard.workflows.sensitivity_study import sensitivity_study

    return sensitivity_study(given)
