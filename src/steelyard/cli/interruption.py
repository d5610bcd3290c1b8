"""Interruptions that Python would lose."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

AGAIN = 0.05
"""How long after an interruption was lost it is asked for again, s."""


def keep_interruptions() -> None:
    """Ask again for an interruption that fell into a destructor, where Python can only print it.

    Compilers of kernels free many small objects, so half a minute of compiling swallows Ctrl-C more often
    than not.
    """
    sys.unraisablehook = _ask_again


def _ask_again(lost: UnraisableHookArgs) -> None:
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    again = threading.Timer(AGAIN, os.kill, (os.getpid(), signal.SIGINT))
    again.daemon = True
    again.start()
