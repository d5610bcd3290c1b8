"""Worker processes that try cases, of which any may hang or die without harm to the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection, wait

from attacks.attack import Attack, Outcome

DONE, HANG, CRASH = "done", "hang", "crash"
"""How a case ends: by itself, not in time, by an exception or the death of its process."""
LOADING = 600.0
"""How long a process may take to load an attack, s."""


class Worker:
    """One process that tries the cases of one attack, one at a time."""

    def __init__(self, module: str) -> None:
        """Start it."""
        # A fresh interpreter: a fork would share the locks of whatever threads there are.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(module, theirs), daemon=False)
        self._process.start()
        theirs.close()
        self.seed: int | None = None
        self._since = time.monotonic()
        self.ready = False

    def begin(self, seed: int) -> None:
        """Give it a case."""
        self.seed, self._since = seed, time.monotonic()
        self.connection.send(seed)

    @property
    def seconds(self) -> float:
        """How long it has been at its case, or at loading the attack."""
        return time.monotonic() - self._since

    def limit(self, attack: Attack) -> float:
        """How long it may be at what it does, s; one that waits may wait."""
        if not self.ready:
            return LOADING
        return float("inf") if self.seed is None else attack.limit

    def stop(self) -> None:
        """End it, with every process it has started."""
        if not self.connection.closed:
            self.connection.close()
            # It leads a group of its own unless it died before it could; its children may outlive it.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid or 0, signal.SIGKILL)
            self._process.kill()
            self._process.join()

    def death(self) -> str:
        """How it ended by itself."""
        self._process.join()
        code = self._process.exitcode or 0
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def attempt(attack: Attack, module: str, seeds: Iterable[int], workers: int) -> Iterator[Outcome]:
    """Try cases in worker processes and hand out what became of each as it ends.

    Args:
        attack: what to try.
        module: where it is, as `ATTACK`.
        seeds: of the cases.
        workers: processes at a time.

    Yields:
        What the case returned with its `seed`, the `seconds` it took and how it `ended`; a hang or a crash
        has a `reason` instead.
    """
    waiting = iter(seeds)
    crew: list[Worker] = []
    ahead = next(waiting, None)
    try:
        while ahead is not None or any(worker.seed is not None for worker in crew):
            if ahead is not None and len(crew) < workers:
                crew.append(Worker(module))
            ready = wait([worker.connection for worker in crew], timeout=0.1)
            for worker in list(crew):
                outcome: Outcome | None = None
                if worker.connection in ready:
                    outcome = _heard(worker)
                elif worker.seconds > worker.limit(attack):
                    outcome = {"ended": HANG, "reason": f"not done after {worker.seconds:.0f} s"}
                if outcome is not None:
                    if worker.seed is None:
                        raise RuntimeError(f"{module} cannot be loaded in a process: {outcome['reason']}")
                    yield {"seed": worker.seed, "seconds": round(worker.seconds, 3), **outcome}
                    worker.seed = None
                    if outcome["ended"] != DONE:
                        worker.stop()
                        crew.remove(worker)
                        continue
                if worker.ready and worker.seed is None and ahead is not None:
                    worker.begin(ahead)
                    ahead = next(waiting, None)
    finally:
        for worker in crew:
            worker.stop()


def _heard(worker: Worker) -> Outcome | None:
    """What a worker has said: nothing but that it is ready, the outcome of a case, or that it is gone."""
    try:
        said: Outcome | None = worker.connection.recv()
    except (EOFError, ConnectionError):
        return {"ended": CRASH, "reason": worker.death()}
    worker.ready = True
    return said


def _work(module: str, connection: Connection) -> None:
    """Try cases as they come; runs in the process."""
    # Its own group: the terminal's Ctrl-C is for the driver, and what a case has started ends with it.
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    attack: Attack = import_module(module).ATTACK
    connection.send(None)
    while True:
        try:
            seed = connection.recv()
        except EOFError:
            return
        try:
            outcome = {"ended": DONE, **attack.case(seed)}
        except Exception:
            outcome = {"ended": CRASH, "reason": traceback.format_exc(limit=-6)}
        sys.stdout.flush()
        connection.send(outcome)
