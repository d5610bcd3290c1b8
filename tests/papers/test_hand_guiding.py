"""Hand guiding on the simulated arm: drift comes from model error, and a hand pays for it with its force."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from paper_003.hand_guiding import GuidedRun, GuidingCheck, Hand, guiding_check
from steelyard.control import Admittance
from steelyard.errors import InputError, UnknownNameError
from steelyard.estimation import with_full_set
from steelyard.estimation.linear import fit_least_squares
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.problem import problem_of
from steelyard.robot import Robot
from steelyard.simulation import SensorPreset, simulate_motion
from steelyard.zoo import zoo_robot

DRIVE = ("viscous", "coulomb", "offset", "rotor")
# The tool points down, its y is the base's.
START = np.array([0.0, 0.5, 0.0, -1.4, 0.0, np.pi - 1.9, 0.0])
MASS, DAMPING, OBSERVER = 2.0, 50.0, 30.0
DEAD_ZONE = 2.0
HAND = Hand(np.array([0.0, 0.08, 0.0]), seconds=1.0)
SHORT = Hand(np.array([0.0, 0.04, 0.0]), seconds=0.5)
GRAVITY = 9.81


@cache
def med7(friction: float = 1.0) -> Robot:
    """The Med7 with a share of its friction."""
    robot = zoo_robot("lbr_med7")
    drives = [
        replace(
            joint.drive,
            viscous=friction * (joint.drive.viscous or 0.0),
            coulomb=friction * (joint.drive.coulomb or 0.0),
        )
        for joint in robot.joints
    ]
    joints = tuple(replace(joint, drive=drive) for joint, drive in zip(robot.joints, drives, strict=True))
    return replace(robot, joints=joints)


def holding(robot: Robot, mass: float) -> Robot:
    """The robot with a point mass at the origin of its tool frame."""
    return robot.with_body("load", Body(mass, np.zeros(3), np.zeros((3, 3)))) if mass else robot


def law(robot: Robot, parameters: np.ndarray | None = None, threshold: float = 1.0) -> Admittance:
    """The law with a model, by default what the robot's description states; a share of the dead zone."""
    layout = layout_of(robot, DRIVE)
    return Admittance(
        robot,
        layout,
        layout.complete_nominal() if parameters is None else parameters,
        kp=np.array(2500.0),
        kd=np.array(100.0),
        observer=np.array(OBSERVER),
        mass=np.array([MASS] * 3 + [0.05] * 3),
        damping=np.array([DAMPING] * 3 + [2.0] * 3),
        threshold=threshold * np.array([DEAD_ZONE] * 3 + [0.1] * 3),
        tool=robot.tool_frame,
        inverse_damping=1e-4,
        cycle=1e-3,
    )


def check(robot: Robot, guided: Admittance, hand: Hand = HAND, seconds: float = 0.5) -> GuidingCheck:
    return guiding_check(robot, guided, START, hand, seconds=seconds)


def drift(robot: Robot, model: Robot, seconds: float) -> GuidedRun:
    return check(robot, law(model), replace(HAND, seconds=0.01), seconds).alone


@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_with_the_true_model_and_no_contact_nothing_drifts(friction: float) -> None:
    run = drift(med7(friction), med7(friction), 0.5)
    assert not run.twist.any()
    assert run.distance.max() < 1e-10
    assert run.turn.max() < 1e-9


@pytest.mark.parametrize("unknown", [0.15, 0.5])
def test_an_unknown_mass_sinks_at_what_its_weight_exceeds_the_dead_zone_by(unknown: float) -> None:
    run = drift(holding(med7(0.0), unknown), med7(0.0), 1.0)
    settled = run.time > 0.6
    sinking = np.polyfit(run.time[settled], run.tool[settled, 2, 3], 1)[0]
    expected = -max(unknown * GRAVITY - DEAD_ZONE, 0.0) / DAMPING
    assert sinking == pytest.approx(expected, rel=0.02, abs=1e-6)
    assert run.twist[-1, 2] == pytest.approx(-expected, rel=0.01)  # exactly none inside the dead zone


def test_static_friction_hides_a_small_error_of_the_model() -> None:
    run = drift(holding(med7(3.0), 0.1), med7(3.0), 0.3)
    assert np.abs(run.external).max() < 1e-9
    assert not run.distance.any()


@cache
def textbook_force(threshold: float) -> np.ndarray:
    """The hand on a virtual mass behind a first-order observer, in one dimension, at every millisecond."""
    k, d, T, way = HAND.stiffness, HAND.damping, HAND.seconds, float(HAND.way[1])

    def force(t: float, p: float, speed: float) -> float:
        x = t / T
        there = way * (10 * x**3 - 15 * x**4 + 6 * x**5)
        return k * (there - p) + d * (way / T * (30 * x**2 - 60 * x**3 + 30 * x**4) - speed)

    def rate(t: float, state: np.ndarray) -> list[float]:
        p, speed, observed = state
        push = np.sign(observed) * max(abs(observed) - threshold, 0.0)
        return [speed, (push - DAMPING * speed) / MASS, OBSERVER * (force(t, p, speed) - observed)]

    times = np.arange(1001) / 1000
    states = solve_ivp(rate, (0.0, T), np.zeros(3), t_eval=times, rtol=1e-8, atol=1e-10, max_step=2e-3).y
    return np.array([force(t, p, v) for t, p, v in zip(times, states[0], states[1], strict=True)])


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_hand_that_leads_a_well_modelled_tool_feels_the_virtual_mass_alone(share: float) -> None:
    led = check(med7(0.0), law(med7(0.0), threshold=share), seconds=0.01)
    expected = textbook_force(share * DEAD_ZONE)
    np.testing.assert_allclose(led.led.force[:, 1], expected, atol=0.06 * np.abs(expected).max())
    assert np.abs(led.led.force[:, [0, 2]]).max() < 0.05 * np.abs(expected).max()
    assert led.mean_force == pytest.approx(np.abs(expected).mean(), rel=0.03)
    assert led.peak_force == pytest.approx(np.abs(expected).max(), rel=0.03)


def test_a_pull_inside_the_dead_zone_moves_no_virtual_mass() -> None:
    weak = replace(HAND, way=np.array([0.0, 0.8 * DEAD_ZONE / HAND.stiffness, 0.0]))
    led = check(med7(0.0), law(med7(0.0)), weak, seconds=0.01)
    assert led.peak_force > 0.5 * DEAD_ZONE
    assert not led.led.twist.any()


def test_the_force_to_guide_the_tool_grows_with_the_error_of_the_model() -> None:
    forces = []
    for known in (1.0, 0.5, 0.0):  # share of the friction that the model knows
        forces.append(check(med7(), law(med7(known)), SHORT, 0.01).mean_force)
    assert np.all(np.diff(forces) > 0.05 * forces[0])
    loads = [check(holding(med7(), m), law(med7()), SHORT, 0.01).mean_force for m in (0.4, 0.8)]
    assert forces[0] < loads[0] < loads[1]


def test_an_identified_model_guides_like_the_true_one_and_a_nominal_one_does_not() -> None:
    robot = holding(med7(), 0.8)
    layout = layout_of(robot, DRIVE)
    motion = random_fourier(robot, np.random.default_rng(0), period=2.0)
    log = simulate_motion(robot, motion, rate=100.0)
    maker = layout_of(med7(), DRIVE).complete_nominal()
    problem = problem_of(robot, layout, [log], prior=maker)
    identified = with_full_set(problem, fit_least_squares(problem)).parameters
    assert identified is not None
    true, found, nominal = (check(robot, law(robot, phi), SHORT, 0.3) for phi in (None, identified, maker))
    assert found.drift < 1e-6
    assert found.mean_force == pytest.approx(true.mean_force, rel=1e-3)
    assert nominal.drift > 1e-3
    assert nominal.mean_force > 1.1 * true.mean_force


def test_the_law_reckons_with_the_measured_torque_and_so_takes_a_bias_of_the_meters_for_a_push() -> None:
    robot, biased = med7(0.0), SensorPreset(name="biased", torque_bias=0.01, delay=1e-3)
    hand, deaf = replace(HAND, seconds=0.01), law(robot, threshold=1e3)
    rng, same = np.random.default_rng(4), np.random.default_rng(4)
    run = guiding_check(robot, deaf, START, hand, seconds=0.5, sensor=biased, rng=rng).alone
    bias = biased.drawn(robot, same).bias
    assert np.abs(bias).min() > 0.01
    np.testing.assert_allclose(run.external[-1], -bias, rtol=1e-3)
    assert run.distance.max() < 1e-9


def test_the_same_seed_gives_the_same_bits_on_one_arm_for_both_runs() -> None:
    def run(seed: int) -> GuidingCheck:
        rng = np.random.default_rng(seed)
        hand = replace(HAND, seconds=0.03)
        return guiding_check(med7(), law(med7()), START, hand, seconds=0.03, sensor="industrial", rng=rng)

    one, two, other = run(1), run(1), run(2)
    np.testing.assert_array_equal(one.alone.tau, two.alone.tau)
    np.testing.assert_array_equal(one.led.force, two.led.force)
    assert (one.alone.tau != other.alone.tau).mean() > 0.5
    assert one.led.force.any()
    assert not one.alone.force.any()
    with pytest.raises(ValueError, match="read-only"):
        one.alone.tau[0] = 0.0


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, 3.0, np.pi])
def test_the_turn_of_the_tool_is_the_angle_between_its_poses(angle: float) -> None:
    rng = np.random.default_rng(0)
    axis = rng.standard_normal(3)
    first = Rotation.random(random_state=0)
    second = first * Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
    tool = np.tile(np.eye(4), (2, 1, 1))
    tool[:, :3, :3] = first.as_matrix(), second.as_matrix()
    tool[1, :3, 3] = 1.0, 2.0, 2.0
    still = np.zeros((2, 7))
    run = GuidedRun(
        np.arange(2.0), still, still, still, np.zeros((2, 6)), tool, np.zeros((2, 3)), np.zeros(7, dtype=int)
    )
    assert run.turn == pytest.approx([0.0, angle], abs=1e-12 if angle < 2 else 1e-7)
    assert run.distance == pytest.approx([0.0, 3.0])


def test_what_cannot_be_tried_is_refused() -> None:
    robot = med7()
    with pytest.raises(InputError, match="law: it is for the joints"):
        guiding_check(zoo_robot("panda"), law(robot), START, HAND)
    with pytest.raises(
        InputError, match=r"law: it is made for cycles of 0\.002 s, but 'ideal' runs it every"
    ):
        check(robot, replace(law(robot), cycle=2e-3))
    with pytest.raises(UnknownNameError, match="unknown link 'finger'"):
        check(robot, replace(law(robot), tool=replace(robot.tool_frame, name="finger")))
    with pytest.raises(InputError, match=r"seconds: must last at least one cycle of 0\.001 s"):
        check(robot, law(robot), seconds=1e-4)
    with pytest.raises(InputError, match="rng: sensor preset 'industrial' is random"):
        guiding_check(robot, law(robot), START, HAND, sensor="industrial")
    with pytest.raises(InputError, match="start: expected shape"):
        guiding_check(robot, law(robot), START[:3], HAND)
    with pytest.raises(InputError, match="stiffness of the hand: must be positive, got 0"):
        Hand(np.zeros(3), 1.0, stiffness=0.0)
    with pytest.raises(InputError, match="way: expected shape"):
        Hand(np.zeros(2), 1.0)
