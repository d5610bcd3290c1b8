"""A worker in a process of its own never blocks the caller, however late and long its replies are."""

from __future__ import annotations

import threading
import time
from typing import Any

from steelyard.safe_learning import ProcessWorker
from steelyard.safe_learning.messages import PlanReply

LONG = 8 << 20
"""Letters of an answer that fit into no pipe."""


class Slow:
    """A replanner that takes its time and says much; it repeats what it was asked first."""

    setting = None

    def reply(self, question: Any) -> PlanReply:
        time.sleep(0.2)
        return PlanReply(None, None, question[0] + "." * LONG, 0.0, 0.0)


def test_a_question_after_a_late_answer_does_not_block() -> None:
    worker = ProcessWorker(Slow())  # type: ignore[arg-type]
    heard: list[Any] = []

    def ask() -> None:
        worker.ask(("first", "?" * LONG))  # type: ignore[arg-type]
        assert worker.answer(0.0) is None
        time.sleep(0.8)  # the answer is on its way now, and nobody takes it
        worker.ask(("second", "?" * LONG))  # type: ignore[arg-type]
        heard.append(worker.answer(None))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(20.0)
    late = asking.is_alive()
    worker.close()
    assert not late
    assert heard[0].reason.startswith("second")
