"""The life of a worker process of this machine."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from steelyard.campaign.failure import Failure
from steelyard.campaign.store import DamagedError, Store
from steelyard.campaign.worker import Call, Performed, perform
from steelyard.errors import InputError

MOST_LOG = 20_000
"""Bytes of what a failed task printed that are kept."""


def log_file(logs: Path, process: int | None) -> Path:
    """What a worker prints.

    Args:
        logs: folder of the logs.
        process: its number.

    Returns:
        The file.
    """
    return logs / f"worker-{process}.log"


def serve(
    pipe: Connection, life: Connection, strangers: Sequence[Connection], store: Path, logs: Path
) -> NoReturn:
    """Run tasks until the caller closes the pipe; die at once when the caller dies.

    Args:
        pipe: brings calls and takes reports, as JSON.
        life: closed when the caller dies.
        strangers: ends of other people's pipes, inherited by a fork.
        store: folder of results.
        logs: folder for what is printed here.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller sees to interruptions
    for stranger in strangers:
        stranger.close()
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
    """Run a task and keep its result before anybody hears of it."""
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
    text = os.pread(log, MOST_LOG, max(0, size - MOST_LOG)).decode(errors="replace")
    return f"\nIt printed:\n{text}" if text.strip() else ""
