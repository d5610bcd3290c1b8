"""Where plans are computed: in this thread when the reply is fetched, or in a process of its own."""

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
    """Computes replies to requests for a plan; a request followed by another one gets no reply."""

    def ask(self, question: PlanRequest | SceneChange) -> None:
        """Hand over a request.

        Args:
            question: a request for a plan, or a scene that changed.
        """
        ...

    def answer(self, patience: float | None) -> PlanReply | SceneResponse | None:
        """The reply to the last request.

        Args:
            patience: how long to wait where it is not there yet, s; None for as long as it takes.

        Returns:
            The answer; None where it is late or will never come.
        """
        ...

    def close(self) -> None:
        """Release the processes that the worker holds."""
        ...


def _answered(replanner: Replanner, question: PlanRequest | SceneChange) -> PlanReply | SceneResponse:
    return (
        respond(replanner.setting, question)
        if isinstance(question, SceneChange)
        else replanner.reply(question)
    )


class SyncWorker:
    """Computes in the caller's thread when the reply is fetched, for a robot whose clock waits meanwhile.

    Args:
        replanner: what identifies and plans.
    """

    def __init__(self, replanner: Replanner) -> None:
        self._replanner = replanner
        self._question: PlanRequest | SceneChange | None = None

    def ask(self, question: PlanRequest | SceneChange) -> None:
        """Keep a request until its reply is fetched.

        Args:
            question: a request for a plan, or a scene that changed.
        """
        self._question = question

    def answer(self, patience: float | None) -> PlanReply | SceneResponse | None:
        """Compute the reply to the last request now.

        Args:
            patience: not used: the reply is never late.

        Returns:
            The reply; None where nothing was asked.
        """
        return None if self._question is None else _answered(self._replanner, self._question)

    def close(self) -> None:
        """Nothing to close."""


class ProcessWorker:
    """Computes in a process of its own, while the robot moves.

    Where the platform forks, what has been compiled before is shared: call `Replanner.warm_up` first.

    Args:
        replanner: what identifies and plans.
    """

    def __init__(self, replanner: Replanner) -> None:
        context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        self._pipe, theirs = context.Pipe()
        self._setting, self._asked = replanner.setting, 0
        self._process = context.Process(target=_serve, args=(replanner, theirs, self._pipe), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        """Number of the process."""
        return int(self._process.pid)

    def ask(self, question: PlanRequest | SceneChange) -> None:
        """Send a request to the process.

        Args:
            question: a request for a plan, or a scene that changed.
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


def _serve(replanner: Replanner, pipe: Connection, other_end: Connection) -> None:
    """Answer requests until the other end closes; of several that wait, only the last.

    A thread empties the pipe all the time. Otherwise a second request after a late reply would deadlock: it
    does not fit into the pipe while no one reads it, and no one reads it while the late reply does not fit
    either.
    """
    other_end.close()
    questions: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_take, args=(pipe, questions), daemon=True).start()
    with suppress(KeyboardInterrupt, BrokenPipeError):
        while (asked := questions.get()) is not None:
            while not questions.empty():
                asked = questions.get() or asked
            number, question = asked
            pipe.send((number, _answered(replanner, question)))


def _take(pipe: Connection, questions: SimpleQueue[Any]) -> None:
    """Put every request into a queue, and None when the other end has closed."""
    with suppress(EOFError, OSError):
        while True:
            questions.put(pipe.recv())
    questions.put(None)
