"""Certified plans that show the payload: how well, how soon, under which torque limits and law.

The arm of Zhang et al. (2025) knows of its end-effector what Table I states. Every plan starts at rest, in
the paper's pose or in one drawn around it, and is found and proven within 0.3 s; random certified plans stand
beside.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from steelyard.errors import NoSolutionError
from steelyard.limits import NotCertifiedError, Scene
from steelyard.motion import RecedingPlans
from steelyard.payloads import Mount
from steelyard.pose import Pose
from steelyard.safe_learning import LawChoice, LoadModel, SafeLearningConfig
from steelyard.safe_learning.planning.cost import PayloadExcitation
from steelyard.safe_learning.planning.search import Planner
from steelyard.uncertainty import ErrorBounds
from studies.online_arms import HOME, SPREAD, TABLE_I, TORQUE, arm, drawn_scene, drawn_start
from tables import Bound, Study

SEEDS = 20
BUDGET = 0.3
MOST_CONDITION, MOST_SECONDS = 25.0, 0.3
LIMITS: dict[str, tuple[float, ...]] = {
    "warning": (*[56.7] * 4, *[29.4] * 3),
    "paper": (*[90.0] * 4, *[45.0] * 3),
    "urdf": (*[39.0] * 4, *[9.0] * 3),
}
OBSTACLES = 6
PLANS = 4
"""In a row, as in Zhang et al. (2025), section VI-D2."""
ERROR = 1.0
"""Of every torque, for comparing rows of plans, N·m."""
Array = np.ndarray


@dataclass(frozen=True)
class Case:
    """Which limits, which law, from where and among what."""

    limits: str
    form: str
    start: str = "home"
    obstacles: int = 0

    @property
    def name(self) -> str:
        """In words."""
        around = f", {self.obstacles} obstacles" if self.obstacles else ""
        return f"{self.limits} limits, {self.form}, {self.start}{around}"


JUDGED = tuple(
    Case("warning", form, start) for form in ("clamped", "componentwise") for start in ("home", "drawn")
)
OTHERS = (
    Case("warning", "clamped", "drawn", OBSTACLES),
    Case("warning", "componentwise", "drawn", OBSTACLES),
    Case("warning", "armour"),
    Case("paper", "armour"),
    Case("paper", "armour", "drawn"),
    Case("urdf", "armour"),
    Case("urdf", "componentwise"),
)


@dataclass(frozen=True)
class Outcome:
    """One question: condition numbers are infinite where no plan was certified.

    Attributes:
        condition: of the plan that was found.
        random: of the first certified plan among random ones.
        seconds: wall time of the answer, s.
        processor: processor time of the answer, s.
        tries: certificates that were asked for.
        refused: those that were refused.
    """

    condition: float
    random: float
    seconds: float
    processor: float
    tries: int
    refused: int


def run(seeds: int = SEEDS) -> Study:
    """Plan for every case and seed, then rows of plans."""
    first = _first_call()
    outcomes = {case: [judged(case, seed) for seed in range(seeds)] for case in (*JUDGED, *OTHERS)}
    bounds = []
    for case in JUDGED:
        mine = outcomes[case]
        bounds += [
            Bound(
                f"{case.name}: condition number, median of {seeds}",
                float(np.median([o.condition for o in mine])),
                MOST_CONDITION,
                note=f"random certified plans: {np.median([o.random for o in mine]):.0f}",
            ),
            Bound(
                f"{case.name}: plan and certificate, wall time at worst, s",
                max(o.seconds for o in mine),
                MOST_SECONDS,
                note=f"median {np.median([o.seconds for o in mine]):.3f} s",
            ),
        ]
    extra = {
        "first call in a process, s": first,
        "cases": {case.name: _summary(mine) for case, mine in outcomes.items()},
        "rows of plans": rows_of_plans(max(1, seeds // 4)),
    }
    return Study("Certified excitation", _DESCRIPTION, tuple(bounds), extra)


_DESCRIPTION = f"""Kinova Gen3 with gripper, every number but those of the end-effector known within
{100 * SPREAD:g} %, the end-effector within Table I of Zhang et al. (2025); tube of V_M = 1e-3 J and
K_r = 5 /s. Plans last 3 s and end at rest. Starts are the paper's pose and poses around it in which the arm
can be proven to stand still. Condition numbers are those of (30) at 128 samples. Wall times are those of a
budget of {BUDGET:g} s, which the search uses up whatever it has found. Rows of {PLANS} plans, of which
{PLANS - 1} are driven half, compare what to count: each plan alone, together with what was driven, and the
driven part of each together with what was driven."""


def judged(case: Case, seed: int) -> Outcome:
    """One plan and one random plan."""
    setting, plans = _asked(case, seed)
    planner, excitation = _planner(setting)
    began, used = time.perf_counter(), time.process_time()
    condition, tries, refused = np.inf, 0, 0
    try:
        found = planner.best(plans, np.random.default_rng([seed, 1]), budget=BUDGET)
        condition = excitation.condition(found.plan.motion)
        tries, refused = found.tries, len(found.refused)
    except NoSolutionError as error:
        tries = refused = int(str(error.evidence.get("tries", 0)))
    seconds, processor = time.perf_counter() - began, time.process_time() - used
    try:
        drawn = planner.random(plans, np.random.default_rng([seed, 2]), budget=None, evaluations=50)
        random = excitation.condition(drawn.plan.motion)
    except NoSolutionError:
        random = np.inf
    return Outcome(condition, random, seconds, processor, tries, refused)


def rows_of_plans(seeds: int) -> dict[str, Any]:
    """Four plans in a row, by what each is chosen for; what all that is driven shows in the end."""
    ways: dict[str, list[tuple[float, Array]]] = {
        "each alone": [],
        "with what was driven": [],
        "driven parts, with what was driven": [],
        "random": [],
    }
    for seed in range(seeds):
        setting, plans = _asked(JUDGED[0], seed)
        for way, found in ways.items():
            found.append(_row(setting, plans, way, np.random.default_rng([seed, 3])))
    return {
        way: {
            "condition number, median": float(np.median([c for c, _ in found])),
            f"half-widths with errors of {ERROR:g} N·m, SI, median": [
                float(f"{x:.3g}") for x in np.median([w for _, w in found], axis=0)
            ],
        }
        for way, found in ways.items()
    }


def _row(
    setting: SafeLearningConfig, plans: RecedingPlans, way: str, rng: np.random.Generator
) -> tuple[float, Array]:
    planner, alone = _planner(setting)
    shown, rows = np.zeros((10, 10)), []
    for k in range(PLANS):
        cost = replace(alone, shown=shown, driven="parts" in way) if "with" in way else alone
        asked = replace(planner, cost=cost)
        choose = asked.random if way == "random" else asked.best
        try:
            plan = choose(plans, rng, budget=None, evaluations=200).plan
        except NoSolutionError:
            break  # the arm brakes
        driven = plan.driven if k + 1 < PLANS else plan.motion
        shown = shown + alone.information(driven)
        at = driven.sample(np.linspace(0.0, driven.duration, round(50 * driven.duration)))
        rows.append(alone.rows(at.q, at.v, at.a).reshape(-1, 10))
        plans = setting.plans(plan)
    W = np.concatenate(rows)
    return float(np.linalg.cond(W)), ERROR * np.abs(np.linalg.pinv(W)).sum(axis=1)


def _asked(case: Case, seed: int) -> tuple[SafeLearningConfig, RecedingPlans]:
    """What is asked: a setting, and the plans to choose from; the arm can stand where it starts."""
    rng = np.random.default_rng([20261116, seed])
    while True:
        start = HOME if case.start == "home" else drawn_start(rng)
        scene = drawn_scene(rng, start, case.obstacles, ()) if case.obstacles else Scene()
        setting = _setting(case.limits, case.form).among(scene)
        plans = setting.plans(start)
        if case.start == "home" or _can_stand(setting, plans):
            return setting, plans


def _can_stand(setting: SafeLearningConfig, plans: RecedingPlans) -> bool:
    try:
        setting.certifier(TABLE_I).certify(plans.plan(np.zeros(len(plans.joints))).motion)
    except NotCertifiedError:
        return False
    return True


@cache
def _setting(limits: str, form: str) -> SafeLearningConfig:
    robot = arm().robot
    joints = [
        replace(joint, limits=replace(joint.limits, effort=most))
        for joint, most in zip(robot.joints, LIMITS[limits], strict=True)
    ]
    mine = replace(robot, joints=tuple(joints))
    held = Mount(mine.link_names[-1], Pose.identity(), "end effector")
    known = LoadModel.stated(mine, arm().layout, held, model_error=SPREAD, whole_link=True)
    stated = (mine, known.layout, known.parameters)
    errors = ErrorBounds.stated(*stated, torque=TORQUE, model=SPREAD, velocity=0.0)
    return SafeLearningConfig.of(known, TABLE_I, errors, law=LawChoice(form))


def _planner(setting: SafeLearningConfig) -> tuple[Planner, PayloadExcitation]:
    held = setting.arm.held
    excitation = PayloadExcitation(setting.arm.robot, held.link, held.to_link)
    return Planner(setting.certifier(TABLE_I), excitation), excitation


def _first_call() -> float:
    """What the first plan of a process takes, machine code read from its cache, s."""
    setting, plans = _asked(JUDGED[0], 0)
    began = time.perf_counter()
    _planner(setting)[0].best(plans, np.random.default_rng(0), budget=None, evaluations=200)
    return time.perf_counter() - began


def _summary(outcomes: list[Outcome]) -> dict[str, Any]:
    found = [o for o in outcomes if np.isfinite(o.condition)]
    seconds = [o.seconds for o in outcomes]
    return {
        "certified": f"{len(found)} of {len(outcomes)}",
        "condition number, median": _finite(float(np.median([o.condition for o in outcomes]))),
        "condition number, best": min((o.condition for o in found), default=None),
        "condition number, worst": max((o.condition for o in found), default=None),
        "random certified plans, median": _finite(float(np.median([o.random for o in outcomes]))),
        "wall time, median and 95 %, s": [float(np.quantile(seconds, p)) for p in (0.5, 0.95)],
        "processor time, median, s": float(np.median([o.processor for o in outcomes])),
        "certificates asked for, mean": float(np.mean([o.tries for o in outcomes])),
        "certificates refused, mean": float(np.mean([o.refused for o in outcomes])),
    }


def _finite(x: float) -> float | None:
    return x if np.isfinite(x) else None
