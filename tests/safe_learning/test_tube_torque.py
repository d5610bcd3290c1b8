"""Torques and disturbances in a tube stay within their enclosures, which are not much wider than they."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from enclosure.forty_digits import DIGITS, exact
from oracles.forty_digit_passivity import bezier_derivative, reference_torques
from oracles.random_robots import link_parameters
from oracles.tube_states import edge_states
from safe_learning.gen3_plans import DURATION, LAW, TUBE, gen3, model, swing
from steelyard.control import Tube
from steelyard.errors import InputError
from steelyard.layout import layout_of
from steelyard.safe_learning.planning.tube import TubeDynamics, tube_forms
from steelyard.zoo import zoo_robot

STRETCHES = 32
EDGES = np.linspace(0.0, DURATION, STRETCHES + 1)


ARMS = ("kinova_gen3_2f85", "panda", "lbr_med7", "crane_x7")


def stretches(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Of 0.01 to 0.1 s, anywhere in a plan."""
    length = np.exp(rng.uniform(np.log(0.01), np.log(0.1), count))
    start = rng.uniform(0.0, DURATION - length)
    return start, start + length


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ARMS)
def test_no_torque_and_no_disturbance_of_the_tube_leaves_its_bounds(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = zoo_robot(name)
    plan = swing(robot, rng.uniform(-0.8, 0.8, 7))
    layout, phi, rho = model(robot)
    dynamics = TubeDynamics(robot, layout, phi, rho, TUBE, LAW.rest_velocity)
    start, end = stretches(rng, 40)
    found = dynamics.torques(tube_forms(plan, start, end, TUBE))
    seen = edge_states(rng, dynamics, plan, start, end)
    assert (seen.torque >= found.lower[:, None]).all()
    assert (seen.torque <= found.upper[:, None]).all()
    assert (seen.disturbance <= found.disturbance[:, None]).all()


def test_the_disturbance_of_the_drives_alone_is_bounded_closely() -> None:
    """At instants, friction and rotors are all that is uncertain: a bound has no room for anything else."""
    rng = np.random.default_rng(3)
    robot = zoo_robot("panda")
    plan = swing(robot, rng.uniform(-0.8, 0.8, 7))
    layout, phi, rho = model(robot)
    rho[:70] = 0.0
    dynamics = TubeDynamics(robot, layout, phi, rho, TUBE, LAW.rest_velocity)
    t = rng.uniform(0.2, DURATION - 0.2, 40)
    most = dynamics.torques(tube_forms(plan, t, t, TUBE)).disturbance
    seen = edge_states(rng, dynamics, plan, t, t).disturbance.max(axis=1)
    assert (seen <= most).all()
    assert np.mean(most / seen) <= 1.1


@pytest.mark.parametrize("name", ARMS)
def test_bounds_are_on_average_less_than_twice_as_wide_as_what_they_hold(name: str) -> None:
    """Directed sampling sees nearly all that is possible: in truth they are a tenth or two wider."""
    rng = np.random.default_rng(5)
    robot = zoo_robot(name)
    plan = swing(robot, rng.uniform(-0.8, 0.8, 7))
    layout, phi, rho = model(robot)
    dynamics = TubeDynamics(robot, layout, phi, rho, TUBE, LAW.rest_velocity)
    start, end = stretches(rng, 40)
    found = dynamics.torques(tube_forms(plan, start, end, TUBE))
    seen = edge_states(rng, dynamics, plan, start, end)
    wide = seen.torque.max(axis=1) - seen.torque.min(axis=1)
    assert 1.0 <= np.mean((found.upper - found.lower) / wide) <= 2.0
    assert 1.0 <= np.mean(found.disturbance / seen.disturbance.max(axis=1)) <= 2.0


@pytest.mark.parametrize("radius", [0.016, 1e-9])
@pytest.mark.parametrize("name", ARMS)
def test_torques_in_forty_digits_are_within_their_bounds(name: str, radius: float) -> None:
    rng = np.random.default_rng(7)
    robot = zoo_robot(name)
    tube = Tube.of_radius(radius, 7.6, 5.0)
    plan = swing(robot, rng.uniform(-0.8, 0.8, 7))
    layout = layout_of(robot, ("rotor",))
    phi = layout.complete_nominal()
    bodies = link_parameters(robot)[None]
    start = rng.uniform(0.0, DURATION, 4)
    end = np.minimum(start + (0.1 if radius > 1e-3 else 0.0), DURATION)
    dynamics = TubeDynamics(robot, layout, phi, 0.0 * phi, tube)
    found = dynamics.torques(tube_forms(plan, start, end, tube))
    if radius < 1e-3:
        assert (found.upper - found.lower).max() <= 1e-6
    with mpmath.workdps(DIGITS):
        for n in range(len(start)):
            t = mpmath.mpf(start[n]) + mpmath.mpf(rng.random()) * (mpmath.mpf(end[n]) - mpmath.mpf(start[n]))
            q_d, v_d, a_d = (bezier_derivative(plan.control, plan.duration, t, order) for order in range(3))
            e, r = (exact(0.999 * x / np.linalg.norm(x)) for x in rng.normal(size=(2, 7)))
            K = mpmath.mpf(tube.kr)
            e, r = e * (mpmath.mpf(radius) / K), r * mpmath.mpf(radius)
            v_a, a_a = v_d + e * K, a_d + (r - e * K) * K
            (links,) = reference_torques(robot, bodies, q_d - e, v_a - r, v_a, a_a)
            tau = links + exact(phi[70:]) * a_a
            for j in range(7):
                assert mpmath.mpf(found.lower[n, j]) <= tau[j] <= mpmath.mpf(found.upper[n, j])


def test_a_smaller_box_and_a_smaller_tube_have_bounds_within_those_of_larger_ones() -> None:
    rng = np.random.default_rng(11)
    robot = gen3()
    layout, phi, rho = model(robot)
    plan = swing(robot, rng.uniform(-0.8, 0.8, 7))

    def bounds(tube: Tube, share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        dynamics = TubeDynamics(robot, layout, phi, share * rho, tube, LAW.rest_velocity)
        found = dynamics.torques(tube_forms(plan, EDGES[:-1], EDGES[1:], tube))
        return found.lower, found.upper, found.disturbance

    wide = bounds(TUBE, 1.0)
    for tube, share in ((TUBE, 0.5), (Tube.of_radius(0.008, 7.6, 5.0), 1.0)):
        low, high, w = bounds(tube, share)
        assert (low >= wide[0]).all()
        assert (high <= wide[1]).all()
        assert (w < wide[2]).all()


def test_friction_terms_without_a_robust_law_and_negative_widths_are_refused() -> None:
    robot = gen3()
    layout, phi, rho = model(robot)
    with pytest.raises(InputError, match=r"zero or more, not at 'gen3_shoulder_link\.m'"):
        TubeDynamics(robot, layout, phi, np.where(np.arange(len(rho)) == 0, -1.0, rho), TUBE)
    loaded = layout_of(robot, ("viscous", "load"))
    with pytest.raises(InputError, match="has load; known here: viscous"):
        TubeDynamics(robot, loaded, np.zeros(loaded.size), np.zeros(loaded.size), TUBE)
    assert replace(TUBE, kr=10.0).position == pytest.approx(0.5 * TUBE.position)
