"""A payload weighed as samples arrive: the answer of batch least squares, at every step."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
import pytest

from oracles.pinocchio_robot import pinocchio_model
from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.inertia import change_of_frame
from steelyard.inertia.body import random_body
from steelyard.motion import random_fourier
from steelyard.payloads.arm_model import mounted_at
from steelyard.payloads.weighing import RecursivePayload
from steelyard.pose import Pose
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

NOISE = np.array([0.5, 0.4, 0.3, 0.3, 0.1, 0.08, 0.05])
GRASP = Pose.from_rpy([0.3, -0.5, 1.1], [0.02, -0.05, 0.12])
Block = tuple[Array, Array, Array, Array]


@dataclass(frozen=True, eq=False)
class Work:
    """A robot at work: states and the columns of the payload's ten numbers, by Pinocchio."""

    robot: Robot
    q: Array
    v: Array
    a: Array
    columns: Array

    def torque(self, ten: Array) -> Array:
        return self.columns @ ten


def at_work(samples: int = 300, seed: int = 1) -> Work:
    robot = zoo_robot("panda")
    motion = random_fourier(robot, np.random.default_rng(seed))
    s = motion.sample(np.linspace(0.0, motion.duration, samples, endpoint=False))
    model = pinocchio_model(robot)
    data = model.createData()
    held = mounted_at(robot, grasp=GRASP)
    to_link = change_of_frame(held.placement)
    columns = [
        pin.computeJointTorqueRegressor(model, data, q, v, a)[:, -10:] @ to_link
        for q, v, a in zip(s.q, s.v, s.a, strict=True)
    ]
    assert held.link == robot.link_names[-1]
    return Work(robot, s.q, s.v, s.a, np.array(columns))


def starting(work: Work, **options: object) -> RecursivePayload:
    return RecursivePayload.starting(work.robot, mounted_at(work.robot, grasp=GRASP), NOISE, **options)


def absorbed(payload: RecursivePayload, work: Work, tau: Array, size: int) -> RecursivePayload:
    for first in range(0, len(tau), size):
        block = slice(first, first + size)
        payload = payload.absorb(work.q[block], work.v[block], work.a[block], tau[block])
    return payload


def batch(work: Work, tau: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """All equations stacked, by NumPy: the ten numbers, and their information by the Schur complement."""
    N, nv = tau.shape
    changes = np.zeros((N, nv, 3 * nv))
    for k in range(nv):
        changes[:, k, 3 * k : 3 * k + 3] = np.column_stack([work.v[:, k], np.sign(work.v[:, k]), np.ones(N)])
    w = (np.ones(N) if weights is None else np.sqrt(weights))[:, None] / NOISE
    W = (np.concatenate([work.columns, changes], axis=2) * w[:, :, None]).reshape(-1, 10 + 3 * nv)
    solution = np.linalg.lstsq(W, (tau * w).ravel(), rcond=None)[0]
    G = W.T @ W
    information = G[:10, :10] - G[:10, 10:] @ np.linalg.solve(G[10:, 10:], G[10:, :10])
    return solution[:10], information


def noisy(work: Work, ten: Array, seed: int = 3) -> Array:
    rng = np.random.default_rng(seed)
    changed = np.sign(work.v) * rng.normal(size=7) + work.v * rng.normal(size=7) + rng.normal(size=7)
    return work.torque(ten) + changed + NOISE * rng.normal(size=work.v.shape)


@pytest.mark.parametrize("size", [1, 7, 100, 300])
def test_samples_in_any_pieces_give_the_answer_of_batch_least_squares(size: int) -> None:
    work = at_work()
    tau = noisy(work, random_body(np.random.default_rng(0)).parameters)
    found = absorbed(starting(work), work, tau, size)
    values, information = batch(work, tau)
    np.testing.assert_allclose(found.values, values, rtol=1e-9, atol=1e-9)
    scale = np.sqrt(np.diag(information))
    np.testing.assert_allclose(
        found.information / np.outer(scale, scale), information / np.outer(scale, scale), atol=1e-9
    )
    assert found.samples == len(tau)


def test_one_sample_may_come_as_vectors() -> None:
    work = at_work(20)
    tau = noisy(work, random_body(np.random.default_rng(0)).parameters)
    one = starting(work)
    for q, v, a, t in zip(work.q, work.v, work.a, tau, strict=True):
        one = one.absorb(q, v, a, t)
    np.testing.assert_allclose(
        one.information, absorbed(starting(work), work, tau, 20).information, rtol=1e-9
    )


def test_without_noise_the_payload_is_found_whatever_changed_in_the_drives() -> None:
    work = at_work()
    ten = random_body(np.random.default_rng(2)).parameters
    rng = np.random.default_rng(4)
    changed = np.sign(work.v) * rng.normal(size=7) + work.v * rng.normal(size=7) + rng.normal(size=7)
    found = absorbed(starting(work), work, work.torque(ten) + changed, 50)
    np.testing.assert_allclose(found.values, ten, atol=1e-9)
    assert (found.weighing.residual < 1e-9).all()
    blunt = absorbed(starting(work, changes=()), work, work.torque(ten) + changed, 50)
    assert np.abs(blunt.values - ten).max() > 1e-3


def test_the_residual_of_each_joint_is_its_noise() -> None:
    work = at_work(1000)
    tau = noisy(work, random_body(np.random.default_rng(0)).parameters)
    found = absorbed(starting(work), work, tau, 100)
    np.testing.assert_allclose(found.weighing.residual, NOISE, rtol=0.1)


def test_deviations_are_those_of_repeated_runs() -> None:
    work = at_work(60)
    ten = random_body(np.random.default_rng(0)).parameters
    runs = [absorbed(starting(work), work, noisy(work, ten, seed), 60) for seed in range(150)]
    seen = np.std([run.values for run in runs], axis=0)
    np.testing.assert_allclose(seen, runs[0].weighing.deviations, rtol=0.25)


def test_a_memory_weighs_samples_by_their_age() -> None:
    work = at_work()
    tau = noisy(work, random_body(np.random.default_rng(0)).parameters)
    ages = np.arange(len(tau))[::-1]
    values, information = batch(work, tau, np.exp(-ages / 80.0))
    for size in (1, 30):
        found = absorbed(starting(work, memory=80.0), work, tau, size)
        np.testing.assert_allclose(found.values, values, rtol=1e-9, atol=1e-9)
        scale = np.sqrt(np.diag(information))
        np.testing.assert_allclose((found.information - information) / np.outer(scale, scale), 0.0, atol=1e-9)


def test_a_memory_follows_a_payload_that_is_swapped() -> None:
    work = at_work(2000)
    first, second = (random_body(np.random.default_rng(seed)).parameters for seed in (5, 6))
    tau = np.vstack([work.torque(first)[:1000], work.torque(second)[1000:]])
    quick = absorbed(starting(work, memory=60.0), work, tau, 50)
    slow = absorbed(starting(work), work, tau, 50)
    assert np.abs(quick.values - second).max() < 1e-3
    assert np.abs(slow.values - second).max() > 1e-2


def test_a_robot_that_stands_still_shows_no_inertia() -> None:
    work = at_work(5)
    still = np.zeros(7)
    found = starting(work)
    for q in work.q:
        found = found.absorb(q, still, still, np.zeros(7))
    assert np.isinf(found.weighing.deviations[4:]).all()
    assert found.weighing.shown <= 4


def test_changes_that_cannot_be_told_apart_cost_no_more_than_fewer_of_them() -> None:
    work = at_work(100)
    two_speeds = replace(work, v=np.where(work.v > 0.0, 0.3, -0.7))
    tau = np.random.default_rng(7).normal(size=work.v.shape)
    two, three = (
        absorbed(starting(work, changes=changes), two_speeds, tau, 7)
        for changes in (("coulomb", "offset"), ("coulomb", "offset", "viscous"))
    )
    np.testing.assert_allclose(three.values, two.values, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(three.information, two.information, rtol=1e-7, atol=1e-7)


def test_before_the_first_sample_nothing_is_known() -> None:
    found = starting(at_work(2))
    assert found.samples == found.weighing.shown == 0
    assert np.isinf(found.weighing.deviations).all()


@pytest.mark.parametrize(
    ("options", "word"), [({"changes": ("stribeck",)}, "changes"), ({"memory": 0.0}, "memory")]
)
def test_options_that_mean_nothing_are_refused(options: dict[str, object], word: str) -> None:
    with pytest.raises(InputError, match=word):
        starting(at_work(2), **options)


def test_arrays_that_do_not_fit_are_refused() -> None:
    work = at_work(4)
    with pytest.raises(InputError, match="residual"):
        starting(work).absorb(work.q, work.v, work.a, np.zeros((3, 7)))
    with pytest.raises(InputError, match="noise: must be positive"):
        RecursivePayload.starting(work.robot, mounted_at(work.robot), np.zeros(7))
