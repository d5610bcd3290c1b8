"""What `steelyard payload` was asked, and carrying it out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot import StatedLimits, read_payload
from steelyard.workflows.identify_request import WINDOWS
from steelyard.workflows.record import RecordedRequest, require_seed

if TYPE_CHECKING:
    from steelyard.cli.payload_line import Weighed

WAYS = ("auto", "residual", "model", "arm")


@dataclass(frozen=True)
class PayloadRequest(RecordedRequest, StatedLimits):
    """The arguments and options of the command, as they were given."""

    robot: str
    loaded: tuple[str, ...]
    empty: tuple[str, ...] = ()
    model: str | None = None
    way: str = "auto"
    method: str = "wls"
    point: str = "mean"
    mesh: str | None = None
    scale: float = 1.0
    grasp: str | None = None
    truth: str | None = None
    heaviest: float = 100.0
    extent: float = 0.5
    torque_error: str | None = None
    model_error: float = 0.05
    velocity_error: float = 1e-3
    position_error: float | None = None
    torque_delay: float = 2e-3
    torque_constant: str | None = None
    torque_constant_error: str | None = None
    known_loads: tuple[str, ...] = ()
    known_mass: float | None = None
    known_com: str | None = None
    known_body: str | None = None
    other_torque_constants: tuple[str, ...] = ()
    columns: str | None = None
    cutoff: float | None = None
    seed: int = 0
    gravity: str | None = None
    lock: tuple[str, ...] = ()
    empty_lock: tuple[str, ...] = ()
    tool_frame: str | None = None
    arguments: tuple[str, ...] = ()
    window: float | None = None
    topic: str | None = None

    command = "payload"

    @property
    def named(self) -> tuple[str | None, ...]:
        """What may be the name of a file it reads."""
        options = (self.model, self.mesh, self.truth, self.columns, self.known_body, self.limits)
        return (self.robot, *self.loaded, *self.empty, *self.known_loads, *options)


def carry_out(request: PayloadRequest, out: Path, *, force: bool = False) -> tuple[Weighed, dict[str, str]]:
    """Weigh, judge and write.

    Args:
        request: what was asked.
        out: folder for the asset.
        force: whether an earlier result may be replaced.

    Returns:
        What was found out, and the files by name.

    Raises:
        InputError: something asked for is not usable; nothing is written.
        NoSolutionError: the data does not determine a payload, or contradicts what was assumed.
    """
    from steelyard.cli.payload_asset import write_asset
    from steelyard.cli.payload_line import weighed
    from steelyard.export import require_free
    from steelyard.payload import METHODS, POINTS

    require_free(out, force=force)
    require_seed(request.seed)
    for place, value, valid in (
        ("--way", request.way, WAYS),
        ("--method", request.method, METHODS),
        ("--point", request.point, POINTS),
    ):
        if value not in valid:
            raise UnknownNameError("choice", value, valid, place=place)
    if request.window is not None and request.method != WINDOWS:
        raise InputError(
            f"'{request.method}' has no windows.",
            place="--window",
            remedy=f"Leave it out, or use --method {WINDOWS}.",
        )
    if request.mesh is not None and not Path(request.mesh).is_file():
        raise InputError("there is no such file.", place=request.mesh)
    truth = None if request.truth is None else read_payload(request.truth)
    done = weighed(request)
    return done, write_asset(done, request, out, truth=truth, force=force)


@dataclass(frozen=True, eq=False)
class KnownLoad:
    """What is known of the load in the runs of `--known-load`.

    Attributes:
        numbers: which combinations of its ten numbers in the payload's frame, shape (k, 10), SI.
        values: what they are, shape (k,), SI.
        body: the whole load in the payload's frame, where all of it is known.
    """

    numbers: Array
    values: Array
    body: Body | None


def known_load_of(request: PayloadRequest) -> KnownLoad | None:
    """What the options say of a known load; None where there is none.

    Raises:
        InputError: they do not go together.
    """
    stated = (request.known_mass, request.known_com, request.known_body)
    if not request.known_loads:
        if any(x is not None for x in stated):
            raise InputError(
                "says what a load is, but no run holds it.",
                place="--known-mass, --known-com or --known-body",
                remedy="Give its log by --known-load.",
            )
        return None
    if (request.known_mass is None) == (request.known_body is None):
        raise InputError(
            "needs its mass (--known-mass) or all of its numbers (--known-body), one of the two.",
            place="--known-load",
        )
    if not request.empty or request.model is not None:
        raise InputError(
            "needs runs without a load, and no model, whose torques would have to be calibrated as well.",
            place="--known-load",
            remedy="Give --empty, and leave --model out.",
        )
    if request.known_body is not None:
        if request.known_com is not None:
            raise InputError("is part of --known-body already.", place="--known-com")
        grasp = pose_of(request.grasp, "--grasp")
        body = read_payload(request.known_body)
        body = body if grasp is None else body.moved(grasp.inverse())
        return KnownLoad(np.eye(10), body.parameters, body)
    mass = request.known_mass
    assert mass is not None
    if not (np.isfinite(mass) and mass > 0.0):
        raise InputError(f"must be positive, got {mass:g} kg.", place="--known-mass")
    if request.known_com is None:
        return KnownLoad(np.eye(10)[:1], np.array([mass]), None)
    com = pose_of(request.known_com, "--known-com")
    assert com is not None
    return KnownLoad(np.eye(10)[:4], mass * np.array([1.0, *com.translation]), None)


def pose_of(text: str | None, place: str) -> Pose | None:
    """The pose that an option states: three numbers of a translation, or six with roll, pitch and yaw."""
    if text is None:
        return None
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if len(values) not in (3, 6) or not np.isfinite(values).all():
        raise InputError(
            f"expected three or six numbers between commas, got '{text}'.",
            place=place,
            remedy="Write x,y,z in m, or x,y,z,roll,pitch,yaw in m and rad.",
        )
    return Pose.from_rpy(values[3:] or (0.0, 0.0, 0.0), values[:3])
