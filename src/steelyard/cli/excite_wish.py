"""What `steelyard excite` is asked for: its arguments and options, and which words they may hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from steelyard.drive import ALL_TERMS
from steelyard.errors import InputError, UnknownNameError
from steelyard.identifiability import Criterion
from steelyard.robot import StatedLimits

FAMILIES = ("fourier", "spline", "primitives")
FOR = ("robot", "payload")
LIFTED = {"acceleration": "acceleration", "torque": "effort"}
"""Limits that may be left out, and what a joint calls them."""
_SEARCHED = ("period", "start", "budget", "rounds")
"""Options of a search, which a structured motion does not need."""
_OTHERS = {
    "fourier": ("pieces", "motion_name"),
    "spline": ("harmonics", "motion_name"),
    "primitives": ("harmonics", "pieces", *_SEARCHED),
}


@dataclass(frozen=True)
class Wish(StatedLimits):
    """The arguments and options of the command, as they were given."""

    robot: str
    family: str
    harmonics: int
    pieces: int
    period: float
    criterion: str
    whom: str
    start: str
    drive: str
    tool: Path | None
    tool_scale: float
    scene: Path | None
    distance: float
    after: tuple[str, ...]
    without: tuple[str, ...]
    parameter_range: float
    budget: float
    rounds: int | None
    seed: int
    gravity: str | None
    lock: tuple[str, ...]
    tool_frame: str | None
    arguments: tuple[str, ...]
    motion_name: str | None = None
    columns: str | None = None
    topic: str | None = None
    payload: Path | None = None
    ignore: tuple[str, ...] = ()
    floor: str = "base"

    @property
    def ignored_pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of links, obstacles or the tool that may touch, by the user's word."""
        pairs = []
        for words in self.ignore:
            first, colon, second = (word.strip() for word in words.partition(":"))
            if not (first and colon and second):
                raise InputError(f"expected two names as in link1:link2, got '{words}'.", place="--ignore")
            pairs.append((first, second))
        return tuple(pairs)


def refuse_in_vain(family: str, given: Iterable[str]) -> None:
    """Refuse options that were given, by the names of `Wish`, but say nothing about the family."""
    for name in given:
        if name in _OTHERS.get(family, ()):
            suits = [other for other in FAMILIES if name not in _OTHERS[other]]
            raise InputError(
                f"says nothing about --family {family}.",
                place=f"--{name.replace('_', '-')}",
                remedy=f"It goes with {' and '.join(suits)}.",
            )


def not_applicable(family: str) -> tuple[str, ...]:
    """Options that say nothing about a family, by the names of `Wish`."""
    return _OTHERS[family]


def require_known(wish: Wish) -> None:
    """Refuse words that the options do not know."""
    choices = (
        ("family", wish.family, FAMILIES, "--family"),
        ("criterion", wish.criterion, tuple(Criterion), "--criterion"),
        ("choice", wish.whom, FOR, "--for"),
        *(("limit", word, (*LIFTED, "clearance"), "--without") for word in wish.without),
        *(
            ("drive term", word.strip(), tuple(term.name for term in ALL_TERMS), "--drive")
            for word in wish.drive.split(",")
            if word.strip()
        ),
    )
    for kind, given, valid, place in choices:
        if given not in valid:
            raise UnknownNameError(kind, given, valid, place=place)
