"""`steelyard excite --family primitives`: the structured motion that shows most, or the one that is named."""

from __future__ import annotations

import time

import numpy as np

from steelyard.cli.excite_jerk import keep_jerk
from steelyard.cli.excite_posed import Posed, posed
from steelyard.cli.excite_proof import Designed, looked_again, proof_of
from steelyard.cli.excite_wish import Wish
from steelyard.cli.output import say
from steelyard.dynamics import torque_gram
from steelyard.errors import UnknownNameError
from steelyard.excitation import Design, SmallestMargins
from steelyard.identifiability import Criterion, Information, score
from steelyard.limits import Certificate, MotionLimits
from steelyard.motion import (
    LinearMotion,
    Recipe,
    StructuredMotions,
    crane_x7_motions,
    extent,
    paper_recipes,
    structured_motions,
)
from steelyard.robot import Robot

RATE = 20.0
"""Samples in a second by which a motion is judged, Hz: as many as a search counts."""
FINE = 200.0
"""Samples in a second at which torque and clearance are looked at, Hz; what is between is for the proof."""
PAPERS_ARM, PAPERS_JOINTS = "crane_x7", (7, 8)
"""The arm that has postures of its own, and its numbers of joints, without and with the hand axis."""


def chosen_primitives(robot: Robot, wish: Wish) -> Designed:
    """Make the structured motions, order them by the criterion, and take the best that can be proven."""
    recipes, jerk = _recipes(wish.motion_name), wish.largest_jerk(robot)
    asked = posed(robot, wish)
    made = _made(asked.limits, recipes)
    for finding in made.findings:
        say(f"   {finding}")
    began = time.perf_counter()
    criterion = Criterion(wish.criterion)
    kept = {item.name: keep_jerk(item.motion, robot, jerk) for item in made}
    shown = {name: _information(asked, item.motion) for name, item in kept.items()}
    worth = {name: _worth(criterion, asked, what) for name, what in shown.items()}
    best_first = sorted(worth, key=lambda name: -worth[name] if criterion.maximised else worth[name])
    seconds = time.perf_counter() - began
    say(f"2  {len(made)} structured motions; {best_first[0]}: {criterion} {worth[best_first[0]]:.4g}")
    ended, findings = [], (*asked.findings, *made.findings)
    for name in best_first:
        item = kept[name]
        found = _judged(asked, criterion, item.motion, shown[name], seconds)
        for finding in item.findings:
            say(f"   {name}: {finding}")
        proof = proof_of(asked.limits, item.motion, wish)
        told = (*findings, *item.findings)
        look = looked_again(asked.limits, item.motion, proof)
        ended.append(Designed(wish, robot, found, item, asked.limits, proof, look, name, worth, told))
        if isinstance(proof, Certificate):
            return ended[-1]
        if name != best_first[-1]:
            say(f"   {name} is left out; the next best is tried")
    return ended[0]


def _recipes(name: str | None) -> tuple[Recipe, ...]:
    """The one of a name, or all that parameters may be fitted to."""
    every = {recipe.name: recipe for recipe in paper_recipes()}
    if name is None:
        return tuple(recipe for recipe in every.values() if not recipe.held_out)
    if name not in every:
        raise UnknownNameError("structured motion", name, every, place="--motion-name")
    return (every[name],)


def _made(limits: MotionLimits, recipes: tuple[Recipe, ...]) -> StructuredMotions:
    """At the paper's postures for its arm, at postures that fold the arm for any other."""
    robot = limits.robot
    if robot.name.startswith(PAPERS_ARM) and robot.nv in PAPERS_JOINTS:
        return crane_x7_motions(limits, recipes=recipes)
    return structured_motions(limits, recipes=recipes)


def _information(asked: Posed, motion: LinearMotion) -> Information:
    """What the motion will have shown of the columns, together with the data that is there already."""
    at = motion.sample(np.linspace(0.0, motion.duration, max(2, round(RATE * motion.duration))))
    unknown = np.zeros_like(at.v)
    gram = torque_gram(asked.limits.robot, asked.layout, [(at.q, at.v, at.a, unknown)])[:-1, :-1]
    if asked.recorded is not None:
        gram = gram + asked.recorded
    columns = asked.base.columns
    return Information(gram[np.ix_(columns, columns)], squared=True)


def _worth(criterion: Criterion, asked: Posed, shown: Information) -> float:
    return score(criterion, shown, groupings=asked.base.matrix).value


def _judged(
    asked: Posed, criterion: Criterion, motion: LinearMotion, shown: Information, seconds: float
) -> Design:
    return Design(
        motion=motion,
        criterion=criterion,
        value=_worth(criterion, asked, shown),
        cond=_worth(Criterion.COND, asked, shown),
        cond_normalised=_worth(Criterion.COND_NORMALISED, asked, shown),
        rms_deviation=float(np.sqrt(_worth(Criterion.A, asked, shown) / asked.base.count)),
        columns=asked.base.names,
        margins=_margins(asked.limits, motion),
        never_apart=(),
        seconds=seconds,
        rounds=0,
        evaluations=0,
        history=(),
    )


def _margins(limits: MotionLimits, motion: LinearMotion) -> SmallestMargins:
    """Of the joints' own limits for all time, of torque and clearance at samples."""
    goes = extent(motion)
    joints = MotionLimits(limits.robot).margins(
        np.stack([goes.lower, goes.upper]),
        np.stack([goes.velocity, -goes.velocity]),
        np.stack([goes.acceleration, -goes.acceleration]),
    )
    at = motion.sample(np.linspace(0.0, motion.duration, round(FINE * motion.duration) + 1))
    sampled = limits.margins(at.q, at.v, at.a)
    every = (joints.position, joints.velocity, joints.acceleration, sampled.torque, sampled.clearance)
    return SmallestMargins(*(float(margins.min(initial=np.inf)) for margins in every))
