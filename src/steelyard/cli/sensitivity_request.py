"""What `steelyard sensitivity` was asked, and carrying it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli.identify_request import digest_of
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.cli.sensitivity_line import Studied
    from steelyard.payload import Noise

COMMAND = "sensitivity"
_SYMBOLS = {"q": "position", "v": "velocity", "tau": "torque"}


@dataclass(frozen=True)
class SensitivityRequest:
    """The arguments and options of the command, as they were given."""

    robot: str
    payload: str | None = None
    motions: str = "sinusoid,pick-and-place"
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

    @property
    def inputs(self) -> tuple[str, ...]:
        """The files it reads."""
        named = (self.robot, self.payload)
        return tuple(name for name in named if name is not None and Path(name).exists())

    def document(self) -> dict[str, Any]:
        """The request with the digests of what it reads, for the record."""
        digests = {name: digest_of(Path(name)) for name in self.inputs}
        return {"command": COMMAND, **asdict(self), "inputs": digests}


def request_of(document: Mapping[str, Any]) -> SensitivityRequest:
    """The request that a record holds.

    Args:
        document: as `SensitivityRequest.document` makes it.

    Returns:
        The request.

    Raises:
        InputError: it is another command's, or a later version's.
    """
    known = {field.name for field in fields(SensitivityRequest)}
    if document.get("command") != COMMAND or set(document) - known - {"command", "inputs"}:
        raise InputError(
            "holds no request of `steelyard sensitivity` that this version knows.", place="record"
        )
    given: dict[str, Any] = {name: document[name] for name in known if name in document}
    for name, value in given.items():
        if isinstance(value, list):
            given[name] = tuple(value)
    return SensitivityRequest(**given)


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
        NoSolutionError: the robot cannot do one of the motions.
    """
    from steelyard.cli.sensitivity_files import write_study
    from steelyard.cli.sensitivity_line import studied
    from steelyard.export import require_free

    require_free(out, force=force)
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
