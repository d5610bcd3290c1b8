"""Thinkers and news that are written down while they speak, and that say it all again."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.errors import InputError
from steelyard.limits import Scene
from steelyard.online.escape import Escape, News, Threat
from steelyard.online.question import Answer, Question
from steelyard.online.script import NotedNews, NotedReply
from steelyard.online.setting import Setting
from steelyard.online.thinker import Thinker


class NotingThinker:
    """Another thinker, with a pencil.

    Args:
        thinker: who thinks.
    """

    def __init__(self, thinker: Thinker) -> None:
        self._thinker = thinker
        self.notes: list[NotedReply] = []
        """What was said, in order."""

    def ask(self, question: Question | Threat) -> None:
        """Begin to think.

        Args:
            question: what about.
        """
        self._thinker.ask(question)

    def answer(self, patience: float | None) -> Answer | Escape | None:
        """What the other one says.

        Args:
            patience: how long to wait, s.

        Returns:
            The same.
        """
        said = self._thinker.answer(patience)
        self.notes.append(NotedReply.of(said))
        return said

    def close(self) -> None:
        """Send everybody home."""
        self._thinker.close()


class RecitingThinker:
    """Says again what was once said.

    Args:
        setting: of the run.
        notes: what was said, in order.
    """

    def __init__(self, setting: Setting, notes: Sequence[NotedReply]) -> None:
        self._setting, self._notes = setting, list(notes)
        self._question: Question | Threat | None = None

    def ask(self, question: Question | Threat) -> None:
        """Remember what kind of thing was asked.

        Args:
            question: what about.
        """
        self._question = question

    def answer(self, patience: float | None) -> Answer | Escape | None:
        """The next note.

        Args:
            patience: of no interest.

        Returns:
            What was said.

        Raises:
            InputError: more is asked than was then.
        """
        if not self._notes or self._question is None:
            raise InputError("more was asked than the log answers.", place="script")
        return self._notes.pop(0).reply(self._setting, self._question)

    def close(self) -> None:
        """Nothing to close."""


def noted_news(news: News | None, notes: list[NotedNews]) -> News | None:
    """The same news, written down.

    Args:
        news: where new scenes come from.
        notes: grows by what comes.

    Returns:
        The source of news.
    """
    if news is None:
        return None

    def listened(time: float) -> Scene | None:
        scene = news(time)
        if scene is not None:
            notes.append(NotedNews(time, scene))
        return scene

    return listened


def recited_news(notes: Sequence[NotedNews]) -> News:
    """The news of a run at the times they came.

    Args:
        notes: what came.

    Returns:
        The source of news.
    """
    left = {note.time: note.scene for note in notes}
    return lambda time: left.get(time)
