"""Accelerations of arms under the robust law, in simulation and at drawn states, below what is claimed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from safe_learning.gen3_plans import swing
from steelyard.arrays import Array
from steelyard.control import FORMS, RobustTracking, Tube
from steelyard.dynamics import inverse_dynamics
from steelyard.dynamics.passivity import passivity_regressor
from steelyard.errors import InputError
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits
from steelyard.motion import MotionSample, SplineMotion
from steelyard.rollout import ClosedLoop, rollout
from steelyard.safe_learning.planning.certificate import PlanCertificate, RobustLaw
from steelyard.safe_learning.planning.certifier import PlanCertifier
from steelyard.safe_learning.planning.delay_bounds import (
    DelayedTorque,
    coriolis_rows,
    norms_of,
    tube_acceleration,
)
from steelyard.uncertainty import ErrorBounds
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("kinova_gen3_2f85")
LAYOUT = layout_of(ROBOT, ("viscous", "coulomb", "rotor"))
PHI = LAYOUT.complete_nominal()
LAST = LAYOUT.of_link(ROBOT.link_names[-1])
SPREAD, HEAVIEST, REACH, REST = 0.05, 2.0, 0.15, 0.02
TUBE = Tube.of_radius(0.016, (1 - SPREAD) * 8.03, 5.0)
PLAN = swing(ROBOT, (0.9, -0.4, 0.6, 0.5, -0.9, 0.6, 1.0), 2.0)
READ = ErrorBounds.stated(ROBOT, LAYOUT, PHI, torque=(0.025, 0.1), model=SPREAD, velocity=1e-3, position=1e-5)
OPTIONS: dict[str, dict[str, float]] = {
    "armour": {"alpha": 1.0, "largest_inertia": 40.0},
    "clamped": {"alpha": 1.0},
    "componentwise": {"kappa": 50.0},
}


def law_of(form: str) -> RobustTracking:
    """For any payload up to a mass within a ball around the last link's origin."""
    h, inertia = HEAVIEST * REACH, HEAVIEST * REACH**2
    most = np.array([HEAVIEST, h, h, h, inertia, inertia / 2, inertia, inertia / 2, inertia / 2, inertia])
    least = -most * [0, 1, 1, 1, 0, 1, 0, 1, 1, 0]
    theta, half = PHI.copy(), SPREAD * np.abs(PHI)
    theta[LAST] += (least + most) / 2
    half[LAST] += (most - least) / 2
    level, smallest = TUBE.level, TUBE.smallest_inertia
    return RobustTracking(
        ROBOT, LAYOUT, theta, half, TUBE.kr, level, smallest, form=form, rest_velocity=REST, **OPTIONS[form]
    )


@cache
def certificate_of(form: str) -> PlanCertificate:
    law = law_of(form)
    limits = MotionLimits(ROBOT, None, LAYOUT, law.parameters)
    proven = RobustLaw(form, law.reserve, REST)
    return PlanCertifier(limits, law.half_widths, TUBE, proven).certify(PLAN)


def truth(seed: int) -> Array:
    """Arm and drives at one end of their spread, and a point mass anywhere on the ball or inside of it."""
    rng = np.random.default_rng(seed)
    p = rng.normal(size=3)
    p *= REACH / np.linalg.norm(p) * (1.0 if seed % 2 == 0 else 0.5)
    m = HEAVIEST if seed % 5 != 3 else 0.1
    xx, xy, xz, yy, yz, zz = (m * (p @ p * np.eye(3) - np.outer(p, p)))[np.triu_indices(3)]
    theta = (1.0 + SPREAD * (-1.0) ** seed) * PHI
    theta[LAST] += [m, *(m * p), xx, xy, yy, xz, yz, zz]
    return theta


def accelerations(theta: Array, q: Array, v: Array, tau: Array, signs: Array) -> Array:
    """Of every row, mass matrix and torque at no acceleration by Pinocchio."""
    judge = PinocchioRobot.of(ROBOT, theta[:70].reshape(-1, 10))
    viscous, coulomb, rotor = theta[70:].reshape(7, 3).T
    rows = []
    for x, rate, torque, sign in zip(q, v, tau, signs, strict=True):
        left = torque - judge.torques(x, rate, np.zeros(7)) - viscous * rate - coulomb * sign
        rows.append(np.linalg.solve(judge.mass_matrix(x) + np.diag(rotor), left))
    return np.array(rows)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(4))
def test_an_arm_in_its_tube_accelerates_by_no_more_than_is_claimed(form: str, seed: int) -> None:
    """From the edge of the tube, with a payload at the edge of its box; torques are held for a cycle."""
    law, theta, cycle = law_of(form), truth(seed), 1e-3
    assert (np.abs(theta - law.parameters) <= law.half_widths * (1 + 1e-12)).all()
    d = PLAN.sample(np.arange(0.0, PLAN.duration, cycle))
    r = np.random.default_rng(seed).normal(size=7)
    r *= 0.6 * TUBE.radius / np.linalg.norm(r)
    run = rollout(
        ROBOT, LAYOUT, theta, d.q, d.v, d.a, ClosedLoop(law, cycle), v_start=d.v[0] - r, code="generic"
    )
    kept = np.linalg.norm(d.v - run.v + TUBE.kr * (d.q - run.q), axis=1)
    assert kept.max() <= TUBE.radius
    most = tube_acceleration(certificate_of(form), ROBOT, plan=PLAN, lag=cycle)
    assert (np.abs(np.diff(run.v, axis=0)) / cycle <= most).all()
    at = slice(None, None, 7)
    a = accelerations(theta, run.q[at], run.v[at], run.tau[at], np.sign(run.v[at]))
    assert (np.abs(a) <= most).all()


@pytest.mark.parametrize("form", FORMS)
def test_no_state_of_the_tube_accelerates_it_more(form: str) -> None:
    """States on the edge of the tube, friction against the reference, the worst of robust torques."""
    rng, law, certificate = np.random.default_rng(1), law_of(form), certificate_of(form)
    most, reached = tube_acceleration(certificate, ROBOT), np.zeros(7)
    for seed in range(10):
        theta = truth(seed)
        states = q, v, v_a, _ = _drawn(rng, PLAN, rng.uniform(0.0, PLAN.duration, 40))
        nominal, w = _nominal(law.parameters, *states), _disturbance(law, *states)
        # Where the parameters push one way, the robust torque pushes that way too, as hard as it may.
        push = nominal - _nominal(theta, *states)
        n = push / np.linalg.norm(push, axis=1, keepdims=True)
        u = n * np.linalg.norm(w, axis=1, keepdims=True)
        sign = np.where(np.abs(v_a) <= TUBE.radius, -np.sign(v_a), np.sign(v))
        a = accelerations(theta, q, v, nominal + u, sign)
        assert (np.abs(a) <= most).all()
        reached = np.maximum(reached, np.abs(a).max(axis=0))
    assert (reached > 0.25 * most).any()


def test_the_bound_is_nearly_reached_where_only_a_torque_is_unknown() -> None:
    """A constant torque of unknown sign at the last joint, with the robust torque on its side."""
    layout, unknown = layout_of(ROBOT, ("offset", "rotor")), 10.0
    phi, half = layout.complete_nominal(), np.zeros(layout.size)
    phi[layout.drive_columns[:, 2]] = 0.0
    half[layout.drive_columns[6, 2]] = unknown
    tube, plan = Tube.of_radius(1e-4, 8.03, 5.0), swing(ROBOT, 0.05, 3.0)
    limits = MotionLimits(ROBOT, None, layout, phi)
    certificate = PlanCertifier(limits, half, tube, RobustLaw("clamped")).certify(plan)
    most = tube_acceleration(certificate, ROBOT)[6]
    d = plan.sample([0.7])
    theta = np.zeros(91)
    theta[:70] = phi[:70]
    theta[70:].reshape(7, 3)[:, 2] = phi[layout.drive_columns[:, 3]]
    tau = inverse_dynamics(ROBOT, layout, phi, d.q, d.v, d.a) + 2.0 * unknown * np.eye(7)[6]
    a = accelerations(theta, d.q, d.v, tau, np.zeros((1, 7)))[0, 6]
    assert 0.85 * most < a <= most


LINKS = np.where(np.arange(91) < 70, PHI, 0.0)
ANYWHERE = np.random.default_rng(3).uniform(-3.0, 3.0, (200, 7))
SIGNS = np.random.default_rng(4).choice([-1.0, 1.0], (200, 7))
STILL = np.zeros(7)


def lagging(theta: Array, kr: float, **known: object) -> DelayedTorque:
    """Around an arm with these parameters, in a tube of no width."""
    viscous, coulomb, rotor = np.abs(theta[70:]).reshape(7, 3).T
    drives = np.vstack([viscous, coulomb, STILL, rotor])
    rest = {"speed": STILL, "planned": STILL, "lag": 0.0, "errors": None, "plan": None}
    norms, tube = norms_of(ROBOT, np.abs(theta)), Tube.of_radius(1e-12, 8.0, kr)
    return DelayedTorque(norms, drives, tube, REST, **(rest | known))  # type: ignore[arg-type]


def law_torque(theta: Array, kr: float, reference: MotionSample, q: Array, v: Array) -> Array:
    return _nominal(theta, q, v, reference.v + kr * (reference.q - q), reference.a + kr * (reference.v - v))


def holds_and_is_needed(off: Array, most: Array, share: float) -> None:
    assert (off <= most * (1.0 + 1e-9)).all()
    assert (off.max(axis=0) > share * most).any()


def test_the_weight_at_a_wrong_position_differs_by_no_more_than_is_claimed() -> None:
    errors = replace(READ, position=np.full(7, 1e-3), velocity=STILL)
    rest = MotionSample(ANYWHERE, 0.0 * ANYWHERE, 0.0 * ANYWHERE)
    read, true = (law_torque(LINKS, 1e-9, rest, q, rest.v) for q in (rest.q + 1e-3 * SIGNS, rest.q))
    holds_and_is_needed(np.abs(read - true), lagging(LINKS, 1e-9, errors=errors).largest(STILL), 0.1)


@pytest.mark.parametrize("theta", [LINKS, PHI - LINKS], ids=["links", "rotors"])
def test_the_torque_for_a_wrong_velocity_at_rest_differs_by_no_more_than_is_claimed(theta: Array) -> None:
    errors = replace(READ, position=STILL, velocity=np.full(7, 1e-3))
    rest = MotionSample(ANYWHERE, 0.0 * ANYWHERE, 0.0 * ANYWHERE)
    read, true = (law_torque(theta, 5.0, rest, rest.q, v) for v in (1e-3 * SIGNS, rest.v))
    holds_and_is_needed(np.abs(read - true), lagging(theta, 5.0, errors=errors).largest(STILL), 0.1)


@pytest.mark.parametrize("lag", [0.0, 5e-3])
def test_the_torque_for_a_wrong_velocity_in_motion_differs_by_no_more_than_is_claimed(lag: float) -> None:
    """By its error, or because the arm has accelerated since."""
    v, a = np.full(7, 0.5), np.full(7, 20.0)
    off = a * lag if lag else np.full(7, 1e-3)
    errors = None if lag else replace(READ, position=STILL, velocity=off)
    motion = MotionSample(ANYWHERE, v + 0.0 * ANYWHERE, 0.0 * ANYWHERE)
    read, true = (law_torque(LINKS, 1e-9, motion, motion.q, x) for x in (v + off * SIGNS, motion.v))
    lagged = lagging(LINKS, 1e-9, speed=v, lag=lag, errors=errors)
    most = lagged.largest(a) - lagged.largest(STILL) if lag else lagged.largest(STILL)
    holds_and_is_needed(np.abs(read - true), most, 0.01)


@pytest.mark.parametrize("term", range(3), ids=["viscous", "coulomb", "rotor"])
def test_the_drive_of_a_reference_that_moved_on_differs_by_no_more_than_is_claimed(term: int) -> None:
    lag, theta, a = 5e-3, np.zeros(91), np.full(7, 20.0 * (term == 2))
    theta[70:].reshape(7, 3)[:, term] = 1.0
    t = np.linspace(0.0, PLAN.duration - lag, 200)
    old, now = PLAN.sample(t), PLAN.sample(t + lag)
    # Friction is of the reference; a rotor also feels that the arm has accelerated away from it.
    kr = 5.0 if term == 2 else 1e-9
    before = law_torque(theta, kr, old, old.q, old.v)
    after = law_torque(theta, kr, now, now.q, now.v + lag * a * SIGNS)
    fine = PLAN.sample(np.linspace(0.0, PLAN.duration, 2001))
    speed, planned = np.abs(fine.v).max(axis=0), np.abs(fine.a).max(axis=0) * (1.0 + 1e-5)
    most = lagging(theta, kr, speed=speed, planned=planned, lag=lag, plan=PLAN).largest(a)
    holds_and_is_needed(np.abs(before - after), most, 0.2)


def test_friction_that_turns_round_changes_by_twice_itself() -> None:
    theta = np.zeros(91)
    theta[70:].reshape(7, 3)[:, 1] = 1.5
    errors = replace(READ, position=np.full(7, 1.0), velocity=STILL)
    without_rest = replace(lagging(theta, 5.0, errors=errors), rest_velocity=0.0)
    assert without_rest.largest(STILL) == pytest.approx(np.full(7, 3.0))


def _drawn(rng: np.random.Generator, plan: SplineMotion, t: Array) -> tuple[Array, Array, Array, Array]:
    """Positions, velocities and references on the edge of both balls of the tube."""
    e, r = rng.normal(size=(2, len(t), 7))
    e *= TUBE.position / np.linalg.norm(e, axis=1, keepdims=True)
    r *= TUBE.radius / np.linalg.norm(r, axis=1, keepdims=True)
    d = plan.sample(t)
    v_a = d.v + TUBE.kr * e
    return d.q - e, v_a - r, v_a, d.a + TUBE.kr * (r - TUBE.kr * e)


def _nominal(theta: Array, q: Array, v: Array, v_a: Array, a_a: Array) -> Array:
    """The torque that a law with these parameters computes."""
    viscous, coulomb, rotor = theta[70:].reshape(7, 3).T
    Y = passivity_regressor(ROBOT, layout_of(ROBOT), q, v, v_a, a_a)
    s = np.clip(v_a / REST, -1.0, 1.0)
    return np.asarray(Y @ theta[:70] + viscous * v_a + coulomb * s + rotor * a_a)


def _disturbance(law: RobustTracking, q: Array, v: Array, v_a: Array, a_a: Array) -> Array:
    """What the law has to bear."""
    Y = passivity_regressor(ROBOT, layout_of(ROBOT), q, v, v_a, a_a)
    coulomb, off = law.parameters[70:].reshape(7, 3)[:, 1], law.half_widths[70:].reshape(7, 3).T
    s = np.abs(np.clip(v_a / REST, -1.0, 1.0))
    drives = off[0] * np.abs(v_a) + off[1] + coulomb * (1.0 - s) + off[2] * np.abs(a_a)
    return np.asarray(np.abs(Y) @ law.half_widths[:70] + drives)


def test_the_bound_of_coriolis_torques_holds_at_any_position() -> None:
    """Christoffel's symbols by differences of Pinocchio's mass matrix."""
    rng, step, theta = np.random.default_rng(2), 1e-6, truth(0)
    judge = PinocchioRobot.of(ROBOT, theta[:70].reshape(-1, 10))
    speed = rng.uniform(0.2, 1.5, 7)
    most, reached = coriolis_rows(norms_of(ROBOT, np.abs(theta)), speed), np.zeros((7, 7))
    for q in rng.uniform(-3.0, 3.0, (60, 7)):
        # dH[i] is the derivative in position i.
        dH = np.array([judge.mass_matrix(q + e) - judge.mass_matrix(q - e) for e in step * np.eye(7)])
        dH /= 2.0 * step
        v = speed * rng.choice([-1.0, 1.0], 7)
        C = 0.5 * np.einsum("i,ikj->kj", v, dH + np.transpose(dH, (2, 1, 0)) - np.transpose(dH, (2, 0, 1)))
        rate = np.einsum("i,ikj->kj", v, dH)
        assert np.abs((rate - 2.0 * C) + (rate - 2.0 * C).T).max() < 1e-6
        reached = np.maximum(reached, np.abs(C))
    assert (reached <= most).all()
    assert (reached > 0.05 * most).any()


def test_less_is_claimed_where_less_is_unknown() -> None:
    wide = certificate_of("clamped")
    law = law_of("clamped")
    limits = MotionLimits(ROBOT, None, LAYOUT, law.parameters)
    narrow = PlanCertifier(limits, 0.1 * law.half_widths, TUBE, RobustLaw("clamped", 0.0, REST))
    assert (tube_acceleration(narrow.certify(PLAN), ROBOT) < 0.8 * tube_acceleration(wide, ROBOT)).all()


def test_more_is_claimed_where_the_law_knows_less_of_the_present() -> None:
    certificate = certificate_of("clamped")
    claims = [
        tube_acceleration(certificate, ROBOT, plan=PLAN, lag=lag, errors=errors)
        for lag, errors in ((0.0, None), (1e-3, None), (1e-3, READ), (2e-3, READ))
    ]
    for less, more in pairwise(claims):
        assert (less < more).all()
    with pytest.raises(InputError, match="of 1 s is so long"):
        tube_acceleration(certificate, ROBOT, plan=PLAN, lag=1.0)


def test_a_certificate_of_another_robot_or_plan_or_without_limits_is_refused() -> None:
    certificate = certificate_of("clamped")
    for other in (None, swing(ROBOT, 0.1)):
        with pytest.raises(InputError, match="the one that was certified"):
            tube_acceleration(certificate, ROBOT, plan=other, lag=1e-3)
    with pytest.raises(InputError, match="of another robot"):
        tube_acceleration(certificate, zoo_robot("kinova_gen3"))
    left = tuple(margin for margin in certificate.motion.margins if margin.kind != "acceleration")
    blind = replace(certificate, motion=replace(certificate.motion, margins=left))
    with pytest.raises(InputError, match="says nothing of the acceleration of 'gen3_joint_1'"):
        tube_acceleration(blind, ROBOT)
