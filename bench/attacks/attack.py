"""What an attack is: many small attempts to break one promise, each drawn from its seed alone.

To add one, write `bench/attacks/NAME.py` with a constant `ATTACK` and put NAME into `ATTACKS` of
`bench/attack.py`:

    def case(seed: int) -> dict[str, Any]:
        rng = np.random.default_rng(seed)
        ...                                     # draw, attack, look at what is left
        return {"what": "panda", "violations": ["what was broken, in words"]}

    def judge(outcomes: list[dict[str, Any]]) -> Study:
        broken = [item for item in outcomes if item["violations"]]
        return Study("Title", "What was tried.", (Bound("promises broken", len(broken), 0),))

    ATTACK = Attack("NAME", "one line for --help", 200, case, judge)

A case runs in a worker process that runs many of them; what it returns is one line of JSON. It need not guard
itself: an exception that it lets through, the death of its process and a case that does not end in time are
noted, counted against the attack, and the next case gets a fresh process. What is the same for all cases is
best made once per process, by a cached function. Temporary files belong into `tempfile`'s folder, which is
removed at the end, and processes that a case starts end with it when it is stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tables import Study

Outcome = dict[str, Any]
"""What became of one case: for JSON, and with its `seed` where it comes back to `judge`."""


@dataclass(frozen=True)
class Attack:
    """One attack.

    Attributes:
        name: of its module, of the file of its outcomes and of its results.
        line: what it attacks, for a list.
        cases: how many make it complete; their seeds are consecutive numbers.
        case: tries one seed; the same seed tries the same thing.
        judge: what the cases that came to an end amount to; hangs and crashes are counted by the driver.
        limit: seconds after which a case counts as a hang.
    """

    name: str
    line: str
    cases: int
    case: Callable[[int], Outcome]
    judge: Callable[[list[Outcome]], Study]
    limit: float = 120.0
