"""Runs hostile commands one after another in one process of bounded memory, each for a bounded time.

`python -m hostile.watch_commands FOLDER RESULTS [SEED ROUNDS [KIND…]]` lays each out in a folder below FOLDER
and writes what happened as JSON.
"""

from __future__ import annotations

import io
import json
import os
import re
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

from hostile.attempts import Attempt
from hostile.command_corpus import LOG, commands
from steelyard.cli import main

SECONDS = 10
"""Longest time for a command, s of the processor: other tests may run beside it."""
PATIENCE = 40
"""After how long a command is stopped, s of the clock."""
MEMORY = 2 * 2**30
"""Most memory beyond that of the loaded program, bytes."""
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What must not reach a terminal; lines and tabs may."""


@dataclass
class End:
    """How one command ended."""

    kind: str
    name: str
    words: list[str]
    codes: list[int]
    named: list[str]
    code: int
    stdout: str
    stderr: str
    left_behind: list[str]
    seconds: float
    memory: int

    @property
    def faults(self) -> list[str]:
        """What is wrong with that end; nothing where all is well."""
        said = self.stdout + self.stderr
        refused = self.code == 2
        usage = self.stderr.lstrip().startswith("Usage")
        wrong = {
            "traceback": self.code == -2 or "Traceback" in said,
            "hang": self.code == -1,
            "slow": self.seconds > SECONDS,
            "memory": self.memory > MEMORY,
            "exit code": self.code not in (-1, -2, *self.codes),
            "escape": CONTROL.search(said) is not None,
            "left behind": refused and bool(self.left_behind),
            "no clear sentence": refused and not usage and not _is_one_sentence(self.stderr),
            "unnamed": refused and not all(word in said for word in self.named),
        }
        return [fault for fault, is_so in wrong.items() if is_so]


def _is_one_sentence(stderr: str) -> bool:
    """Whether one line of what was said is the error, and it is of a length that somebody reads."""
    errors = [line for line in stderr.splitlines() if line.startswith("error: ")]
    return len(errors) == 1 and len(errors[0]) < 3000


class _TooLongError(BaseException):
    """Not an `Exception`, so that no handler of the code under test catches it."""


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise _TooLongError


def _run(words: tuple[str, ...]) -> int:
    sys.argv = ["steelyard", *words]
    try:
        main()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
    return 0


def _status(name: str) -> int:
    """A figure of this process as Linux counts it, bytes."""
    text = Path("/proc/self/status").read_text()
    found = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found.group(1)) * 1024 if found else 0


@contextmanager
def _bounded_memory() -> Iterator[None]:
    """At most `MEMORY` more than the program has mapped by now."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_status("VmSize") + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _snapshot(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*")}


def end_of(attempt: Attempt, home: Path) -> End:
    """Run a command in a new folder, which is removed again."""
    home.mkdir()
    attempt.laid_out(home)
    before = _snapshot(home)
    out, err = io.StringIO(), io.StringIO()
    here = os.getcwd()  # noqa: PTH109
    os.chdir(home)
    Path("/proc/self/clear_refs").write_text("5")
    resting = _status("VmRSS")
    started = time.process_time()
    signal.alarm(PATIENCE)
    try:
        with redirect_stdout(out), redirect_stderr(err), _bounded_memory():
            code = _run(attempt.words)
    except _TooLongError:
        code, _ = -1, err.write("took too long")
    except BaseException as error:
        # Whatever escapes is what this run is for; it is judged by the tests.
        where = traceback.extract_tb(error.__traceback__)
        code, _ = -2, err.write(f"{type(error).__name__}: {error} ({where[-1].filename}:{where[-1].lineno})")
    finally:
        signal.alarm(0)
        os.chdir(here)
    seconds = time.process_time() - started
    memory = _status("VmHWM") - resting
    left = sorted(_snapshot(home) - before)
    shutil.rmtree(home)
    return End(
        attempt.kind, attempt.name, list(attempt.words), sorted(attempt.codes), list(attempt.named), code,
        out.getvalue(), err.getvalue(), left, seconds, memory,
    )  # fmt: skip


def good_result(folder: Path) -> dict[str, bytes]:
    """A result of the good log, made by the command that the hostile ones are tried on."""
    home = folder / "good"
    home.mkdir(parents=True)
    (home / "log.csv").write_text(LOG)
    here = os.getcwd()  # noqa: PTH109
    os.chdir(home)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            code = _run(("identify", "two_link", "log.csv", "--out", "result"))
    finally:
        os.chdir(here)
    assert code in (0, 1), code
    files = sorted(path for path in (home / "result").rglob("*") if path.is_file())
    return {str(path.relative_to(home / "result")): path.read_bytes() for path in files}


def watch_commands(folder: Path, seed: int, rounds: int, kinds: list[str]) -> list[End]:
    """Run all hostile commands, or those of some kinds."""
    signal.signal(signal.SIGALRM, _stop)
    tried = commands(good_result(folder), seed=seed, rounds=rounds)
    wanted = [x for x in tried if not kinds or x.kind in kinds or f"{x.kind}/{x.name}" in kinds]
    ends = []
    for number, attempt in enumerate(wanted):
        ends.append(end_of(attempt, folder / f"{number:04d}"))
        if os.environ.get("HOSTILE_TALK"):
            end = ends[-1]
            said = end.stderr.strip().splitlines()[-1:] or [""]
            sys.stderr.write(
                f"{end.kind}/{end.name}: {end.faults or 'ok'} code {end.code}, {end.seconds:.1f} s, "
                f"{end.memory >> 20} MiB {said[0][:300]!r}\n"
            )
    return ends


if __name__ == "__main__":
    _, at, results, *others = sys.argv
    chosen, some = [int(word) for word in others[:2]] or [4, 6], others[2:]
    found = watch_commands(Path(at), chosen[0], chosen[1], some)
    Path(results).write_text(json.dumps([{**asdict(end), "faults": end.faults} for end in found]))
