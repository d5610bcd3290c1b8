"""Principal axes and the equivalent ellipsoid: laws, and the solids that must come back."""

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.inertia import Body, ellipsoid
from steelyard.inertia.body import random_body
from steelyard.pose import Pose

SHAPES = ("solid", "planar", "rod", "point", "massless")


@pytest.mark.parametrize("shape", SHAPES)
def test_principal_axes_are_right_handed_and_diagonalise(shape):
    rng = np.random.default_rng(0)
    for _ in range(20):
        body = random_body(rng, shape=shape)
        principal = body.principal_axes()
        R = principal.rotation
        np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-14)
        assert np.linalg.det(R) == pytest.approx(1.0)
        assert (np.diff(principal.moments) >= 0).all()
        np.testing.assert_allclose(R @ np.diag(principal.moments) @ R.T, body.inertia, atol=1e-15)


def test_principal_moments_do_not_depend_on_the_frame():
    rng = np.random.default_rng(1)
    body = random_body(rng)
    moved = body.moved(Pose.from_rpy((0.3, -1.0, 2.0), (1.0, 2.0, 3.0)))
    np.testing.assert_allclose(moved.principal_axes().moments, body.principal_axes().moments, rtol=1e-13)


def test_an_ellipsoid_is_its_own_equivalent():
    X = Pose.from_rpy((0.3, -1.0, 2.0), (1.0, 2.0, 3.0))
    found = ellipsoid((0.1, 0.3, 0.2), mass=2.0).moved(X).equivalent_ellipsoid()
    np.testing.assert_allclose(found.semi_axes, [0.3, 0.2, 0.1], rtol=1e-12)
    np.testing.assert_allclose(found.pose.translation, [1.0, 2.0, 3.0])
    cosines = np.abs(found.pose.rotation.T @ X.rotation)
    np.testing.assert_allclose(cosines, np.eye(3)[[1, 2, 0]], atol=1e-12)


def test_the_equivalent_ellipsoid_has_the_same_ten_numbers():
    rng = np.random.default_rng(2)
    for _ in range(20):
        body = random_body(rng)
        found = body.equivalent_ellipsoid()
        again = ellipsoid(found.semi_axes, mass=body.mass).moved(found.pose)
        np.testing.assert_allclose(again.parameters, body.parameters, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize(("shape", "flat"), [("planar", 1), ("rod", 2), ("point", 3)])
def test_a_degenerate_body_has_a_degenerate_ellipsoid(shape, flat):
    found = random_body(np.random.default_rng(3), shape=shape, size=1.0).equivalent_ellipsoid()
    np.testing.assert_allclose(found.semi_axes[3 - flat :], 0.0, atol=1e-7)
    assert (found.semi_axes[: 3 - flat] > 0.1).all()


def test_impossible_and_massless_bodies_are_refused_with_the_reason():
    with pytest.raises(InputError, match=r"impossible body.*triangle inequality"):
        Body(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])).equivalent_ellipsoid()
    with pytest.raises(InputError, match="massless"):
        Body(0.0, np.zeros(3), np.zeros((3, 3))).equivalent_ellipsoid()
