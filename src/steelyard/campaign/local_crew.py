"""Workers on this machine: processes that read inputs from the store and keep results there themselves.

Each worker has a pipe of its own, so that a lost worker costs its own task and nobody else's, and the task
is known (the standard library's pool breaks as a whole and cannot tell). Messages are JSON.
"""

from __future__ import annotations

import json
import multiprocessing
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

from steelyard.campaign.crew import Report
from steelyard.campaign.failure import Failure
from steelyard.campaign.local_worker import log_file, serve
from steelyard.campaign.store import Store
from steelyard.campaign.worker import Call

MOST_LOG = 20_000
"""Letters of a lost worker's log that are kept."""


class LocalCrew:
    """Processes of this machine, hired when there is work for them, replaced when they die."""

    def __init__(self, store: Store, logs: Path, workers: int) -> None:
        """Open the office; nobody is hired yet.

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
            worker = self._idle.pop() if self._idle else self._hire()
            try:
                worker.pipe.send_bytes(message)
            except OSError:  # it died while it had nothing to do
                worker.dismiss()
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
        """Kill everybody: the store never holds half a result."""
        for worker in [*self._idle, *(worker for worker, _ in self._busy.values())]:
            worker.dismiss()
            log_file(self._logs, worker.process.pid).unlink(missing_ok=True)
        self._idle, self._busy = [], {}
        self._hold.close()
        self._life.close()
        with suppress(OSError):
            self._logs.rmdir()

    def _hire(self) -> _Worker:
        self._logs.mkdir(parents=True, exist_ok=True)
        ours, theirs = self._context.Pipe()
        # A forked process holds copies of our ends; it must let go of them, or the end of one process
        # would never be noticed by the others.
        colleagues = [*self._idle, *(worker for worker, _ in self._busy.values())]
        forked = self._context.get_start_method() == "fork"
        strangers = (ours, self._hold, *(c.pipe for c in colleagues)) if forked else ()
        arguments = (theirs, self._life, strangers, self._store.folder, self._logs)
        worker = _Worker(self._context, ours, arguments)
        theirs.close()
        return worker

    def _lost(self, worker: _Worker, call: Call) -> Report:
        worker.dismiss()
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

    def dismiss(self) -> None:
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
