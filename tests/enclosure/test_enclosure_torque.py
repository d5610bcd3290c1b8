"""Torque enclosures hold every sampled torque, are tight, and say what they cannot enclose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.random_robots import random_robot, random_states
from steelyard.arrays import Array
from steelyard.drive import StribeckShape
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.enclosure import (
    Forms,
    MotionForms,
    Tracking,
    enclosed_torque,
    enclosed_torque_apart,
    motion_forms,
)
from steelyard.errors import InputError, ShapeError
from steelyard.layout import Layout, layout_of
from steelyard.motion import FourierMotion, random_fourier
from steelyard.robot import Robot
from steelyard.robot.joint import Mimic
from steelyard.zoo import zoo_robot

LINEAR = ("viscous", "coulomb", "offset", "rotor")
EVERY = (*LINEAR, "stribeck", "asymmetric", "load")
RATE = 10_000.0


def layout_with(robot: Robot, drive: tuple[str, ...]) -> Layout:
    shapes = {joint.name: StribeckShape(0.3, 1.5) for joint in robot.joints} if "stribeck" in drive else None
    return layout_of(robot, drive, stribeck=shapes)


def parameters(rng: np.random.Generator, layout: Layout) -> Array:
    """The nominal links, and drives of order one."""
    phi = layout.complete_nominal()
    links = 10 * len(layout.links)
    phi[links:] = rng.uniform(0.1, 2.0, layout.size - links)
    return phi


def stretches(motion: FourierMotion, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Cuts at random times: stretches of every width up to a break's."""
    cuts = np.union1d(motion.breaks, rng.uniform(0.0, motion.duration, count))
    return cuts[:-1], cuts[1:]


@pytest.mark.parametrize("name", ["lbr_med7", "panda", "ur10e", "kinova_gen3", "crane_x7", "scara", "so101"])
def test_no_torque_sampled_at_ten_kilohertz_lies_outside(name: str) -> None:
    rng = np.random.default_rng(5)
    robot = zoo_robot(name)
    layout = layout_with(robot, EVERY)
    phi = parameters(rng, layout)
    motion = random_fourier(robot, rng, fraction=1.0, period=8.0)
    start, end = stretches(motion, rng, 120)
    tau = enclosed_torque(robot, layout, phi, phi, motion_forms(motion, start, end))
    time = np.arange(0.0, motion.duration, 1.0 / RATE)
    at = motion.sample(time)
    torque = inverse_dynamics(robot, layout, phi, at.q, at.v, at.a)
    row = np.searchsorted(end, time)
    assert (tau.lower[row] <= torque).all()
    assert (torque <= tau.upper[row]).all()


@pytest.mark.parametrize("seed", range(8))
def test_no_torque_of_a_box_of_states_and_parameters_lies_outside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    layout = layout_with(robot, EVERY)
    phi = parameters(rng, layout)
    low, high = phi - 0.1 * np.abs(phi), phi + 0.1 * np.abs(phi)
    q, v, a = random_states(rng, robot, 20)
    widths = [10.0 ** rng.uniform(-6, 0, x.shape) for x in (q, v, a)]
    box = [(x - w, x + w) for x, w in zip((q, v, a), widths, strict=True)]
    tau = enclosed_torque(robot, layout, low, high, MotionForms.between(*box))
    for _ in range(200):
        # Corners, and now and then the inside: extremes of most torques lie at corners.
        some = [x + w * _corner(rng, x.shape) for x, w in zip((q, v, a), widths, strict=True)]
        theta = phi + 0.1 * np.abs(phi) * _corner(rng, phi.shape)
        torque = inverse_dynamics(robot, layout, theta, *some)
        assert (tau.lower <= torque).all()
        assert (torque <= tau.upper).all()


def _corner(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.choice([-1.0, 1.0], shape) if rng.random() < 0.7 else rng.uniform(-1.0, 1.0, shape)


@pytest.mark.parametrize("seed", range(6))
def test_at_a_point_a_box_of_parameters_spreads_the_torque_by_the_regressor(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    layout = layout_of(robot, LINEAR)
    phi = parameters(rng, layout)
    rho = 10.0 ** rng.uniform(-4, -1, layout.size)
    q, v, a = random_states(rng, robot, 5)
    forms = MotionForms(*(Forms(x, np.zeros((*x.shape, 0)), np.zeros(x.shape)) for x in (q, v, a)))
    tau = enclosed_torque(robot, layout, phi - rho, phi + rho, forms)
    expected = np.abs(torque_regressor(robot, layout, q, v, a)) @ rho
    np.testing.assert_allclose(tau.deviation, expected, rtol=1e-7)


def test_the_width_comes_down_to_the_sampled_one_as_stretches_shrink() -> None:
    rng = np.random.default_rng(0)
    robot = zoo_robot("lbr_med7")
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    motion = random_fourier(robot, rng)
    excess = []
    for width in (0.04, 0.02, 0.01):
        start = np.setdiff1d(np.arange(0.0, motion.duration - width, 0.125), [0.0]) + 0.01
        tau = enclosed_torque(robot, layout, phi, phi, motion_forms(motion, start, start + width))
        at = motion.sample((start[:, None] + np.linspace(0.0, width, 201)).ravel())
        torque = inverse_dynamics(robot, layout, phi, at.q, at.v, at.a).reshape(len(start), 201, -1)
        excess.append(float((tau.upper - tau.lower - np.ptp(torque, axis=1)).mean()))
    # What is lost is of second order in the width.
    assert excess[0] / excess[1] > 3.3
    assert excess[1] / excess[2] > 3.3


def test_in_a_tube_the_enclosure_is_less_than_twice_as_wide_as_the_samples() -> None:
    rng = np.random.default_rng(1)
    robot = zoo_robot("kinova_gen3")
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    motion = random_fourier(robot, rng)
    tube = Tracking(np.full(robot.nv, 0.0032), np.full(robot.nv, 0.016), np.zeros(robot.nv))
    start = np.linspace(0.0, motion.duration, 161)[:-1]
    tau = enclosed_torque(robot, layout, phi, phi, motion_forms(motion, start, start + 0.0624, tube))
    ratios = []
    for k in range(0, 160, 8):
        at = motion.sample(np.tile(np.linspace(start[k], start[k] + 0.0624, 20), 100))
        q = at.q + tube.position * rng.choice([-1.0, 1.0], at.q.shape)
        v = at.v + tube.velocity * rng.choice([-1.0, 1.0], at.v.shape)
        torque = inverse_dynamics(robot, layout, phi, q, v, at.a)
        assert (tau.lower[k] <= torque).all()
        assert (torque <= tau.upper[k]).all()
        ratios.append((tau.upper[k] - tau.lower[k]) / np.ptp(torque, axis=0))
    assert np.mean(ratios) < 2.0


def test_a_joint_that_mimics_another_is_enclosed_with_it() -> None:
    rng = np.random.default_rng(2)
    robot = random_robot(rng, bodies=4)
    tied = replace(robot.joints[2], mimic=Mimic("joint0", -1.5, 0.3))
    robot = replace(robot, joints=(*robot.joints[:2], tied, robot.joints[3]))
    layout = layout_of(robot, LINEAR)
    phi = parameters(rng, layout)
    q, v, a = random_states(rng, robot, 5)
    q = q[:, : robot.nq]
    w = 0.05
    tau = enclosed_torque(
        robot, layout, phi, phi, MotionForms.between((q - w, q + w), (v - w, v + w), (a - w, a + w))
    )
    assert tau.centre.shape == (5, robot.nv)
    for _ in range(300):
        some = [x + w * _corner(rng, x.shape) for x in (q, v, a)]
        torque = inverse_dynamics(robot, layout, phi, *some)
        assert (tau.lower <= torque).all()
        assert (torque <= tau.upper).all()


def test_joints_with_several_degrees_of_freedom_are_refused() -> None:
    robot = zoo_robot("two_link").floating()
    layout = layout_of(robot)
    forms = Forms.between(np.zeros((1, robot.nv)), np.zeros((1, robot.nv)))
    phi = np.zeros(layout.size)
    with pytest.raises(InputError, match="is floating: only joints with one degree of freedom have forms"):
        enclosed_torque(robot, layout, phi, phi, MotionForms(forms, forms, forms))


def test_what_does_not_fit_is_refused_by_name() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    forms = Forms.between(np.zeros((1, 3)), np.zeros((1, 3)))
    with pytest.raises(ShapeError, match="expected forms of shape"):
        enclosed_torque(robot, layout, phi, phi, MotionForms(forms, forms, forms))
    with pytest.raises(InputError, match=f"below the lower bound at '{layout.names[0]}'"):
        enclosed_torque(robot, layout, phi, phi - 1.0, MotionForms(forms, forms, forms))
    with pytest.raises(InputError, match="an upper end lies below"):
        Forms.between([1.0], [0.0])
    motion = random_fourier(robot, np.random.default_rng(0))
    with pytest.raises(InputError, match="a break of the motion lies inside"):
        motion_forms(motion, [0.0], [motion.duration])
    with pytest.raises(InputError, match="stretches must go forwards"):
        motion_forms(motion, [0.2], [0.1])
    with pytest.raises(InputError, match="zero or more"):
        Tracking([-1.0], [0.0], [0.0])


@pytest.mark.parametrize("name", ["panda", "kinova_gen3"])
def test_nominal_links_and_what_a_box_adds_are_enclosed_apart(name: str) -> None:
    rng = np.random.default_rng(2)
    robot = zoo_robot(name)
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    rho = 0.05 * np.abs(phi)
    motion = random_fourier(robot, rng, fraction=0.5, period=8.0)
    start, end = stretches(motion, rng, 60)
    forms = motion_forms(motion, start, end)
    tau, added = enclosed_torque_apart(robot, layout, phi, rho, forms)
    alone = enclosed_torque(robot, layout, phi, phi, forms)
    assert np.array_equal(tau.lower, alone.lower)
    assert np.array_equal(tau.upper, alone.upper)
    # Both together hold what the box as a whole holds, and no more than rounding besides.
    whole = enclosed_torque(robot, layout, phi - rho, phi + rho, forms)
    assert tau.lower - added == pytest.approx(whole.lower, rel=1e-9, abs=1e-9)
    time = rng.uniform(0.0, motion.duration, 2000)
    at, row = motion.sample(time), np.searchsorted(end, time)
    Y = torque_regressor(robot, layout, at.q, at.v, at.a)
    assert (np.abs(Y) @ rho <= added[row]).all()


def test_a_drive_has_no_place_beside_links_alone() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, ("rotor",))
    phi = layout.complete_nominal()
    forms = motion_forms(random_fourier(robot, np.random.default_rng(0)), np.array([0.0]), np.array([0.1]))
    with pytest.raises(InputError, match="links alone"):
        enclosed_torque_apart(robot, layout, phi, 0.1 * phi, forms)


@pytest.mark.parametrize("wrong", ["nominal", "half width", "negative"])
def test_each_number_that_links_alone_do_not_have_is_refused_by_itself(wrong: str) -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, ("rotor",))
    phi, rho = np.zeros((2, layout.size))
    forms = Forms.between(np.zeros((1, 2)), np.zeros((1, 2)))
    motion = MotionForms(forms, forms, forms)
    enclosed_torque_apart(robot, layout, phi, rho, motion)
    phi[-1], rho[-1], rho[0] = wrong == "nominal", wrong == "half width", -(wrong == "negative")
    with pytest.raises(InputError, match="links alone"):
        enclosed_torque_apart(robot, layout, phi, rho, motion)


def test_the_parameter_whose_bounds_are_in_the_wrong_order_is_named() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot)
    low, high = np.zeros(layout.size), np.ones(layout.size)
    high[13] = -1.0
    forms = Forms.between(np.zeros((1, 2)), np.zeros((1, 2)))
    with pytest.raises(InputError, match=f"below the lower bound at '{layout.names[13]}'"):
        enclosed_torque(robot, layout, low, high, MotionForms(forms, forms, forms))
