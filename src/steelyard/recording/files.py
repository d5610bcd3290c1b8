"""Recordings and files: one reader and one writer, which choose the format by the suffix."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn, overload

from numpy.typing import ArrayLike

from steelyard.budget import memory_budget
from steelyard.errors import InputError, MissingExtraError, RecordingError, UnknownNameError
from steelyard.files import FilePath, read_bytes, write_bytes
from steelyard.finding import Finding
from steelyard.recording import bags, formats
from steelyard.recording.assembly import assemble_recording
from steelyard.recording.columns import checked_columns
from steelyard.recording.given import DataFrame, Log, log_name, table_of
from steelyard.recording.lerobot import (
    PREFIX,
    ChosenEpisodes,
    Dataset,
    chosen,
    episode_logs,
    episode_numbers,
    read_episode,
)
from steelyard.recording.recording import KEY, Recording, Step, parsed
from steelyard.recording.servo_units import Units, units_of
from steelyard.recording.table import Table

Calibration = FilePath | Mapping[str, tuple[float, float]] | None
"""A calibration file, or the least and largest position of joints by name, rad or m."""


class _Format(NamedTuple):
    encode: Callable[[Recording], bytes]
    decode: Callable[[bytes], Table]
    require: Callable[[], object] = lambda: None
    """Raises where a package is missing that it needs."""


_FORMATS = {
    ".csv": _Format(formats.encode_csv, formats.decode_csv),
    ".parquet": _Format(formats.encode_parquet, formats.decode_parquet, formats.arrow),
    ".npz": _Format(formats.encode_npz, formats.decode_npz),
}
SUFFIXES = tuple(_FORMATS)
"""Kinds of files that are read and written."""
SHARE = 0.25
"""Largest file, as a share of the budget of memory: its numbers take a few times their text."""
_READ_ONLY = {".pt": formats.decode_tensors, ".pth": formats.decode_tensors}
READABLE = (*SUFFIXES, *bags.CONTAINERS, *_READ_ONLY)
"""Kinds of files that are read; a folder that is a bag or a LeRobot dataset is read as well."""


@dataclass(frozen=True)
class Reading:
    """A log that was read on past its defects.

    Attributes:
        recording: what can be used of it.
        findings: everything that was left out, with its place, and what else was noticed while reading.
    """

    recording: Recording
    findings: tuple[Finding, ...]


@overload
def read(
    log: Log,
    *,
    joints: Sequence[str] | None = ...,
    columns: Mapping[str, str] | str | None = ...,
    topic: str | None = ...,
    rate: float | None = ...,
    units: Units | str | None = ...,
    calibration: Calibration = ...,
    lenient: Literal[False] = ...,
) -> Recording: ...


@overload
def read(
    log: Log,
    *,
    joints: Sequence[str] | None = ...,
    columns: Mapping[str, str] | str | None = ...,
    topic: str | None = ...,
    rate: float | None = ...,
    units: Units | str | None = ...,
    calibration: Calibration = ...,
    lenient: Literal[True],
) -> Reading: ...


def read(
    log: Log,
    *,
    joints: Sequence[str] | None = None,
    columns: Mapping[str, str] | str | None = None,
    topic: str | None = None,
    rate: float | None = None,
    units: Units | str | None = None,
    calibration: Calibration = None,
    lenient: bool = False,
) -> Recording | Reading:
    """Read a log, or take one that is in memory.

    Columns are `time` (s) and, per joint, `q_`, `v_`, `a_`, `tau_`, `current_`, `qref_`, `vref_`, `aref_`
    followed by the joint's name or its number from 1; common spellings of other tools are recognised. Values
    are taken to be in SI units unless the column's name states another one, as in `q_1 [deg]` or `time_ms`.
    Other numeric columns become extra ones; what cannot is listed in the history as ignored, with the reason.
    Without `joints`, joints known by number are named `"1"`, `"2"`, ….

    A bag gives what one topic tells, a row for each message, every value with its joint whatever the order in
    the message; with several topics, what the others tell at these times.

    An episode of a LeRobot dataset is a log: `DATASET#3`, or `DATASET` where it has only one. Positions are
    its `observation.state`, references its `action`, called by their names in `meta/info.json`.

    Args:
        log: a `.csv`, `.parquet` or `.npz` file, a `.pt` file of tensors by name, or a ROS 2 bag: a `.db3` or
            `.mcap` file, or its folder; the folder of a LeRobot dataset, or `lerobot:ORG/NAME` of the Hub; a
            recording; columns by name, where a matrix `q` is `q_1`, `q_2`, …; or a data frame.
        joints: the joints of the recording in their order; numbers in column names index it, and joints of
            the file that are not in it are ignored.
        columns: our name for a column, by its name in the file, as in `{"Shoulder angle": "q_1 [deg]"}`, or
            text as `read_columns_map` takes it; columns of a CSV file without a header go by number.
        topic: the topic of a bag that holds several of joint states; or several with commas between, of which
            the first that tells a channel gives it.
        rate: sampling rate of a log that has no column of time, Hz.
        units: in which units positions and what belongs to them are where no column states one: `rad`,
            `degrees`, `normalised` or `counts:SERVO`, for joints by name as in `degrees,gripper=normalised`;
            None for SI, which a LeRobot dataset does not promise.
        calibration: a calibration file of LeRobot, or least and largest position of the normalised range by
            joint, rad or m.
        lenient: whether to read on past rows that cannot be used, and say which they are.

    Returns:
        The recording; the last step of its history says which file it came from and what each column became.
        With `lenient`, a `Reading` of the recording and the findings.

    Raises:
        RecordingError: the file is missing, damaged, or does not hold a valid recording.
    """
    if not isinstance(log, str | PathLike):
        return _taken(log, joints, columns, topic, rate, units_of(units, calibration), lenient=lenient)
    said, meanings = units_of(units, calibration), checked_columns(columns)
    episodes = chosen(log)
    if episodes is None:
        source = Path(log)
        files = {file: _bytes(file) for file in _files(source)}
        kind = next(iter(files)).suffix.lower()
    else:
        source, files, kind = _one_episode(episodes), {}, ""
    try:
        if topic is not None and kind not in bags.CONTAINERS:
            raise RecordingError("only bags have topics.", place="topic", remedy="Leave --topic out.")
        contents: Sequence[bytes] = list(files.values())
        about: Mapping[str, object] = {"format": kind[1:]}
        if episodes is not None:
            dataset, number = Dataset.of(episodes.folder), int(source.name.rpartition("#")[2])
            found = read_episode(dataset, number, joints, said, share=SHARE)
            table, contents = found.table, found.contents
            about = {"format": f"lerobot {dataset.version}", **found.detail}
        elif kind in bags.CONTAINERS:
            table = bags.bag_table(bags.bag_of(files), topic, joints)
        elif kind == ".csv":
            table = formats.decode_csv(contents[0], headless=bool(meanings), lenient=lenient)
        elif kind in _READ_ONLY:
            table = _READ_ONLY[kind](contents[0])
        else:
            table = _FORMATS[kind].decode(contents[0])
        made = assemble_recording(
            table, joints=joints, columns=meanings, rate=rate, units=said, lenient=lenient
        )
        untouched = joints is None and not meanings and rate is None and said is None and not lenient
        history = _history(table, made.recording if untouched else None)
    except UnknownNameError as error:
        where = f"{source}: {error.place}" if error.place else str(source)
        raise UnknownNameError(error.kind, error.name, error.choices, place=where) from error
    except MissingExtraError:
        raise
    except InputError as error:
        where = f"{source}: {error.place}" if error.place else str(source)
        raise RecordingError(
            error.message, place=where, remedy=error.remedy, evidence=error.evidence
        ) from error
    notes = {"notes": [finding.message for finding in table.findings]} if table.findings else {}
    detail = {"file": source.name, **about, **made.detail, **notes}
    step = Step("read", detail, _digest(contents))
    recording = replace(made.recording, provenance=(*history, step))
    if not lenient:
        return recording
    return Reading(recording, tuple(_in_file(finding, source.name) for finding in made.findings))


def _taken(
    log: Recording | Mapping[str, ArrayLike] | DataFrame,
    joints: Sequence[str] | None,
    columns: Mapping[str, str] | str | None,
    topic: str | None,
    rate: float | None,
    units: Units | None,
    *,
    lenient: bool,
) -> Recording | Reading:
    """A log that is in memory; a recording of these joints as it is, once its history has a name for it."""
    name, meanings = log_name(log), checked_columns(columns)
    if topic is not None:
        raise RecordingError("only bags have topics.", place=name, remedy="Leave --topic out.")
    same = isinstance(log, Recording) and (joints is None or tuple(joints) == log.joints)
    if isinstance(log, Recording):
        # A recording is in SI, whatever the logs beside it are in.
        units = None
    if isinstance(log, Recording) and same and not meanings and rate is None:
        if not any(step.action == "read" for step in log.provenance):
            log = log.revised("read", {"file": name, "format": "memory"})
        return Reading(log, ()) if lenient else log
    try:
        made = assemble_recording(
            table_of(log), joints=joints, columns=meanings, rate=rate, units=units, lenient=lenient
        )
    except UnknownNameError as error:
        where = f"{name}: {error.place}" if error.place else name
        raise UnknownNameError(error.kind, error.name, error.choices, place=where) from error
    except InputError as error:
        where = f"{name}: {error.place}" if error.place else name
        raise RecordingError(
            error.message, place=where, remedy=error.remedy, evidence=error.evidence
        ) from error
    history = log.provenance if isinstance(log, Recording) else ()
    step = Step("read", {"file": name, "format": "memory", **made.detail})
    recording = replace(made.recording, provenance=(*history, step))
    if not lenient:
        return recording
    return Reading(recording, tuple(_in_file(finding, name) for finding in made.findings))


def write(recording: Recording, path: FilePath) -> None:
    """Write a recording; the file appears whole or not at all.

    Every format carries the content exactly. Parquet and npz carry the history too, CSV does not.

    Args:
        recording: what to write.
        path: a `.csv`, `.parquet` or `.npz` file; an existing one is replaced.

    Raises:
        RecordingError: the suffix is not supported, or the file cannot be written.
    """
    target = Path(path)
    data = _format(target).encode(recording)
    try:
        write_bytes(target, data)
    except InputError as error:
        raise RecordingError(error.message, place=error.place, remedy=error.remedy) from error


def require_writable_log(path: FilePath) -> None:
    """Refuse a log of a kind that could not be written, before anything is computed for it.

    Args:
        path: the file, which need not exist.

    Raises:
        RecordingError: the suffix is not supported.
        MissingExtraError: the package that writes it is not installed; names the extra.
    """
    _format(Path(path)).require()


def require_readable_logs(logs: Iterable[Log]) -> None:
    """Refuse logs that are missing or of a kind that cannot be read, before the first of them is worked on.

    Args:
        logs: files, or folders of bags; logs in memory are readable.

    Raises:
        RecordingError: one is missing, or its suffix is not supported.
        MissingExtraError: the package that reads one is not installed; names the extra.
    """
    for log in logs:
        if not isinstance(log, str | PathLike):
            continue
        if (episodes := chosen(log)) is not None:
            formats.arrow()
            episode_logs(episodes)
            continue
        source = Path(log)
        if not source.exists():
            raise RecordingError("no such file.", place=str(source))
        kind = _files(source)[0].suffix.lower()
        if kind in _FORMATS:
            _FORMATS[kind].require()


def single_logs(logs: Iterable[Log]) -> list[Log]:
    """Logs each of which is one recording: those of a dataset are its episodes.

    Args:
        logs: logs, of which some may be datasets, or several episodes of one.

    Returns:
        The same, with `DATASET#0`, `DATASET#1`, … in place of `DATASET`.

    Raises:
        RecordingError: a dataset is damaged, or has none of the episodes.
    """
    found: list[Log] = []
    for log in logs:
        episodes = chosen(log) if isinstance(log, str | PathLike) else None
        found += [log] if episodes is None else episode_logs(episodes)
    return found


def single_log(log: Log, place: str) -> Log:
    """A log that is one recording.

    Args:
        log: a log; of a dataset with one episode it is that.
        place: what to call it in messages, as `--holdout`.

    Raises:
        RecordingError: it is several episodes of a dataset.
    """
    logs = single_logs([log])
    if len(logs) > 1:
        raise RecordingError(
            f"is {len(logs)} episodes of a dataset, and one log is expected.",
            place=place,
            remedy=f"Choose one of them, as {log_name(logs[-1])}.",
        )
    return logs[0]


def log_files(log: FilePath) -> tuple[Path, ...]:
    """The files that a log of several is read from, for a digest of its content.

    Args:
        log: a path, perhaps with a choice of episodes.

    Returns:
        The files of a dataset in their order, none of them a video; none where the path is of something else.

    Raises:
        RecordingError: the dataset is damaged.
    """
    if os.fspath(log).startswith(PREFIX):
        return ()
    episodes = chosen(log)
    return () if episodes is None else tuple(Dataset.of(episodes.folder).files())


def same_episodes(log: FilePath, other: FilePath) -> bool:
    """Whether two logs of the same content share an episode, by what follows the `#` of their names.

    Args:
        log: the name of a log.
        other: that of another.
    """
    first, second = (_chosen_numbers(os.fspath(name)) for name in (log, other))
    return first is None or second is None or bool(first & second)


def _chosen_numbers(name: str) -> set[int] | None:
    _, mark, choice = name.rpartition("#")
    try:
        return set(episode_numbers(choice, name)) if mark else None
    except RecordingError:
        return None


def _one_episode(episodes: ChosenEpisodes) -> Path:
    """The name of the only episode that is chosen."""
    logs = episode_logs(episodes) if episodes.numbers is None or len(episodes.numbers) > 1 else []
    if len(logs) > 1:
        raise RecordingError(
            f"holds {len(logs)} episodes, each a log of its own.",
            place=str(episodes.folder),
            remedy=f"Choose one of them, as {logs[0]} to {logs[-1]}.",
            evidence={"episodes": len(logs)},
        )
    return Path(logs[0] if logs else f"{episodes.folder}#{(episodes.numbers or (0,))[0]}")


def _files(source: Path) -> list[Path]:
    """The file itself, or the files of a bag that is a folder."""
    if source.is_dir():
        files = bags.bag_files(source)
        if files:
            return files
        raise RecordingError(
            "is a directory.",
            place=str(source),
            remedy="Give the path of a file, or of the folder of a bag or a LeRobot dataset.",
        )
    if source.suffix.lower() not in READABLE:
        _refuse_suffix(source, READABLE)
    return [source]


def _bytes(source: Path) -> bytes:
    if not source.exists():
        raise RecordingError("no such file.", place=str(source))
    try:
        data = read_bytes(source, most=int(SHARE * memory_budget()))
    except InputError as error:
        raise RecordingError(error.message, place=error.place, remedy=error.remedy) from error
    if not data:
        raise RecordingError("is empty.", place=str(source))
    return data


def _format(path: Path) -> _Format:
    if path.suffix.lower() not in _FORMATS:
        _refuse_suffix(path, SUFFIXES)
    return _FORMATS[path.suffix.lower()]


def _refuse_suffix(path: Path, choices: Sequence[str]) -> NoReturn:
    raise RecordingError(
        f"unknown kind of log '{path.suffix}'.",
        place=str(path),
        remedy=f"Supported are {', '.join(choices)}; convert the log to one of these.",
        evidence={"suffix": path.suffix, "choices": tuple(choices)},
    )


def _digest(contents: Sequence[bytes]) -> str:
    """The SHA-256 of a file, or of the files of a split bag one after the other."""
    sha = hashlib.sha256()
    for content in contents:
        sha.update(content)
    return sha.hexdigest()


def _in_file(finding: Finding, name: str) -> Finding:
    return replace(finding, place=f"{name}: {finding.place}" if finding.place else name)


def _history(table: Table, recording: Recording | None) -> tuple[Step, ...]:
    """The history a file of our own carries, once its content is seen to be the one it was written with."""
    if KEY not in table.stamp:
        return ()
    stamp = parsed(str(table.stamp[KEY]))
    digest = (recording or assemble_recording(table).recording).digest
    if stamp.digest != digest:
        raise RecordingError(
            f"the content does not match the digest {stamp.digest[:12]} it was written with: the file is "
            "damaged, or was changed and its history is no longer true.",
            remedy=f"Restore the file, or remove its entry '{KEY}'.",
            evidence={"digest": digest, "written": stamp.digest},
        )
    return stamp.provenance
