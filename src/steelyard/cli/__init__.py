"""The command line: parses, calls, prints, and maps errors to exit codes; the only room that prints."""

import gc
import os

# Before NumPy is loaded: our own threads use the cores, and BLAS threads would get in their way; with one of
# them the last bits of a result do not depend on the number of cores either.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from steelyard.cli.app import main
from steelyard.cli.interruption import end_cleanly
from steelyard.cli.output import HELPERS

__all__ = [
    "command",
    "main",
]

GARBAGE = 50_000
"""Objects that may be made, beyond those gone, before a program looks for garbage; Python's own are 700."""


def command() -> None:
    """Run as a program of its own: other processes may then compile beside it."""
    # No command draws with MuJoCo, whose libraries for windows take a tenth of a second to load.
    os.environ.setdefault("MUJOCO_GL", "disable")
    # What modules make while they load stays: Python would look through all of it for garbage a thousand
    # times, which takes a tenth of a short command.
    gc.set_threshold(GARBAGE)
    HELPERS.wanted = True
    end_cleanly()
    try:
        main()
    finally:
        # Nor is anything looked through when the program ends: its memory goes back as a whole. That took
        # a tenth of `identify`.
        gc.freeze()
