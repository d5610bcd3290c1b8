"""Who thinks, and where: in this thread when asked for the answer, or in a process of its own meanwhile."""

from __future__ import annotations

import multiprocessing
import sys
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread
from typing import Any, Protocol

from steelyard.safe_learning.messages import Move, PlanReply, PlanRequest
from steelyard.safe_learning.obstacle_response import SceneChange, SceneResponse, respond
from steelyard.safe_learning.replanner import Replanner


class Worker(Protocol):
    """The slow side as the loop sees it; a question that is followed by another is never answered."""

    def ask(self, question: PlanRequest | SceneChange) -> None:
        """Begin to think.

        Args:
            question: what about.
        """
        ...

    def answer(self, patience: float | None) -> PlanReply | SceneResponse | None:
        """The answer to the last question.

        Args:
            patience: how long to wait where it is not there yet, s; None for as long as it takes.

        Returns:
            The answer; None where it is late or will never come.
        """
        ...

    def close(self) -> None:
        """Send everybody home."""
        ...


def _answered(mind: Replanner, question: PlanRequest | SceneChange) -> PlanReply | SceneResponse:
    return respond(mind.setting, question) if isinstance(question, SceneChange) else mind.think(question)


class SyncWorker:
    """Thinks when the answer is wanted: for a robot whose clock stands still meanwhile.

    Args:
        mind: what thinks.
    """

    def __init__(self, mind: Replanner) -> None:
        self._mind = mind
        self._question: PlanRequest | SceneChange | None = None

    def ask(self, question: PlanRequest | SceneChange) -> None:
        """Remember a question.

        Args:
            question: what about.
        """
        self._question = question

    def answer(self, patience: float | None) -> PlanReply | SceneResponse | None:
        """Think; never late.

        Args:
            patience: of no interest.

        Returns:
            The answer.
        """
        return None if self._question is None else _answered(self._mind, self._question)

    def close(self) -> None:
        """Nothing to close."""


class ProcessWorker:
    """Thinks in a process of its own, while the robot moves.

    Where the platform forks, what has been compiled before is shared: think once before the robot moves.

    Args:
        mind: what thinks.
    """

    def __init__(self, mind: Replanner) -> None:
        context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        self._pipe, theirs = context.Pipe()
        self._setting, self._asked = mind.setting, 0
        self._process = context.Process(target=_serve, args=(mind, theirs, self._pipe), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        """Number of the process."""
        return int(self._process.pid)

    def ask(self, question: PlanRequest | SceneChange) -> None:
        """Begin to think.

        Args:
            question: what about.
        """
        self._asked += 1
        # The process may be gone; then there will be no answer, which is what the caller will hear.
        with suppress(BrokenPipeError, ConnectionResetError):
            self._pipe.send((self._asked, question))

    def answer(self, patience: float | None) -> PlanReply | SceneResponse | None:
        """The answer to the last question, if it is there in time.

        Args:
            patience: how long to wait where it is not there yet, s; None for as long as it takes.

        Returns:
            The answer; None where it is late, or the process is gone.
        """
        try:
            while self._pipe.poll(patience):
                number, answer = self._pipe.recv()
                if number == self._asked:
                    return self._with_own_law(answer)
        except (EOFError, OSError):
            pass
        return None

    def _with_own_law(self, answer: PlanReply | SceneResponse) -> PlanReply | SceneResponse:
        """The answer with laws made here: those that came through the pipe would be compiled again."""
        if isinstance(answer, SceneResponse):
            stop = answer.stop
            return answer if stop is None else replace(answer, stop=self._remade(stop))
        return answer if answer.move is None else replace(answer, move=self._remade(answer.move))

    def _remade(self, move: Move) -> Move:
        return replace(move, law=self._setting.controller(move.load))

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.terminate()
        self._process.join()


def _serve(mind: Replanner, pipe: Connection, other_end: Connection) -> None:
    """Answer questions until nobody asks any more; of several waiting ones, the last.

    A thread takes questions from the pipe all the time. Otherwise who asks again after a late answer would
    wait for ever: a question does not fit into the pipe while nobody reads it, and nobody would read it while
    the late answer does not fit either.
    """
    other_end.close()
    questions: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_take, args=(pipe, questions), daemon=True).start()
    with suppress(KeyboardInterrupt, BrokenPipeError):
        while (asked := questions.get()) is not None:
            while not questions.empty():
                asked = questions.get() or asked
            number, question = asked
            pipe.send((number, _answered(mind, question)))


def _take(pipe: Connection, questions: SimpleQueue[Any]) -> None:
    """Put every question into a queue, and None where nobody asks any more."""
    with suppress(EOFError, OSError):
        while True:
            questions.put(pipe.recv())
    questions.put(None)
