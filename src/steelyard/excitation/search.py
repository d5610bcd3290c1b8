"""The rounds of one search: what each starts from, when to stop, and what was found."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from steelyard.errors import InputError
from steelyard.excitation.rounds import BEHIND, ELITE, FRESH, Crew, Failure, Pending, Round
from steelyard.excitation.searcher import Local
from steelyard.identifiability import Criterion


@dataclass(frozen=True)
class Budget:
    """When a search ends: whatever comes first, but never before one round.

    A time budget is kept by not starting rounds that would end too late, so it decides about the number of
    rounds only; the same seed and that number as the budget give the same motion again.

    Attributes:
        seconds: wall time, s; None for any.
        rounds: local searches; None for any number.
    """

    seconds: float | None = 10.0
    rounds: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is None and self.rounds is None:
            raise InputError("must state seconds or rounds.", place="budget")
        if self.seconds is not None and not self.seconds > 0.0:
            raise InputError(f"must be positive, got {self.seconds} s.", place="budget")
        if self.rounds is not None and self.rounds < 1:
            raise InputError(f"must be at least one round, got {self.rounds}.", place="budget")


@dataclass(frozen=True)
class Progress:
    """The state of a search after a round.

    Attributes:
        seconds: since it began, s.
        rounds: local searches done.
        best: value of the criterion so far; NaN while no motion keeps all limits.
    """

    seconds: float
    rounds: int
    best: float


@dataclass(eq=False)
class Search:
    """A search that is under way.

    Attributes:
        criterion: what makes a motion good.
        budget: when to end.
        seed: of all rounds.
        progress: called after every round.
        begin: when it began, on `time.perf_counter`, s.
        results: of every round so far, in order.
        history: the state after every round.
    """

    criterion: Criterion
    budget: Budget
    seed: int
    progress: Callable[[Progress], None]
    begin: float
    results: list[Local | Failure] = field(default_factory=list)
    history: list[Progress] = field(default_factory=list)

    @property
    def best(self) -> Local | None:
        """The best motion that keeps every limit."""
        ranked = self._ranked(len(self.results))
        return ranked[0] if ranked else None

    def run(self, hands: Crew) -> bool:
        """Run rounds until the budget ends.

        Args:
            hands: who runs them.

        Returns:
            Whether the search was interrupted after it had found a motion.
        """
        pending: list[Pending] = []
        opened = time.perf_counter()
        try:
            while True:
                while len(pending) < hands.ahead and self._worth_starting(
                    len(pending), hands.workers, opened
                ):
                    pending.append(hands.start(self._round(len(self.results) + len(pending))))
                if not pending:
                    return False
                self.results.append(pending.pop(0).get())
                best = self.best
                now = time.perf_counter() - self.begin
                value = float("nan") if best is None else best.judgement.value
                self.history.append(Progress(now, len(self.results), value))
                self.progress(self.history[-1])
        except KeyboardInterrupt:
            if self.best is None:
                raise
            return True

    def _round(self, number: int) -> Round:
        elite = self._ranked(max(0, number - BEHIND + 1))[:ELITE] if number >= FRESH else []
        return Round(number, self.seed, tuple(local.x for local in elite))

    def _ranked(self, rounds: int) -> list[Local]:
        """What the first rounds have found within the limits, best first."""
        kept = [local for local in self.results[:rounds] if isinstance(local, Local) and local.judgement.kept]
        sign = -1.0 if self.criterion.maximised else 1.0
        return sorted(kept, key=lambda local: sign * local.judgement.value)

    def _worth_starting(self, waiting: int, workers: int, opened: float) -> bool:
        """Whether the budget has room for another round after those that wait."""
        done = len(self.results)
        if self.budget.rounds is not None and done + waiting >= self.budget.rounds:
            return False
        if self.budget.seconds is None or done + waiting < workers:
            return done + waiting == 0 or self._elapsed() < (self.budget.seconds or float("inf"))
        if done == 0:
            return False
        each = (time.perf_counter() - opened) / done
        return self._elapsed() + (waiting + workers) * each <= self.budget.seconds

    def _elapsed(self) -> float:
        return time.perf_counter() - self.begin
