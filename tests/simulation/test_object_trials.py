"""Objects dropped, pushed and swung in MuJoCo, judged by the laws of mechanics; a wrong inertia shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import ellipk

from steelyard.errors import InputError
from steelyard.inertia import Body, box
from steelyard.inertia.body import random_body
from steelyard.pose import Pose
from steelyard.simulation.object_trials import (
    Drop,
    ObjectMotion,
    Push,
    Swing,
    run_trial,
    standard_trials,
)

G = 9.81
SIDES = np.array([0.12, 0.08, 0.05])
OFF_CENTRE = box(SIDES, mass=0.7) + box((0.01, 0.01, 0.01), mass=0.3).moved(
    Pose(np.eye(3), [0.04, 0.02, 0.01])
)
TILTED = Pose.from_rpy((0.4, 0.3, 0.2), (0.1, -0.2, 0.5))


@pytest.fixture
def asset(tmp_path: Path) -> Path:
    """A box of uniform density, as a file of a simulator."""
    body = box(SIDES, mass=0.7)
    size, moments = (" ".join(map(str, x)) for x in (SIDES / 2, body.inertia.diagonal()))
    path = tmp_path / "object.xml"
    path.write_text(
        f"""<mujoco><worldbody><body name="thing"><freejoint/>
        <inertial pos="0 0 0" mass="0.7" diaginertia="{moments}"/><geom type="box" size="{size}"/>
        </body></worldbody></mujoco>"""
    )
    return path


def _turns(motion: ObjectMotion) -> np.ndarray:
    return Rotation.from_quat(motion.quaternion).as_matrix()


def _com(motion: ObjectMotion, body: Body) -> np.ndarray:
    return motion.position + _turns(motion) @ body.com


def test_in_free_flight_the_centre_of_mass_is_on_a_parabola(asset: Path) -> None:
    velocity, spin = np.array([0.5, -0.3, 1.0]), np.array([4.0, -2.0, 3.0])
    motion = run_trial(asset, Drop(TILTED, velocity, spin), seconds=0.3, body=OFF_CENTRE)
    t = motion.time[:, None]
    start = TILTED.apply(OFF_CENTRE.com)
    at_start = velocity + np.cross(spin, TILTED.rotation @ OFF_CENTRE.com)
    expected = start + at_start * t - 0.5 * G * t**2 * np.array([0, 0, 1])
    np.testing.assert_allclose(_com(motion, OFF_CENTRE), expected, atol=1e-9)


def test_in_free_flight_angular_momentum_and_spin_energy_are_kept(asset: Path) -> None:
    body = random_body(np.random.default_rng(0))
    motion = run_trial(asset, Drop(TILTED, spin=np.array([4.0, -2.0, 3.0])), seconds=0.2, body=body)
    R, h = _turns(motion), motion.time[1]
    body_rate = Rotation.from_matrix(np.swapaxes(R[:-2], 1, 2) @ R[2:]).as_rotvec() / (2 * h)
    momentum = np.einsum("nij,nj->ni", R[1:-1] @ body.inertia, body_rate)
    expected = TILTED.rotation @ body.inertia @ TILTED.rotation.T @ (4.0, -2.0, 3.0)
    np.testing.assert_allclose(
        momentum, np.broadcast_to(expected, momentum.shape), atol=1e-5 * np.abs(expected).max()
    )
    energy = 0.5 * np.einsum("ni,ij,nj->n", body_rate, body.inertia, body_rate)
    np.testing.assert_allclose(energy, energy[0], rtol=1e-5)


@pytest.mark.parametrize("body", [None, OFF_CENTRE], ids=["uniform", "off centre"])
def test_a_box_dropped_flat_comes_to_rest_on_its_face(asset: Path, body: Body | None) -> None:
    start = Pose(np.eye(3), [0.0, 0.0, SIDES[2] / 2 + 0.02])
    motion = run_trial(asset, Drop(start), seconds=1.0, body=body)
    np.testing.assert_allclose(motion.position[-1], [0, 0, SIDES[2] / 2], atol=2e-3)
    assert 2 * np.linalg.norm(motion.quaternion[-1, :3]) < 0.02
    assert np.linalg.norm(motion.position[-1] - motion.position[-20]) < 1e-6


@pytest.mark.parametrize("amplitude", [0.02, 1.2])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_swing_has_the_period_of_the_compound_pendulum(asset: Path, seed: int, amplitude: float) -> None:
    rng = np.random.default_rng(seed)
    body = random_body(rng)
    body = Body(body.mass, 0.1 * body.com, 0.05 * body.inertia)
    axis = rng.standard_normal(3)
    axis /= np.linalg.norm(axis)
    point = body.com + 0.3 * rng.standard_normal(3)
    arm = body.com - point
    arm -= axis * (axis @ arm)  # from the hinge's line to the centre of mass
    d = np.linalg.norm(arm)
    upright = np.column_stack((axis, np.cross(-arm / d, axis), -arm / d)).T  # axis along x, arm along -z
    hanging = Rotation.from_rotvec([amplitude, 0, 0]).as_matrix() @ upright
    I_hinge = axis @ body.inertia @ axis + body.mass * d**2
    small = 2 * np.pi * np.sqrt(I_hinge / (body.mass * G * d))
    expected = small * ellipk(np.sin(amplitude / 2) ** 2) * 2 / np.pi
    trial = Swing(point, axis, Pose(hanging, np.zeros(3)))
    motion = run_trial(asset, trial, seconds=3.2 * expected, body=body)
    assert motion.swing_period() == pytest.approx(expected, rel=1e-6)
    hinge = motion.position + _turns(motion) @ point
    np.testing.assert_allclose(hinge, np.broadcast_to(hinge[0], hinge.shape), atol=1e-12)


def test_a_push_afloat_obeys_newton_and_euler(asset: Path) -> None:
    body, force, point, pulse = OFF_CENTRE, np.array([3.0, -1.0, 2.0]), np.array([0.05, 0.03, -0.02]), 0.1
    motion = run_trial(asset, Push(point, force, pulse, start=TILTED), seconds=0.3, body=body)

    def rates(t: float, state: np.ndarray) -> np.ndarray:
        quaternion, omega = state[6:10], state[10:]
        R = Rotation.from_quat(quaternion).as_matrix()
        F = R.T @ force if t < pulse else np.zeros(3)
        turn = np.linalg.solve(
            body.inertia, np.cross(point - body.com, F) - np.cross(omega, body.inertia @ omega)
        )
        x, y, z, w = quaternion
        E = 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])
        return np.concatenate((state[3:6], R @ F / body.mass, E @ omega, turn))

    state = np.concatenate((TILTED.apply(body.com), np.zeros(3), TILTED.quaternion, np.zeros(3)))
    coms, quaternions = [], []
    for begin, end in ((0.0, pulse), (pulse, 0.3)):
        grid = motion.time[(motion.time > begin - 1e-9) & (motion.time < end - 1e-9)]
        solution = solve_ivp(rates, (begin, end), state, rtol=1e-10, atol=1e-12, dense_output=True)
        coms.append(solution.sol(grid)[:3].T)
        quaternions.append(solution.sol(grid)[6:10].T)
        state = solution.y[:, -1]
    n = len(np.concatenate(coms))
    np.testing.assert_allclose(_com(motion, body)[:n], np.concatenate(coms), atol=1e-9)
    judge = Rotation.from_quat(np.concatenate(quaternions))
    assert (judge.inv() * Rotation.from_quat(motion.quaternion[:n])).magnitude().max() < 1e-4


def test_a_push_that_ends_within_a_step_keeps_its_impulse(asset: Path) -> None:
    motion = run_trial(asset, Push(np.zeros(3), np.array([7.0, 0.0, 0.0]), 0.01013), seconds=0.1)
    speed = (motion.position[-1, 0] - motion.position[-2, 0]) / (motion.time[-1] - motion.time[-2])
    assert speed == pytest.approx(7.0 * 0.01013 / 0.7, rel=1e-9)


def test_a_push_on_the_floor_slides_as_far_as_friction_lets_it(asset: Path) -> None:
    rest = Pose(np.eye(3), [0.0, 0.0, SIDES[2] / 2])
    force, pulse, m, friction = 2.0 * 0.7 * G, 0.05, 0.7, 1.0
    motion = run_trial(
        asset, Push(np.array([0, 0, -0.02]), np.array([force, 0, 0]), pulse, rest, floor=True), seconds=0.5
    )
    speed = (force / m - friction * G) * pulse
    expected = 0.5 * speed * pulse + speed**2 / (2 * friction * G)
    assert motion.position[-1, 0] == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("name", ["drop", "push", "swing"])
def test_the_same_object_moves_the_same_and_a_wrong_inertia_shows(asset: Path, name: str) -> None:
    trial = standard_trials(asset)[name]
    truth = box(SIDES, mass=0.7)
    motion = run_trial(asset, trial, seconds=1.0)
    same = motion.compared_with(run_trial(asset, trial, seconds=1.0, body=truth))
    assert same.largest_position < 1e-9
    assert same.largest_angle < 1e-9
    turning = Body(truth.mass, truth.com, 1.1 * truth.inertia)
    shifted = Body(truth.mass, truth.com + np.array([0.0, 0.005, 0.0]), truth.inertia)
    for wrong in (turning, shifted):
        difference = motion.compared_with(run_trial(asset, trial, seconds=1.0, body=wrong))
        assert difference.largest_angle > 0.005
    heavier = motion.compared_with(run_trial(asset, trial, seconds=1.0, body=OFF_CENTRE))
    assert heavier.largest_position > 1e-3


def test_before_it_lands_nothing_but_the_centre_of_mass_matters(asset: Path) -> None:
    trial = standard_trials(asset)["drop"]
    heavy = Body(7.0, np.zeros(3), 3.0 * box(SIDES, mass=0.7).inertia)
    short, long = (
        run_trial(asset, trial, seconds=s).compared_with(run_trial(asset, trial, seconds=s, body=heavy))
        for s in (0.14, 0.6)  # 0.1 m take 0.143 s to fall
    )
    assert short.largest_position < 1e-9
    assert long.largest_position > 1e-3


def test_flat_and_point_like_objects_are_run_too(asset: Path) -> None:
    plate = Body(0.5, np.zeros(3), 1e-3 * np.diag([1.0, 2.0, 3.0]))
    motion = run_trial(asset, standard_trials(asset)["swing"], seconds=2.0, body=plate)
    assert motion.swing_period() > 0.0
    point = Body(0.5, np.zeros(3), np.zeros((3, 3)))
    length, amplitude = 0.25, 0.01
    trial = Swing([0, 0, length], [1.0, 0, 0], Pose.from_rpy((amplitude, 0, 0)))
    expected = 2 * np.pi * np.sqrt(length / G) * (1 + amplitude**2 / 16)
    assert run_trial(asset, trial, seconds=3.0, body=point).swing_period() == pytest.approx(
        expected, rel=1e-6
    )


def test_the_difference_of_two_motions_is_their_distance_and_the_angle_between_them() -> None:
    time = np.linspace(0, 1, 5)
    turned = Rotation.from_rotvec(np.outer(time, [0.0, 0.0, 1e-7]))
    first = Rotation.random(5, random_state=0)
    one = ObjectMotion(time, np.zeros((5, 3)), first.as_quat())
    other = ObjectMotion(time, np.outer(time, [3.0, 0.0, 4.0]), -(first * turned).as_quat())
    difference = one.compared_with(other)
    np.testing.assert_allclose(difference.position, 5.0 * time)
    np.testing.assert_allclose(difference.angle, 1e-7 * time, atol=1e-15)
    assert difference.largest_position == pytest.approx(5.0)
    with pytest.raises(InputError, match="same times"):
        one.compared_with(replace(other, time=2.0 * time))


def test_trials_that_cannot_be_are_refused(asset: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"start: begins .* mm inside the floor"):
        run_trial(asset, Drop(Pose.identity()))
    with pytest.raises(InputError, match="axis: must not be zero"):
        Swing(np.zeros(3), np.zeros(3))
    with pytest.raises(InputError, match="seconds: must not be negative"):
        Push(np.zeros(3), np.zeros(3), -1.0)
    with pytest.raises(InputError, match="body: cannot be simulated"):
        run_trial(asset, Drop(TILTED), body=Body(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])))
    with pytest.raises(InputError, match="body: cannot be simulated: It has no mass"):
        run_trial(asset, Drop(TILTED), body=Body(0.0, np.zeros(3), np.eye(3)))
    with pytest.raises(InputError, match="cannot be read by MuJoCo"):
        run_trial(tmp_path / "none.xml", Drop(TILTED))
    two = tmp_path / "two.xml"
    two.write_text("<mujoco><worldbody><body/><body/></worldbody></mujoco>")
    with pytest.raises(InputError, match="holds 2 bodies; an object is one"):
        run_trial(two, Drop(TILTED))
    with pytest.raises(InputError, match="shows no two swings"):
        run_trial(asset, Swing([0, 0, 0.1], [1.0, 0, 0], TILTED), seconds=0.1).swing_period()
