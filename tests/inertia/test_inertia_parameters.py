"""The ten numbers and the matrices linear in them, judged by Pinocchio and by clouds of point masses."""

import numpy as np
import pinocchio as pin
import pytest

from steelyard.errors import ShapeError
from steelyard.inertia import (
    PARAMETER_NAMES,
    PARAMETER_UNITS,
    change_of_frame,
    parameters_of_pseudo_inertia,
    pseudo_inertia,
    rotational_inertia,
)
from steelyard.pose import Pose


def random_pose(rng):
    return Pose.from_rpy(rng.uniform(-np.pi, np.pi, 3), rng.uniform(-1, 1, 3))


def cloud(rng, n=7):
    return rng.uniform(0.1, 1.0, n), rng.normal(size=(n, 3))


def parameters_of_cloud(masses, points):
    """The definition, by integrals that are sums; no line of the package is used."""
    x, y, z = points.T
    moment = [masses @ c for c in (x, y, z)]
    Ixx, Iyy, Izz = masses @ (y**2 + z**2), masses @ (x**2 + z**2), masses @ (x**2 + y**2)
    Ixy, Ixz, Iyz = -masses @ (x * y), -masses @ (x * z), -masses @ (y * z)
    return np.array([masses.sum(), *moment, Ixx, Ixy, Iyy, Ixz, Iyz, Izz])


def test_names_and_units_describe_ten_numbers():
    assert len(PARAMETER_NAMES) == len(PARAMETER_UNITS) == 10
    assert PARAMETER_UNITS[PARAMETER_NAMES.index("mz")] == "kg m"
    assert PARAMETER_UNITS[PARAMETER_NAMES.index("Iyz")] == "kg m^2"


@pytest.mark.parametrize("seed", range(5))
def test_the_order_and_the_signs_are_those_of_pinocchio(seed):
    rng = np.random.default_rng(seed)
    phi = parameters_of_cloud(*cloud(rng))
    body = pin.Inertia.FromDynamicParameters(phi)
    np.testing.assert_allclose(
        pseudo_inertia(phi), pin.PseudoInertia.FromDynamicParameters(phi).toMatrix(), atol=1e-13
    )
    np.testing.assert_allclose(rotational_inertia(phi), body.matrix()[3:, 3:], atol=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_pseudo_inertia_is_the_second_moment_of_homogeneous_points(seed):
    masses, points = cloud(np.random.default_rng(seed))
    p = np.column_stack([points, np.ones(len(points))])
    J = p.T @ (masses[:, None] * p)
    np.testing.assert_allclose(pseudo_inertia(parameters_of_cloud(masses, points)), J, atol=1e-13)


def test_ten_numbers_and_pseudo_inertia_round_trip_even_when_impossible_and_stacked():
    phi = np.random.default_rng(0).normal(size=(3, 4, 10))
    J = pseudo_inertia(phi)
    assert J.shape == (3, 4, 4, 4)
    np.testing.assert_allclose(parameters_of_pseudo_inertia(J), phi, atol=1e-14)
    np.testing.assert_array_equal(J[1, 2], pseudo_inertia(phi[1, 2]))


@pytest.mark.parametrize("seed", range(5))
def test_change_of_frame_moves_every_point_of_a_cloud(seed):
    rng = np.random.default_rng(seed)
    masses, points = cloud(rng)
    X_AB = random_pose(rng)
    phi_A = parameters_of_cloud(masses, X_AB.apply(points))
    phi_B = parameters_of_cloud(masses, points)
    np.testing.assert_allclose(change_of_frame(X_AB) @ phi_B, phi_A, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_change_of_frame_agrees_with_pinocchio_acting_on_an_inertia(seed):
    rng = np.random.default_rng(seed)
    X_AB = random_pose(rng)
    phi_B = parameters_of_cloud(*cloud(rng))
    moved = pin.SE3(X_AB.rotation, X_AB.translation).act(pin.Inertia.FromDynamicParameters(phi_B))
    np.testing.assert_allclose(change_of_frame(X_AB) @ phi_B, moved.toDynamicParameters(), atol=1e-12)


def test_change_of_frame_is_a_group_homomorphism():
    rng = np.random.default_rng(1)
    for _ in range(10):
        X_AB, X_BC = random_pose(rng), random_pose(rng)
        T_AB, T_BC = change_of_frame(X_AB), change_of_frame(X_BC)
        np.testing.assert_allclose(T_AB @ T_BC, change_of_frame(X_AB @ X_BC), atol=1e-13)
        np.testing.assert_allclose(T_AB @ change_of_frame(X_AB.inverse()), np.eye(10), atol=1e-13)
    np.testing.assert_array_equal(change_of_frame(Pose.identity()), np.eye(10))


@pytest.mark.parametrize("function", [pseudo_inertia, rotational_inertia])
def test_wrong_shapes_and_nan_are_refused_by_name(function):
    with pytest.raises(ShapeError, match="parameters: expected shape"):
        function(np.zeros(9))
    with pytest.raises(ShapeError, match="finite"):
        function([np.nan] + [0.0] * 9)
