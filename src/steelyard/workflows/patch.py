"""Change a user's own description in the numbers that were identified, and in nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from steelyard.files import FilePath
from steelyard.progress import Progress
from steelyard.workflows.options import ArgumentsGiven, Option, PackagePathGiven, workflow

if TYPE_CHECKING:
    from steelyard.model import Model
    from steelyard.workflows.identification import Identification
    from steelyard.workflows.patched_description import PatchedDescription


@workflow
def patch(
    model: Annotated[
        FilePath,
        Option("The path of a URDF, xacro, MJCF or USD file.", argument=True, metavar="MODEL"),
    ],
    result: Annotated[
        Identification | Model | FilePath,
        Option("The result folder with the numbers for it.", argument=True, metavar="RESULT"),
    ],
    *,
    out: Annotated[
        FilePath | None,
        Option(
            "Where to write the changed file; included files go beside it.",
            metavar="FILE",
            default="show the difference, write nothing",
        ),
    ] = None,
    argument: ArgumentsGiven = None,
    package_path: PackagePathGiven = None,
    force: Annotated[
        bool, Option("Replace files that exist, MODEL itself among them.", flag="--force")
    ] = False,
    progress: Progress | None = None,
) -> PatchedDescription:
    """Change a description in the identified numbers alone: masses, centres of mass, inertias, friction.

    Comments, blank lines, quotes, meshes and every other byte stay. The outcome is read back by this package
    and by MuJoCo or Pinocchio, and compared, before it is written. Without --out the difference is shown.

    Args:
        model: the path of a URDF, xacro or MJCF file, or of a USD stage.
        result: what was identified: an identification, a model, or a result folder. Names of links and joints
            and the kinematics must be those of the file.
        out: where to write the changed file, or a folder for it; None to write nothing.
        argument: values of xacro arguments, by name.
        package_path: folders that hold packages which meshes and xacro files name, or `NAME=FOLDER`.
        force: whether files that exist may be replaced, the description itself among them.
        progress: told what is done.

    Returns:
        The changed files, what changed in them, and what they cannot carry.

    Raises:
        InputError: names or kinematics differ, a number has no place of its own in the file, the result is
            none, a file to write exists, or a USD stage is given and OpenUSD is not installed.
        ReadBackError: what would be written is not read back as it should be.
    """
    from steelyard.workflows.patched_description import patched_description

    return patched_description(model, result, out, argument=argument, package_path=package_path, force=force)
