"""One body: its forms, its algebra, and honest treatment of missing mass."""

import numpy as np
import pinocchio as pin
import pytest

from steelyard.errors import InputError, ShapeError
from steelyard.inertia import Body
from steelyard.inertia.body import random_body
from steelyard.pose import Pose

SHAPES = ("solid", "planar", "rod", "point", "massless")


def random_pose(rng):
    return Pose.from_rpy(rng.uniform(-np.pi, np.pi, 3), rng.uniform(-1, 1, 3))


def assert_same(one, other, atol=1e-14):
    assert one.mass == pytest.approx(other.mass, rel=1e-14, abs=1e-15)
    np.testing.assert_allclose(one.com, other.com, atol=atol)
    np.testing.assert_allclose(one.inertia, other.inertia, atol=atol)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_representation_round_trips(shape):
    rng = np.random.default_rng(3)
    for _ in range(20):
        body = random_body(rng, shape=shape, size=0.5)
        assert_same(Body.from_parameters(body.parameters), body)
        assert_same(Body.from_pseudo_inertia(body.pseudo_inertia), body)


def test_the_ten_numbers_are_those_of_pinocchio():
    rng = np.random.default_rng(4)
    for _ in range(10):
        body = random_body(rng)
        judge = pin.Inertia(body.mass, body.com, body.inertia)
        np.testing.assert_allclose(body.parameters, judge.toDynamicParameters(), atol=1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_moving_a_body_agrees_with_pinocchio_and_goes_back(shape):
    rng = np.random.default_rng(5)
    for _ in range(10):
        body, X_AB = random_body(rng, shape=shape), random_pose(rng)
        moved = body.moved(X_AB)
        judge = pin.SE3(X_AB.rotation, X_AB.translation).act(pin.Inertia(body.mass, body.com, body.inertia))
        np.testing.assert_allclose(moved.parameters, judge.toDynamicParameters(), atol=1e-13)
        assert_same(moved.moved(X_AB.inverse()), body)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_ten_numbers_of_welded_bodies_add(shape):
    rng = np.random.default_rng(6)
    one, other = random_body(rng), random_body(rng, shape=shape)
    np.testing.assert_allclose((one + other).parameters, one.parameters + other.parameters, atol=1e-14)
    np.testing.assert_allclose((one - other).parameters, one.parameters - other.parameters, atol=1e-14)
    assert_same((one + other) - other, one)


def test_a_body_far_from_the_origin_keeps_its_digits_through_a_sum():
    rng = np.random.default_rng(7)
    far = Pose(np.eye(3), np.array([1e6, 0.0, 0.0]))
    one, other = random_body(rng), random_body(rng)
    near_sum = one + other
    far_sum = one.moved(far) + other.moved(far)
    # The coordinates keep about 1e-10 m at that distance; through the origin no digit would be left.
    np.testing.assert_allclose(far_sum.inertia, near_sum.inertia, atol=1e-8)


def test_a_body_minus_itself_is_massless():
    body = random_body(np.random.default_rng(8))
    nothing = body - body
    assert nothing.mass == 0
    np.testing.assert_array_equal(nothing.parameters, np.zeros(10))


def test_masses_that_cancel_but_leave_a_first_moment_are_refused():
    one = Body(2.0, [0.0, 0, 0], np.eye(3))
    other = Body(2.0, [0.25, 0, 0], np.eye(3))
    with pytest.raises(InputError, match=r"masses cancel but a first moment of 0.5 kg m"):
        one - other


def test_a_first_moment_without_mass_has_no_centre_and_is_refused():
    with pytest.raises(InputError, match="no mass but a first moment of 5 kg m"):
        Body.from_parameters([0, 3.0, 4.0, 0, 0, 0, 0, 0, 0, 0])


def test_a_massless_body_keeps_its_rotational_inertia():
    rotor = Body.from_parameters([0, 0, 0, 0, 1e-4, 0, 1e-4, 0, 0, 2e-4])
    assert rotor.mass == 0
    link = random_body(np.random.default_rng(9))
    np.testing.assert_allclose((link + rotor).inertia, link.inertia + np.diag([1e-4, 1e-4, 2e-4]), atol=1e-17)


def test_an_impossible_body_can_be_held_and_says_that_it_is():
    body = Body(-1.0, np.zeros(3), np.eye(3))
    assert not body.consistency
    assert body.consistency.reasons[0].condition == "mass"


def test_arrays_are_private_and_read_only():
    com = np.zeros(3)
    body = Body(1.0, com, np.eye(3))
    com[0] = 7.0
    assert body.com[0] == 0
    for array in (body.com, body.inertia):
        with pytest.raises(ValueError, match="read-only"):
            array.flat[0] = 1.0


def test_malformed_bodies_are_refused():
    with pytest.raises(InputError, match=r"symmetric, but differs from its transpose by 0.1"):
        Body(1.0, np.zeros(3), np.eye(3) + 0.1 * np.eye(3, k=1))
    with pytest.raises(InputError, match="symmetric"):
        Body.from_pseudo_inertia(np.eye(4) + np.eye(4, k=1))
    with pytest.raises(ShapeError, match="com: expected shape"):
        Body(1.0, np.zeros(2), np.eye(3))
    with pytest.raises(ShapeError, match="mass: must be finite"):
        Body(np.inf, np.zeros(3), np.eye(3))
