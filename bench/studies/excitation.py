"""What a time budget buys: designed motions of the Med7 against their bounds, and one command for every arm.

About 25 minutes on two idle cores with five seeds; `acceptance.py excitation --seeds 1` is a quick look of
six.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from steelyard.errors import SteelyardError
from steelyard.excitation import (
    DesignProblem,
    SearchBudget,
    design,
    fourier_family,
    home,
    robot_columns,
)
from steelyard.identifiable import Criterion
from steelyard.limits import Scene, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Geometry
from steelyard.workflows.excite import excite
from steelyard.zoo import zoo_robot
from tables import Bound, Study

ROBOTS = ("panda", "ur10e", "kinova_gen3", "crane_x7", "one_link")
COMMAND_BUDGET = 10.0
SEEDS = 5
TABLE = Scene((Obstacle("table", Box(2.0, 2.0, 0.1), Pose(np.eye(3), np.array([0.0, 0.0, -0.06]))),))
TOOL = (Geometry(Capsule(0.03, 0.2), Pose.from_rpy((0.0, 0.5, 0.0), (0.03, 0.0, 0.15))),)
DEVIATION = 0.0625
"""Root mean square deviation of the base parameters that an earlier A-optimal design reached, SI."""

_DESCRIPTION = """Med7 of the zoo with a rod of 0.2 m as its tool, above a table: five harmonics, 10 s, 43
rigid-body and 14 friction columns in the basis of `robot_columns`, judged at 20 Hz with sign(v), position and
velocity limits at every instant, shapes 1 cm apart. The table gives the median of the seeds and in brackets
the worst; "limits on" adds acceleration and nominal torque. Tian et al. (2024) reached 51 in about ten
minutes; its basis, units, scaling and tool are not published, so the two figures are not like for like.
Budgets are wall time: on a busy machine they buy less."""


@dataclass(frozen=True)
class Case:
    """One budget; `bound` and `aim` are condition numbers."""

    seconds: float
    start: str
    bound: float
    aim: float | None = None

    @property
    def title(self) -> str:
        """As it is called in the table."""
        return f"{self.seconds:g} s, {self.start} start"


CASES = (
    Case(2.0, "home", 40.0),
    Case(10.0, "home", 36.0, 34.0),
    Case(60.0, "home", 34.0, 32.0),
    Case(60.0, "free", 30.0, 27.5),
)


@dataclass(frozen=True)
class Outcome:
    """One search: what it reached, in how many local searches, in how much wall time, s."""

    title: str
    limits: str
    seed: int
    cond: float
    rms_deviation: float
    rounds: int
    seconds: float


def run(seeds: int = SEEDS) -> Study:
    """Search every case with every seed, limits off and on; then call the command for every arm."""
    outcomes = [
        searched(case.title, med7(case.start, limits), limits, seed, case.seconds)
        for case in CASES
        for limits in ("off", "on")
        for seed in range(seeds)
    ]
    accurate = [
        searched("A-optimal", med7("home", "off", Criterion.A), "off", seed, 10.0) for seed in range(seeds)
    ]
    answers = {robot: excited(robot) for robot in ROBOTS}
    bounds = [
        Bound(
            f"cond, {case.title}, median",
            float(np.median(_conds(outcomes, case.title, "off"))),
            case.bound,
            note="" if case.aim is None else f"aim {case.aim:g}",
        )
        for case in CASES
    ]
    deviation = float(np.median([outcome.rms_deviation for outcome in accurate]))
    unproven = [robot for robot, answer in answers.items() if not answer["certified"]]
    return Study(
        "Designed motions",
        f"{_DESCRIPTION}\n\n{_table(outcomes)}\n\n{_commands(answers)}",
        (
            *bounds,
            Bound(
                "A-optimal design of 10 s: rms deviation at unit torque noise, median", deviation, DEVIATION
            ),
            Bound("arms without a certified motion", len(unproven), 0, note=", ".join(unproven)),
        ),
        {
            "searches": [asdict(outcome) for outcome in (*outcomes, *accurate)],
            "commands": answers,
        },
    )


def med7(start: str = "home", limits: str = "off", criterion: Criterion = Criterion.COND) -> DesignProblem:
    """The problem of Tian et al. (2024); `limits` on adds those of acceleration and nominal torque."""
    robot = zoo_robot("lbr_med7")
    layout, base = robot_columns(robot)
    return DesignProblem(
        robot,
        fourier_family(robot, harmonics=5, period=10.0),
        layout,
        base,
        start=home(robot) if start == "home" else None,
        criterion=criterion,
        clearance=clearance_of(robot, TABLE, tool=TOOL),
        acceleration=limits == "on",
        parameters=layout.complete_nominal() if limits == "on" else None,
    )


def searched(title: str, problem: DesignProblem, limits: str, seed: int, seconds: float) -> Outcome:
    """One search within a wall time."""
    found = design(problem, SearchBudget(seconds), np.random.default_rng(seed))
    return Outcome(title, limits, seed, found.cond, found.rms_deviation, found.rounds, found.seconds)


def excited(robot: str) -> dict[str, Any]:
    """The answer of `excite` with all its defaults but the budget; one that is not certified is an answer."""
    try:
        found = excite(robot, budget=COMMAND_BUDGET)
    except SteelyardError as error:
        return {"certified": False, "reason": str(error)}
    kept = ("cond", "cond_normalised", "certified", "reason", "rounds", "seconds", "proven")
    return {"columns": len(found.document["columns"]), **{name: found.document[name] for name in kept}}


def _conds(outcomes: list[Outcome], title: str, limits: str) -> list[float]:
    return [o.cond for o in outcomes if (o.title, o.limits) == (title, limits)]


def _table(outcomes: list[Outcome]) -> str:
    rows = [("budget", "limits off", "limits on", "bound, limits off"), ("---",) * 4]
    for case in CASES:
        figures = [_conds(outcomes, case.title, limits) for limits in ("off", "on")]
        cells = [f"{np.median(conds):.1f} ({max(conds):.1f})" for conds in figures]
        rows.append((case.title, *cells, f"{case.bound:g}"))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _commands(answers: dict[str, dict[str, Any]]) -> str:
    rows = [("`steelyard excite ROBOT`", "columns", "cond", "certified", "wall time, s"), ("---",) * 5]
    for robot, answer in answers.items():
        if "cond" in answer:
            cells = (str(answer["columns"]), f"{answer['cond']:.1f}", "yes" if answer["certified"] else "no")
            rows.append((robot, *cells, f"{answer['seconds']:.1f}"))
        else:
            rows.append((robot, "", "", f"no: {answer['reason']}", ""))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
