"""Torques and disturbances in a tube stay within their enclosures, which are not much wider than they."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from enclosure.forty_digits import DIGITS, exact, torques
from online.gen3_plans import DURATION, LAW, TUBE, draw, gen3, model, swing
from oracles.random_robots import link_parameters
from steelyard.control import Tube
from steelyard.errors import InputError
from steelyard.layout import layout_of
from steelyard.online import TubeDynamics, tube_forms
from steelyard.zoo import zoo_robot

STRETCHES = 32
EDGES = np.linspace(0.0, DURATION, STRETCHES + 1)


@pytest.mark.parametrize("seed", range(4))
def test_no_torque_and_no_disturbance_drawn_from_the_tube_leaves_its_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = gen3()
    plan = swing(robot, rng.uniform(-0.8, 0.8, 7))
    layout, phi, rho = model(robot)
    found = TubeDynamics(robot, layout, phi, rho, TUBE, LAW.rest_velocity).torques(
        tube_forms(plan, EDGES[:-1], EDGES[1:], TUBE)
    )
    for n in rng.permutation(STRETCHES)[:10]:
        drawn = draw(rng, robot, plan, (EDGES[n], EDGES[n + 1]), 400)
        assert (drawn.nominal >= found.lower[n]).all()
        assert (drawn.nominal <= found.upper[n]).all()
        assert (drawn.disturbance <= found.disturbance[n]).all()
        corner = rng.choice((-1.0, 1.0), 70) * rho[:70]
        assert (np.abs(drawn.rows @ corner) <= found.disturbance[n]).all()


def test_bounds_are_on_average_less_than_twice_as_wide_as_what_is_drawn() -> None:
    rng = np.random.default_rng(5)
    robot, drive = gen3(), ("viscous", "rotor")
    layout, phi, rho = model(robot, drive)
    dynamics = TubeDynamics(robot, layout, phi, rho, TUBE)
    ratios = []
    for _ in range(4):
        plan = swing(robot, rng.uniform(-0.8, 0.8, 7))
        found = dynamics.torques(tube_forms(plan, EDGES[:-1], EDGES[1:], TUBE))
        for n in range(0, STRETCHES, 4):
            drawn = draw(rng, robot, plan, (EDGES[n], EDGES[n + 1]), 1500, drive=drive)
            wide = drawn.nominal.max(axis=0) - drawn.nominal.min(axis=0)
            ratios.append((found.upper[n] - found.lower[n]) / wide)
            ratios.append(found.disturbance[n] / drawn.disturbance.max(axis=0))
    assert 1.0 <= np.mean(ratios) <= 2.0


def exact_reference_torque(
    robot: object, q: np.ndarray, v: np.ndarray, v_a: np.ndarray, a_a: np.ndarray
) -> np.ndarray:
    """H a_a + C(q, v) v_a + g in forty digits: C v_a is the bilinear form of the velocity torques."""
    bodies, nothing = link_parameters(robot), exact(np.zeros(7))

    def tau(v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return np.array(torques(robot, bodies, q, v, a), dtype=object)

    bilinear = tau(v + v_a, nothing) - tau(v, nothing) - tau(v_a, nothing) + tau(nothing, nothing)
    return tau(nothing, a_a) + bilinear / 2


@pytest.mark.parametrize("radius", [0.016, 1e-9])
def test_torques_in_forty_digits_are_within_their_bounds(radius: float) -> None:
    rng = np.random.default_rng(7)
    robot = zoo_robot("kinova_gen3")
    tube = Tube.of_radius(radius, 7.6, 5.0)
    plan = swing(robot, rng.uniform(-0.8, 0.8, 7))
    layout = layout_of(robot, ("rotor",))
    phi = layout.complete_nominal()
    start = rng.uniform(0.0, DURATION, 4)
    end = np.minimum(start + (0.1 if radius > 1e-3 else 0.0), DURATION)
    dynamics = TubeDynamics(robot, layout, phi, 0.0 * phi, tube)
    found = dynamics.torques(tube_forms(plan, start, end, tube))
    if radius < 1e-3:
        assert (found.upper - found.lower).max() <= 1e-6
    with mpmath.workdps(DIGITS):
        for n in range(len(start)):
            t = mpmath.mpf(start[n]) + mpmath.mpf(rng.random()) * (mpmath.mpf(end[n]) - mpmath.mpf(start[n]))
            q_d, v_d, a_d = (exact_curve(plan.control, plan.duration, t, order) for order in range(3))
            e, r = (exact(0.999 * x / np.linalg.norm(x)) for x in rng.normal(size=(2, 7)))
            K = mpmath.mpf(tube.kr)
            e, r = e * (mpmath.mpf(radius) / K), r * mpmath.mpf(radius)
            v_a, a_a = v_d + e * K, a_d + (r - e * K) * K
            tau = exact_reference_torque(robot, q_d - e, v_a - r, v_a, a_a) + exact(phi[70:]) * a_a
            for j in range(7):
                assert mpmath.mpf(found.lower[n, j]) <= tau[j] <= mpmath.mpf(found.upper[n, j])


def exact_curve(control: np.ndarray, duration: float, t: mpmath.mpf, order: int) -> np.ndarray:
    """A derivative of a Bezier curve in forty digits, by Bernstein's polynomials."""
    c, T = exact(control), mpmath.mpf(duration)
    for _ in range(order):
        c = (c[:, 1:] - c[:, :-1]) * ((c.shape[1] - 1) / T)
    n, s = c.shape[1] - 1, t / T
    return sum(c[:, i] * (mpmath.binomial(n, i) * s**i * (1 - s) ** (n - i)) for i in range(n + 1))


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
