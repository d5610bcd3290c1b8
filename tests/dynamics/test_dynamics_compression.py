"""Compressed logs: the triangles hold exactly what the stacked regressor holds."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.random_robots import random_robot
from oracles.thread_counts import thread_count
from steelyard.dynamics import compress, torque_gram, torque_regressor
from steelyard.dynamics.compression import PARTS, ROWS
from steelyard.errors import InputError, ShapeError
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

DRIVE = ["viscous", "coulomb", "offset", "rotor"]


def log(robot: Robot, samples: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(samples, robot.nq)), *rng.normal(size=(3, samples, robot.nv))


def stacked(robot: Robot, layout: Layout, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray):
    W = torque_regressor(robot, layout, q, v, a).reshape(-1, layout.size)
    return np.c_[W, tau.ravel()]


def robots() -> list[Robot]:
    rng = np.random.default_rng(7)
    return [
        zoo_robot("one_link"),
        zoo_robot("panda"),
        zoo_robot("two_link").floating(),
        *(random_robot(rng) for _ in range(6)),
    ]


@pytest.mark.parametrize("robot", robots(), ids=lambda robot: f"{robot.name}-{robot.nv}")
def test_the_triangles_hold_what_the_stacked_regressor_holds(robot: Robot) -> None:
    layout = layout_of(robot, DRIVE)
    data = log(robot, 300)
    W = stacked(robot, layout, *data)
    compressed = compress(robot, layout, [data])
    weights = np.random.default_rng(1).uniform(0.5, 2.0, robot.nv)
    for w in (None, weights):
        Ww = W if w is None else np.tile(w, 300)[:, None] * W
        G, R = Ww.T @ Ww, compressed.factor(w)
        scale = np.sqrt(np.outer(np.diag(G), np.diag(G))) + 1e-300
        assert np.abs((R.T @ R - G) / scale).max() < 1e-12
        assert np.abs((compressed.gram(w) - G) / scale).max() < 1e-12
        assert np.array_equal(R, np.triu(R))
    assert np.abs((torque_gram(robot, layout, [data]) - W.T @ W) / (scale + 1)).max() < 1e-12
    assert compressed.samples == 300


def test_least_squares_on_the_triangle_is_least_squares_on_the_log() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, ["viscous"])
    data = log(robot, 500)
    W = stacked(robot, layout, *data)
    R = compress(robot, layout, [data]).factor()
    on_log = np.linalg.lstsq(W[:, :-1], W[:, -1], rcond=1e-10)
    on_triangle = np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=1e-10)
    assert on_log[2] == on_triangle[2]
    np.testing.assert_allclose(on_triangle[0], on_log[0], atol=1e-10)


def test_rank_is_visible_in_the_triangle_where_the_gram_matrix_hides_it() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    data = log(robot, 2000)
    R = compress(robot, layout, [data]).factor()[:-1, :-1]
    alive = np.linalg.norm(R, axis=0) > 1e-11 * np.linalg.norm(R, axis=0).max()
    singular = np.linalg.svd(R[:, alive] / np.linalg.norm(R[:, alive], axis=0), compute_uv=False)
    # 43 rigid base parameters: the 44th value is round-off of the factorisation, not its square root.
    assert singular[42] > 1e-3
    assert singular[43] < 1e-14


@pytest.mark.parametrize("samples", [1, 2, PARTS, ROWS, ROWS * PARTS - 1, ROWS * PARTS + 1])
def test_any_number_of_samples_is_taken(samples: int) -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, DRIVE)
    data = log(robot, samples)
    W = stacked(robot, layout, *data)
    np.testing.assert_allclose(compress(robot, layout, [data]).gram(), W.T @ W, atol=1e-10)


def test_blocks_may_be_cut_anywhere() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, DRIVE)
    data = log(robot, 1000)
    pieces = [tuple(x[a:b] for x in data) for a, b in ((0, 1), (1, 130), (130, 131), (131, 1000))]
    whole, cut = compress(robot, layout, [data]), compress(robot, layout, iter(pieces))
    np.testing.assert_allclose(cut.gram(), whole.gram(), rtol=1e-11, atol=1e-9)
    assert cut.samples == 1000


def test_the_number_of_threads_does_not_change_a_bit() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, DRIVE)
    data = log(robot, 1500)
    results = []
    for threads in (1, 2, 5):
        with thread_count(threads):
            results.append(compress(robot, layout, [data]).factor())
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_one_equation_knows_only_the_links_it_moves() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, ["viscous"])
    columns = compress(robot, layout, [log(robot, 50)]).columns
    assert [len(c) for c in columns] == [10 * (7 - k) + 1 for k in range(7)]
    assert list(columns[6]) == [*range(60, 70), layout.index("panda_joint7.viscous")]


def test_bad_blocks_are_named() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot)
    q, v, a, tau = log(robot, 10)
    for accumulate in (compress, torque_gram):
        with pytest.raises(InputError, match="no sample"):
            accumulate(robot, layout, [])
    with pytest.raises(ShapeError, match="tau"):
        compress(robot, layout, [(q, v, a, tau[:, :1])])
    with pytest.raises(InputError, match="differ"):
        compress(robot, layout, [(q, v, a, tau[:5])])
    with pytest.raises(ShapeError, match="finite"):
        compress(robot, layout, [(q, v, a * np.nan, tau)])
    with pytest.raises(ShapeError, match="weights"):
        compress(robot, layout, [(q, v, a, tau)]).factor([1.0])
