"""Running a campaign: what is stored is taken, the rest is computed, and nothing finished is lost.

A task's key is known once its inputs have ended. A result under that key is taken from the store; otherwise
the task goes to the executor, which stores the result before it reports. So the campaign may be killed at any
moment: the next start finds every result that was finished, and ends with the same bits.
"""

from __future__ import annotations

import fcntl
import heapq
import json
import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from steelyard.campaigns.cluster_executor import ClusterExecutor
from steelyard.campaigns.executor import (
    Call,
    CampaignEvent,
    Executor,
    Given,
    Group,
    Happening,
    LocalExecutor,
    Report,
    Tell,
    ignore,
)
from steelyard.campaigns.record import CampaignOutcome, End, Record, TaskStatus
from steelyard.campaigns.store import DamagedError, Store
from steelyard.campaigns.task import Failure, Task, TaskGraph, function_of
from steelyard.document import parse_json
from steelyard.errors import InputError
from steelyard.files import FilePath

# One campaign at a time in a folder.
#
# The lock is a file that says who holds it. A holder on this machine is asked for by its process number and
# start; a holder elsewhere cannot be asked, so it touches the file while it lives.

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


RETRIES = 3
"""How often a task is started again after its worker was lost."""


def run_campaign(
    graph: TaskGraph,
    folder: FilePath,
    *,
    name: str = "",
    workers: int | None = None,
    cluster: str | None = None,
    retry_failed: bool = False,
    tell: Tell = ignore,
) -> CampaignOutcome:
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
    with locked(folder, lambda word: tell(CampaignEvent(Happening.NOTE, word=word))) as lock:
        store.clean()
        # The campaign's own record may have been half-written too.
        for file in folder.glob(".*.tmp"):
            file.unlink(missing_ok=True)
        executor: Executor = (
            LocalExecutor(store, folder / "logs", workers or _cores())
            if cluster is None
            else ClusterExecutor(store, cluster, tell)
        )
        try:
            record = Record(folder, graph, name)
            return _Running(graph, store, executor, record, tell, retry_failed).finish(lock, folder)
        finally:
            executor.close()


class _Running:
    def __init__(
        self,
        graph: TaskGraph,
        store: Store,
        executor: Executor,
        record: Record,
        tell: Tell,
        retry_failed: bool,
    ) -> None:
        self._graph, self._store, self._executor, self._record = graph, store, executor, record
        self._tell_all, self._retry_failed = tell, retry_failed
        self._schedule = graph.schedule()
        self._place = {task: place for place, task in enumerate(graph.tasks)}
        self._keys: dict[str, str] = {}
        self._roots: dict[str, tuple[str, ...]] = {}
        self._queue: list[tuple[int, str]] = []
        self._running: set[str] = set()
        self._attempts: Counter[str] = Counter()

    def finish(self, lock: Lock, folder: Path) -> CampaignOutcome:
        """Run until every task has ended."""
        status = "interrupted"
        try:
            while self._schedule.left:
                while task := self._schedule.next():
                    self._look_up(task)
                while self._queue and self._executor.free():
                    self._start(self._graph.tasks[heapq.heappop(self._queue)[1]])
                if self._running or self._queue:
                    for report in self._executor.wait(1.0):
                        self._take(report)
                lock.refresh()
                self._record.save_when_due(self._running)
            status = "ended"
        finally:
            self._record.close(status)
        ends = {name: self._record.ends[name] for name in self._graph.tasks}
        return CampaignOutcome(folder, ends, self._record.seconds)

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
            self._end(End(task.name, TaskStatus.SKIPPED, key, failure=failure))
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
        status = TaskStatus.DONE if stored else TaskStatus.FAILED
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
        self._executor.start(
            Call(task.name, self._keys[task.name], task.function, dict(task.parameters), given)
        )

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
        status = TaskStatus.DONE if failure is None else TaskStatus.FAILED
        self._end(End(name, status, key, report.seconds, report.host, self._attempts[name], failure))

    def _end(self, end: End) -> None:
        self._record.end(end)
        self._schedule.end(end.task)
        happening = Happening(end.status.value)
        if end.status is TaskStatus.DONE and not end.attempts:
            happening = Happening.FROM_STORE
        self._tell(happening, end.task, end.reason, end.seconds)

    def _key_given(self, name: str) -> str:
        failure = self._record.ends[name].failure
        return self._keys[name] if failure is None else failure.key

    def _given(self, name: str) -> Given:
        failure = self._record.ends[name].failure
        return self._keys[name] if failure is None else {"task": name, "reason": failure.reason}

    def _tell(self, what: Happening, task: str, word: str = "", seconds: float = float("nan")) -> None:
        self._tell_all(CampaignEvent(what, task, self._graph.tasks[task].kind, word, seconds))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
