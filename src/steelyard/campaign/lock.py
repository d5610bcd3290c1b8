"""One campaign at a time in a folder.

The lock is a file that says who holds it. A holder on this machine is asked for by its process number and
start; a holder elsewhere cannot be asked, so it touches the file while it lives.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from steelyard.document import parse_json
from steelyard.errors import InputError

FILE = "campaign.lock"
REFRESH = 30.0
"""Seconds between two touches of the lock."""
SILENCE = 600.0
"""Seconds without a touch after which a holder on another machine is taken for dead."""


class Lock:
    """A lock that is held."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._touched = time.monotonic()

    def refresh(self) -> None:
        """Show that the holder lives; cheap enough to be called often."""
        if time.monotonic() - self._touched > REFRESH:
            self._touched = time.monotonic()
            with suppress(OSError):
                os.utime(self._path)


@contextmanager
def locked(folder: Path, say: Callable[[str], None]) -> Iterator[Lock]:
    """Hold the lock of a folder.

    Args:
        folder: of the campaign.
        say: told when a lock was left by a campaign that is gone.

    Yields:
        The lock, to be refreshed.

    Raises:
        InputError: another campaign holds it, or the folder cannot be written to.
    """
    path = folder / FILE
    me = {"host": socket.gethostname(), "process": os.getpid(), "born": _born(os.getpid())}
    try:
        while not _taken(path, json.dumps(me), say):
            pass
    except OSError as error:
        raise InputError(f"cannot be locked: {error.strerror}.", place=str(path)) from error
    try:
        yield Lock(path)
    finally:
        path.unlink(missing_ok=True)


def _taken(path: Path, me: str, say: Callable[[str], None]) -> bool:
    """Write into the lock who holds it; False when its last holder removed the file meanwhile."""
    with path.open("a+") as stream:
        # Held only while the file is read and written: two that start at once take turns.
        fcntl.lockf(stream, fcntl.LOCK_EX)
        try:
            if path.stat().st_ino != os.fstat(stream.fileno()).st_ino:
                return False
        except FileNotFoundError:
            return False
        stream.seek(0)
        _judge(stream.read(), time.time() - path.stat().st_mtime, path, say)
        stream.truncate(0)
        stream.write(me)
        stream.flush()
        return True


def _judge(text: str, silence: float, path: Path, say: Callable[[str], None]) -> None:
    """Refuse a lock whose holder may live; say a word about one whose holder is gone."""
    if not text:
        return
    try:
        holder: Any = parse_json(text, place=str(path))
        host, process, born = str(holder["host"]), int(holder["process"]), holder["born"]
    except (ValueError, TypeError, KeyError):
        say(f"{path.name} is damaged and was replaced.")
        return
    who = f"process {process} on {host}"
    if host == socket.gethostname():
        if _alive(process) and born == _born(process):
            raise InputError(
                f"is in use by another campaign, {who}.",
                place=str(path.parent),
                remedy="Wait for it to end, or choose another folder.",
            )
        say(f"A campaign here ended without a word ({who}); what it stored is used.")
        return
    if silence < SILENCE:
        raise InputError(
            f"is in use by another campaign, {who}, seen {silence:.0f} s ago.",
            place=str(path.parent),
            remedy=f"Wait for it; if it is dead, delete {path.name} or wait {SILENCE - silence:.0f} s.",
        )
    say(f"A campaign here has been silent for {silence:.0f} s ({who}) and is taken for dead.")


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _born(process: int) -> str:
    """When a process started, in ticks since the machine did; empty where the system does not say.

    It tells a holder from a later process that was given the same number.
    """
    try:
        # The name in the second field may hold spaces and brackets; the start is field 22.
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
