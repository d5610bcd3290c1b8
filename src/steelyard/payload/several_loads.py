r"""Robot and payloads together, from runs with different loads, some known and some not.

Every run k says $L_k\,K(\phi_r + S\varphi_k) = L_k\hat\beta_k$ of the robot it shares with the others and of
its own load $\varphi_k$. Stacked, they are one least-squares question for the robot's base parameters and all
unknown loads. A known load in one run helps every other: it separates what the arm weighs from how its
torques are scaled, see `gains`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.errors import InputError
from steelyard.estimation import fit_by_name
from steelyard.inertia import Body
from steelyard.layout import Layout
from steelyard.payload.held import Held
from steelyard.payload.knowledge import Knowledge, knowledge_of
from steelyard.payload.question import CHANGES
from steelyard.payload.weighing import Weighing, eliminated
from steelyard.problem import problem_of
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import without_limited, without_turning


@dataclass(frozen=True, eq=False)
class LoadedRuns:
    """Runs with one load.

    Attributes:
        name: of the load.
        recordings: the runs, with q, v, a and tau.
        held: where it is held.
        body: the load in its frame where it is known; None where it is asked about. No load at all is
            `NOTHING`.
    """

    name: str
    recordings: tuple[Recording, ...]
    held: Held
    body: Body | None


NOTHING = Body(0.0, np.zeros(3), np.zeros((3, 3)))
"""The load of an empty hand."""


def weigh_several(
    robot: Robot, layout: Layout, groups: Sequence[LoadedRuns], *, changes: Sequence[str] = CHANGES
) -> Mapping[str, Weighing]:
    """Weigh every unknown load with a robot that is estimated from all runs.

    Args:
        robot: the robot.
        layout: its parameters, all free.
        groups: runs by load; at least one load must be known, an empty hand for instance.
        changes: drive terms that may differ from group to group.

    Returns:
        A weighing for each unknown load, by name.

    Raises:
        InputError: no load is known, or none is asked about.
    """
    known = [group for group in groups if group.body is not None]
    asked = [group for group in groups if group.body is None]
    if not known or not asked:
        raise InputError(
            f"{len(known)} loads are known and {len(asked)} are asked about; one of each is needed.",
            place="groups",
            remedy="Add a run with an empty hand or with a load of known inertia.",
        )
    found = [_known(robot, layout, group) for group in groups]
    terms = [
        layout.index(f"{joint}.{term}") for joint in layout.joints for term in changes if term in layout.drive
    ]
    return {group.name: _one(groups, found, group, layout, terms) for group in asked}


def _known(robot: Robot, layout: Layout, group: LoadedRuns) -> Knowledge:
    problem = problem_of(robot, layout, [without_limited(without_turning(run)) for run in group.recordings])
    return knowledge_of(problem, fit_by_name(problem, "wls"))


def _one(
    groups: Sequence[LoadedRuns],
    found: Sequence[Knowledge],
    asked: LoadedRuns,
    layout: Layout,
    terms: Sequence[int],
) -> Weighing:
    """One load, the robot, the other unknown loads and the changes of every other group eliminated."""
    others = [group for group in groups if group.body is None and group is not asked]
    b, t = len(found[0].values), len(terms)
    width = b + 10 * len(others) + t * (len(groups) - 1)
    nuisance, ten, target = [], [], []
    for k, (group, knows) in enumerate(zip(groups, found, strict=True)):
        L, K = knows.root, knows.matrix
        load = L @ K[:, layout.of_link(group.held.link)] @ group.held.to_link
        N = np.zeros((len(L), width))
        N[:, :b] = L
        if group in others:
            place = b + 10 * others.index(group)
            N[:, place : place + 10] = load
        # Changes are counted from the first group's drives, which are the robot's.
        if k and t:
            place = b + 10 * len(others) + t * (k - 1)
            N[:, place : place + t] = L @ K[:, list(terms)]
        nuisance.append(N)
        ten.append(load if group is asked else np.zeros_like(load))
        carried = np.zeros(10) if group.body is None else group.body.parameters
        target.append(L @ knows.values - load @ carried)
    R, r = eliminated(np.vstack(nuisance), np.vstack(ten), np.concatenate(target))
    mine = found[[group is asked for group in groups].index(True)]
    return Weighing(asked.held, R, r, mine.residual, mine.samples, "several loads", mine.findings)
