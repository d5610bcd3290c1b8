"""Which column of a file is which quantity of which joint: decided from the names, or said by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.document import read_table
from steelyard.errors import InputError, RecordingError
from steelyard.recording.channels import (
    CHANNELS,
    TIME_SPELLINGS,
    Spelling,
    is_time,
    joint_number,
    spelling,
)

# Decided from the names alone

MAP = "Or say what columns are by hand with --columns, as in 'Uhr=time, Winkel 1=q_1 [deg]'"


@dataclass(frozen=True)
class Assignment:
    """The meaning of a file's columns; numbers are indices into them.

    Attributes:
        joints: names of the joints of the recording.
        time: the column of time.
        channels: for each channel present its columns, one per joint.
        extra: columns that belong to no joint.
        unselected: columns of joints that were not asked for.
    """

    joints: tuple[str, ...]
    time: int
    channels: Mapping[str, tuple[int, ...]]
    extra: tuple[int, ...]
    unselected: tuple[int, ...]


def assign(names: Sequence[str], shown: Sequence[str], joints: Sequence[str] | None) -> Assignment:
    """Decide what each column is.

    The position columns say which joints the file holds, in the order in which they come. Spelled as ours
    (`q_elbow`) or with a number they always count; other spellings with a name (`pos_elbow`) count when there
    are no such columns, so that `position_error` beside `q_1` stays what it is. Columns of the other channels
    belong to a joint only when the file holds that joint. Numbers count from 0 in a channel where 0 occurs.

    Args:
        names: names of the columns, after mapping.
        shown: the same columns as the file calls them, for messages.
        joints: the joints of the recording, which numbers index; None to take those of the file.

    Raises:
        RecordingError: time, positions or a joint of a channel are missing, or claimed by two columns.
    """
    readings = [None if is_time(name) else spelling(name) for name in names]
    from_zero = {r.channel for r in readings if r is not None and r.joint == 0}
    roster = _Roster.of(readings, from_zero, shown, joints)

    owner: dict[tuple[str, str], int] = {}
    extra = []
    for index, reading in enumerate(readings):
        if reading is None:
            if not is_time(names[index]):
                extra.append(index)
            continue
        joint = roster.joint(reading, shown[index])
        if joint is None:
            extra.append(index)
            continue
        first = owner.setdefault((reading.channel, joint), index)
        if first != index:
            _refuse_two(shown[first], shown[index], f"{reading.channel} of joint '{joint}'")

    selected = tuple(joints) if joints is not None else roster.joints
    channels = {}
    for channel in CHANNELS:
        columns = {joint: owner[channel, joint] for joint in selected if (channel, joint) in owner}
        if columns or channel == "q":
            missing = [joint for joint in selected if joint not in columns]
            if missing:
                _refuse_missing(channel, missing, [joint for c, joint in owner if c == channel])
            channels[channel] = tuple(columns.values())
    unselected = tuple(index for (_, joint), index in owner.items() if joint not in selected)
    return Assignment(selected, _time(names, shown), channels, tuple(extra), unselected)


@dataclass(frozen=True)
class _Roster:
    """The joints a file holds, and how its columns refer to them."""

    joints: tuple[str, ...]
    named: tuple[str, ...] | None
    from_zero: frozenset[str]

    @classmethod
    def of(
        cls,
        readings: Sequence[Spelling | None],
        from_zero: set[str],
        shown: Sequence[str],
        joints: Sequence[str] | None,
    ) -> _Roster:
        empty = cls((), None if joints is None else tuple(joints), frozenset(from_zero))
        positions = [(r, shown[i]) for i, r in enumerate(readings) if r is not None and r.channel == "q"]
        sure = [
            (r, name)
            for r, name in positions
            if r.own or isinstance(r.joint, int) or (joints is not None and r.joint in joints)
        ]
        other = [(r, name) for r, name in positions if isinstance(r.joint, str)]
        found = sure or other or positions
        if not found:
            raise RecordingError(
                f"no joint positions among the columns {_listed(shown)}.",
                remedy=f"Name them q_<joint> or q_1, q_2, …. {MAP}.",
            )
        names = (empty.named_by(r, name) for r, name in found)
        return cls(tuple(dict.fromkeys(names)), empty.named, empty.from_zero)

    def named_by(self, reading: Spelling, shown: str) -> str:
        """The joint a position column names."""
        if isinstance(reading.joint, str):
            return reading.joint
        number = self._number(reading)
        if self.named is None or str(number) in self.named:
            return str(number)
        if number > len(self.named):
            raise RecordingError(
                f"column '{shown}' is of joint {number}, but {len(self.named)} joints were given: "
                f"{_listed(self.named)}."
            )
        return self.named[number - 1]

    def joint(self, reading: Spelling, shown: str) -> str | None:
        """The joint of the file that a column refers to, or None when it refers to none."""
        if isinstance(reading.joint, str):
            return reading.joint if reading.joint in self.joints else None
        if reading.joint is None:
            return self.joints[0] if len(self.joints) == 1 else None
        if self.named is not None:
            return self.named_by(reading, shown)
        number = self._number(reading)
        if str(number) in self.joints:
            return str(number)
        by_name = all(joint_number(joint) is None for joint in self.joints)
        if by_name and number <= len(self.joints):
            return self.joints[number - 1]
        raise RecordingError(
            f"column '{shown}' is of joint {number}, but there are positions only of {_listed(self.joints)}.",
            remedy=f"If it belongs to no joint, give it another name. {MAP}.",
        )

    def _number(self, reading: Spelling) -> int:
        written = reading.joint if isinstance(reading.joint, int) else 1
        return written + 1 if reading.channel in self.from_zero and reading.joint is not None else written


def _time(names: Sequence[str], shown: Sequence[str]) -> int:
    found = [index for index, name in enumerate(names) if is_time(name)]
    if not found:
        raise RecordingError(
            f"no time among the columns {_listed(shown)}.",
            remedy=f"Name it one of {', '.join(TIME_SPELLINGS)}. {MAP}.",
        )
    if len(found) > 1:
        _refuse_two(shown[found[0]], shown[found[1]], "time")
    return found[0]


def _refuse_two(first: str, second: str, what: str) -> None:
    raise RecordingError(
        f"columns '{first}' and '{second}' both claim to be {what}.",
        remedy=f"Give one of them another meaning, as in --columns '{second}=other'.",
        evidence={"columns": (first, second)},
    )


def _refuse_missing(channel: str, missing: Sequence[str], found: Sequence[str]) -> None:
    raise RecordingError(
        f"no column for {channel} of joint {_listed(missing)}; there is one for joint {_listed(found)}.",
        remedy=f"Call the columns by the robot's joints, or hold a joint still with --lock. {MAP}.",
        evidence={"channel": channel, "missing": tuple(missing), "found": tuple(found)},
    )


def _listed(names: Sequence[str], most: int = 12) -> str:
    more = f", … ({len(names)} in all)" if len(names) > most else ""
    return (", ".join(f"'{name[:60]}'" for name in names[:most]) or "none") + more


# What the columns of a log are, said by hand: a line of text, or a file.

FORM = "NAME=MEANING, as in 'Uhr=time, Winkel 1=q_1 [deg]', or by number '1=time, 2-7=q, 8-13=v'"
_SUFFIXES = (".json", ".toml")
_RANGE = re.compile(r"(?P<first>[1-9][0-9]{0,3})\s*-\s*(?P<last>[1-9][0-9]{0,3})")
_MOST_BYTES = 1 << 20


def read_columns_map(text: str) -> dict[str, str]:
    """Read what the columns of a log mean.

    Inline, pairs `NAME=MEANING` are separated by commas; a name or meaning with a comma or an equals sign
    needs a file. A file is JSON or TOML with one table of such pairs. `MEANING` is our name of a column
    (`time`, `q_1`, `tau_elbow`), with its unit in brackets where it is not SI: `q_1 [deg]`. Columns of a file
    without a header are called by their numbers from 1, and a range `2-7=q [deg]` stands for `2=q_1 [deg]` to
    `7=q_6 [deg]`.

    Args:
        text: the pairs, or the path of a `.json` or `.toml` file.

    Returns:
        Our name of each column, by its name in the file, as `read(columns=…)` takes it.

    Raises:
        RecordingError: the text or the file has another form.
    """
    path = Path(text.strip())
    pairs = _from_file(path) if path.suffix.lower() in _SUFFIXES and "=" not in text else _inline(text)
    return expanded(pairs)


def expanded(pairs: Mapping[str, str]) -> dict[str, str]:
    """Return a map of columns with its ranges written out.

    Args:
        pairs: our name of each column or range of columns, by its name or numbers in the file.

    Returns:
        Our name of each column, by its name in the file.

    Raises:
        RecordingError: a range runs backwards, or a column is named twice.
    """
    columns: dict[str, str] = {}
    for name, meaning in pairs.items():
        for key, value in _written_out(name, meaning):
            if key in columns:
                raise RecordingError(f"column '{key}' is named twice.", place="columns")
            columns[key] = value
    return columns


def _written_out(name: str, meaning: str) -> list[tuple[str, str]]:
    match = _RANGE.fullmatch(name)
    if match is None or not isinstance(meaning, str):
        return [(name, meaning)]
    first, last = int(match["first"]), int(match["last"])
    if last < first:
        raise RecordingError(f"the range {name} runs backwards.", place="columns")
    word, blank, unit = meaning.partition(" ")
    return [(str(k), f"{word}_{k - first + 1}{blank}{unit}") for k in range(first, last + 1)]


def _inline(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in text.split(","):
        name, sign, meaning = (piece.strip() for piece in part.partition("="))
        if not (name and sign and meaning) or "=" in meaning:
            raise RecordingError(
                f"'{part.strip()[:60]}' does not say what a column is.",
                place="columns",
                remedy=f"Use {FORM}.",
            )
        if name in pairs:
            raise RecordingError(f"column '{name[:60]}' is named twice.", place="columns")
        pairs[name] = meaning
    return pairs


def _from_file(path: Path) -> dict[str, str]:
    try:
        pairs = read_table(path, most=_MOST_BYTES)
    except InputError as error:
        raise RecordingError(error.message, place=error.place, remedy=error.remedy) from error
    if not all(isinstance(value, str) for value in pairs.values()):
        raise RecordingError(
            "must be one table of names and meanings, all of them text.",
            place=str(path),
            remedy='Write {"Uhr": "time", "Winkel 1": "q_1 [deg]"} or the same in TOML.',
        )
    return pairs


def checked_columns(columns: Mapping[str, str] | str | None) -> dict[str, str]:
    """Return a map of columns, whether it was given as one or as text.

    Args:
        columns: a mapping, text as `read_columns_map` takes it, or None.

    Returns:
        Our name of each column, by its name in the file.

    Raises:
        RecordingError: it has another form.
    """
    if columns is None:
        return {}
    if isinstance(columns, str):
        return read_columns_map(columns)
    if not isinstance(columns, Mapping):
        raise InputError(f"must map names to names, got {type(columns).__name__}.", place="columns")
    return expanded(columns)
