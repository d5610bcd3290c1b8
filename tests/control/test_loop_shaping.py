"""Gains from joint models: the loop judged by SciPy and by the clock, margins that mean what they say."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import cont2discrete

from steelyard.control import (
    FeedforwardPD,
    JointModel,
    controller_text,
    inertia_range,
    read_controller,
    shaped_controller,
)
from steelyard.control.loop_shaping import FeedbackLoop
from steelyard.errors import InputError, NoSolutionError
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")
CYCLE = 1e-3
LIGHT = JointModel.of_inertia(0.006, 0.04, 0.0015)


def loop(joint: JointModel, bandwidth: float, inertia: float = 0.006) -> FeedbackLoop:
    return FeedbackLoop(joint, inertia, bandwidth**2, 2.0 * bandwidth, CYCLE, 0.002)


def grows(feedback: FeedbackLoop, cycles: int = 4000) -> bool:
    """Whether a joint under the law of `FeedforwardPD` swings ever farther; a cycle is two exact pieces."""
    M, D = feedback.joint.inertia, feedback.joint.viscous
    law = FeedforwardPD(
        zoo_robot("one_link"), feedback.inertia, 0.0, feedback.kp, feedback.kv, cycle=CYCLE, filter=0.002
    )
    memory, sent = np.array(law.memory), [0.0] * 20
    q, v, late = 1.0, 0.0, feedback.joint.dead_time
    n = math.floor(late / CYCLE)
    sizes = []
    for _ in range(cycles):
        tau, state = np.empty(1), (np.array([q]), np.array([v]))
        law.step(law.tree, law.numbers, law.gains, memory, *state, np.zeros(1), np.zeros(1), np.zeros(1), tau)
        sent.append(float(tau[0]))
        for torque, length in ((sent[-2 - n], late - n * CYCLE), (sent[-1 - n], (n + 1) * CYCLE - late)):
            fade, steady = math.exp(-D * length / M), torque / D
            q += steady * length + (v - steady) * (1.0 - fade) * M / D
            v = steady + (v - steady) * fade
        sizes.append(abs(q))
    return max(sizes[-400:]) > max(sizes[:400])


def test_the_loop_is_that_of_scipys_discretisation_for_whole_cycles() -> None:
    M, D = 0.02, 0.3
    feedback = loop(JointModel.of_inertia(M, D, 2.0 * CYCLE), 35.0, inertia=0.015)
    (numerator,), denominator, _ = cont2discrete(([1.0], [M, D, 0.0]), CYCLE)
    w = 2.0 * math.pi * np.array([0.3, 4.0, 30.0, 200.0])
    z = np.exp(1j * w * CYCLE)
    joint = np.polyval(numerator, z) / np.polyval(denominator, z) * z**-2
    speed = (1.0 - 1.0 / z) / (0.002 + CYCLE - 0.002 / z)
    judged = joint * 0.015 * (35.0**2 + 70.0 * speed)
    assert feedback.response(w) == pytest.approx(judged, rel=1e-9)


@pytest.mark.parametrize("bandwidth", [10.0, 40.0, 90.0])
@pytest.mark.parametrize("dead_time", [0.0, 0.0015, 0.0043])
def test_dead_time_worth_the_margin_brings_the_loop_to_the_edge(bandwidth: float, dead_time: float) -> None:
    feedback = loop(JointModel.of_inertia(0.006, 0.04, dead_time), bandwidth)
    margin, crossover = feedback.phase_margin, feedback.crossover
    if margin < 0.0:
        pytest.skip("already unstable")
    for share, stable in ((0.97, True), (1.03, False)):
        later = dead_time + share * margin / crossover
        moved = loop(JointModel.of_inertia(0.006, 0.04, later), bandwidth)
        assert bool(np.abs(moved.poles).max() < 1.0) is stable
        assert (moved.phase_margin > 0.0) is stable


@pytest.mark.parametrize("dead_time", [0.0007, 0.0015, 0.003])
def test_a_loop_without_margin_swings_up_and_one_with_margin_settles(dead_time: float) -> None:
    joint = JointModel.of_inertia(0.006, 0.04, dead_time)
    bandwidths = np.geomspace(20.0, 600.0, 60)
    edge = next(k for k, w in enumerate(bandwidths) if loop(joint, float(w)).phase_margin < 0.0)
    assert not grows(loop(joint, 0.95 * float(bandwidths[edge - 1])))
    assert grows(loop(joint, 1.05 * float(bandwidths[edge])))


def test_too_fast_a_loop_is_refused_and_the_largest_bandwidth_named() -> None:
    joints = [LIGHT, LIGHT]
    with pytest.raises(InputError, match=r"joint1.*phase margin of .*largest allowed is") as refused:
        shaped_controller(ROBOT, joints, bandwidth=150.0, cycle=CYCLE)
    largest = refused.value.evidence["largest"]
    kept = shaped_controller(ROBOT, joints, bandwidth=largest, cycle=CYCLE)
    assert math.degrees(kept.phase_margin.min()) == pytest.approx(45.0, abs=0.05)
    with pytest.raises(InputError, match="phase margin"):
        shaped_controller(ROBOT, joints, bandwidth=1.02 * largest, cycle=CYCLE)
    limited = shaped_controller(ROBOT, joints, bandwidth=150.0, cycle=CYCLE, at_most=True)
    assert limited.bandwidth == pytest.approx(largest, rel=1e-3)


def test_the_margin_holds_for_every_inertia_of_the_range() -> None:
    span = np.array([[0.002, 0.02], [0.006, 0.006]])
    design = shaped_controller(
        ROBOT, [LIGHT, LIGHT], bandwidth=300.0, cycle=CYCLE, inertia_range=span, at_most=True
    )
    assert design.bandwidth[0] < 0.6 * design.bandwidth[1]
    for M in np.exp(np.random.default_rng(0).uniform(*np.log(span[0]), 40)):
        at_pose = loop(JointModel.of_inertia(float(M), 0.04, 0.0015), float(design.bandwidth[0]))
        assert at_pose.phase_margin > math.radians(44.5)
    # The designed gains on a joint three times lighter than the model.
    assert loop(JointModel.of_inertia(0.002, 0.04, 0.0015), float(design.bandwidth[1])).phase_margin < 0.5


def test_the_crossover_is_the_fastest_of_the_range() -> None:
    span = np.array([[0.004, 0.01], [0.006, 0.006]])
    design = shaped_controller(ROBOT, [LIGHT, LIGHT], bandwidth=20.0, cycle=CYCLE, inertia_range=span)
    ends = [
        FeedbackLoop(
            JointModel.of_inertia(M, 0.04, 0.0015), 0.006, 400.0, 40.0, CYCLE, design.controller.filter
        )
        for M in span[0]
    ]
    assert ends[0].crossover > 1.5 * ends[1].crossover
    assert design.crossover[0] == pytest.approx(ends[0].crossover, rel=1e-6)


def test_gains_follow_from_the_models() -> None:
    other = JointModel(10.0, 0.2, 0.001)
    law = shaped_controller(ROBOT, [LIGHT, other], bandwidth=[12.0, 20.0], cycle=CYCLE).controller
    assert law.inertia == pytest.approx([0.006, 0.02])
    assert law.viscous == pytest.approx([0.04, 0.1])
    assert law.kp == pytest.approx([144.0, 400.0])
    assert law.kv == pytest.approx([24.0, 40.0])


def test_a_range_that_no_gain_suits_and_bad_numbers_are_refused() -> None:
    heavy = JointModel.of_inertia(0.006, 1e-6, 0.0015)
    with pytest.raises(NoSolutionError, match="narrower range"):
        shaped_controller(
            ROBOT, [heavy, LIGHT], bandwidth=5.0, cycle=CYCLE, inertia_range=[[0.006, 6.0], [0.006, 0.006]]
        )
    with pytest.raises(InputError, match="in order"):
        shaped_controller(ROBOT, [LIGHT, LIGHT], bandwidth=5.0, cycle=CYCLE, inertia_range=[[2, 1], [1, 1]])
    with pytest.raises(InputError, match="bandwidth"):
        shaped_controller(ROBOT, [LIGHT, LIGHT], bandwidth=-5.0, cycle=CYCLE)
    with pytest.raises(InputError, match="1 are given for 2"):
        shaped_controller(ROBOT, [LIGHT], bandwidth=5.0, cycle=CYCLE)
    with pytest.raises(InputError, match="gain"):
        JointModel(0.0, 1.0)


def test_the_written_law_reads_back_to_the_last_bit(tmp_path: Path) -> None:
    law = shaped_controller(ROBOT, [LIGHT, JointModel(7.0, 0.3)], bandwidth=17.3, cycle=CYCLE).controller
    file = tmp_path / "controller.toml"
    file.write_text(controller_text(law, ["made of\nmodels"]), encoding="utf-8")
    again = read_controller(file, ROBOT)
    assert np.array_equal(again.gains, law.gains)
    assert again.cycle == law.cycle


def test_a_lone_joint_has_one_inertia_and_an_arm_a_range() -> None:
    poses = np.random.default_rng(0).uniform(-3.0, 3.0, (200, 2))
    low, high = inertia_range(ROBOT, poses).T
    assert (low < high).all()
    one = zoo_robot("one_link")
    alone = inertia_range(one, [[0.0], [1.0]])
    assert alone[0, 0] == pytest.approx(alone[0, 1])
