"""Running a campaign: what is stored is taken, the rest is computed, and nothing finished is lost.

A task's key is known once its inputs have ended. A result under that key is taken from the store; otherwise
the task goes to the crew, which stores the result before it reports. So the campaign may be killed at any
moment: the next start finds every result that was finished, and ends with the same bits.
"""

from __future__ import annotations

import heapq
import os
from collections import Counter
from pathlib import Path

from steelyard.campaign.cluster_crew import ClusterCrew
from steelyard.campaign.crew import Crew, Report
from steelyard.campaign.event import Event, Happening, Tell, ignore
from steelyard.campaign.failure import Failure
from steelyard.campaign.graph import Graph
from steelyard.campaign.local_crew import LocalCrew
from steelyard.campaign.lock import Lock, locked
from steelyard.campaign.outcome import End, Outcome, Status
from steelyard.campaign.record import Record
from steelyard.campaign.store import DamagedError, Store
from steelyard.campaign.task import Task, function_of
from steelyard.campaign.worker import Call, Given, Group
from steelyard.errors import InputError
from steelyard.files import FilePath

RETRIES = 3
"""How often a task is started again after its worker was lost."""


def run(
    graph: Graph,
    folder: FilePath,
    *,
    name: str = "",
    workers: int | None = None,
    cluster: str | None = None,
    retry_failed: bool = False,
    tell: Tell = ignore,
) -> Outcome:
    """Run the tasks of a graph, or what is left of them.

    Results do not depend on the order, the number of workers, or where they are.

    Args:
        graph: the tasks.
        folder: for the store, the state, the failures; created when absent, resumed when not.
        name: of the campaign, for its record.
        workers: processes on this machine; None for one per core.
        cluster: address of a Dask scheduler, to run there instead.
        retry_failed: whether tasks that failed for good before are tried again.
        tell: called with every event, in this thread.

    Returns:
        How every task ended.

    Raises:
        InputError: a function cannot be imported, the folder cannot be used or is in use, or there is no such
            cluster.
        NoSolutionError: the cluster's scheduler was lost; what is finished is stored.
    """
    if workers is not None and workers < 1:
        raise InputError(f"must be at least 1, got {workers}.", place="workers")
    if workers is not None and cluster is not None:
        raise InputError("workers of this machine and a cluster cannot be used together.", place="cluster")
    # Here rather than in each worker: errors come early, and forked workers need not import again.
    for reference in dict.fromkeys(task.function for task in graph.tasks.values()):
        function_of(reference)
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}.", place=str(folder)) from error
    store = Store(folder / "store")
    with locked(folder, lambda word: tell(Event(Happening.NOTE, word=word))) as lock:
        store.clean()
        crew: Crew = (
            LocalCrew(store, folder / "logs", workers or _cores())
            if cluster is None
            else ClusterCrew(store, cluster, tell)
        )
        try:
            record = Record(folder, graph, name)
            return _Running(graph, store, crew, record, tell, retry_failed).finish(lock, folder)
        finally:
            crew.close()


class _Running:
    def __init__(
        self, graph: Graph, store: Store, crew: Crew, record: Record, tell: Tell, retry_failed: bool
    ) -> None:
        self._graph, self._store, self._crew, self._record = graph, store, crew, record
        self._tell_all, self._retry_failed = tell, retry_failed
        self._schedule = graph.schedule()
        self._place = {task: place for place, task in enumerate(graph.tasks)}
        self._keys: dict[str, str] = {}
        self._roots: dict[str, tuple[str, ...]] = {}
        self._queue: list[tuple[int, str]] = []
        self._running: set[str] = set()
        self._attempts: Counter[str] = Counter()

    def finish(self, lock: Lock, folder: Path) -> Outcome:
        """Run until every task has ended."""
        status = "interrupted"
        try:
            while self._schedule.left:
                while task := self._schedule.next():
                    self._look_up(task)
                while self._queue and self._crew.free():
                    self._start(self._graph.tasks[heapq.heappop(self._queue)[1]])
                if self._running or self._queue:
                    for report in self._crew.wait(1.0):
                        self._take(report)
                lock.refresh()
                self._record.save_when_due(self._running)
            status = "ended"
        finally:
            self._record.close(status)
        ends = {name: self._record.ends[name] for name in self._graph.tasks}
        return Outcome(folder, ends, self._record.seconds)

    def _look_up(self, task: Task) -> None:
        """End a task whose inputs have ended without work if that is possible, or queue it."""
        failed = [name for name in task.needs if self._record.ends[name].failure is not None]
        key = self._keys[task.name] = task.key({name: self._key_given(name) for name in task.needs})
        if failed and not task.accepts_failed:
            # Those that failed themselves, not those that were skipped on the way.
            roots = tuple(dict.fromkeys(root for name in failed for root in self._roots.get(name, (name,))))
            self._roots[task.name] = roots
            culprits = ", ".join(roots[:3]) + (f" and {len(roots) - 3} more" if len(roots) > 3 else "")
            failure = Failure(task.name, f"skipped: because {culprits} failed", lasting=False)
            self._end(End(task.name, Status.SKIPPED, key, failure=failure))
        elif not self._from_store(task):
            heapq.heappush(self._queue, (self._place[task.name], task.name))

    def _from_store(self, task: Task) -> bool:
        """End a task with what is stored; whether that was possible."""
        key = self._keys[task.name]
        try:
            stored = self._store.read(key) is not None
            failure = None if stored or self._retry_failed else self._store.failure(key)
        except DamagedError as error:
            self._tell(Happening.NOTE, task.name, f"{error} It is computed again.")
            return False
        if not stored and failure is None:
            return False
        status = Status.DONE if stored else Status.FAILED
        # Another task of an earlier start may have failed in the same way; here it is this one.
        failure = failure and Failure(task.name, failure.reason, True, failure.detail)
        seconds, host = self._record.computed(key)
        self._end(End(task.name, status, key, seconds, host, 0, failure))
        return True

    def _start(self, task: Task) -> None:
        given: dict[str, Given | Group] = {}
        for argument, names in task.inputs.items():
            if isinstance(names, str):
                given[argument] = self._given(names)
            else:
                given[argument] = [(name, self._given(name)) for name in names]
        self._attempts[task.name] += 1
        self._running.add(task.name)
        self._tell(Happening.STARTED, task.name)
        self._crew.start(Call(task.name, self._keys[task.name], task.function, dict(task.parameters), given))

    def _take(self, report: Report) -> None:
        name, failure = report.task, report.failure
        self._running.discard(name)
        if report.lost:
            self._tell(Happening.LOST_WORKER, name, report.lost)
            # It may have stored the result before it died.
            if self._from_store(self._graph.tasks[name]):
                return
            if self._attempts[name] <= RETRIES:
                self._tell(Happening.RETRIED, name, f"attempt {self._attempts[name] + 1}")
                heapq.heappush(self._queue, (self._place[name], name))
                return
        key = self._keys[name]
        if failure is not None and failure.lasting:
            self._store.write_failure(key, failure)
        status = Status.DONE if failure is None else Status.FAILED
        self._end(End(name, status, key, report.seconds, report.host, self._attempts[name], failure))

    def _end(self, end: End) -> None:
        self._record.end(end)
        self._schedule.end(end.task)
        happening = Happening(end.status.value)
        if end.status is Status.DONE and not end.attempts:
            happening = Happening.FROM_STORE
        self._tell(happening, end.task, end.reason, end.seconds)

    def _key_given(self, name: str) -> str:
        failure = self._record.ends[name].failure
        return self._keys[name] if failure is None else failure.key

    def _given(self, name: str) -> Given:
        failure = self._record.ends[name].failure
        return self._keys[name] if failure is None else {"task": name, "reason": failure.reason}

    def _tell(self, what: Happening, task: str, word: str = "", seconds: float = float("nan")) -> None:
        self._tell_all(Event(what, task, self._graph.tasks[task].kind, word, seconds))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
