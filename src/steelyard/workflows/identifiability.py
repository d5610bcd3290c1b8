"""Say which parameters of a robot its torques can ever tell: alone, in groups, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from steelyard.progress import Progress
from steelyard.workflows.options import (
    ArgumentsGiven,
    GravityGiven,
    LockGiven,
    Option,
    PackagePathGiven,
    RobotGiven,
    workflow,
)

if TYPE_CHECKING:
    from steelyard.workflows.identifiable_parameters import IdentifiableParameters

ROTORS = ("gyroscopic", "armature")
"""How rotors may be counted."""


@workflow
def identifiability(
    robot: RobotGiven,
    *,
    floating: Annotated[bool, Option("Let the base move freely.", flag="--floating")] = False,
    drive: Annotated[
        str | Sequence[str],
        Option("Drive terms at every joint, such as viscous,coulomb,offset.", metavar="LIST", default=True),
    ] = "",
    rotors: Annotated[
        str | None,
        Option(
            "Rotors: bodies of their own that spin (also without a word), or plain armatures Ia·a.",
            metavar="[gyroscopic|armature]",
        ),
    ] = None,
    measured: Annotated[
        str | Sequence[str] | None,
        Option(
            "Joints whose torque is measured, between commas; or base for the base wrench alone.",
            metavar="JOINTS|base",
            default="all joints",
        ),
    ] = None,
    static: Annotated[
        bool, Option("Torques are measured while the robot stands still.", flag="--static")
    ] = False,
    reduce: Annotated[str | None, Option("Take products of inertia as zero.", metavar="products")] = None,
    frames: Annotated[
        str,
        Option("Frames in which --reduce holds; mdh: modified DH.", metavar="urdf|mdh", default=True),
    ] = "mdh",
    exact: Annotated[
        bool, Option("Compute in rational arithmetic, which proves the count.", flag="--exact")
    ] = False,
    symbolic: Annotated[
        bool, Option("Write groupings as formulas in the link lengths.", flag="--symbolic")
    ] = False,
    gravity: GravityGiven = None,
    lock: LockGiven = None,
    argument: ArgumentsGiven = None,
    package_path: PackagePathGiven = None,
    progress: Progress | None = None,
) -> IdentifiableParameters:
    """Say which parameters of a robot can be known from its torques: alone, in groups, or not at all.

    Angles that were rounded in the description are read as what they mean, and both counts are given.

    Args:
        robot: the robot, a zoo name, or the path of a description. Angles of a robot that is read already are
            taken as they are.
        floating: whether the base moves freely.
        drive: drive terms at every joint, between commas or in a list.
        rotors: `gyroscopic` for bodies of their own that spin, `armature` for plain armatures Ia·a; None for
            none.
        measured: joints whose torque is measured, between commas or in a list; `base` for the base wrench
            alone; None for all joints.
        static: whether torques are measured at rest only.
        reduce: `products` to take products of inertia as zero; None for nothing.
        frames: frames in which they are: `urdf`, or `mdh` for modified Denavit and Hartenberg ones.
        exact: whether to compute in rational arithmetic, which proves the count.
        symbolic: whether groupings are formulas in the link lengths.
        gravity: free fall in the base frame, m/s²; None for the description's.
        lock: positions of joints that are held still, rad or m, by name.
        argument: values of xacro arguments, by name.
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        progress: told what is done.

    Returns:
        Which parameters can be known, and in which combinations.

    Raises:
        InputError: something given is not usable.
        NoSolutionError: the rank is too close to call.
    """
    from steelyard.workflows.identifiable_parameters import identifiable_parameters

    return identifiable_parameters(
        robot,
        floating=floating,
        drive=drive,
        rotors=rotors,
        measured=measured,
        static=static,
        reduce=reduce,
        frames=frames,
        exact=exact,
        symbolic=symbolic,
        gravity=gravity,
        lock=lock,
        argument=argument,
        package_path=package_path,
    )
