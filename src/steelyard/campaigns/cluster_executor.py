"""Workers of a Dask cluster: inputs are sent along, results come back, no disk is shared.

What comes back is bytes that are read as data: a line of JSON, and the file of the result with its seal. Dask
itself sends functions and errors as pickles, so whoever is scheduler or worker, or can speak to them, could
run code here; docs/campaigns.md says what a cluster is trusted with.
"""

from __future__ import annotations

import gc
import json
import queue
import time
import uuid
import warnings
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from steelyard.archive import from_document
from steelyard.campaigns.executor import (
    Call,
    CampaignEvent,
    Happening,
    Performed,
    Report,
    Tell,
    perform,
)
from steelyard.campaigns.store import Store, is_whole
from steelyard.campaigns.task import Failure
from steelyard.document import kind_of, parse_json
from steelyard.errors import InputError, NoSolutionError

AHEAD = 2
"""Tasks sent per thread of the cluster: one that runs and one that waits."""
PATIENCE = 10.0
"""Seconds to wait for the scheduler's answer."""
OPEN = (
    "The connection is not encrypted, and whoever reaches the scheduler can run code on every machine of the "
    "cluster and on this one; tls:// and Dask's certificates close it, see docs/campaigns.md."
)


class ClusterExecutor:
    """The workers behind the address of a Dask scheduler, which may come and go.

    The scheduler gives the task of a lost worker to another, and gives up when it has lost too many to it.
    """

    def __init__(self, store: Store, address: str, tell: Tell) -> None:
        """Connect.

        Args:
            store: of the campaign.
            address: of the scheduler, such as `tcp://10.0.0.1:8786`.
            tell: told of workers that are lost.

        Raises:
            InputError: Dask is not installed, or the scheduler does not answer.
        """
        self._store, self._tell = store, tell
        self._dask = require_cluster()
        silence = ""
        try:
            # Answers are bytes, which need no pickle: none is opened for them.
            self._client = self._dask.Client(
                address, timeout=PATIENCE, set_as_default=False, deserializers=["dask", "msgpack"]
            )
        except (OSError, ValueError, TypeError) as error:
            silence = str(error) or type(error).__name__
        if silence:
            # The client that failed is closed when it is collected; if that happened while another one
            # starts, each would wait for the other. So it is collected here, with nothing left to hold it.
            gc.collect()
            raise InputError(
                f"no Dask scheduler answers at '{address[:80]}': {silence}.",
                place="--cluster",
                remedy="Give its address, such as tcp://10.0.0.1:8786.",
            )
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._sent: dict[Any, Call] = {}
        self._workers: dict[str, int] = {}
        self._asked = float("-inf")
        self._ask()
        if not (address.startswith("tls://") or _is_here(address)):
            tell(CampaignEvent(Happening.NOTE, word=OPEN))
        if not self._workers:
            tell(
                CampaignEvent(
                    Happening.NOTE, word=f"The cluster at {address} has no workers yet; waiting for one."
                )
            )

    def free(self) -> int:
        """How many tasks may be sent now."""
        return max(0, AHEAD * sum(self._workers.values()) - len(self._sent))

    def start(self, call: Call) -> None:
        """Send a task with its inputs.

        Args:
            call: the task.
        """
        inputs = {key: self._store.read(key) for key in call.keys}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")
            future = self._client.submit(
                perform_elsewhere,
                json.dumps(vars(call)),
                inputs,
                key=f"{call.task}-{uuid.uuid4().hex}",
                pure=False,
            )
        self._sent[future] = call
        future.add_done_callback(self._ended.put)

    def wait(self, seconds: float) -> list[Report]:
        """Wait for reports; their results are put into the store.

        Args:
            seconds: at most so long.

        Returns:
            What became of tasks.

        Raises:
            NoSolutionError: the scheduler is gone.
        """
        futures = []
        with suppress(queue.Empty):
            futures.append(self._ended.get(timeout=seconds))
            while True:
                futures.append(self._ended.get_nowait())
        self._ask()
        return [report for future in futures if (report := self._report(future)) is not None]

    def close(self) -> None:
        """Withdraw what is not finished, and leave."""
        with suppress(Exception):
            self._client.cancel(list(self._sent), force=True)
        self._sent = {}
        with suppress(Exception):
            self._client.close(timeout=2)

    def _report(self, future: Any) -> Report | None:
        call = self._sent[future]
        try:
            performed = unpacked(future.result(timeout=PATIENCE), call)
        except (TimeoutError, self._dask.TimeoutError):
            # Its worker was lost with the result; the scheduler has it computed again.
            future.add_done_callback(self._ended.put)
            return None
        except (self._dask.CancelledError, MemoryError) as error:
            # A worker that ran out of memory, or was told to drop it.
            del self._sent[future]
            how = f"the cluster dropped it ({type(error).__name__})"
            return Report(call.task, float("nan"), "", Failure(call.task, f"lost worker: {how}", False), how)
        except self._dask.KilledWorker:
            del self._sent[future]
            failure = Failure(call.task, "lost worker: the cluster lost too many workers to it", False)
            return Report(call.task, float("nan"), "", failure)
        except Exception as error:
            # Whatever a task raises is the failure of that task, never of the campaign.
            del self._sent[future]
            failure = Failure(call.task, f"{type(error).__name__}: {' '.join(str(error).split())}", False)
            return Report(call.task, float("nan"), "", failure)
        del self._sent[future]
        if performed.content is not None:
            self._store.write(call.key, performed.content)
        return Report(call.task, performed.seconds, performed.host, performed.failure)

    def _ask(self) -> None:
        """See who is there, at most once a second."""
        if time.monotonic() - self._asked < 1.0:
            return
        self._asked = time.monotonic()
        if self._client.status != "running":
            raise NoSolutionError(
                "the scheduler of the cluster is gone.",
                place="--cluster",
                remedy="Start again to resume: everything finished is stored.",
            )
        with suppress(OSError, TimeoutError):
            present = self._client.scheduler_info(n_workers=-1)["workers"]
            now = {address: int(worker["nthreads"]) for address, worker in present.items()}
            for address in self._workers.keys() - now.keys():
                self._tell(CampaignEvent(Happening.LOST_WORKER, word=f"{address}; {len(now)} left"))
            self._workers = now


def perform_elsewhere(text: str, inputs: dict[str, bytes]) -> bytes:
    """Run a task in a worker of a cluster.

    Args:
        text: the call, as JSON.
        inputs: encoded results by key.

    Returns:
        What came of it, see `unpacked`.
    """
    try:
        done = perform(Call(**json.loads(text)), inputs.__getitem__)
    except MemoryError:
        return json.dumps({"out_of_memory": True}).encode() + b"\n"
    failure = None if done.failure is None else asdict(done.failure)
    head = {"seconds": done.seconds, "host": done.host, "failure": failure}
    return json.dumps(head).encode() + b"\n" + (done.content or b"")


def unpacked(answer: object, call: Call) -> Performed:
    """Read what a worker answers: a line of JSON, and the bytes of the result behind it.

    Args:
        answer: of a worker, which may say anything.
        call: what it was asked.

    Returns:
        What came of the call.

    Raises:
        MemoryError: the worker says that it ran out of memory.
        InputError: it is no such answer.
    """
    place = f"answer of a worker to {call.task}"
    if not isinstance(answer, bytes):
        raise InputError(f"is {kind_of(answer)}, not bytes.", place=place)
    line, _, content = answer.partition(b"\n")
    head = parse_json(line, place=place)
    if head == {"out_of_memory": True}:
        raise MemoryError
    said = from_document(_Head, head, place=place)
    if said.failure is not None:
        return Performed(said.seconds, said.host, None, replace(said.failure, task=call.task))
    if not is_whole(content):
        raise InputError("its result does not fit its seal.", place=place)
    return Performed(said.seconds, said.host, content, None)


@dataclass(frozen=True)
class _Head:
    """What stands before a result."""

    seconds: float
    host: str
    failure: Failure | None


def _is_here(address: str) -> bool:
    """Whether an address is one of this machine that no other reaches."""
    host = address.rpartition("://")[2].rpartition(":")[0].strip("[]")
    return host in ("localhost", "::1") or host.startswith("127.")


def require_cluster() -> Any:
    """Dask distributed, which runs tasks on a cluster.

    Returns:
        The package.

    Raises:
        InputError: it is not installed.
    """
    try:
        import distributed
    except ImportError as error:
        raise InputError(
            "needs Dask distributed, which is not installed.",
            place="--cluster",
            remedy="Install it: pip install 'steelyard[cluster]'.",
        ) from error
    return distributed
