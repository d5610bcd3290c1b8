"""What `steelyard sensitivity` was asked, and carrying it out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import InputError
from steelyard.robot import StatedLimits
from steelyard.workflows.record import RecordedRequest, require_seed

if TYPE_CHECKING:
    from steelyard.cli.sensitivity_line import Studied
    from steelyard.payload import Noise

USUAL = "sinusoid,pick-and-place"
"""Kinds of motions where none are asked for; one that the robot cannot do is left out."""
MOST_MOTIONS, MOST_TRIALS = 1000, 100_000
"""Most motions of a kind and most trials of each noise: more is a slip of the pen."""
FASTEST = 1e5
"""Highest rate of the samples, Hz."""
_SYMBOLS = {"q": "position", "v": "velocity", "tau": "torque"}


@dataclass(frozen=True)
class SensitivityRequest(RecordedRequest, StatedLimits):
    """The arguments and options of the command, as they were given."""

    robot: str
    payload: str | None = None
    motions: str | None = None
    noise: str | None = None
    filters: str | None = None
    trials: int = 18
    count: int = 10
    rate: float = 200.0
    seed: int = 0
    gravity: str | None = None
    lock: tuple[str, ...] = ()
    tool_frame: str | None = None
    arguments: tuple[str, ...] = ()

    command = "sensitivity"

    @property
    def named(self) -> tuple[str | None, ...]:
        """What may be the name of a file it reads."""
        return (self.robot, self.payload, self.limits)


def carry_out(
    request: SensitivityRequest, out: Path, *, force: bool = False
) -> tuple[Studied, dict[str, str]]:
    """Study and write.

    Args:
        request: what was asked.
        out: folder for tables and page.
        force: whether an earlier result may be replaced.

    Returns:
        What was found out, and the files by name.

    Raises:
        InputError: something asked for is not usable; nothing is written.
        NoSolutionError: the robot cannot do one of the motions that were asked for.
    """
    from steelyard.cli.sensitivity_files import write_study
    from steelyard.cli.sensitivity_line import studied
    from steelyard.export import require_free

    require_free(out, force=force)
    require_seed(request.seed)
    for place, number, most in (
        ("--count", request.count, MOST_MOTIONS),
        ("--trials", request.trials, MOST_TRIALS),
    ):
        if not 1 <= number <= most:
            raise InputError(f"must be 1 to {most}, got {number:.4g}.", place=place)
    if not 0.0 < request.rate <= FASTEST:
        raise InputError(
            f"must be positive and at most {FASTEST:g} Hz, got {request.rate:g} Hz.", place="--rate"
        )
    done = studied(request)
    return done, write_study(done, out, force=force)


def noises_of(text: str) -> tuple[Noise, ...]:
    """The noises that the option states: `q=0.01,v=0.01;tau=0.1`."""
    from steelyard.payload import Noise

    return tuple(Noise(**_deviations(case)) for case in text.split(";") if case.strip())


def names_of(text: str) -> tuple[str, ...]:
    """Names between commas, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def _deviations(case: str) -> dict[str, float]:
    values: dict[str, float] = {}
    for part in case.split(","):
        symbol, _, number = part.partition("=")
        name = _SYMBOLS.get(symbol.strip())
        try:
            value = float(number)
        except ValueError:
            name = None
        if name is None or name in values:
            raise InputError(
                f"expected q, v and tau, each once and with a number, got '{case.strip()}'.",
                place="--noise",
                remedy="Write q=0.01,v=0.01;tau=0.1.",
            )
        values[name] = value
    return values
