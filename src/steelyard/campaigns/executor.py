"""How a task is run, and the executor that runs tasks in processes of this machine."""

from __future__ import annotations

import faulthandler
import json
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cache
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Protocol

from threadpoolctl import threadpool_limits

from steelyard import __version__
from steelyard.campaigns.store import DamagedError, Store, decode_result, encode_result
from steelyard.campaigns.task import Failure, function_of
from steelyard.errors import InputError, SteelyardError
from steelyard.progress import ProgressStep, heard_by
from steelyard.threads import set_thread_count

# Running one task: the same bits on one core, on many, and on another machine

MOST_EVIDENCE = 4000
"""Letters of one piece of evidence that are kept."""

Given = str | dict[str, str]
"""The key of a result, or `{"task": …, "reason": …}` of a failure."""
Group = list[tuple[str, Given]]
"""Names of tasks, each with what is given of it."""


@dataclass(frozen=True)
class Call:
    """All that a worker needs to know of a task, as JSON values.

    Attributes:
        task: its name.
        key: of its result.
        function: `package.module:function`.
        parameters: by argument.
        inputs: by argument: one input, or a group of them.
        library: version of this package that the caller runs.
    """

    task: str
    key: str
    function: str
    parameters: Mapping[str, Any]
    inputs: Mapping[str, Given | Group]
    library: str = __version__

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the results it takes."""
        given = [
            item
            for entry in self.inputs.values()
            for item in ([other for _, other in entry] if isinstance(entry, list) else [entry])
        ]
        return tuple(dict.fromkeys(item for item in given if isinstance(item, str)))


class Performed(NamedTuple):
    """What came of a call.

    Attributes:
        seconds: it took, s.
        host: where it ran.
        content: the encoded result; None after a failure.
        failure: why there is no result; None when there is one.
    """

    seconds: float
    host: str
    content: bytes | None
    failure: Failure | None


def perform(call: Call, fetch: Callable[[str], bytes]) -> Performed:
    """Run a task.

    An error of this package raised by the function blames the inputs and is lasting. Anything else (another
    exception, a result that cannot be kept, a worker that lacks the function) is a defect or an accident,
    which the next start gives another try.

    Args:
        call: the task.
        fetch: gives the encoded result of a key.

    Returns:
        The result, or why there is none. Running out of memory is passed on as `MemoryError`.
    """
    began = time.perf_counter()
    content = failure = None
    called = False
    try:
        _refuse_other_library(call)
        function = _prepared(call.function)
        inputs = {argument: _resolved(given, fetch) for argument, given in call.inputs.items()}
        called = True
        # Whoever listens does so in the process of the caller, which a fork copied with its locks.
        with heard_by(_nobody):
            result = function(**call.parameters, **inputs)
        called = False
        content = encode_result(result)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        failure = Failure(call.task, reason, called and isinstance(error, SteelyardError), _detail(error))
    return Performed(time.perf_counter() - began, socket.gethostname(), content, failure)


def _nobody(step: ProgressStep) -> None:
    """What tasks say of their steps is for nobody: it is told of tasks that they began and ended."""


@cache
def _prepared(reference: str) -> Callable[..., Any]:
    """Import a function and keep it, and all that it brought along, to one thread.

    The last bits of a matrix product depend on the number of threads that share it.
    """
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    function = function_of(reference)
    threadpool_limits(1)
    set_thread_count(1)
    return function


def _resolved(given: Given | Group, fetch: Callable[[str], bytes]) -> Any:
    if isinstance(given, list):
        return {name: _resolved(item, fetch) for name, item in given}
    return decode_result(fetch(given)) if isinstance(given, str) else Failure(given["task"], given["reason"])


def _refuse_other_library(call: Call) -> None:
    if call.library != __version__:
        raise RuntimeError(
            f"the worker on {socket.gethostname()} runs steelyard {__version__}, the campaign {call.library}"
        )


def _detail(error: BaseException) -> str:
    lines = traceback.format_exception(error)
    evidence = getattr(error, "evidence", None) or {}
    for name, value in evidence.items():
        lines.append(f"{name} = {value!r}"[:MOST_EVIDENCE] + "\n")
    return "".join(lines)


# What happens in a campaign, told as it happens.


class Happening(StrEnum):
    """What can happen."""

    STARTED = "started"
    DONE = "done"
    FROM_STORE = "from store"
    FAILED = "failed"
    SKIPPED = "skipped"
    RETRIED = "retried"
    LOST_WORKER = "lost worker"
    NOTE = "note"


@dataclass(frozen=True)
class CampaignEvent:
    """One thing that happened.

    Attributes:
        what: kind of event.
        task: name of the task; empty for the whole campaign.
        kind: of the task.
        word: the reason, in one line; empty when there is nothing to say.
        seconds: the task took, s; NaN when unknown.
    """

    what: Happening
    task: str = ""
    kind: str = ""
    word: str = ""
    seconds: float = float("nan")


Tell = Callable[[CampaignEvent], None]


def ignore(event: CampaignEvent) -> None:
    """A callback that does nothing."""


# What every executor offers: local processes here, a cluster in `cluster_executor`


class Report(NamedTuple):
    """What became of a task that was started; its result is in the store.

    Attributes:
        task: its name.
        seconds: it took, s; NaN when unknown.
        host: where it ran.
        failure: why there is no result; None when there is one.
        lost: how its worker was lost, when it was, and with it the task; empty otherwise.
    """

    task: str
    seconds: float
    host: str
    failure: Failure | None = None
    lost: str = ""


class Executor(Protocol):
    """Runs tasks on workers, which write results to the campaign's store before they report."""

    def free(self) -> int:
        """How many tasks may be started now."""
        ...

    def start(self, call: Call) -> None:
        """Start a task."""
        ...

    def wait(self, seconds: float) -> list[Report]:
        """Wait for reports, at most so long."""
        ...

    def close(self) -> None:
        """End all workers at once; unfinished tasks are abandoned."""
        ...


# A worker process of this machine

MOST_PRINTED = 20_000
"""Bytes of what a failed task printed that are kept."""


def log_file(logs: Path, process: int | None) -> Path:
    """The file that keeps what a worker prints.

    Args:
        logs: folder of the logs.
        process: its number.
    """
    return logs / f"worker-{process}.log"


def serve(
    pipe: Connection, life: Connection, inherited: Sequence[Connection], store: Path, logs: Path
) -> NoReturn:
    """Run tasks until the caller closes the pipe; die at once when the caller dies.

    Args:
        pipe: brings calls and takes reports, as JSON.
        life: closed when the caller dies.
        inherited: ends of other workers' pipes, which a fork copies and must close.
        store: folder of results.
        logs: folder for what is printed here.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller sees to interruptions
    for end in inherited:
        end.close()
    threading.Thread(target=_die_with, args=(life,), daemon=True).start()
    log = _redirect(log_file(logs, os.getpid()))
    results = Store(store)
    while True:
        try:
            call = Call(**json.loads(pipe.recv_bytes()))
            os.ftruncate(log, 0)
            performed = _kept(call, results)
            failure = performed.failure
            if failure is not None:
                failure = replace(failure, detail=failure.detail + _printed(log))
            report = {
                "seconds": performed.seconds,
                "host": performed.host,
                "failure": None if failure is None else asdict(failure),
            }
            pipe.send_bytes(json.dumps(report).encode())
        except (EOFError, OSError):
            os._exit(0)
        except MemoryError:
            # Only a new process gives all of it back; the caller takes this one for lost.
            os._exit(1)


def _kept(call: Call, store: Store) -> Performed:
    """Run a task and store its result before it is reported."""
    performed = perform(call, lambda key: _fetched(store, key))
    if performed.content is not None:
        try:
            store.write(call.key, performed.content)
        except InputError as error:
            failure = Failure(call.task, str(error), lasting=False)
            return performed._replace(content=None, failure=failure)
    return performed


def _fetched(store: Store, key: str) -> bytes:
    try:
        content = store.read(key)
    except DamagedError as error:
        raise RuntimeError(f"an input was damaged meanwhile; start again to recompute it: {error}") from error
    if content is None:
        raise RuntimeError(f"an input was removed meanwhile; start again to recompute it: {key}")
    return content


def _die_with(life: Connection) -> None:
    try:
        life.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def _redirect(path: Path) -> int:
    """Send what is printed, by compiled code too, to a file that outlives a crash."""
    log = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout = sys.stderr = open(log, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115
    faulthandler.enable(log)
    return log


def _printed(log: int) -> str:
    sys.stdout.flush()
    size = os.fstat(log).st_size
    text = os.pread(log, MOST_PRINTED, max(0, size - MOST_PRINTED)).decode(errors="replace")
    return f"\nIt printed:\n{text}" if text.strip() else ""


# The executor on this machine: processes that read inputs from the store and write results there
#
# Each worker has a pipe of its own, so that a lost worker costs its own task and no other, and the task
# is known (the standard library's pool breaks as a whole and cannot tell). Messages are JSON.

MOST_LOG = 20_000
"""Letters of a lost worker's log that are kept."""


class LocalExecutor:
    """Processes of this machine, started when there is work for them and replaced when they die."""

    def __init__(self, store: Store, logs: Path, workers: int) -> None:
        """Make the executor; processes are started with the first tasks.

        Args:
            store: of the campaign.
            logs: folder for what workers print.
            workers: most processes at a time.
        """
        self._store, self._logs, self._most = store, logs, workers
        # A fork shares what is compiled and loaded; elsewhere than on Linux it is not safe beside threads.
        self._context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        self._life, self._hold = self._context.Pipe(duplex=False)
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, tuple[_Worker, Call]] = {}
        for left in logs.glob("worker-*.log"):  # by a campaign that was killed
            left.unlink()

    def free(self) -> int:
        """How many tasks may be started now."""
        return self._most - len(self._busy)

    def start(self, call: Call) -> None:
        """Start a task.

        Args:
            call: the task.
        """
        message = json.dumps(vars(call)).encode()
        while True:
            worker = self._idle.pop() if self._idle else self._start_worker()
            try:
                worker.pipe.send_bytes(message)
            except OSError:  # it died while it had nothing to do
                worker.kill()
                continue
            self._busy[worker.pipe] = (worker, call)
            return

    def wait(self, seconds: float) -> list[Report]:
        """Wait for reports.

        Args:
            seconds: at most so long.

        Returns:
            What became of tasks.
        """
        reports = []
        for pipe in wait(list(self._busy), seconds):
            worker, call = self._busy.pop(pipe)  # type: ignore[call-overload]
            try:
                document = json.loads(worker.pipe.recv_bytes())
            except (EOFError, OSError):
                reports.append(self._lost(worker, call))
                continue
            failure = document["failure"]
            reports.append(
                Report(
                    call.task,
                    document["seconds"],
                    document["host"],
                    None if failure is None else Failure(**failure),
                )
            )
            self._idle.append(worker)
        return reports

    def close(self) -> None:
        """Kill all workers, which is safe: the store never holds half a result."""
        for worker in [*self._idle, *(worker for worker, _ in self._busy.values())]:
            worker.kill()
            log_file(self._logs, worker.process.pid).unlink(missing_ok=True)
        self._idle, self._busy = [], {}
        self._hold.close()
        self._life.close()
        with suppress(OSError):
            self._logs.rmdir()

    def _start_worker(self) -> _Worker:
        self._logs.mkdir(parents=True, exist_ok=True)
        ours, theirs = self._context.Pipe()
        # A forked process holds copies of our ends; it must let go of them, or the end of one process
        # would never be noticed by the others.
        others = [*self._idle, *(worker for worker, _ in self._busy.values())]
        forked = self._context.get_start_method() == "fork"
        inherited = (ours, self._hold, *(c.pipe for c in others)) if forked else ()
        arguments = (theirs, self._life, inherited, self._store.folder, self._logs)
        worker = _Worker(self._context, ours, arguments)
        theirs.close()
        return worker

    def _lost(self, worker: _Worker, call: Call) -> Report:
        worker.kill()
        log = log_file(self._logs, worker.process.pid)
        try:
            text = log.read_text(errors="replace")[-MOST_LOG:]
        except OSError:
            text = ""
        log.unlink(missing_ok=True)
        how = _manner(worker.process.exitcode)
        failure = Failure(call.task, f"lost worker: {how}", False, text)
        return Report(call.task, float("nan"), "", failure, lost=how)


class _Worker:
    def __init__(self, context: BaseContext, pipe: Connection, arguments: tuple[object, ...]) -> None:
        self.pipe = pipe
        process: Any = context.Process(target=serve, args=arguments, daemon=True)  # type: ignore[attr-defined]
        process.start()
        self.process = process

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _manner(code: int | None) -> str:
    if code is None or code >= 0:
        return f"it ended with exit code {code}"
    with suppress(ValueError):
        name = signal.Signals(-code).name
        memory = ", perhaps for want of memory" if name == "SIGKILL" else ""
        return f"killed by {name}{memory}"
    return f"killed by signal {-code}"
