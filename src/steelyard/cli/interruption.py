"""Interruptions that Python would lose."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

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


def end_cleanly() -> None:
    """Take back what is half done when the system asks the program to end, as for an interruption."""
    signal.signal(signal.SIGTERM, _end)
    # Processes that are forked from this one end at once: whoever ends them waits for it.
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))


def _end(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def _ask_again(lost: UnraisableHookArgs) -> None:
    if not issubclass(lost.exc_type, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(lost)
        return
    number = signal.SIGINT if issubclass(lost.exc_type, KeyboardInterrupt) else signal.SIGTERM
    again = threading.Timer(AGAIN, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()
