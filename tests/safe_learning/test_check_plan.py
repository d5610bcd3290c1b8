"""The checker agrees with what is drawn, verifies true certificates and refuses forged ones."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import steelyard.safe_learning
from safe_learning.gen3_plans import DURATION, LAW, TUBE, draw, gen3, limits_of, model, ring_of_boxes, swing
from steelyard.control import Tube
from steelyard.dynamics.passivity import passivity_regressor
from steelyard.errors import InputError
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, NotCertifiedError
from steelyard.safe_learning.checker import CheckedGaps, Jet, check_plan, checked_link_rows
from steelyard.safe_learning.planning.certificate import PlanCertificate
from steelyard.safe_learning.planning.certifier import PlanCertifier

ROBOT = gen3()
_, _, RHO = model(ROBOT)


@pytest.fixture(scope="module")
def limits() -> MotionLimits:
    return limits_of(ROBOT, ring_of_boxes(4))


@pytest.fixture(scope="module")
def certificate(limits: MotionLimits) -> PlanCertificate:
    return PlanCertifier(limits, RHO, TUBE, LAW).certify(plan())


def plan() -> object:
    return swing(ROBOT, np.random.default_rng(0).uniform(-0.25, 0.25, 7))


@pytest.mark.parametrize("seed", range(3))
def test_certified_plans_are_verified_and_no_draw_leaves_less_than_the_checker_found(
    seed: int, limits: MotionLimits
) -> None:
    rng = np.random.default_rng(seed)
    moved = swing(ROBOT, rng.uniform(-0.25, 0.25, 7))
    found = check_plan(PlanCertifier(limits, RHO, TUBE, LAW).certify(moved), limits, moved)
    drawn, bounds = draw(rng, ROBOT, moved, (0.0, DURATION), 2000), limits.bounds
    assert np.minimum(drawn.q - bounds.lower, bounds.upper - drawn.q).min() >= found.position >= 0.0
    assert (bounds.velocity - np.abs(drawn.v)).min() >= found.velocity >= 0.0
    torque = np.abs(drawn.nominal) + LAW.torque_bound(drawn.disturbance)
    assert (bounds.effort - torque).min() >= found.torque >= 0.0
    assert limits.clearance is not None
    assert limits.clearance.distances(drawn.q).min() >= found.clearance >= 0.0


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ({"half_widths": 20.0 * RHO}, "torque"),
        ({"tube": Tube.of_radius(0.5, 7.6, 5.0)}, "torque"),
    ],
)
def test_a_claim_for_a_wider_box_or_tube_than_was_proven_is_refused(
    claim: dict[str, object], kind: str, certificate: PlanCertificate, limits: MotionLimits
) -> None:
    with pytest.raises(NotCertifiedError, match="could not be verified") as caught:
        check_plan(replace(certificate, **claim), limits, plan())
    assert caught.value.kind == kind


def test_a_certificate_of_another_plan_robot_or_model_is_refused(
    certificate: PlanCertificate, limits: MotionLimits
) -> None:
    with pytest.raises(InputError, match="not that of the certificate: plan"):
        check_plan(certificate, limits, swing(ROBOT, 0.1))
    with pytest.raises(InputError, match="not that of the certificate: robot"):
        check_plan(certificate, limits_of(gen3(40.0)), plan())
    assert limits.parameters is not None
    other = replace(limits, parameters=1.001 * limits.parameters)
    with pytest.raises(InputError, match="not that of the certificate: parameters"):
        check_plan(certificate, other, plan())


def test_a_required_distance_that_was_not_proven_is_refused(
    certificate: PlanCertificate, limits: MotionLimits
) -> None:
    with pytest.raises(NotCertifiedError) as caught:
        check_plan(certificate, replace(limits, distance=0.1), plan())
    assert caught.value.kind == "clearance"


def test_rows_and_their_derivatives_are_those_of_the_passivity_regressor() -> None:
    rng = np.random.default_rng(2)
    states = rng.normal(size=(4, 3, 7))
    jets, h = np.zeros((4, 29, 3, 7)), 1e-6
    jets[:, 0] = states
    for k in range(4):
        jets[k, 1 + 7 * k + np.arange(7), :, np.arange(7)] = 1.0
    layout = layout_of(ROBOT)
    rows = checked_link_rows(ROBOT, *(Jet(x, 0.0 * x, 0.0 * x[0]) for x in jets))
    truth = passivity_regressor(ROBOT, layout, *states)
    assert (np.abs(rows.middle[0] - truth) <= rows.radius[0] + 1e-13).all()
    assert rows.radius.max() <= 1e-8
    for k in range(4):
        for j in range(7):
            step = h * np.eye(7)[j]
            ahead, behind = ([*states[:k], states[k] + s, *states[k + 1 :]] for s in (step, -step))
            slope = passivity_regressor(ROBOT, layout, *ahead) - passivity_regressor(ROBOT, layout, *behind)
            assert np.abs(slope / (2.0 * h) - rows.middle[1 + 7 * k + j]).max() <= 1e-6


def test_rows_over_a_box_hold_those_at_every_state_in_it() -> None:
    rng = np.random.default_rng(3)
    middle = rng.normal(size=(4, 1, 7))
    rows = checked_link_rows(
        ROBOT, *(Jet(x[None], np.full((1, 1, 7), 0.05), np.zeros((1, 7))) for x in middle)
    )
    drawn = middle + rng.choice((-0.05, 0.05), (4, 500, 7))
    truth = passivity_regressor(ROBOT, layout_of(ROBOT), *drawn)
    assert (np.abs(truth - rows.middle[0]) <= rows.radius[0]).all()


def test_no_torque_drawn_from_the_tube_exceeds_what_the_checker_allows_for() -> None:
    """Parameters are known and nothing rubs: what is left is the errors of the tube."""
    rng, drive = np.random.default_rng(4), ("viscous", "rotor")
    layout, phi, rho = model(ROBOT, drive)
    alone = MotionLimits(ROBOT, None, layout, phi)
    moved = swing(ROBOT, rng.uniform(-0.25, 0.25, 7))
    proof = PlanCertifier(alone, 0.0 * rho, TUBE, LAW).certify(moved)
    drawn = draw(rng, ROBOT, moved, (0.0, DURATION), 4000, drive=drive)
    left = (alone.bounds.effort - np.abs(drawn.nominal)).min()
    found = check_plan(proof, alone, moved).torque
    assert left - 6.0 <= found <= left


def test_no_gap_drawn_from_the_tube_is_smaller_than_the_checker_found(limits: MotionLimits) -> None:
    rng, moved = np.random.default_rng(6), plan()
    edges = np.linspace(0.0, DURATION, 9)
    assert limits.clearance is not None
    gaps = CheckedGaps(limits.clearance, moved, edges[:-1], edges[1:], TUBE)
    found = np.stack([gaps.least(k, np.inf) for k in range(len(limits.clearance.pairs))], axis=1)
    for n in range(8):
        drawn = draw(rng, ROBOT, moved, (edges[n], edges[n + 1]), 300)
        nearest = limits.clearance.distances(drawn.q).min(axis=0)
        assert (found[n] <= nearest).all()
        assert (found[n] >= nearest - 0.06).all()


def test_the_checker_imports_nothing_of_how_proofs_are_found() -> None:
    folder = Path(steelyard.safe_learning.__file__).parent
    own = ("checker",)
    for name in own:
        for node in ast.walk(ast.parse((folder / f"{name}.py").read_text())):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                room, _, file = node.module.removeprefix("steelyard.").partition(".")
                assert room != "enclosure"
                assert room != "online" or file in (*own, "planning.certificate")
