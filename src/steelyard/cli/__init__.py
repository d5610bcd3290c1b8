"""The command line: parses, calls, prints, and maps errors to exit codes; the only room that prints."""

import os

# Before NumPy is loaded: our own threads use the cores, and BLAS threads would get in their way; with one of
# them the last bits of a result do not depend on the number of cores either.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from steelyard.cli.app import main
from steelyard.cli.output import HELPERS

__all__ = ["command", "main"]


def command() -> None:
    """Run as a program of its own: other processes may then compile beside it."""
    # No command draws with MuJoCo, whose libraries for windows take a tenth of a second to load.
    os.environ.setdefault("MUJOCO_GL", "disable")
    HELPERS.wanted = True
    main()
