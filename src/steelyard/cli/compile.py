"""`steelyard compile`: machine code ahead of its use, by one small call of every kernel.

A command that finds no machine code starts helpers, processes that make what it will need next while it
compiles what it needs now: `NEEDED` lists that by command, in the order in which a helper should go. Nothing
hangs on the list: what it lacks the command compiles itself, and whoever claims a kernel first makes it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from steelyard.cli.output import JsonOption, print_json, print_progress, stdout
from steelyard.threads import thread_count

NEEDED: dict[str, tuple[str, ...]] = {
    "demo": (
        "certificate",
        "simulated robot",
        "its triangular factor",
        "mass matrix",
        "certificate of clearance",
    ),
    "excite": ("certificate", "certificate of clearance", "inverse dynamics"),
    "identify": ("its triangular factor", "mass matrix", "inverse dynamics"),
    "online": (
        "certificate",
        "its adjoint",
        "robust tracking",
        "simulated robot",
        "momentum rate regressor",
        "frame Jacobian",
    ),
    "payload": ("torque regressor", "inverse dynamics"),
    "simulate": ("simulated robot",),
}
"""Kernels that a command needs, the first ones first, but those it compiles itself right at its start."""


def compile(json: JsonOption = False) -> None:
    """Compile every kernel now; the results are kept for later runs."""
    from steelyard.cli.kernels import KERNELS, warm_up

    started = time.perf_counter()
    # From both ends: who meets a kernel that is being made waits for it.
    helper = start_helper(tuple(reversed(KERNELS))) if thread_count() > 1 else None
    try:
        for name in KERNELS:
            print_progress(f"compile {name}")
            warm_up(name)
    finally:
        if helper is not None:
            helper.kill()
    seconds = time.perf_counter() - started
    if json:
        print_json({"kernels": list(KERNELS), "seconds": seconds})
        return
    stdout.print(f"{len(KERNELS)} kernels are ready; took {seconds:.1f} s.", highlight=False)


def start_helper(kernels: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """Start a process that makes machine code of some kernels; it ends with this one."""
    return subprocess.Popen(
        [sys.executable, "-m", __name__, str(os.getpid()), *kernels],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _help(parent: int, kernels: list[str]) -> None:
    """Make machine code of some kernels, as long as the process that asked for it lives."""
    from steelyard.cli.kernels import warm_up

    for name in kernels:
        if hasattr(os, "getppid") and os.getppid() != parent:
            return
        warm_up(name)


if __name__ == "__main__":
    _help(int(sys.argv[1]), sys.argv[2:])
