"""What all tests share: inputs drawn the same every time, no judging by the clock, interruptions heard."""

from __future__ import annotations

import signal
import threading

from hypothesis import HealthCheck, settings

settings.register_profile(
    "steelyard", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steelyard")

# A run in the background ignores interruptions, and so would every program that a test starts and interrupts.
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)
