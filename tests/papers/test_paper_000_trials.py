"""Experiments of Zhang et al. (2025): what counts as a success, and what two methods make of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import paper_000.identification as phases
from paper_000.arm import END_EFFECTOR_LOWER, END_EFFECTOR_UPPER, arm
from paper_000.dumbbells import DUMBBELLS
from paper_000.experiment import HOLD, held_at_the_end
from paper_000.knowledge import Identified
from paper_000.methods import CYCLE, METHODS, gear_inertias, smallest_inertia
from paper_000.scenes import LOW, NARROW, Experiment
from paper_000.success import PRINTED, entry, outcome
from paper_000.tasks import clearance, holding
from paper_000.trial import Trial, run
from paper_000.verdict import PLACED, Verdict, judged
from steelyard.control import Tube
from steelyard.dynamics import mass_matrix
from steelyard.layout import layout_of
from steelyard.motion import MotionSample, quintic

LIGHT = DUMBBELLS[0]
GOOD = Verdict("", 0.0, 0.0, 0.0, 0.01, 0.5)


def at_rest(q: np.ndarray, experiment: Experiment = LOW) -> Trial:
    """A run that stands still, perfectly."""
    still = np.zeros((80, 7))
    reference = MotionSample(still + q, still, still)
    return Trial(reference, still + q, still, still, np.zeros((80, 0)), arm().limit_array("effort"), False)


def verdict_on(trial: Trial, experiment: Experiment = LOW) -> Verdict:
    dumbbell = experiment.dumbbells[0]
    robot = holding(arm(), dumbbell)
    return judged(experiment, dumbbell, clearance(experiment, dumbbell, robot), trial)


def test_a_dumbbell_over_its_place_is_a_success() -> None:
    verdict = verdict_on(at_rest(LOW.end(LIGHT)))
    assert verdict.success
    assert verdict.distance < 1e-8


def test_a_dumbbell_beside_its_place_is_misplaced() -> None:
    trial = at_rest(LOW.end(LIGHT))
    for push, right in ((0.5, True), (2.0, False)):
        # Joint 1 turns everything about the base: an arc of the platform's distance.
        q = trial.q + push * PLACED / LOW.place[0] * np.eye(7)[0]
        verdict = verdict_on(replace(trial, q=q))
        assert verdict.success is right
        assert verdict.distance == pytest.approx(push * PLACED, rel=1e-3)
    assert "misplaced" in verdict.wrong


def test_in_the_narrow_path_only_the_path_counts() -> None:
    q = NARROW.end(NARROW.dumbbells[0]) + 0.01 * np.eye(7)[0]
    assert verdict_on(at_rest(q, NARROW), NARROW).success


def test_a_contact_on_the_way_fails_whatever_the_end() -> None:
    trial = at_rest(LOW.end(LIGHT))
    q = np.array(trial.q)
    q[40:50, 1] += 0.4
    verdict = verdict_on(replace(trial, q=q))
    assert "contact" in verdict.wrong
    assert verdict.gap < 0.0


def test_asking_for_more_torque_than_there_is_fails() -> None:
    trial = at_rest(LOW.end(LIGHT))
    for share, right in ((0.99, True), (1.01, False)):
        commands = np.array(trial.commands)
        commands[3, 5] = -share * trial.effort[5]
        asked = replace(trial, commands=commands)
        assert verdict_on(asked).success is right
        assert np.abs(asked.torques[3, 5]) <= trial.effort[5]


def test_the_first_dumbbell_that_fails_ends_a_stack() -> None:
    verdicts = {("a", d.pounds): GOOD for d in DUMBBELLS}
    assert outcome(verdicts, "a") == "success"
    failed = verdicts | {("a", p): replace(GOOD, wrong="torque") for p in (6, 8)}
    assert outcome(failed, "a") == "fail at 6 lb"
    assert outcome({("c", 8): replace(GOOD, wrong="contact: post")}, "c") == "collide"
    assert entry([verdicts, failed, failed], "a") == "fail at 6 lb (2), success (1)"
    assert list(PRINTED) == list(METHODS)


def test_no_mass_matrix_of_a_drawn_arm_is_below_what_the_robust_law_is_told() -> None:
    rng = np.random.default_rng(3)
    for seed in range(3):
        robot = holding(phases.true_arm(seed), DUMBBELLS[-1])
        layout = layout_of(robot, ("rotor",))
        M = mass_matrix(robot, layout, layout.complete_nominal(), rng.uniform(-np.pi, np.pi, (50, 7)))
        assert np.linalg.eigvalsh(M).min() >= smallest_inertia()
    assert gear_inertias().min() == pytest.approx(8.03)


@cache
def lifted(method: str) -> Trial:
    """A short lift of the lightest dumbbell, on an arm that differs from its description."""
    end = LOW.start + 0.1 * np.array([1.0, -1.0, 0.0, -1.0, 0.0, 1.0, 0.0])
    motion = quintic(arm().joint_names, 0.75, LOW.start, end)
    robot = holding(phases.true_arm(0), LIGHT)
    return run(robot, METHODS[method].controller(), held_at_the_end(motion), np.random.default_rng(0))


def test_the_robust_law_keeps_its_tube_with_a_load_it_only_knows_by_table_one() -> None:
    trial = lifted("conservative")
    assert len(trial.q) == round((0.75 + HOLD) / CYCLE) + 1
    tube = Tube.of_radius(0.016, smallest_inertia(), 5.0)
    assert np.linalg.norm(trial.errors, axis=1).max() <= tube.position


def test_a_law_that_is_sure_of_an_empty_gripper_lets_the_load_sink() -> None:
    wrong, pid = lifted("wrong"), lifted("grav-pid")
    assert np.abs(wrong.errors[-1]).max() > 10.0 * np.abs(pid.errors[-1]).max()


def test_bounds_from_certified_plans_hold_the_truth_and_nothing_is_touched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(phases, "PLANS", 1)
    found = phases.identification.__wrapped__("random", "a", LIGHT, 0).identified
    ten = holding(phases.true_arm(0), LIGHT).links[-1].body.parameters
    assert not found.unsafe
    assert (found.lower <= ten).all()
    assert (ten <= found.upper).all()
    prior = Identified(END_EFFECTOR_LOWER, END_EFFECTOR_UPPER, np.zeros(1), np.zeros((1, 3)), 1.0)
    assert found.half_width[0] < 0.5 * prior.half_width[0]
