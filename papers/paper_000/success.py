"""Table III: how far every method gets, beside what the paper printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from paper_000.scenes import EXPERIMENTS
from paper_000.verdict import Verdict

SUCCESS = "success"
PRINTED: dict[str, tuple[str, str, str]] = {
    "ours": (SUCCESS, SUCCESS, SUCCESS),
    "wrong": ("fail at 8 lb", "fail at 8 lb", "collide"),
    "conservative": ("fail at 8 lb", "fail at 8 lb", "collide"),
    "random": (SUCCESS, "fail at 8 lb", "collide"),
    "adap-1": (SUCCESS, "fail at 8 lb", "collide"),
    "adap-1-excit": (SUCCESS, SUCCESS, "collide"),
    "adap-2": ("fail at 8 lb", "fail at 4 lb", "collide"),
    "adap-2-excit": ("fail at 8 lb", "fail at 4 lb", "collide"),
    "grav-pid": (SUCCESS, "fail at 6 lb", "collide"),
    "grav-pid-ours": (SUCCESS, SUCCESS, "collide"),
    "grav-pid-excit": ("fail at 4 lb", "fail at 4 lb", "collide"),
}
"""Table III of the paper, experiments (a), (b) and (c)."""

Verdicts = Mapping[tuple[str, int], Verdict]
"""Of one method: by experiment and pounds, in one repetition."""


def outcome(verdicts: Verdicts, name: str) -> str:
    """How one repetition of an experiment ended.

    Args:
        verdicts: of all its dumbbells.
        name: of the experiment.

    Returns:
        `success`, or `fail at … lb` for the first dumbbell that failed; `collide` or `fail` in (c).
    """
    experiment = EXPERIMENTS[name]
    for dumbbell in experiment.dumbbells:
        verdict = verdicts[name, dumbbell.pounds]
        if verdict.success:
            continue
        if experiment.stacked:
            return f"fail at {dumbbell.pounds} lb"
        return "collide" if "contact" in verdict.wrong else "fail"
    return SUCCESS


def entry(repetitions: Sequence[Verdicts], name: str) -> str:
    """What stands in the table: every outcome with its count, unless all are the same.

    Args:
        repetitions: verdicts of each.
        name: of the experiment.

    Returns:
        The entry.
    """
    counted = Counter(outcome(verdicts, name) for verdicts in repetitions)
    if len(counted) == 1:
        return next(iter(counted))
    return ", ".join(f"{what} ({times})" for what, times in counted.most_common())


def reasons(repetitions: Sequence[Verdicts], name: str) -> dict[str, int]:
    """What went wrong with the dumbbell that failed first, and how often.

    Args:
        repetitions: verdicts of each.
        name: of the experiment.

    Returns:
        Counts by reason: contact, torque, misplaced, lost.
    """
    dumbbells = EXPERIMENTS[name].dumbbells
    first = (
        next((v for d in dumbbells if not (v := verdicts[name, d.pounds]).success), None)
        for verdicts in repetitions
    )
    return dict(Counter(v.wrong.split(":")[0].split(" by ")[0] for v in first if v is not None))
