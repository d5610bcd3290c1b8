"""Transmissions: power is conserved, both ways undo each other, rotors are felt through the gears."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.drive import MotorSignals, Transmission
from steelyard.errors import InputError


def wrist(rng: np.random.Generator, n: int = 5) -> Transmission:
    """Gears of all signs and sizes; each motor also turns with the joints before it."""
    coupling = np.eye(n) + np.tril(rng.uniform(-1, 1, (n, n)), -1)
    ratio = rng.choice([-1, 1], n) * 10.0 ** rng.uniform(0, 2.5, n)
    names = tuple(f"j{k}" for k in range(n))
    return Transmission(names, ratio, coupling, rng.uniform(0.02, 0.2, n), rng.uniform(1e-6, 1e-4, n))


@pytest.mark.parametrize("seed", range(10))
def test_what_the_motors_spend_the_joints_receive(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gear = wrist(rng)
    v, tau = rng.standard_normal((2, 30, 5))
    motors = gear.motor_side(v=v, tau=tau)
    at_motors = (motors.velocity * motors.torque).sum(axis=1)
    np.testing.assert_allclose(at_motors, (v * tau).sum(axis=1), rtol=0, atol=1e-12 * np.abs(v * tau).max())


@pytest.mark.parametrize("seed", range(10))
def test_to_the_motors_and_back_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gear = wrist(rng)
    q, v, a, tau = rng.standard_normal((4, 7, 5))
    motors = gear.motor_side(q, v, a, tau)
    for given in (motors._replace(current=None), motors._replace(torque=None)):
        back = gear.joint_side(given)
        for got, expected in zip(back, (q, v, a, tau), strict=True):
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-11)
    one = gear.joint_side(gear.motor_side(q=q[0]))
    np.testing.assert_allclose(one.q, q[0], atol=1e-12)
    assert one.v is None
    assert one.tau is None


@pytest.mark.parametrize("seed", range(5))
def test_velocity_and_acceleration_are_the_rates_of_position(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gear = wrist(rng)
    q, v, a = rng.standard_normal((3, 5))
    h = 1e-4

    def theta(t: float) -> np.ndarray:
        return gear.motor_side(q=q + v * t + a * t * t / 2).position

    motors = gear.motor_side(q, v, a)
    scale = np.abs(gear.matrix).max()
    np.testing.assert_allclose((theta(h) - theta(-h)) / (2 * h), motors.velocity, atol=1e-8 * scale)
    second = (theta(h) - 2 * theta(0) + theta(-h)) / h**2
    np.testing.assert_allclose(second, motors.acceleration, atol=1e-5 * scale)


@pytest.mark.parametrize("seed", range(10))
def test_the_joints_feel_the_kinetic_energy_of_the_rotors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gear = wrist(rng)
    v = rng.standard_normal(5)
    rotors = 0.5 * gear.rotor @ gear.motor_side(v=v).velocity ** 2
    A = gear.reflected_inertia
    assert 0.5 * v @ A @ v == pytest.approx(rotors, rel=1e-12)
    np.testing.assert_allclose(A, A.T, atol=1e-12 * np.abs(A).max())
    assert np.linalg.eigvalsh(A).min() > 0


def test_a_plain_gear_multiplies_torque_by_its_ratio_and_inertia_by_its_square() -> None:
    gear = Transmission(("elbow",), np.array([-100.0]), None, np.array([0.05]), np.array([2e-5]))
    joint = gear.joint_side(MotorSignals(position=np.array([1.0]), current=np.array([2.0])))
    assert joint.q[0] == -0.01
    assert joint.tau[0] == -10.0  # 100 × 0.05 N·m/A × 2 A
    assert gear.reflected_inertia[0, 0] == pytest.approx(0.2)


def test_a_wrist_whose_second_motor_passes_the_first_joint() -> None:
    gear = Transmission(("pitch", "roll"), np.array([50.0, 40.0]), np.array([[1.0, 0.0], [-1.0, 1.0]]))
    np.testing.assert_array_equal(gear.motor_side(q=[0.1, 0.0]).position, [5.0, -4.0])
    np.testing.assert_array_equal(
        gear.joint_side(MotorSignals(torque=np.array([0.0, 1.0]))).tau, [-40.0, 40.0]
    )


def test_a_coupling_that_leaves_a_motion_unseen_is_refused() -> None:
    with pytest.raises(InputError, match="coupling: is singular: some motion of the joints turns no motor"):
        Transmission(("a", "b"), np.ones(2), np.array([[1.0, 2.0], [0.5, 1.0]]))
    with pytest.raises(InputError, match="coupling: is singular"):
        Transmission(("a", "b"), np.ones(2), np.zeros((2, 2)))


def test_what_is_not_known_is_not_invented() -> None:
    gear = Transmission(("a",), np.array([10.0]))
    with pytest.raises(InputError, match=r"^rotor: is not known"):
        _ = gear.reflected_inertia
    with pytest.raises(InputError, match=r"^torque_constant: is not known"):
        gear.joint_side(MotorSignals(current=np.ones(1)))
    with pytest.raises(InputError, match="torque and current are both given"):
        gear.joint_side(MotorSignals(torque=np.ones(1), current=np.ones(1)))
    with pytest.raises(InputError, match=r"^rotor: must not be negative, got -1 at joint 'a'"):
        Transmission(("a",), np.array([10.0]), rotor=np.array([-1.0]))
    assert gear.motor_side(tau=np.ones(1)).current is None
