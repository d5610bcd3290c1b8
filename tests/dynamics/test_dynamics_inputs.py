"""What the door of the kernels takes, what it refuses, and that batches and threads do not change a bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from oracles.random_robots import random_robot, random_states
from oracles.thread_counts import thread_count
from steelyard.dynamics import inverse_dynamics, mass_matrix, torque_regressor
from steelyard.errors import InputError, ShapeError
from steelyard.layout import layout_of

RNG = np.random.default_rng(11)
ROBOT = random_robot(RNG, bodies=5)
LAYOUT = layout_of(ROBOT, ["viscous", "coulomb", "offset", "rotor"])
PHI = RNG.standard_normal(LAYOUT.size)
Q, V, A = random_states(RNG, ROBOT, 129)


def _all(q: object, v: object, a: object) -> list[np.ndarray]:
    return [
        torque_regressor(ROBOT, LAYOUT, q, v, a),
        inverse_dynamics(ROBOT, LAYOUT, PHI, q, v, a),
        mass_matrix(ROBOT, LAYOUT, PHI, q),
    ]


def _assert_same_bits(some: list[np.ndarray], others: list[np.ndarray]) -> None:
    for one, other in zip(some, others, strict=True):
        assert one.dtype == other.dtype == np.float64
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("count", [0, 1, 2, 63, 64, 65, 128])
def test_a_sample_does_not_depend_on_its_batch(count: int) -> None:
    whole = [result[:count] for result in _all(Q, V, A)]
    _assert_same_bits(_all(Q[:count], V[:count], A[:count]), whole)


def test_threads_do_not_change_a_bit() -> None:
    with thread_count(1):
        alone = _all(Q, V, A)
    for threads in (2, 5):
        with thread_count(threads):
            _assert_same_bits(_all(Q, V, A), alone)


def test_a_vector_is_one_sample() -> None:
    _assert_same_bits(_all(Q[3], V[3], A[3]), _all(Q[3:4], V[3:4], A[3:4]))
    _assert_same_bits(_all(Q[3].tolist(), V[3].tolist(), tuple(A[3])), _all(Q[3:4], V[3:4], A[3:4]))


def _read_only(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "stored",
    [np.asfortranarray, _read_only, lambda x: np.repeat(x, 2, axis=0)[::2], lambda x: x[::-1].copy()[::-1]],
    ids=["column-major", "read-only", "strided", "negative strides"],
)
def test_how_an_array_is_stored_does_not_matter(stored: Callable[[np.ndarray], np.ndarray]) -> None:
    _assert_same_bits(_all(stored(Q), stored(V), stored(A)), _all(Q, V, A))


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, bool])
def test_other_numbers_are_taken_at_their_value(dtype: type) -> None:
    q, v, a = (np.round(x).astype(dtype) for x in (Q[:4], V[:4], A[:4]))
    _assert_same_bits(_all(q, v, a), _all(*(x.astype(np.float64) for x in (q, v, a))))


def test_inputs_are_left_alone() -> None:
    before = [x.copy() for x in (Q, V, A, PHI)]
    _all(Q, V, A)
    for array, copy in zip((Q, V, A, PHI), before, strict=True):
        np.testing.assert_array_equal(array, copy)
        assert array.flags.writeable


@pytest.mark.parametrize("which", ["q", "v", "a"])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros((3, 4)), r"expected shape \(N, 5\), got \(3, 4\)"),
        (np.zeros(6), r"expected shape \(5,\), got \(6,\)"),
        (np.zeros((1, 3, 5)), r"expected shape \(N, 5\), got \(1, 3, 5\)"),
        (0.0, r"expected shape \(N, 5\), got \(\)"),
        (np.full((3, 5), np.nan), "must be finite"),
        (np.full((3, 5), -np.inf), "must be finite"),
        (np.zeros((3, 5), dtype=complex), "must hold real numbers"),
        ([["a"] * 5] * 3, "must hold real numbers"),
    ],
    ids=["columns", "vector", "three axes", "scalar", "nan", "infinite", "complex", "text"],
)
def test_a_bad_array_is_refused_by_name(which: str, bad: object, message: str) -> None:
    state: dict[str, object] = dict.fromkeys("qva", np.zeros((3, 5))) | {which: bad}
    with pytest.raises(ShapeError, match=f"^{which}: .*{message}"):
        torque_regressor(ROBOT, LAYOUT, **state)
    with pytest.raises(ShapeError, match=f"^{which}: .*{message}"):
        inverse_dynamics(ROBOT, LAYOUT, PHI, **state)
    if which == "q":
        with pytest.raises(ShapeError, match=f"^q: .*{message}"):
            mass_matrix(ROBOT, LAYOUT, PHI, bad)


def test_unequal_numbers_of_samples_are_refused() -> None:
    with pytest.raises(InputError, match=r"numbers of samples differ: {'q': 3, 'v': 2, 'a': 3}"):
        torque_regressor(ROBOT, LAYOUT, Q[:3], V[:2], A[:3])


def test_parameters_of_the_wrong_length_or_not_finite_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^parameters: expected shape \(70,\), got \(69,\)"):
        inverse_dynamics(ROBOT, LAYOUT, PHI[:-1], Q, V, A)
    with pytest.raises(ShapeError, match=r"^parameters: must be finite"):
        mass_matrix(ROBOT, LAYOUT, np.where(np.arange(70) == 3, np.nan, PHI), Q)


def test_the_layout_of_another_robot_is_refused() -> None:
    foreign = layout_of(random_robot(np.random.default_rng(1), bodies=4))
    for call in (
        lambda: torque_regressor(ROBOT, foreign, Q, V, A),
        lambda: inverse_dynamics(ROBOT, foreign, np.zeros(foreign.size), Q, V, A),
        lambda: mass_matrix(ROBOT, foreign, np.zeros(foreign.size), Q),
    ):
        with pytest.raises(InputError, match=r"^layout: .*link3.* Make it with layout_of\(robot\)"):
            call()


def test_two_robots_that_differ_only_in_gravity_are_kept_apart() -> None:
    other = ROBOT.with_gravity((1.0, 2.0, 3.0))
    first = torque_regressor(ROBOT, LAYOUT, Q, V, A)
    assert not np.array_equal(torque_regressor(other, LAYOUT, Q, V, A), first)
    np.testing.assert_array_equal(torque_regressor(ROBOT, LAYOUT, Q, V, A), first)
