"""One change on trial: the tests near it run on a changed copy of the sources until one of them fails.

Each run of pytest is a fork of this process, which has the libraries loaded already. Time is the processor's
where that is possible, so that a busy machine gives the same verdicts as an idle one.
"""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

from mutation.changes import Change
from mutation.suite import OneTest, Suite

KILLED, SURVIVED, LIMIT = "killed", "survived", "limit"
"""A test failed; every test that reaches the change passed; the limit came first."""
FIRST = 6.0
"""Seconds of tests in the first run, which is short because most changes fall at once."""
PATIENCE = 4.0
"""Seconds by the clock for each second of the processor, where a test waits instead of computing."""
HANGS = 30.0
"""Seconds beyond ten times its usual ones after which a test is taken to run for ever."""
LONGEST_LOOK = 1.0
"""Seconds by the clock that count between two looks at a run: more have passed only if both were stopped."""
MOST_MEMORY = 6 << 30
"""Octets of memory that a test may hold."""
OWN_CACHE = ("archive.py", "compiled.py")
"""Modules that decide under which name machine code is filed; their changes must not spoil what is common."""
LOADED = (
    "clarabel",
    "highspy",
    "hypothesis",
    "mujoco",
    "numba",
    "numpy",
    "pinocchio",
    "rich.console",
    "rich.table",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.signal",
    "scipy.stats",
    "typer",
    "yaml",
)
"""Libraries that most tests import."""


@dataclass(frozen=True)
class Judged:
    """What became of a change.

    Attributes:
        verdict: `KILLED`, `SURVIVED` or `LIMIT`.
        by: the test that failed, or that ran for ever.
        how: "failed", "collection", "crashed", "hung" or "memory"; empty unless killed.
        tests: how many test functions were chosen.
        seconds: of the processor.
    """

    verdict: str
    by: str
    how: str
    tests: int
    seconds: float


class Place:
    """A copy of the sources in which one change at a time is made."""

    def __init__(self, folder: Path, root: Path, cache: Path) -> None:
        """Copy the sources of a repository to an empty folder; machine code comes from a common cache."""
        self.folder, self.root, self._cache = folder, root, cache
        self.package = folder / "src" / "steelyard"
        shutil.copytree(root / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))

    def make(self, change: Change | None) -> None:
        """Make a change, or none."""
        if change is not None:
            self._write(change.file, change.applied((self.root / "src/steelyard" / change.file).read_text()))

    def undo(self, change: Change | None) -> None:
        """Take a change back."""
        if change is not None:
            self._write(change.file, (self.root / "src/steelyard" / change.file).read_text())

    def variables(self, change: Change | None) -> dict[str, str]:
        """The environment of a run."""
        cache = self._cache
        if change is not None and change.file in OWN_CACHE:
            cache = self.folder / "cache"
            shutil.rmtree(cache, ignore_errors=True)
            shutil.copytree(self._cache, cache, copy_function=os.link)
        temporary = self.folder / "tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        return {
            "PYTHONPATH": str(self.folder / "src"),
            "OPENBLAS_NUM_THREADS": "1",
            "STEELYARD_CACHE": str(cache),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.folder / "hypothesis"),
            "TMPDIR": str(temporary),
        }

    def _write(self, file: str, content: str) -> None:
        path = self.package / file
        path.write_text(content)
        # Bytecode is kept by time and size, and both may be those of another change.
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()


@dataclass
class _Run:
    """One run of pytest: what it has told so far."""

    pid: int
    told: Path
    looked: float
    waited: float = 0.0
    test: str = ""
    test_began: tuple[float, float] = (0.0, 0.0)
    failed: str = ""
    how: str = ""
    code: int | None = None
    seconds: float = 0.0

    def listen(self) -> None:
        """Read what pytest tells, and how much time it has used."""
        ended, status, usage = os.wait4(self.pid, os.WNOHANG)
        if ended:
            self.code = os.waitstatus_to_exitcode(status)
            self.seconds = usage.ru_utime + usage.ru_stime
        else:
            self.seconds = _processor_seconds(self.pid)
        now = time.monotonic()
        if not _is_stopped(self.pid):
            self.waited += min(now - self.looked, LONGEST_LOOK) / PATIENCE
        self.looked = now
        begun = ""
        for line in self.told.read_text().splitlines():
            word, _, test = line.partition(" ")
            if word == "begins":
                begun = test
            elif word == "took":
                continue
            elif not self.failed:
                self.failed, self.how = test, word
        if begun != self.test:
            self.test, self.test_began = begun, (self.seconds, self.waited)

    def durations(self) -> dict[str, float]:
        """Seconds of every test function that has run, so far."""
        took: dict[str, float] = {}
        for line in self.told.read_text().splitlines():
            word, _, rest = line.partition(" ")
            if word == "took":
                seconds, _, test = rest.partition(" ")
                took[_function(test)] = took.get(_function(test), 0.0) + float(seconds)
        return took

    @property
    def on_this_test(self) -> float:
        """Seconds that the present test has taken, of the processor or of patience."""
        processor, waited = self.test_began
        return max(self.seconds - processor, self.waited - waited) if self.test else 0.0

    @property
    def spent(self) -> float:
        """Seconds of the whole run, of the processor or of patience."""
        return max(self.seconds, self.waited)

    def end(self) -> None:
        """End the run with all its processes."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        if self.code is None:
            os.waitpid(self.pid, 0)


def load_libraries() -> None:
    """Import what tests import, once for all runs; the package itself is never among it."""
    for name in LOADED:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
    assert "steelyard" not in sys.modules
    gc.collect()
    gc.freeze()


def trial(
    change: Change | None, place: Place, suite: Suite, stages: Sequence[Sequence[OneTest]], limit: float
) -> Generator[None, None, Judged]:
    """Judge a change by tests; yields while it waits, so that two can go on beside each other.

    Args:
        change: what is changed; None for the sources as they are.
        place: where; nothing else may happen there meanwhile.
        suite: says how long a test takes.
        stages: tests in runs of their own, one after the other.
        limit: seconds of the processor.

    Returns:
        The verdict; `SURVIVED` where all tests passed.
    """
    place.make(change)
    spent, chosen, judged = 0.0, 0, None
    try:
        for tests in stages:
            chosen += len(tests)
            run = _start(place, change, [test.id for test in tests])
            try:
                while run.code is None and not run.failed and not run.how:
                    yield
                    run.listen()
                    usual = suite.seconds(run.test)
                    if run.on_this_test > HANGS + 10.0 * usual:
                        run.failed, run.how = run.test, "hung"
                    elif _memory(run.pid) > MOST_MEMORY:
                        run.failed, run.how = run.test, "memory"
                    elif spent + run.spent > limit and run.on_this_test < 5.0 + 3.0 * usual:
                        # A test that takes far longer than usual may still show that it never ends.
                        return Judged(LIMIT, "", "", chosen, round(spent + run.spent, 1))
                spent += run.seconds
                if run.code not in (None, 0, 5) and not run.how:
                    # It broke before, or without, a word.
                    run.failed, run.how = run.test, "crashed" if run.test else "collection"
                if run.how:
                    judged = Judged(KILLED, _function(run.failed), run.how, chosen, round(spent, 1))
                    return judged
            finally:
                run.end()
                suite.learn(run.durations())
    finally:
        place.undo(change)
    return Judged(SURVIVED, "", "", chosen, round(spent, 1))


def stages_of(tests: Sequence[OneTest], limit: float) -> tuple[list[list[OneTest]], bool]:
    """A short run and a long one of the tests that fit a limit, by file; and whether all of them fit."""
    stages: list[list[OneTest]] = [[], []]
    total = 0.0
    for test in tests:
        if total > limit:
            break
        stages[0 if total <= FIRST else 1].append(test)
        # No test is free: collecting it takes time.
        total += max(test.seconds, 0.1)
    return [_by_file(stage) for stage in stages if stage], sum(map(len, stages)) == len(tests)


def _by_file(tests: Sequence[OneTest]) -> list[OneTest]:
    files = {test.id.partition("::")[0]: None for test in tests}
    order = {file: place for place, file in enumerate(files)}
    return sorted(tests, key=lambda test: order[test.id.partition("::")[0]])


def _function(test: str) -> str:
    """A test without its parameters."""
    return test.partition("[")[0]


def _start(place: Place, change: Change | None, tests: list[str]) -> _Run:
    told = place.folder / "told"
    told.write_text("")
    variables = place.variables(change)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        _run_tests(place, told, variables, tests)
    return _Run(pid, told, time.monotonic())


def _run_tests(place: Place, told: Path, variables: dict[str, str], tests: list[str]) -> NoReturn:
    """In the forked process: run pytest and leave."""
    code = 3
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        output = os.open(place.folder / "output", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(output, stream)
        os.environ.update(variables)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False
        os.chdir(place.root)
        own = str(Path(__file__).resolve().parents[1])
        sys.path[:] = [str(place.folder / "src"), *(path for path in sys.path if path != own)]
        importlib.invalidate_caches()
        # Processes that a test starts would otherwise begin with this program.
        sys.modules["__main__"] = ModuleType("__main__")
        words = ["-x", "--tb=short", "-p", "no:xdist", "--hypothesis-seed=0", "--rootdir", str(place.root)]
        words += [
            "-c",
            str(place.root / "pyproject.toml"),
            "--basetemp",
            str(place.folder / "tmp" / "pytest"),
        ]
        code = int(pytest.main([*words, *tests], plugins=[_Teller(told, place.package)]))
    finally:
        sys.stdout.flush()
        os._exit(code)


class _Teller:
    """Writes which test begins and which fails, at once."""

    def __init__(self, file: Path, package: Path) -> None:
        self._stream = file.open("a")
        self._package = package

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self._tell("begins", nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._tell("took", f"{report.duration:.3f} {report.nodeid}")
        if report.failed:
            self._tell("failed", report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._tell("collection", report.nodeid)

    def pytest_collection_finish(self, session: Any) -> None:
        loaded = sys.modules.get("steelyard")
        if loaded is not None and not str(loaded.__file__).startswith(str(self._package)):
            raise RuntimeError(f"the package comes from {loaded.__file__}")

    def _tell(self, word: str, test: str) -> None:
        print(word, " ".join(test.split()), file=self._stream, flush=True)


def _processor_seconds(pid: int) -> float:
    """Seconds of a process and of those of its children that have ended."""
    fields = _status(pid)
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _memory(pid: int) -> int:
    fields = _status(pid)
    return int(fields[21]) * os.sysconf("SC_PAGE_SIZE") if fields else 0


def _is_stopped(pid: int) -> bool:
    """Whether somebody has stopped a process for a while, which says nothing about it."""
    return _status(pid)[:1] in (["T"], ["t"])


def _status(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
