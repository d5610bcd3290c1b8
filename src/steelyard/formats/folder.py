"""A folder of files that appears whole or not at all, and the record of how a result came about."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import secrets
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import ArrayLike

from steelyard.archive import to_document
from steelyard.document import read_json
from steelyard.errors import InputError
from steelyard.files import FilePath, require_possible, require_writable, unwritable, write_bytes
from steelyard.finding import Finding
from steelyard.interruptions import interrupted_afterwards
from steelyard.layout import Layout
from steelyard.robot import Robot

# `record.json`: how a result came about, so that it can be judged and repeated.

KIND = "steelyard-result"
"""What a record says it is; a folder with such a record may be replaced."""
RECORD_SCHEMA = 1
_PACKAGES = ("steelyard", "numpy", "scipy", "numba", "pin", "mujoco", "clarabel", "highspy")


class RecordedStep(Protocol):
    """Something that was done to data, as `recording.Step` says it."""

    @property
    def action(self) -> str:
        """What was done, in a word."""

    @property
    def detail(self) -> Mapping[str, Any]:
        """Its settings, as values JSON can hold."""

    @property
    def digest(self) -> str:
        """SHA-256 of what it was done to."""


def record_document(
    robot: Robot,
    layout: Layout,
    files: Mapping[str, bytes],
    *,
    estimate: Mapping[str, object] | None = None,
    steps: Sequence[RecordedStep] = (),
    seed: int | None = None,
    request: Mapping[str, object] | None = None,
    verdict: Mapping[str, object] | None = None,
    judges: Mapping[str, Sequence[str]] | None = None,
    locks: Mapping[str, ArrayLike] | None = None,
) -> dict[str, Any]:
    """The record of a result, as values JSON can hold.

    Args:
        robot: the robot.
        layout: the parameters asked about.
        files: the content of every other file of the result by name.
        estimate: where the values come from: method, samples, digests of recordings and detail.
        steps: what was done, oldest first.
        seed: of everything random, or None where nothing was.
        request: the command that was given and the digests of its inputs, as values JSON can hold; with it
            the result can be made again.
        verdict: what is to be thought of the result, as values JSON can hold.
        judges: for each model, the programs that read it back and agree, by name.
        locks: where joints are held that the robot has no more, each of shape (nq,), rad or m, by name; None
            for what the robot says.
    """
    document: dict[str, object] = {
        "kind": KIND,
        "schema": RECORD_SCHEMA,
        "robot": {
            "name": robot.name,
            "source": robot.source,
            "digest": robot.digest,
            "locks": {held.name: held.position for held in robot.locks} if locks is None else locks,
        },
        "drive": layout.drive,
        "steps": [{"action": s.action, "detail": s.detail, "digest": s.digest} for s in steps],
        "seed": seed,
        "versions": versions(),
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
    }
    if request is not None:
        document["request"] = request
    if judges is not None:
        document["read_back"] = {name: list(by) for name, by in judges.items()}
    if verdict is not None:
        document["verdict"] = verdict
    if estimate is not None:
        document["estimate"] = estimate
    plain: dict[str, Any] = to_document(document)
    return plain


def versions() -> dict[str, str]:
    """Versions of everything that decides the bits of a result, by name."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


# The folder, written as one


@dataclass(frozen=True)
class Written:
    """What stands in a folder that was written.

    Attributes:
        folder: where it is.
        files: names of the files in it, in alphabetical order.
        findings: what had to be decided, and what could not be written.
        judges: for each model, the programs that read it back and agree, by name.
    """

    folder: Path
    files: tuple[str, ...]
    findings: tuple[Finding, ...]
    judges: Mapping[str, tuple[str, ...]]


def require_free(folder: FilePath, *, force: bool = False) -> None:
    """Refuse a folder that holds something, or that could not be written in the end.

    Args:
        folder: where a result is to go; it need not exist.
        force: whether an earlier result may be replaced. A folder that is no result is never replaced: what
            it holds cannot be known to be disposable.

    Raises:
        InputError: it is a file, holds something that may not be replaced, or cannot be made where it is to
            stand.
    """
    folder = Path(folder)
    require_possible(folder)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError("is no folder.", place=str(folder), remedy="Give the path of a folder.")
    if folder.is_mount():
        raise InputError(
            "is where a disk is mounted; a finished folder cannot be moved there.",
            place=str(folder),
            remedy="Choose a folder inside it.",
        )
    # It is finished beside its place and then moved, so the folder above is the one that is written to.
    require_writable(folder.absolute().parent)
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not force:
        raise InputError(
            "is not empty.", place=str(folder), remedy="Choose another, or replace it with --force."
        )
    if not _is_result(folder):
        raise InputError(
            "is not empty and holds no earlier result, so it is not replaced.",
            place=str(folder),
            remedy="Choose another folder, or empty it yourself.",
        )


def write_folder(folder: FilePath, files: Mapping[str, bytes], *, force: bool = False) -> None:
    """Write files into a new folder: first beside its place, then moved into it in one step.

    Args:
        folder: the folder; missing parents are made.
        files: content by name; a name may have folders of its own, separated by `/`.
        force: whether an earlier result may be replaced, see `require_free`.

    Raises:
        InputError: the folder is not free, a name leads outside it, or it cannot be written to.
    """
    folder = Path(folder)
    require_free(folder, force=force)
    for name in files:
        if Path(name).is_absolute() or ".." in Path(name).parts or not name:
            raise InputError(f"'{name}' does not stay inside the folder.", place=str(folder))
    ground = next(parent for parent in folder.absolute().parents if parent.is_dir())
    fresh, old = (ground / f".{secrets.token_hex(8)}.tmp" for _ in range(2))
    place = folder
    # Interruptions wait: the old folder or the new one must stand there in the end, and nothing beside it.
    with interrupted_afterwards():
        try:
            fresh.mkdir()
            for name, content in files.items():
                place = folder / name
                (fresh / name).parent.mkdir(parents=True, exist_ok=True)
                write_bytes(fresh / name, content)
            place = folder
            folder.parent.mkdir(parents=True, exist_ok=True)
            _move(fresh, folder, old)
        except InputError as error:
            raise InputError(error.message, place=str(place), remedy=error.remedy) from error
        except OSError as error:
            raise unwritable(place, error) from error
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def _move(fresh: Path, folder: Path, old: Path) -> None:
    """Put the new folder in its place; whatever stood there comes back when that fails."""
    if not folder.is_dir():
        fresh.rename(folder)
        return
    if exchanged(fresh, folder):
        shutil.rmtree(fresh, ignore_errors=True)
        return
    folder.rename(old)
    try:
        fresh.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one step, so that a kill finds either where it was or where it should be.

    Args:
        one: a folder.
        other: another one on the same disk.

    Returns:
        Whether it was done; not every system and not every disk can.
    """
    # Python has no name for it; the C library of Linux has had one since 2018.
    exchange = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    if exchange is None:
        return False
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(exchange(here, os.fsencode(one), here, os.fsencode(other), swap) == 0)


def _is_result(folder: Path) -> bool:
    try:
        record = read_json(folder / "record.json")
    except InputError:
        return False
    return isinstance(record, dict) and record.get("kind") == KIND
