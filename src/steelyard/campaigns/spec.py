"""The file that describes a campaign: TOML, read with messages that say the line, turned into tasks."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from steelyard.archive import from_document, to_document
from steelyard.campaigns.task import TaskGraph, function_of
from steelyard.document import parse_toml, read_text
from steelyard.errors import InputError, UnknownNameError
from steelyard.files import FilePath
from steelyard.robot import Robot, StatedLimits, with_limits
from steelyard.zoo import find_robot

# A TOML table, read key by key

T = TypeVar("T")
LARGEST_INTEGER = (1 << 63) - 1
LONGEST_TEXT = 1000
"""Letters of a text, which may be a path."""
LONGEST_KEY = 200
"""Letters of a line in which a header or a key is looked for."""


class Section:
    """A table whose keys are taken by name; those that were not taken are refused at the end.

    Attributes:
        content: of the table.
    """

    def __init__(
        self, content: Mapping[str, Any], file: str, text: str, path: tuple[str, ...] = (), first: int = 1
    ) -> None:
        """Wrap a table.

        Args:
            content: of the table.
            file: what to call the file in messages.
            text: of the file, in which lines are looked up.
            path: names of the table and of those it is in.
            first: line of the file at or before which it begins.
        """
        self.content = content
        self._file, self._text, self._path, self._first = file, text, path, first
        self._taken: set[str] = set()
        self._inner: dict[str, tuple[Section, ...]] = {}

    def place(self, key: str = "") -> str:
        """The file, the line as far as it can be found, and the key, for a message."""
        path = (*self._path, key) if key else self._path
        line = _line(self._text, path, self._first)
        where = f"{self._file}:{line}" if line else self._file
        return f"{where}: {'.'.join(path)}" if path else where

    def has(self, key: str) -> bool:
        """Whether a key is given; one that is asked about may stand here."""
        self._taken.add(key)
        return key in self.content

    def section(self, key: str) -> Section:
        """A table in this one, empty when it is not given.

        Raises:
            InputError: it is not a table.
        """
        if key not in self._inner:
            content = self._a(dict, "a table", key, {})
            path = (*self._path, key)
            self._inner[key] = (Section(content, self._file, self._text, path, self._first),)
        return self._inner[key][0]

    def table(self, key: str) -> dict[str, Any]:
        """A table as it stands, for a reader of its own; empty when it is not given."""
        return dict(self._a(dict, "a table", key, {}))

    def text(self, key: str, default: str | None = None) -> str:
        """A text that is not empty and can be printed on a line."""
        value = self._a(str, "a text", key, default)
        if not value.strip():
            raise InputError("must not be empty.", place=self.place(key))
        if len(value) > LONGEST_TEXT or not value.isprintable():
            raise InputError(
                f"must be one line of at most {LONGEST_TEXT} letters.",
                place=self.place(key),
                remedy="Leave out what cannot be printed.",
            )
        return value

    def choice(self, key: str, choices: Sequence[str], default: str | None = None) -> str:
        """One of several words."""
        value = self.text(key, default)
        if value not in choices:
            raise UnknownNameError(key, value, choices, place=self.place(key))
        return value

    def flag(self, key: str, default: bool | None = None) -> bool:
        """True or false."""
        return self._a(bool, "true or false", key, default)

    def integer(self, key: str, default: int | None = None, *, least: int | None = None) -> int:
        """A whole number of at most 63 bits, at least `least`."""
        value = self._a(int, "a whole number", key, default)
        if not -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
            raise InputError(f"must be at most {LARGEST_INTEGER:d}.", place=self.place(key))
        if least is not None and value < least:
            raise InputError(f"must be at least {least}, got {value}.", place=self.place(key))
        return value

    def number(self, key: str, default: float | None = None, *, least: float | None = None) -> float:
        """A finite number, at least `least`."""
        self._taken.add(key)
        value = self._number(self.content.get(key, default), key)
        if least is not None and value < least:
            raise InputError(f"must be at least {least}, got {value}.", place=self.place(key))
        return value

    def numbers(self, key: str, default: Sequence[float] | None = None) -> tuple[float, ...]:
        """A list of finite numbers."""
        given = self._a(list, "a list of numbers", key, None if default is None else list(default))
        return tuple(self._number(item, key) for item in given)

    def rows(
        self, key: str, default: Sequence[Sequence[float]] | None = None
    ) -> tuple[tuple[float, ...], ...]:
        """A list of lists of finite numbers, all of one length."""
        words = "a list of lists of numbers"
        given = self._a(list, words, key, None if default is None else [list(row) for row in default])
        if not all(isinstance(row, list) for row in given):
            raise InputError(f"must be {words}.", place=self.place(key))
        if len({len(row) for row in given}) > 1:
            raise InputError("its rows differ in length.", place=self.place(key))
        return tuple(tuple(self._number(item, key) for item in row) for row in given)

    def texts(self, key: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """A list of texts."""
        given = self._a(list, "a list of texts", key, None if default is None else list(default))
        if not all(isinstance(item, str) for item in given):
            raise InputError("must be a list of texts.", place=self.place(key))
        return tuple(given)

    def refuse_others(self) -> None:
        """Refuse keys, here and in the tables within, that were not taken: misspelt, or asked for in vain.

        Raises:
            UnknownNameError: there is one; the message lists those that were taken.
        """
        for key in self.content:
            if key not in self._taken:
                raise UnknownNameError("key", key, sorted(self._taken), place=self.place(key))
        for inner in self._inner.values():
            for section in inner:
                section.refuse_others()

    def _a(self, kind: type[T], words: str, key: str, default: T | None) -> T:
        self._taken.add(key)
        value = self.content.get(key, default)
        if value is None:
            raise InputError("is missing.", place=self.place(key), remedy=f"It must be {words}.")
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise InputError(f"must be {words}, got {str(value)[:80]!r}.", place=self.place(key))
        return value

    def _number(self, value: Any, key: str) -> float:
        if value is None:
            raise InputError("is missing.", place=self.place(key), remedy="It must be a number.")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(f"must be a number, got {str(value)[:80]!r}.", place=self.place(key))
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise InputError("must be finite.", place=self.place(key))
        return number


def _header(line: str) -> tuple[str, ...]:
    """The name of the table that a line begins; empty for any other line."""
    stripped = line[:LONGEST_KEY].strip()
    if not stripped.startswith("["):
        return ()
    name, bracket, rest = stripped.removeprefix("[").removeprefix("[").partition("]")
    after = rest.removeprefix("]").lstrip()
    return _parts(name) if bracket and "[" not in name and (not after or after.startswith("#")) else ()


def _key(line: str) -> tuple[str, ...]:
    """The key that a line sets; empty where it sets none."""
    name, equals, _ = line[:LONGEST_KEY].partition("=")
    return _parts(name) if equals else ()


def _line(text: str, path: tuple[str, ...], first: int) -> int:
    """The line, from `first` on, where a key is set, or else its table begins; 0 when neither is found.

    A look at the text, not a parse: enough to lead the reader to the place.
    """
    table: tuple[str, ...] = ()
    best = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _header(line):
            table = header
            if number >= first and path[: len(table)] == table and (table == path or not best):
                best = number
        elif number >= first and (*table, *_key(line)) == path and _key(line):
            return number
    return best


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


# The file: a `[campaign]` table, and the tables of its kind

MOST_BYTES = 1 << 20
"""Longest file that is read."""


@dataclass(frozen=True)
class Spec:
    """A campaign as it was asked for.

    Attributes:
        kind: who turns it into tasks.
        name: of the campaign.
        seed: of all its random numbers.
        content: the whole file; its kind reads what it knows, and the rest is refused.
        path: the file, beside which other files are looked for.
    """

    kind: str
    name: str
    seed: int
    content: Section
    path: Path

    @classmethod
    def read(cls, path: FilePath) -> Spec:
        """Read the description of a campaign.

        Args:
            path: a TOML file.

        Returns:
            The description; `seed` is 0 and `name` that of the file when they are not given.

        Raises:
            InputError: the file cannot be read, is not TOML, or lacks what every campaign needs; the message
                has the line.
        """
        path = Path(path)
        place = str(path)
        text = read_text(path, most=MOST_BYTES)
        document = parse_toml(text, place=place)
        whole = Section(document, place, text)
        if "campaign" not in document:
            raise InputError(
                "has no [campaign] table.", place=place, remedy='Begin with [campaign], kind = "…".'
            )
        campaign = whole.section("campaign")
        kind = campaign.text("kind")
        name = campaign.text("name", path.stem)
        seed = campaign.integer("seed", 0, least=0)
        return cls(kind, name, seed, whole, path)


# Robots in the parameters of tasks: the whole description travels, so that workers need no file.


def robot_document(
    name: str, limits: Mapping[str, Any] | str | None = None, place: str = ""
) -> dict[str, Any]:
    """The description of a robot as JSON values.

    Args:
        name: a zoo name, or the path of a description.
        limits: what is stated beside the description, as a file of limits holds it, or the path of such a
            file; None for nothing.
        place: where it is stated, for messages.

    Raises:
        InputError: there is no such robot, or its limits are not usable.
    """
    robot = find_robot(name)
    if isinstance(limits, str):
        robot = StatedLimits(limits=limits).limited(robot)
    elif limits is not None:
        robot = with_limits(robot, limits, place)
    document: dict[str, Any] = to_document(robot)
    return document


def described_robot(spec: Spec) -> dict[str, Any]:
    """The robot that a campaign's file names, with the limits stated there, as JSON values.

    Args:
        spec: the file: `[robot]` with `name` and, where limits are stated, `limits`: a table, or the path of
            a file with one.

    Returns:
        The document.

    Raises:
        InputError: there is no such robot, or its limits are not usable; the message has the line.
    """
    described = spec.content.section("robot")
    name, limits = described.text("name"), None
    if described.has("limits"):
        as_text = isinstance(described.content["limits"], str)
        limits = described.text("limits") if as_text else described.table("limits")
    return robot_document(name, limits, described.place("limits"))


def robot_of(document: Mapping[str, Any]) -> Robot:
    """The robot of a document; a worker reads each only once.

    Args:
        document: of `robot_document`.
    """
    return _read(json.dumps(document, sort_keys=True))


@lru_cache(maxsize=8)
def _read(text: str) -> Robot:
    return from_document(Robot, json.loads(text))


# Kinds of campaigns: who turns a description into tasks.

KINDS = {
    "identification": "steelyard.campaigns.identification.plan:identification",
    "monte-carlo": "steelyard.campaigns.monte_carlo:monte_carlo",
}
"""Who turns a `Spec` into a `CampaignPlan`, `package.module:function`, by what `[campaign] kind` says."""


@dataclass(frozen=True, eq=False)
class CampaignPlan:
    """A campaign ready to run.

    Attributes:
        graph: its tasks.
        finish: the task whose result is the answer of the whole.
    """

    graph: TaskGraph
    finish: str

    def __post_init__(self) -> None:
        if self.finish not in self.graph.tasks:
            raise UnknownNameError("task", self.finish, self.graph.tasks, place="finish")


def plan(spec: Spec) -> CampaignPlan:
    """Turn a description into tasks.

    Args:
        spec: the description.

    Returns:
        The tasks and the one that answers.

    Raises:
        InputError: the kind is unknown, or the description does not suit it.
    """
    if spec.kind not in KINDS:
        place = spec.content.section("campaign").place("kind")
        raise UnknownNameError("kind of campaign", spec.kind, sorted(KINDS), place=place)
    made = function_of(KINDS[spec.kind])(spec)
    if not isinstance(made, CampaignPlan):
        raise TypeError(f"{KINDS[spec.kind]} returned a {type(made).__name__}, not a Plan")
    spec.content.refuse_others()
    return made
