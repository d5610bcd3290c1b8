"""Guaranteed bounds of `steelyard payload`, attacked through the command.

The first cases are logs whose every error keeps its stated bound and pushes outwards: the truth must be
inside, or there is an alarm. In the others one assumption is broken, with and without an empty run: caught,
or counted as what cannot be seen.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from attacks.attack import Attack
from attacks.attacked_logs import BREAKS, Break, Case, written
from steelyard.cli.app import main
from steelyard.payloads import posterior
from tables import Bound, Study

KEPT = 5000
BROKEN = 10
"""Logs of each kind of broken assumption, each with and without an empty run."""
_BROKEN = [(one, empty, log) for one in BREAKS for empty in (False, True) for log in range(BROKEN)]
STILL_INSIDE = ("torques 2 ms late",)
"""Breaks of what used to be assumed, which the command's default options allow."""


@dataclass(frozen=True)
class Outcome:
    """What became of a log.

    Attributes:
        seed: of its case.
        broken: the assumption that does not hold; empty where all do.
        empty: whether there was an empty run.
        what: `inside`, `alarm`, `wrong` (silently) or `refused`.
        beyond: farthest that the truth is outside, in widths; negative inside, zero where there is no answer.
        widths: of mass and first moments, SI.
        need: share of the stated errors that the data needs.
        said: the alarm, or the refusal.
    """

    seed: int
    broken: str
    empty: bool
    what: str
    beyond: float = 0.0
    widths: tuple[float, ...] = ()
    need: float | None = None
    said: str = ""


_FIELDS = [field.name for field in fields(Outcome)]


def attacked(seed: int, broken: Break | None = None, *, empty: bool | None = None) -> Outcome:
    """Write one log and weigh by it as a user does.

    Args:
        seed: of the case.
        broken: an assumption that does not hold.
        empty: whether there is an empty run; None as the case has it.

    Returns:
        What became of it.
    """
    case = Case.drawn(seed)
    case = case if empty is None else replace(case, empty=empty)
    name = "" if broken is None else broken.name
    with TemporaryDirectory() as folder, _few_draws():
        attack = written(case, Path(folder), broken)
        words = ["payload", str(attack.robot), *attack.words, "--out", str(Path(folder, "out")), "--json"]
        code, out, err = _ran(words)
    if code not in (0, 1):
        return Outcome(seed, name, case.empty, "refused", said=" ".join(err.split())[-300:])
    answer = json.loads(out)
    if answer["bounds"] is None:
        said = next(c["message"] for c in answer["checks"] if c["name"] == "guaranteed bounds")
        return Outcome(seed, name, case.empty, "alarm", said=said[:300])
    low, high = np.array(list(answer["bounds"].values())).T
    beyond = float((np.maximum(low - attack.ten, attack.ten - high) / np.maximum(high - low, 1e-300)).max())
    what = "wrong" if beyond > 0.0 else "inside"
    widths = tuple(float(x) for x in (high - low)[:4])
    return Outcome(seed, name, case.empty, what, beyond, widths, answer["bounds_need"])


def _ran(words: list[str]) -> tuple[int, str, str]:
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["steelyard", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code = 0
    except SystemExit as left:
        code = int(left.code or 0)
    finally:
        sys.argv = before
    return code, out.getvalue(), err.getvalue()


@contextlib.contextmanager
def _few_draws() -> Iterator[None]:
    """The 95 % intervals of the estimate are not asked about here; their draws take half of the time."""
    before = posterior.STEPS, posterior.WARM_UP
    posterior.STEPS, posterior.WARM_UP = 40, (20, 20)
    try:
        yield
    finally:
        posterior.STEPS, posterior.WARM_UP = before


def case(seed: int) -> dict[str, Any]:
    """A log that keeps all that is stated; beyond `KEPT`, one that breaks an assumption."""
    if seed < KEPT:
        return asdict(attacked(seed))
    one, empty, log = _BROKEN[seed - KEPT]
    return asdict(attacked(log, one, empty=empty))


def judge(cases: list[dict[str, Any]]) -> Study:
    """The truth is inside wherever all that is stated holds; of what does not, most is caught."""
    outcomes = [Outcome(**{name: item[name] for name in _FIELDS}) for item in cases]
    good, bad = [o for o in outcomes if not o.broken], [o for o in outcomes if o.broken]
    count = Counter(o.what for o in good)
    sharp = [o for o in good if o.what == "inside"]
    unseen = [o for o in bad if o.broken not in STILL_INSIDE]
    return Study(
        "Guaranteed bounds through the command",
        f"{len(good)} logs of random arms of 2, 3 and 6 joints with a load of 0.3 to 3.5 kg, moved by "
        "Pinocchio; every number of the arm, torque, velocity and position is off by up to what is stated, "
        "in signs that are drawn, constant, alternating from window to window, as the motion, or as the "
        "gradient of a fit; half of them with a cut-off, a quarter with an empty run. Each is weighed by "
        f"`steelyard payload --torque-error …`. Then {len(bad)} logs in which one assumption is broken. "
        "`wrong` are answers without an alarm that leave the truth out: the breach cannot be seen there.",
        (
            Bound("logs that keep all stated errors: truth outside without an alarm", count["wrong"], 0),
            Bound("the same: alarms", count["alarm"], 0),
            Bound("the same: refused", count["refused"], 0),
            Bound(
                "the same: nearest that the truth came to an end, percent of the width",
                -100.0 * max((o.beyond for o in sharp), default=0.0),
                0.0,
                atmost=False,
            ),
            Bound(
                "broken assumptions without an empty run: caught or inside, percent",
                _safe(unseen, empty=False),
                60.0,
                atmost=False,
            ),
            Bound(
                "broken assumptions with an empty run: caught or inside, percent",
                _safe(unseen, empty=True),
                85.0,
                atmost=False,
            ),
        ),
        {"broken": {one.name: _share(bad, one.name) for one in BREAKS}},
        _table(bad),
    )


def _safe(outcomes: list[Outcome], *, empty: bool) -> float:
    mine = [o for o in outcomes if o.empty is empty]
    return 100.0 * sum(o.what != "wrong" for o in mine) / max(len(mine), 1)


def _share(outcomes: list[Outcome], name: str) -> dict[str, Any]:
    return {
        way: dict(Counter(o.what for o in outcomes if o.broken == name and o.empty is empty))
        for way, empty in (("without an empty run", False), ("with one", True))
    }


def _table(outcomes: list[Outcome]) -> str:
    lines = [
        "| what is broken | logs each | alarm | inside | wrong | with an empty run: alarm | inside | wrong |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in BREAKS:
        alone, both = _share(outcomes, one.name).values()
        cells = [f"{way.get(what, 0)}" for way in (alone, both) for what in ("alarm", "inside", "wrong")]
        lines.append(f"| {one.name} | {sum(alone.values())} | {' | '.join(cells)} |")
    return "\n".join(lines)


ATTACK = Attack("bounds", "guaranteed bounds of payloads", KEPT + len(_BROKEN), case, judge)
