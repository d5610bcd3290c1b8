"""The errors of the house: few, each carries its evidence, says the place and the remedy.

Every error inherits the builtin a caller would expect, so `except ValueError` keeps working. The command
line maps an `InputError` to exit code 2 and a `NoSolutionError` to exit code 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches


class SteelyardError(Exception):
    """Root of all errors raised on purpose.

    Attributes:
        message: what is wrong, in one sentence.
        place: where: a file with its line, an argument, a joint; empty when there is none.
        remedy: what to do about it; empty when nothing is known.
        evidence: the values that show it.
    """

    def __init__(
        self,
        message: str,
        *,
        place: str = "",
        remedy: str = "",
        evidence: Mapping[str, object] | None = None,
    ) -> None:
        self.message = message
        self.place = place
        self.remedy = remedy
        self.evidence = dict(evidence or {})
        super().__init__(self.sentence)

    @property
    def sentence(self) -> str:
        """Place, message and remedy in one line."""
        where = f"{self.place}: " if self.place else ""
        how = f" {self.remedy}" if self.remedy else ""
        return f"{where}{self.message}{how}"


@contextmanager
def leading_to(place: str) -> Iterator[None]:
    """Name the place, a file for instance, in errors that know only what is wrong in it.

    Args:
        place: where what is done within comes from; errors that name it, or an option, stay as they are.
    """
    try:
        yield
    except SteelyardError as error:
        if place not in error.place and not error.place.startswith("--"):
            error.place = f"{place}: {error.place}" if error.place else place
            error.args = (error.sentence,)
        raise


class InputError(SteelyardError, ValueError):
    """Something handed in is not usable: a value, a file, an option."""


class ShapeError(InputError):
    """An array has the wrong shape, type, or holds values that are not finite."""


class DescriptionError(InputError):
    """A robot description (URDF, MJCF) is malformed or contradicts itself."""


class RecordingError(InputError):
    """A log is malformed: empty, unequal lengths, time that does not increase, values that are not finite."""


class MissingExtraError(InputError, ImportError):
    """What was asked for needs a package that only an extra of this one installs."""

    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the package {package}, which is not installed.",
            remedy=f"Install it with: pip install 'steelyard[{extra}]'",
            evidence={"package": package, "extra": extra},
        )


MOST_CHOICES = 40
"""Names listed in a message; all of them are in its evidence."""
LONGEST_NAME = 80
"""Letters of a name repeated in a message: names come from files, which may be hostile."""


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"


class UnknownNameError(InputError, LookupError):
    """A name that does not exist; the message lists those that do, the nearest first."""

    def __init__(self, kind: str, name: str, choices: Iterable[str], *, place: str = "") -> None:
        self.kind = kind
        self.name = name
        self.choices = tuple(choices)
        near = get_close_matches(name, self.choices, n=1) if len(name) <= LONGEST_NAME else []
        guess = f"Did you mean '{_short(near[0])}'? " if near else ""
        listed = ", ".join(_short(choice) for choice in self.choices[:MOST_CHOICES]) or "none"
        if len(self.choices) > MOST_CHOICES:
            listed += f", … ({len(self.choices) - MOST_CHOICES} more)"
        super().__init__(
            f"unknown {kind} '{_short(name)}'.",
            place=place,
            remedy=f"{guess}Valid: {listed}.",
            evidence={"name": name, "choices": self.choices},
        )


class NoSolutionError(SteelyardError, RuntimeError):
    """The problem is well posed as input, but has no solution, or none was found within the budget."""


class SolverError(SteelyardError, RuntimeError):
    """A numerical solver gave up without proving anything."""
