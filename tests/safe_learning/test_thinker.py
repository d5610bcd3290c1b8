"""Who thinks in a process of its own never keeps the one who asks, however late and long the answers are."""

from __future__ import annotations

import threading
import time
from typing import Any

from steelyard.safe_learning import PlanReply, ProcessWorker

LONG = 8 << 20
"""Letters of an answer that fit into no pipe."""


class Slow:
    """A mind that takes its time and says much; it repeats what it was asked first."""

    setting = None

    def think(self, question: Any) -> PlanReply:
        time.sleep(0.2)
        return PlanReply(None, None, question[0] + "." * LONG, 0.0, 0.0)


def test_a_question_after_a_late_answer_waits_for_nobody() -> None:
    thinker = ProcessWorker(Slow())  # type: ignore[arg-type]
    heard: list[Any] = []

    def ask() -> None:
        thinker.ask(("first", "?" * LONG))  # type: ignore[arg-type]
        assert thinker.answer(0.0) is None
        time.sleep(0.8)  # the answer is on its way now, and nobody takes it
        thinker.ask(("second", "?" * LONG))  # type: ignore[arg-type]
        heard.append(thinker.answer(None))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(20.0)
    late = asking.is_alive()
    thinker.close()
    assert not late
    assert heard[0].reason.startswith("second")
