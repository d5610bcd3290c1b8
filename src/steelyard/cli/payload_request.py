"""What `steelyard payload` was asked, and carrying it out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from steelyard.cli.recorded_request import RecordedRequest
from steelyard.errors import InputError, UnknownNameError
from steelyard.pose import Pose
from steelyard.robot import read_payload

if TYPE_CHECKING:
    from steelyard.cli.payload_line import Weighed

WAYS = ("auto", "residual", "model", "arm")


@dataclass(frozen=True)
class PayloadRequest(RecordedRequest):
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
    acceleration: float | None = None
    torque_constant: str | None = None
    torque_constant_error: str | None = None
    other_torque_constants: tuple[str, ...] = ()
    columns: str | None = None
    cutoff: float | None = None
    seed: int = 0
    gravity: str | None = None
    lock: tuple[str, ...] = ()
    empty_lock: tuple[str, ...] = ()
    tool_frame: str | None = None
    arguments: tuple[str, ...] = ()

    command = "payload"

    @property
    def named(self) -> tuple[str | None, ...]:
        """What may be the name of a file it reads."""
        options = (self.model, self.mesh, self.truth, self.columns)
        return (self.robot, *self.loaded, *self.empty, *options)


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
    for place, value, valid in (
        ("--way", request.way, WAYS),
        ("--method", request.method, METHODS),
        ("--point", request.point, POINTS),
    ):
        if value not in valid:
            raise UnknownNameError("choice", value, valid, place=place)
    if request.mesh is not None and not Path(request.mesh).is_file():
        raise InputError("there is no such file.", place=request.mesh)
    truth = None if request.truth is None else read_payload(request.truth)
    done = weighed(request)
    return done, write_asset(done, request, out, truth=truth, force=force)


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
