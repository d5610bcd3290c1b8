"""How parameters of workflows are declared: once, in the signature, for Python and for the command line.

A parameter is annotated with the Python type it takes and an `Option` that says what `--help` says of it; the
command line is made from that (`steelyard.cli.workflow_command`). Parameters without an `Option`, as
`progress`, are for Python alone.

Where the command line takes text (`--mass forearm=4.2`, `--torque-constant 14.9,13.3`), Python takes numbers,
lists and dictionaries as well. `text_of` and `texts_of` bring them to the one text that a record holds, so
that a result can be made again whoever asked for it.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from inspect import Parameter, signature, unwrap
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

from steelyard.errors import InputError
from steelyard.files import FilePath
from steelyard.progress import heard_by

if TYPE_CHECKING:
    from steelyard.robot import Robot

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Option:
    """What the command line says of a parameter.

    Attributes:
        help: the line of `--help`.
        metavar: what stands for the value there; None for its type.
        flag: its name on the command line, as `--arg` or `--shapes/--no-shapes`; None for its own name.
        default: what `--help` says of the default; True for the value itself, False for nothing.
        argument: whether it goes by place, not by name.
        repeated: whether it may be given several times, each time with one value.
        required: whether the command needs it although the function does not.
        least: smallest number that is taken; None for any.
        most: largest number that is taken; None for any.
        kind: the type that the command line turns the text into; None for that of the annotation where it is
            bool, int or float, and text otherwise.
    """

    help: str
    metavar: str | None = None
    flag: str | None = None
    default: str | bool = False
    argument: bool = False
    repeated: bool = False
    required: bool = False
    least: float | None = None
    most: float | None = None
    kind: type | None = None


def workflow(function: Callable[P, R]) -> Callable[P, R]:
    """Let the function that is given as `progress` hear what a workflow says; keep numbers in range.

    Args:
        function: a workflow with a keyword parameter `progress`.

    Returns:
        The same, under which `progress.say` reaches that function.

    Raises:
        InputError: a number is less than its `Option.least` or more than its `Option.most`.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        _require_in_range(function, signature(function).bind(*args, **kwargs).arguments)
        with heard_by(kwargs.get("progress")):  # type: ignore[arg-type]
            return function(*args, **kwargs)

    return run


def option_of(annotation: object) -> Option | None:
    """The `Option` that a parameter is annotated with.

    Args:
        annotation: evaluated, not as text.

    Returns:
        The option; None where the command line has none for it.
    """
    notes = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    return next((note for note in notes if isinstance(note, Option)), None)


def _require_in_range(function: Callable[..., object], given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        option, place = option_of(parameters_of(function)[name].annotation), f"--{name.replace('_', '-')}"
        if option is None:
            continue
        if option.least is not None and not value >= option.least:
            raise InputError(f"must be at least {option.least:g}, got {value:g}.", place=place)
        if option.most is not None and not value <= option.most:
            raise InputError(f"must be at most {option.most:g}, got {value:g}.", place=place)


@cache
def parameters_of(function: Callable[..., object]) -> Mapping[str, Parameter]:
    """The parameters of a workflow, their annotations evaluated.

    Types that a workflow imports for type checkers alone are not there when it runs, and stand for anything:
    the command line takes text for all of them.

    Args:
        function: a workflow, or what wraps one.

    Returns:
        The parameters by name.
    """
    names = _Names(vars(builtins) | unwrap(function).__globals__)
    return {
        name: parameter.replace(annotation=eval(parameter.annotation, {}, names))
        for name, parameter in signature(function).parameters.items()
    }


class _Names(dict[str, Any]):
    """What names mean; those that nobody knows mean `Any`."""

    def __missing__(self, name: str) -> Any:
        return Any


Numbers = str | float | Sequence[float] | ArrayLike
"""Numbers in the order of the joints, or one for all: text with commas between, a number, or a list."""
ByJoint = Numbers | Mapping[str, float]
"""Numbers for all joints, in their order, or by name."""
ByName = Sequence[str] | Mapping[str, float] | Mapping[str, Sequence[float]]
"""Values by name: a dictionary, or texts such as `elbow=0.5`."""

RobotGiven = Annotated[
    "Robot | FilePath",
    Option(
        "A zoo name, the path of a URDF, xacro or MJCF file, or rd:NAME of robot_descriptions.",
        metavar="ROBOT",
        argument=True,
    ),
]
GravityGiven = Annotated[
    Numbers | None,
    Option("Free fall in the base frame, m/s² (as described: 0,0,-9.81).", metavar="X,Y,Z|none"),
]
LockGiven = Annotated[
    ByName | None,
    Option(
        "Hold a joint still at a position, rad or m; may be repeated.",
        metavar="JOINT=Q",
        repeated=True,
    ),
]
ArgumentsGiven = Annotated[
    Sequence[str] | Mapping[str, str] | None,
    Option("Value of a xacro argument; may be repeated.", flag="--arg", metavar="NAME=VALUE", repeated=True),
]
PackagePathGiven = Annotated[
    FilePath | Sequence[FilePath] | None,
    Option(
        "Folder with packages that meshes and xacro files name, or NAME=FOLDER; may be repeated.",
        metavar="DIR",
        repeated=True,
    ),
]
ToolFrameGiven = Annotated[
    str | None,
    Option("Link whose frame is the tool's (default: the end of the longest chain).", metavar="LINK"),
]
LimitsGiven = Annotated[
    FilePath | None,
    Option(
        "Limits of the joints beside the description (TOML, JSON, or joint_limits.yaml of ROS).",
        metavar="FILE",
    ),
]
VelocityGiven = Annotated[
    ByJoint | None,
    Option("Largest speed of the joints, rad/s or m/s.", metavar="V|V,…|J=V,…", default="the description's"),
]
AccelerationGiven = Annotated[
    ByJoint | None,
    Option(
        "Largest acceleration of the joints, rad/s² or m/s².",
        metavar="A|A,…|J=A,…",
        default="the description's",
    ),
]
TorqueGiven = Annotated[
    ByJoint | None,
    Option(
        "Largest torque or force of the joints, N·m or N.",
        metavar="T|T,…|J=T,…",
        default="the description's",
    ),
]
JerkGiven = Annotated[
    ByJoint | None,
    Option(
        "Largest jerk of the joints, rad/s³ or m/s³; the motion is slowed until it keeps it.",
        metavar="J|J,…|NAME=J,…",
        default="the limits file's",
    ),
]
FloorGiven = Annotated[
    str | float,
    Option(
        "Where the floor is: level with the base frame, nowhere, or so many m above that (negative: below).",
        metavar="base|none|HEIGHT",
        default=True,
    ),
]
ToolGiven = Annotated[
    FilePath | None,
    Option(
        "Shape of tool and load, in the tool frame, m; none where they add no shape.", metavar="MESH|none"
    ),
]
NoClearanceGiven = Annotated[
    bool,
    Option(
        "Accept that shapes are missing and their clearance is not known: exit code 0, and still said.",
        flag="--allow-no-clearance",
    ),
]
ForceGiven = Annotated[bool, Option("Replace an earlier result.", flag="--force")]
TorqueConstantGiven = Annotated[
    Numbers | None, Option("Torque per current at each joint, N·m/A.", metavar="K,…")
]
TorqueConstantErrorGiven = Annotated[
    Numbers | None,
    Option(
        "Relative standard deviation of the torque constants, one for all joints or one each.",
        metavar="SHARE[,…]",
        default="0.10 with --torque-constant, else 0",
    ),
]
ColumnsGiven = Annotated[Mapping[str, str] | str | None, Option("Names of the logs' columns.", metavar="MAP")]
TopicGiven = Annotated[
    str | None,
    Option(
        "Topics of the logs that are ROS 2 bags; several are joined.",
        metavar="NAME[,NAME]",
        default="the only one of joint states",
    ),
]
UnitsGiven = Annotated[
    str | None,
    Option(
        "Unit of the logs' positions where no column states one: rad, degrees, normalised or counts:SERVO.",
        metavar="UNIT[,JOINT=UNIT…]",
        default="rad and m; of a LeRobot dataset it must be said where values do not show it",
    ),
]
CalibrationGiven = Annotated[
    FilePath | None,
    Option(
        "LeRobot's calibration file of the arm, or limits where the robot's limits are the calibrated range.",
        metavar="FILE|limits",
    ),
]
CutoffGiven = Annotated[
    float | None,
    Option("Cut-off of the low-pass filter.", metavar="HZ", default="from the spectrum", kind=float),
]


def path_of(given: FilePath | None) -> str | None:
    """A path as a record holds it.

    Args:
        given: text or a path; None for none.

    Returns:
        Its text.
    """
    return None if given is None else os.fspath(given)


def folders_of(given: FilePath | Sequence[FilePath] | None) -> tuple[str, ...]:
    """Folders as a record holds them.

    Args:
        given: one, several, or None for none.

    Returns:
        Their texts.
    """
    if given is None:
        return ()
    several = [given] if isinstance(given, str | os.PathLike) else given
    return tuple(os.fspath(one) for one in several)


def text_of(given: ByJoint | None, place: str) -> str | None:
    """Numbers as the command line takes them: `10`, `10,10,5` or `elbow=10,wrist=5`.

    Args:
        given: text, which is left as it is; a number, numbers in order, or numbers by name; None for none.
        place: what to call them in messages.

    Returns:
        The text, every number with all its digits.

    Raises:
        InputError: they are no numbers, or not in a row.
    """
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        return ",".join(f"{name}={_digits(value, place)}" for name, value in given.items())
    values = np.asarray(given)
    if values.ndim > 1:
        raise InputError(f"expected a number or a list of numbers, got shape {values.shape}.", place=place)
    return ",".join(_digits(value, place) for value in np.atleast_1d(values).tolist())


def texts_of(given: ByName | Mapping[str, str] | None, place: str) -> tuple[str, ...]:
    """Values by name as the command line takes them, one text each: `elbow=0.5`.

    Args:
        given: texts, which are left as they are, or a dictionary of numbers, lists of numbers or texts.
        place: what to call them in messages.

    Raises:
        InputError: a value is no number.
    """
    if given is None:
        return ()
    if isinstance(given, str):
        return (given,)
    if isinstance(given, Mapping):
        return tuple(f"{name}={text_of(value, f'{place} {name}')}" for name, value in given.items())
    return tuple(given)


def _digits(value: object, place: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputError(f"expected a number, got {value!r}.", place=place)
    return repr(float(value)) if isinstance(value, float | np.floating) else str(int(value))
