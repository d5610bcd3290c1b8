"""Timing that survives a noisy machine: the best of several runs, ours and the peer's interleaved."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parent
ENOUGH = 0.05
"""Seconds a measurement should last."""


@dataclass(frozen=True)
class Row:
    """One comparison; times in seconds.

    Attributes:
        name: what was done.
        ours: our best time.
        peer: what it is compared with; empty when there is no peer, only a target.
        theirs: the peer's best time.
        least_ratio: the ratio theirs / ours that was promised, if any.
        most_seconds: the time that was promised on an idle two-core machine, if any.
        memory: peak resident memory of a process of its own, MB.
        most_memory: the memory that was promised, MB.
        note: what a reader must know.
    """

    name: str
    ours: float
    peer: str = ""
    theirs: float | None = None
    least_ratio: float | None = None
    most_seconds: float | None = None
    memory: float | None = None
    most_memory: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times faster than the peer."""
        return None if self.theirs is None else self.theirs / self.ours

    @property
    def promised(self) -> bool:
        """Whether anything was promised."""
        return (self.least_ratio, self.most_seconds, self.most_memory) != (None, None, None)

    @property
    def holds(self) -> bool:
        """Whether every promise holds in this run."""
        return (
            (self.least_ratio is None or (self.ratio or 0.0) >= self.least_ratio)
            and (self.most_seconds is None or self.ours <= self.most_seconds)
            and (self.most_memory is None or (self.memory or 0.0) <= self.most_memory)
        )


def best(*tasks: Callable[[], object], repeats: int = 7) -> list[float]:
    """Best time of each task, s: the tasks take turns, and short ones run many times in each turn."""
    counts = []
    for task in tasks:
        task()
        started = time.perf_counter()
        task()
        counts.append(max(1, round(ENOUGH / (time.perf_counter() - started))))
    times: list[list[float]] = [[] for _ in tasks]
    for _ in range(repeats):
        for task, count, seen in zip(tasks, counts, times, strict=True):
            gc.collect()
            started = time.perf_counter()
            for _ in range(count):
                task()
            seen.append((time.perf_counter() - started) / count)
    return [min(seen) for seen in times]


def in_own_process(
    module: str,
    function: str,
    *arguments: object,
    environment: dict[str, str] | None = None,
    python: str = sys.executable,
) -> dict[str, Any]:
    """Call `module.function(*arguments)` of this folder in a fresh process; returns its JSON result."""
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import importlib;"
        "f = getattr(importlib.import_module(sys.argv[2]), sys.argv[3]);"
        "print(json.dumps(f(*json.loads(sys.argv[4]))))"
    )
    command = [python, "-c", code, str(BENCH), module, function, json.dumps(arguments)]
    variables = {**os.environ, **(environment or {})}
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=variables)
    document: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return document


def since_start() -> float:
    """Seconds since this process started."""
    fields = Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()
    return time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")


def peak_memory() -> float:
    """Largest resident memory of this process so far, MB.

    `getrusage` would count what the parent held when it started the process.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
