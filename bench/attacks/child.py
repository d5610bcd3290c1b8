"""A command in a process of its own that is stopped, or finds the disk full, at a chosen moment.

Most cases fork a process that has loaded everything: it is at its own work at once, and knows the moment by
counting what it does to the disk. `run_apart` starts the program as a user does, and stops it by the clock.
"""

from __future__ import annotations

import atexit
import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

PROGRAM = "from steelyard.cli import command; command()"
TOUCHES = frozenset(("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir"))
"""Events by which the interpreter tells of changes of the disk, before they happen."""
PATIENCE = 90.0
"""How long a command may take, s."""
AFTER = 8.0
"""How long processes that a command has started may outlive it, s."""


@dataclass(frozen=True)
class Plan:
    """What happens to a command.

    Attributes:
        signal: sent to it; 0 for none.
        operation: before which of its operations on its output, counted from 1; 0 for never.
        full: from which write, flush or move on there is no space left, counted from 1; 0 for never.
        largest: of its files, bytes; 0 for any.
    """

    signal: int = 0
    operation: int = 0
    full: int = 0
    largest: int = 0


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        code: its exit code; negative for a signal, None for one that had to be ended.
        stderr: what it said.
        seconds: how long it took.
        operations: how often it touched the disk at its output, where that was counted.
        writes: how often it wrote, flushed or moved there, where that was counted.
        modules: of the package that it had loaded in the end, where they were counted.
        orphans: whether processes of it had to be ended.
    """

    code: int | None
    stderr: str
    seconds: float
    operations: int = 0
    writes: int = 0
    modules: list[str] = field(default_factory=list)
    orphans: bool = False


def run_here(words: list[str], folder: Path, plan: Plan) -> Ended:
    """Run a command in a fork of this process.

    Args:
        words: of the command.
        folder: where it writes; only what it does there is counted.
        plan: what happens to it.
    """
    counts = folder.with_name(f"{folder.name}.counts")
    counts.unlink(missing_ok=True)
    # What it says goes through a pipe: a file would be as short as its other files.
    ours, theirs = os.pipe()
    started = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        _child(words, folder, plan, theirs, counts)
    os.close(theirs)
    os.set_blocking(ours, False)
    with os.fdopen(ours, "rb") as stream:
        code, said = _waited(pid, started + PATIENCE, stream)
    seconds = time.monotonic() - started
    orphans = _end_group(pid)
    counted = json.loads(counts.read_text()) if counts.is_file() else [0, 0, []]
    return Ended(code, said.decode(errors="replace"), seconds, *counted, orphans)


def load(modules: list[str]) -> None:
    """Import what a command was seen to import, so that those that follow need not."""
    for name in modules:
        with suppress(ImportError):
            import_module(name)


def run_apart(words: list[str], folder: Path, number: int = 0, moment: float = 0.0) -> Ended:
    """Run a command as a user does, and stop it.

    Args:
        words: of the command.
        folder: beside which what it says is kept.
        number: of the signal that is sent to it; 0 for none.
        moment: when, s.
    """
    said = folder.with_name(f"{folder.name}.said")
    started = time.monotonic()
    with said.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stream,
            start_new_session=True,
        )  # fmt: skip
        if number:
            with suppress(subprocess.TimeoutExpired):
                process.wait(moment)
            process.send_signal(number)
        try:
            code: int | None = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = None
    seconds = time.monotonic() - started
    return Ended(code, said.read_text(errors="replace"), seconds, orphans=_end_group(process.pid))


def _waited(pid: int, until: float, stream: BinaryIO) -> tuple[int | None, bytes]:
    """The exit code of a child, None where it has to be killed; and what it said meanwhile."""
    said = b""
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        said += stream.read() or b""
        if done:
            return os.waitstatus_to_exitcode(status), said
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None, said


def _end_group(pid: int) -> bool:
    """Wait for what a command has started to end with it; whether it had to be ended."""
    until = time.monotonic() + AFTER
    while time.monotonic() < until:
        try:
            os.killpg(pid, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    return True


def _child(words: list[str], folder: Path, plan: Plan, said: int, counts: Path) -> None:
    """The rest of a forked process: never returns."""
    code = 1
    try:
        os.setsid()
        # What this process would do at its end, such as to remove its folders, is not the child's to do.
        atexit._clear()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(said, 2)
        os.close(said)
        sys.argv = ["steelyard", *words]
        moments = _Moments(str(folder), plan)
        if plan.largest:
            resource.setrlimit(resource.RLIMIT_FSIZE, (plan.largest, resource.RLIM_INFINITY))
        try:
            from steelyard.cli import command

            command()
            code = 0
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
        except BaseException:
            traceback.print_exc()
        finally:
            moments.over = True
            atexit._run_exitfuncs()
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
            counts.write_text(json.dumps([moments.operations, moments.writes, _modules()]))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _modules() -> list[str]:
    # Those of copies for one controller or one robot are not in any file.
    names = [name for name in sys.modules if name.startswith(("steelyard.", "mujoco", "pinocchio", "scipy."))]
    return [name for name in names if getattr(sys.modules[name], "__spec__", None) is not None]


class _Moments:
    """Counts what a process does to a folder, and acts at the planned moment."""

    def __init__(self, folder: str, plan: Plan) -> None:
        self._folder, self._plan, self._pid = folder, plan, os.getpid()
        self.operations = self.writes = 0
        self.over = False
        sys.addaudithook(self._noted)
        for name in ("fsync", "replace", "rename", "mkdir"):
            setattr(os, name, self._full(getattr(os, name)))

    def _noted(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in TOUCHES or self.over or os.getpid() != self._pid:
            return
        if event == "open" and not (isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)):
            return
        if not isinstance(args[0], str | bytes) or not os.fsdecode(args[0]).startswith(self._folder):
            return
        self.operations += 1
        if self.operations == self._plan.operation:
            os.kill(self._pid, self._plan.signal)
        if event == "open":
            # Making a file needs space too.
            self._require_space(os.fsdecode(args[0]))

    def _full(self, operation: Any) -> Any:
        def attempted(*args: Any, **more: Any) -> Any:
            if not self.over and os.getpid() == self._pid and self._concerns(args[0]):
                self._require_space(str(args[0]))
            return operation(*args, **more)

        return attempted

    def _concerns(self, place: Any) -> bool:
        if isinstance(place, int):
            place = Path(f"/proc/self/fd/{place}").readlink()
        return os.fsdecode(place).startswith(self._folder)

    def _require_space(self, place: str) -> None:
        self.writes += 1
        if 0 < self._plan.full <= self.writes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), place)
