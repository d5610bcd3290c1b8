"""Is an object of one density? Judged by many draws, by plain regression, and by hidden weights."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from steelyard.audit import Status
from steelyard.audit.density import QUANTITIES, check_density, placement_covariance
from steelyard.errors import InputError
from steelyard.inertia import Body, Mesh, box, cylinder
from steelyard.pose import Pose

SIDES = (0.10, 0.06, 0.04)
POSE = Pose.from_rpy((0.4, -0.2, 1.0), (0.02, -0.01, 0.06))
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.array(SIDES) / 2
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
FACES = np.array([[a, b, c] for a, b, c, _ in QUADS] + [[a, c, d] for a, _, c, d in QUADS])
MESH = Mesh(POSE.apply(CORNERS), FACES)
UNIFORM = box(SIDES, mass=0.8).moved(POSE)
SCALE = np.array([1.0, *(0.05,) * 3, *(0.05**2,) * 6])


def _covariance(seed: int, size: float) -> np.ndarray:
    """Correlated errors of a share `size` of a kilogram at 5 cm."""
    A = np.random.default_rng(seed).standard_normal((10, 10)) / np.sqrt(10)
    return size**2 * (A @ A.T + 0.1 * np.eye(10)) * np.outer(SCALE, SCALE)


def _with_lump(lump: float, place: tuple[float, float, float]) -> Body:
    hidden = box((0.01, 0.01, 0.01), mass=lump).moved(Pose(np.eye(3), np.array(place)))
    return (box(SIDES, mass=0.8) + hidden).moved(POSE)


def test_the_statistic_is_that_of_plain_regression_on_the_whitened_numbers() -> None:
    covariance, rng = _covariance(0, 0.02), np.random.default_rng(1)
    phi = rng.multivariate_normal(UNIFORM.parameters, covariance)
    evidence = check_density(phi, covariance, MESH).evidence
    white = np.linalg.inv(np.linalg.cholesky(covariance))
    unit = MESH.properties(mass=1.0).body.parameters
    _, residual, _, _ = np.linalg.lstsq((white @ unit)[:, None], white @ phi, rcond=None)
    assert evidence["chi_square"] == pytest.approx(residual[0], rel=1e-6)
    assert evidence["degrees"] == 9


def test_the_chance_of_a_uniform_object_is_uniformly_distributed() -> None:
    covariance, rng = _covariance(2, 0.01), np.random.default_rng(3)
    draws = rng.multivariate_normal(UNIFORM.parameters, covariance, size=400)
    checks = [check_density(phi, covariance, MESH) for phi in draws]
    chances = [check.evidence["chance"] for check in checks]
    assert scipy.stats.kstest(chances, "uniform").pvalue > 0.01
    warned = sum(check.status is Status.WARN for check in checks)
    assert scipy.stats.binomtest(warned, 400, 0.05).pvalue > 0.01
    # Naming any of nine numbers by mistake is as rare, and rarer since their errors go together.
    assert sum(bool(check.evidence["disagree"]) for check in checks) <= 400 * 0.05 + 3 * np.sqrt(400 * 0.05)


def test_the_deviations_are_those_of_many_draws() -> None:
    covariance, rng = _covariance(4, 0.005), np.random.default_rng(5)
    draws = rng.multivariate_normal(UNIFORM.parameters, covariance, size=4000)
    stated = check_density(UNIFORM.parameters, covariance, MESH).evidence["deviation"]
    central = []
    for phi in draws:
        body, solid = Body.from_parameters(phi), UNIFORM.inertia * phi[0] / UNIFORM.mass
        central.append([*body.com, *(body.inertia - solid)[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])
    np.testing.assert_allclose(list(stated.values()), np.std(central, axis=0), rtol=0.05)


def test_a_hidden_weight_is_found_with_its_distance_and_direction() -> None:
    body = _with_lump(0.2, (0.04, 0.0, 0.0))
    shift = body.com - UNIFORM.com  # 0.2 of 1.0 kg at 40 mm: 8 mm along the box's own x axis
    assert np.linalg.norm(shift) == pytest.approx(0.008)
    check = check_density(body.parameters, _covariance(6, 0.005), MESH)
    assert check.status is Status.WARN
    assert "contradicts" in check.message
    assert "lies 8 ±" in check.message
    assert "along ({:.2f}, {:.2f}, {:.2f})".format(*(POSE.rotation[:, 0] + 0.0)) in check.message
    difference = check.evidence["difference"]
    np.testing.assert_allclose([difference[name] for name in "xyz"], shift, rtol=1e-9)
    assert set(check.evidence["disagree"]) & set("xyz")


def test_mass_moved_outwards_about_the_same_centre_shows_in_the_moments() -> None:
    hollow = box(SIDES, mass=0.8)
    stretched = Body(0.8, np.zeros(3), hollow.inertia + np.diag([0.0, 1e-4, 1e-4]))  # mass moved along x
    check = check_density(stretched.moved(POSE).parameters, _covariance(7, 0.002), MESH)
    assert check.status is Status.WARN
    assert not set(check.evidence["disagree"]) & set("xyz")
    own = POSE.rotation[:, 1] if hollow.inertia[1, 1] < hollow.inertia[2, 2] else POSE.rotation[:, 2]
    sign = np.sign(own[np.argmax(np.abs(own))])
    assert "the moment about ({:.2f}, {:.2f}, {:.2f})".format(*(sign * own)) in check.message
    relative = 100 * 1e-4 / min(hollow.inertia[1, 1], hollow.inertia[2, 2])
    assert f"by {relative:+.3g} ±" in check.message


def test_an_exact_measurement_of_a_uniform_object_agrees() -> None:
    check = check_density(UNIFORM.parameters, np.zeros((10, 10)), MESH)
    assert check.status is Status.PASS
    assert check.evidence["chance"] > 0.99
    moved = check_density(_with_lump(1e-3, (0.03, 0, 0)).parameters, np.zeros((10, 10)), MESH)
    assert moved.status is Status.WARN


def test_what_the_data_is_blind_to_neither_counts_nor_is_compared() -> None:
    covariance = _covariance(8, 0.005)
    body = UNIFORM.parameters.copy()
    body[4:] += 1.0  # nonsense a prior may have put there
    assert check_density(body, covariance, MESH).status is Status.WARN
    covariance[4:] = covariance[:, 4:] = 0.0
    covariance[range(4, 10), range(4, 10)] = np.inf
    check = check_density(body, covariance, MESH)
    assert check.status is Status.PASS
    assert check.evidence["degrees"] == 3
    assert check.evidence["not_shown"] == list(QUANTITIES[3:])
    assert check.evidence["difference"]["Ixx_com"] is None
    assert "moment" not in check.message
    off = _with_lump(0.2, (0.04, 0.0, 0.0)).parameters
    assert "lies 8 ±" in check_density(off, covariance, MESH).message


def test_only_the_combinations_shown_count() -> None:
    covariance = _covariance(9, 0.005)
    body = UNIFORM.parameters.copy()
    body[4] += 1.0
    body[6] += 1.0
    rows = np.delete(np.eye(10), [4, 6], axis=0)
    rows = np.vstack((rows, np.eye(10)[4] - np.eye(10)[6]))  # of the two moments only the difference
    check = check_density(body, covariance, MESH, shown=rows)
    assert check.status is Status.PASS
    assert check.evidence["degrees"] == 8
    assert check.evidence["not_shown"] == ["Ixx_com", "Iyy_com"]
    again = check_density(body, covariance, MESH, shown=np.vstack((3.0 * rows, rows[:2] + rows[3])))
    assert again.evidence["chi_square"] == pytest.approx(check.evidence["chi_square"], rel=1e-9)
    assert again.evidence["degrees"] == 8
    with pytest.raises(InputError, match="infinite variance: Izz"):
        check_density(body, np.diag([1e-6] * 9 + [np.inf]), MESH, shown=np.eye(10))


def test_data_that_shows_only_the_mass_cannot_judge() -> None:
    check = check_density(UNIFORM.parameters, np.diag([1e-6] + [np.inf] * 9), MESH)
    assert check.status is Status.NOT_RUN
    blind = check_density(UNIFORM.parameters, np.diag([np.inf] * 10), MESH)
    assert blind.status is Status.NOT_RUN


def test_a_mesh_that_is_not_watertight_cannot_judge_and_says_why() -> None:
    check = check_density(UNIFORM.parameters, _covariance(0, 0.01), Mesh(MESH.vertices, MESH.faces[1:]))
    assert check.status is Status.NOT_RUN
    assert "3 edges are open" in check.message
    assert check.evidence["open"] == 3


def test_an_uncertain_grasp_excuses_what_it_can_explain() -> None:
    covariance = _covariance(10, 0.001)
    moved = Pose.from_rpy((0.02, 0.0, 0.0), (0.002, -0.001, 0.0))
    body = UNIFORM.moved(moved)
    assert check_density(body.parameters, covariance, MESH).status is Status.WARN
    excused = check_density(body.parameters, covariance, MESH, placement=(0.003, 0.03))
    assert excused.status is Status.PASS
    heavy = _with_lump(0.4, (0.045, 0.0, 0.0)).moved(moved)
    assert check_density(heavy.parameters, covariance, MESH, placement=(0.003, 0.03)).status is Status.WARN


def test_the_spread_of_a_placement_is_that_of_many_placements() -> None:
    along, about = 1e-4, 1e-3
    solid = cylinder(0.03, 0.2, mass=2.0).moved(POSE)
    rng = np.random.default_rng(11)
    c, draws = solid.com, []
    for _ in range(4000):
        turn = Pose.from_rpy(about * rng.standard_normal(3))
        shift = along * rng.standard_normal(3) + c - turn.rotation @ c
        draws.append(solid.moved(Pose(turn.rotation, shift)).parameters)
    expected = np.cov(np.array(draws).T)
    found = placement_covariance(solid, along, about)
    size = np.sqrt(np.outer(expected.diagonal(), expected.diagonal())) + 1e-30
    np.testing.assert_allclose(found / size, expected / size, atol=0.08)


def test_numbers_that_are_no_measurement_are_refused() -> None:
    phi, sigma = UNIFORM.parameters, _covariance(0, 0.01)
    with pytest.raises(InputError, match="mass must be positive"):
        check_density(-phi, sigma, MESH)
    with pytest.raises(InputError, match="not positive semidefinite"):
        check_density(phi, -sigma, MESH)
    with pytest.raises(InputError, match="nothing may be NaN"):
        check_density(phi, np.full((10, 10), np.nan), MESH)
    with pytest.raises(InputError, match="placement: must not be negative"):
        check_density(phi, sigma, MESH, placement=(-1.0, 0.0))
