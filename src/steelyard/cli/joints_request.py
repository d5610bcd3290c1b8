"""What `steelyard joints` was asked, and carrying it out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import InputError
from steelyard.robot import StatedLimits
from steelyard.workflows.record import RecordedRequest, require_seed

if TYPE_CHECKING:
    from steelyard.cli.joints_line import Modelled

BANDWIDTH, MARGIN, TRAVEL = 20.0, 45.0, 0.5
"""Of the feedback, rad/s; phase margin, degrees; how far a joint may go, rad or m."""


@dataclass(frozen=True)
class JointsRequest(RecordedRequest, StatedLimits):
    """The arguments and options of the command, as they were given."""

    robot: str
    logs: tuple[str, ...] = ()
    sensor: str = "low-cost"
    posture: str | None = None
    backlash: float = 0.0
    travel: float = TRAVEL
    bandwidth: float | None = None
    margin: float = MARGIN
    inertia_range: str | None = None
    seed: int = 0
    gravity: str | None = None
    lock: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    columns: str | None = None
    topic: str | None = None

    command = "joints"

    @property
    def named(self) -> tuple[str | None, ...]:
        """What may be the name of a file it reads."""
        return (self.robot, *self.logs, self.columns, self.limits)


def carry_out(request: JointsRequest, out: Path, *, force: bool = False) -> tuple[Modelled, dict[str, str]]:
    """Experiment, fit, design and write.

    Args:
        request: what was asked.
        out: folder for models, controller and page.
        force: whether an earlier result may be replaced.

    Returns:
        What was found out, and the files by name.

    Raises:
        InputError: something asked for is not usable; nothing is written.
        NoSolutionError: a joint cannot be moved safely, does not follow its torque, or has no margin.
    """
    from steelyard.cli.joints_files import write_models
    from steelyard.cli.joints_line import modelled
    from steelyard.export import require_free

    require_free(out, force=force)
    require_seed(request.seed)
    done = modelled(request)
    return done, write_models(done, out, force=force)


def numbers_of(text: str, place: str, count: int) -> list[float]:
    """Numbers between commas, as many as are wanted."""
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if len(values) != count:
        raise InputError(f"expected {count} numbers between commas, got '{text}'.", place=place)
    return values
