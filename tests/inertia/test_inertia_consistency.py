"""A body can exist exactly when its pseudo-inertia is positive semidefinite; a refusal says why."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.inertia import (
    ROUND_OFF,
    Body,
    change_of_frame,
    characteristic_length,
    check_body,
    pseudo_inertia,
    relative_eigenvalue,
)
from steelyard.inertia.body import random_body
from steelyard.pose import Pose

SHAPES = ("solid", "planar", "rod", "point", "massless")
deterministic = settings(derandomize=True, max_examples=80, deadline=None)


def sphere_numbers():
    return Body(2.0, np.zeros(3), 0.1 * np.eye(3)).parameters


def possible_by_the_textbook(phi):
    """Mass, principal moments and triangle inequality, from the tensor about the centre of mass."""
    m, c = phi[0], phi[1:4] / phi[0]
    I_o = np.array([[phi[4], phi[5], phi[7]], [phi[5], phi[6], phi[8]], [phi[7], phi[8], phi[9]]])
    I1, I2, I3 = np.linalg.eigvalsh(I_o - m * (c @ c * np.eye(3) - np.outer(c, c)))
    return m > 0 and min(I1, I1 + I2 - I3) >= 0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1e-3, 0.1, 3.0])
def test_bodies_made_of_mass_are_consistent_in_any_frame(shape, size):
    rng = np.random.default_rng(0)
    for _ in range(30):
        X = Pose.from_rpy(rng.uniform(-3, 3, 3), rng.uniform(-size, size, 3))
        verdict = check_body(change_of_frame(X) @ random_body(rng, shape=shape, size=size).parameters)
        assert verdict.consistent
        assert verdict.reasons == ()
        assert verdict.strict == (shape == "solid")


@deterministic
@given(st.integers(0, 2**32), st.sampled_from(["solid", "planar", "rod", "point"]), st.floats(-6, 1))
def test_the_verdict_is_the_sign_of_the_pseudo_inertia_and_the_textbook_agrees(seed, shape, exponent):
    """Bodies of every shape pushed off by disturbances from far below to far above their own size."""
    rng = np.random.default_rng(seed)
    phi = random_body(rng, shape=shape, size=1.0, mass=(1.0, 2.0)).parameters
    phi = phi + 10.0**exponent * rng.normal(size=10)
    verdict = check_body(phi)
    smallest = np.linalg.eigvalsh(pseudo_inertia(phi))[0]
    assert verdict.smallest_eigenvalue == pytest.approx(smallest, rel=1e-9, abs=1e-15)
    if abs(verdict.relative_eigenvalue) > 1e-10:
        assert verdict.consistent == verdict.strict == (smallest > 0)
        assert verdict.consistent == possible_by_the_textbook(phi)
    assert verdict.consistent == (not verdict.reasons)


@deterministic
@given(st.integers(0, 2**32))
def test_every_indefinite_matrix_is_refused_with_a_reason(seed):
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=10) * 10.0 ** rng.uniform(-4, 4, 10)
    verdict = check_body(phi)
    assert bool(verdict) == verdict.consistent == (not verdict.reasons)
    for reason in verdict.reasons:
        assert reason.amount > 0


def test_a_negative_mass_is_named_with_its_amount():
    phi = sphere_numbers()
    phi[0] = -0.25
    (first, *_) = check_body(phi).reasons
    assert (first.condition, first.amount, first.unit) == ("mass", 0.25, "kg")
    assert str(first) == "The mass is -0.25 kg, which is negative."


def test_a_first_moment_without_mass_is_named_with_its_amount():
    reasons = check_body([0, 3e-9, 4e-9, 0, 0.1, 0, 0.1, 0, 0, 0.1]).reasons
    assert reasons[0].condition == "massless"
    assert reasons[0].amount == pytest.approx(5e-9)
    assert "no mass but a first moment of 5e-09 kg m" in str(reasons[0])


def test_a_broken_triangle_inequality_is_named_with_its_amount():
    (reason,) = check_body(Body(1.0, [0.1, 0, 0], np.diag([1.0, 2.0, 3.5])).parameters).reasons
    assert reason.condition == "triangle inequality"
    assert reason.amount == pytest.approx(0.5)
    assert "1 + 2 falls short of 3.5 by 0.5 kg m^2" in str(reason)


def test_a_negative_principal_moment_is_named_with_its_amount():
    reasons = check_body(Body(1.0, np.zeros(3), np.diag([-0.5, 1.0, 1.0])).parameters).reasons
    assert [reason.condition for reason in reasons] == ["central inertia", "triangle inequality"]
    assert reasons[0].amount == pytest.approx(0.5)
    assert "a principal moment is -0.5 kg m^2" in str(reasons[0])


def test_paper_001_prose_object_is_impossible_and_its_table_object_is_not():
    """Lambert (2023), section 5.1.2: moments in the prose break the triangle inequality, Table 5.4 holds."""
    prose = Body(0.37, np.zeros(3), np.diag([8.51e-3, 5.96e-4, 7.65e-4]))
    assert [r.condition for r in prose.consistency.reasons] == ["triangle inequality"]
    assert prose.consistency.reasons[0].amount == pytest.approx(8.51e-3 - 5.96e-4 - 7.65e-4)
    assert Body(0.37, np.zeros(3), np.diag([3.17e-4, 4.20e-4, 5.33e-4])).consistency.strict


def test_a_point_off_its_own_second_moment_is_refused_however_small_the_offset():
    for offset in (1e-9, 1e-3, 1.0):
        verdict = check_body([1.0, offset, 0, 0, 0, 0, 0, 0, 0, 0])
        assert not verdict.consistent
        assert verdict.reasons


def test_the_verdict_does_not_depend_on_the_units_of_mass_and_length():
    rng = np.random.default_rng(1)
    for _ in range(50):
        phi = rng.normal(size=10)
        for mass_unit, length_unit in ((1e-3, 1.0), (1.0, 1e-3), (1e3, 1e3)):
            power = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
            ratio = relative_eigenvalue(phi * mass_unit * length_unit**power)
            assert ratio == pytest.approx(relative_eigenvalue(phi), abs=1e-13)


def test_ten_zeros_are_consistent_but_not_strictly():
    verdict = check_body(np.zeros(10))
    assert verdict.consistent
    assert not verdict.strict


def test_a_massless_rotor_is_on_the_edge_of_the_cone():
    verdict = check_body([0, 0, 0, 0, 1e-4, 0, 1e-4, 0, 0, 2e-4])
    assert verdict.consistent
    assert not verdict.strict
    assert not check_body([0, 0, 0, 0, 1e-4, 0, 1e-4, 0, 0, 3e-4]).consistent


def test_round_off_is_forgiven_and_more_is_not():
    planar = Body(1.0, np.zeros(3), np.diag([1.0, 2.0, 3.0])).parameters
    for excess, consistent in ((0.1 * ROUND_OFF, True), (1e-10, False)):
        phi = planar.copy()
        phi[9] += excess
        assert check_body(phi).consistent == consistent


def test_characteristic_length_scales_as_a_length_and_is_always_usable():
    rng = np.random.default_rng(2)
    phi = random_body(rng).parameters
    longer = phi * np.array([1, 7, 7, 7, 49, 49, 49, 49, 49, 49])
    assert characteristic_length(longer) == pytest.approx(7 * characteristic_length(phi))
    ugly = np.array([np.zeros(10), [1.0, *[0.0] * 9], [0, 1.0, *[0.0] * 8], [0, *[0.0] * 3, *[1.0] * 6]])
    assert (characteristic_length(ugly) > 0).all()
