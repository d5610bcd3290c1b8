"""Runs the commands over a corpus in one process that notes every file, process and address it asks for.

`python -m hostile.watch FOLDER RESULTS [SEED ROUNDS]` grows the corpus in FOLDER and writes what happened as
JSON.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import sysconfig
import time
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

import steelyard
import steelyard.cli.inspect
import steelyard.workflows.inspection  # loads Numba, which looks at the processor
from hostile.corpus import Case, grow
from hostile.seeds import COMPANIONS, NAMES, SEEDS
from steelyard.cli import main
from steelyard.errors import SteelyardError
from steelyard.recording import Recording, read

SECONDS = 20
# Where Python finds its own code, which may be loaded while a command runs.
OWN = tuple(
    str(Path(folder).resolve())
    for folder in (*sysconfig.get_paths().values(), sys.base_prefix, sys.prefix, *steelyard.__path__)
)
WATCHED = (
    "open",
    "os.listdir",
    "os.scandir",
    "os.chdir",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.symlink",
    "glob.glob",
)
FORBIDDEN = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "urllib.",
    "ctypes.dlopen",
)


@dataclass
class Outcome:
    """What came of one file: exit code, what was said, and what the process did that it should not."""

    kind: str
    made_by: str
    path: str
    command: str
    code: int
    stdout: str
    stderr: str
    trespasses: list[str]
    left_behind: list[str]
    seconds: float


class _TooLong(BaseException):
    """Not an `Exception`, so that no handler of the code under test catches it."""


class _Watch:
    """An audit hook that notes what happens outside one folder while it is set."""

    def __init__(self) -> None:
        self.folder: str | None = None
        self.trespasses: list[str] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, args: tuple[object, ...]) -> None:
        if self.folder is None:
            return
        if event.startswith(FORBIDDEN):
            self.trespasses.append(f"{event} {args[:2]!r}")
        elif event in WATCHED and args and isinstance(args[0], str | bytes):
            folder, self.folder = self.folder, None  # resolving a path raises events of its own
            path = os.path.realpath(os.fsdecode(args[0]))
            self.folder = folder
            if not path.startswith((folder, *OWN)):
                self.trespasses.append(f"{event} {path}")


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise _TooLong


def _run(arguments: list[str]) -> int:
    sys.argv = ["steelyard", *arguments]
    try:
        main()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    return 0


def _read(path: Path) -> int:
    """Read a log the way a command would, and end like one."""
    try:
        recording = read(path)
    except SteelyardError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(json.dumps({"samples": recording.n, "problems": _remarks(recording)}))
    return 0


def _remarks(recording: Recording) -> list[str]:
    """What the reader left out, with the reason."""
    ignored = recording.provenance[-1].detail.get("ignored", {})
    return [f"{name}: {why}" for name, why in ignored.items()] if isinstance(ignored, Mapping) else []


def _outcome(case: Case, command: str, watch: _Watch) -> Outcome:
    home = case.path.parent
    before = {str(path) for path in home.iterdir()}
    out, err = io.StringIO(), io.StringIO()
    started = time.perf_counter()
    watch.trespasses = []
    signal.alarm(SECONDS)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            watch.folder = str(home.resolve())
            if command == "read":
                code = _read(case.path)
            elif command == "repair":
                code = _run(["inspect", str(case.path), "--repair", str(home / "repaired.urdf"), "--json"])
            else:
                code = _run(["inspect", str(case.path), "--json"])
    except _TooLong:
        code, _ = -1, err.write("took too long")
    except BaseException as error:
        # Whatever escapes is what this run is for; it is judged by the tests.
        code, _ = -2, err.write(f"{type(error).__name__}: {error}")
    finally:
        signal.alarm(0)
        watch.folder = None
    left = sorted({str(path) for path in home.iterdir()} - before)
    return Outcome(
        case.kind, case.made_by, str(case.path), command, code, out.getvalue(), err.getvalue(),
        watch.trespasses, left, time.perf_counter() - started,
    )  # fmt: skip


def _seeds(folder: Path) -> list[Case]:
    """The good files, run first: they load what the commands load lazily, and must pass."""
    cases = []
    for kind, text in SEEDS.items():
        home = folder / f"seed-{kind}"
        home.mkdir()
        for name, companion in COMPANIONS[kind].items():
            (home / name).write_text(companion)
        (home / NAMES[kind]).write_text(text)
        cases.append(Case(kind, "seed", home / NAMES[kind]))
    return cases


def watch_corpus(folder: Path, seed: int, rounds: int) -> list[Outcome]:
    """Grow a corpus and run the commands over it; the good files come first."""
    signal.signal(signal.SIGALRM, _stop)
    cases = _seeds(folder) + grow(folder, seed=seed, rounds=rounds)
    watch = _Watch()
    return [
        _outcome(case, command, watch)
        for case in cases
        for command in (("read",) if case.kind == "csv" else ("inspect", "repair"))
    ]


if __name__ == "__main__":
    _, folder, results, *numbers = sys.argv
    seed, rounds = (int(word) for word in numbers) if numbers else (4, 6)
    outcomes = watch_corpus(Path(folder), seed, rounds)
    Path(results).write_text(json.dumps([asdict(outcome) for outcome in outcomes]))
