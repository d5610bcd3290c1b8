"""Enclosures hold the truth in forty digits: at points, over stretches, on zoo robots and random trees."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from enclosure.forty_digits import DIGITS, exact, fourier_state, torques
from oracles.random_robots import link_parameters, random_robot, random_states
from steelyard.enclosure import Forms, MotionForms, enclosed_torque, motion_forms
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.robot import JointKind, Limits, Robot
from steelyard.zoo import zoo_robot

ZOO = ("lbr_med7", "panda", "ur10e", "kinova_gen3", "crane_x7", "scara", "puma560", "one_link")


@pytest.fixture(autouse=True)
def _digits() -> object:
    with mpmath.workdps(DIGITS):
        yield


def at_points(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> MotionForms:
    return MotionForms(*(Forms(x, np.zeros((*x.shape, 0)), np.zeros(x.shape)) for x in (q, v, a)))


def with_screws(rng: np.random.Generator) -> Robot:
    """A random tree in which every third joint is a screw."""
    robot = random_robot(rng, bodies=5)
    joints = [
        replace(joint, kind=JointKind.HELICAL, limits=Limits(), pitch=0.2) if k % 3 == 0 else joint
        for k, joint in enumerate(robot.joints)
    ]
    return replace(robot, joints=tuple(joints))


def assert_holds(forms: Forms, row: int, truth: list[mpmath.mpf]) -> None:
    for k, x in enumerate(truth):
        assert mpmath.mpf(forms.lower[row].flat[k]) <= x <= mpmath.mpf(forms.upper[row].flat[k])


@pytest.mark.parametrize("seed", range(6))
def test_at_a_point_the_torque_is_known_to_ten_digits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = with_screws(rng) if seed % 3 == 0 else random_robot(rng)
    q, v, a = random_states(rng, robot, 1)
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    tau = enclosed_torque(robot, layout, phi, phi, at_points(q, v, a))
    assert_holds(tau, 0, torques(robot, link_parameters(robot), *(exact(x[0]) for x in (q, v, a))))
    assert (tau.upper - tau.lower).max() <= 1e-10 * np.abs(tau.centre).max()


@pytest.mark.parametrize("name", ZOO)
def test_over_a_stretch_no_torque_lies_outside(name: str) -> None:
    robot = zoo_robot(name)
    rng = np.random.default_rng(3)
    layout = layout_of(robot)
    phi = layout.complete_nominal()
    motion = random_fourier(robot, rng, fraction=1.0, period=float(rng.uniform(4.0, 20.0)))
    cuts = np.union1d(motion.breaks, rng.uniform(0.0, motion.duration, 150))
    tau = enclosed_torque(robot, layout, phi, phi, motion_forms(motion, cuts[:-1], cuts[1:]))
    for n in rng.permutation(len(cuts) - 1)[:8]:
        t = mpmath.mpf(cuts[n]) + mpmath.mpf(rng.random()) * (mpmath.mpf(cuts[n + 1]) - mpmath.mpf(cuts[n]))
        assert_holds(tau, n, torques(robot, link_parameters(robot), *fourier_state(motion, t)))


@pytest.mark.parametrize("seed", range(4))
def test_over_a_stretch_no_state_lies_outside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = zoo_robot(("panda", "scara", "cheetah3_leg", "ur10e")[seed])
    motion = random_fourier(robot, rng, fraction=1.0)
    cuts = np.union1d(motion.breaks, rng.uniform(0.0, motion.duration, 50))
    forms = motion_forms(motion, cuts[:-1], cuts[1:])
    for n in rng.permutation(len(cuts) - 1)[:10]:
        for share in (0.0, 1.0, rng.random()):
            t = mpmath.mpf(cuts[n]) + mpmath.mpf(share) * (mpmath.mpf(cuts[n + 1]) - mpmath.mpf(cuts[n]))
            for form, truth in zip((forms.q, forms.v, forms.a), fourier_state(motion, t), strict=True):
                assert_holds(form, n, list(truth))
