"""The robust law at one instant: its parts by Pinocchio, its promise by the equation of motion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from oracles.agreement import assert_agree
from oracles.pinocchio_robot import PinocchioRobot
from steelyard.arrays import read_only_view
from steelyard.control import read_controller
from steelyard.control.controller import described_model
from steelyard.control.robust_tracking import FORMS, RobustTracking, Tube, robust_parts
from steelyard.drive import Drive
from steelyard.dynamics.passivity import passivity_regressor
from steelyard.errors import InputError, UnknownNameError
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot

ROTORS = (8.0, 12.0, 9.0, 11.5, 8.5, 8.5, 9.0)  # of the size that a Gen3's gears make of its rotors
SMALLEST = 0.95 * min(ROTORS)
PAYLOAD = np.array([0.3, 0.4, 0.4, 0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
OPTIONS: dict[str, dict[str, float]] = {
    "armour": {"alpha": 1.0, "largest_inertia": 60.0},
    "clamped": {"alpha": 1.0},
    "componentwise": {"kappa": 50.0},
}


def geared_gen3() -> Robot:
    robot = zoo_robot("kinova_gen3")
    drives = [Drive(1.0, 0.8, 0.1, rotor) for rotor in ROTORS]
    joints = [replace(joint, drive=drive) for joint, drive in zip(robot.joints, drives, strict=True)]
    return replace(robot, joints=tuple(joints))


ROBOT = geared_gen3()


def law_of(form: str, *, radius: float = 0.02, rest: float = 0.0) -> RobustTracking:
    level = Tube.of_radius(radius, SMALLEST, 5.0).level
    return RobustTracking.nominal(
        ROBOT, 0.05, 5.0, level, SMALLEST, payload=PAYLOAD, form=form, rest_velocity=rest, **OPTIONS[form]
    )


def parts(law: RobustTracking, state: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    tau, r, w_M = np.empty((3, ROBOT.nv))
    q, v, q_ref, v_ref, a_ref = read_only_view(state)
    energy = robust_parts(law.tree, law.numbers, law.gains, q, v, q_ref, v_ref, a_ref, tau, r, w_M)
    return tau, r, w_M, energy


def textbook(theta: np.ndarray, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    """H with rotors, C and g by Pinocchio, and the drives' viscous, Coulomb and offset terms."""
    layout, _ = described_model(ROBOT)
    judge = PinocchioRobot.of(ROBOT, theta[: 10 * ROBOT.nv].reshape(-1, 10))
    viscous, coulomb, offset, rotor = theta[10 * ROBOT.nv :].reshape(-1, 4).T
    assert layout.drive == ("viscous", "coulomb", "offset", "rotor")
    H = judge.mass_matrix(q) + np.diag(rotor)
    C = pin.computeCoriolisMatrix(judge.model, judge.data, judge.q(q), v)
    g = pin.computeGeneralizedGravity(judge.model, judge.data, judge.q(q))
    return H, np.array(C), np.array(g), viscous, coulomb, offset


def drawn(rng: np.random.Generator, radius: float = 0.02, *, joint: int | None = None) -> np.ndarray:
    """A state near its reference, both anywhere; r of one joint alone if told."""
    q, v, a_ref = rng.uniform(-2, 2, (3, ROBOT.nv))
    v[rng.random(ROBOT.nv) < 0.3] = 0.0  # joints that stick
    direction = (
        rng.normal(size=ROBOT.nv) if joint is None else rng.choice([-1.0, 1.0]) * np.eye(ROBOT.nv)[joint]
    )
    e = 0.3 * radius * rng.normal(size=ROBOT.nv) / 5.0
    v_ref = v - 5.0 * e + radius * rng.uniform(0, 2) * direction / np.linalg.norm(direction)
    return np.stack([q, v, q + e, v_ref, a_ref])


def in_box(law: RobustTracking, rng: np.random.Generator, *, corner: bool) -> np.ndarray:
    size = law.parameters.size
    part = rng.choice([-1.0, 1.0], size) if corner else rng.uniform(-1, 1, size)
    return law.parameters + part * law.half_widths


def worst(law: RobustTracking, state: np.ndarray) -> np.ndarray:
    """The corner of the box that drives r most; how it is chosen is no part of what is judged."""
    v_a, a_a, s = reference(law, state)
    Y = passivity_regressor(ROBOT, law.layout, state[0], state[1], v_a, a_a)[0]
    Y[np.arange(ROBOT.nv), law.layout.drive_columns[:, 1]] = s
    return np.asarray(law.parameters + np.sign((v_a - state[1]) @ Y) * law.half_widths)


def reference(law: RobustTracking, state: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q, v, q_ref, v_ref, a_ref = state
    v_a = v_ref + law.kr * (q_ref - q)
    s = np.sign(v_a) if law.rest_velocity == 0 else np.clip(v_a / law.rest_velocity, -1, 1)
    return v_a, a_ref + law.kr * (v_ref - v), s


@pytest.mark.parametrize("rest", [0.0, 0.5])
def test_the_nominal_torque_is_that_of_the_reference_motion(rest: float) -> None:
    law, rng = law_of("clamped", rest=rest), np.random.default_rng(1)
    for _ in range(10):
        state = drawn(rng)
        v_a, a_a, s = reference(law, state)
        H, C, g, viscous, coulomb, offset = textbook(law.parameters, state[0], state[1])
        assert_agree(parts(law, state)[0], H @ a_a + C @ v_a + g + viscous * v_a + coulomb * s + offset)
        assert_agree(parts(law, state)[1], v_a - state[1])


@pytest.mark.parametrize("corner", [False, True])
def test_the_disturbance_of_no_parameters_in_the_box_exceeds_its_bound(corner: bool) -> None:
    law, rng = law_of("clamped"), np.random.default_rng(2)
    nearest = np.zeros(ROBOT.nv)
    for _ in range(40):
        state = drawn(rng)
        v_a, a_a, s = reference(law, state)
        w_M = parts(law, state)[2]
        w = []
        for theta in (in_box(law, rng, corner=corner), law.parameters):
            H, C, g, viscous, coulomb, offset = textbook(theta, state[0], state[1])
            w.append(H @ a_a + C @ v_a + g + viscous * v_a + coulomb * s + offset)
        assert (np.abs(w[0] - w[1]) <= w_M).all()
        nearest = np.maximum(nearest, np.abs(w[0] - w[1]) / w_M)
    assert nearest.max() > (0.6 if corner else 0.25)


def test_the_bound_of_the_disturbance_is_attained_by_a_corner() -> None:
    law, rng = law_of("clamped"), np.random.default_rng(3)
    state = drawn(rng)
    v_a, a_a, s = reference(law, state)

    def torque(theta: np.ndarray) -> np.ndarray:
        H, C, g, viscous, coulomb, offset = textbook(theta, state[0], state[1])
        return np.asarray(H @ a_a + C @ v_a + g + viscous * v_a + coulomb * s + offset)

    nominal = torque(law.parameters)
    steps = np.diag(law.half_widths)[law.half_widths > 0]
    changes = np.array([torque(law.parameters + step) - nominal for step in steps])  # linear in each
    np.testing.assert_allclose(parts(law, state)[2], np.abs(changes).sum(axis=0), rtol=1e-7, atol=1e-9)


def test_no_parameters_in_the_box_have_more_energy_than_is_said() -> None:
    law, rng = law_of("clamped"), np.random.default_rng(4)
    for _ in range(20):
        state = drawn(rng)
        _, r, _, most = parts(law, state)
        energies = [
            0.5 * r @ textbook(in_box(law, rng, corner=True), state[0], state[1])[0] @ r for _ in range(5)
        ]
        assert max(energies) <= most
        assert max(energies) > 0.5 * most


@pytest.mark.parametrize("rest", [0.0, 0.5])
@pytest.mark.parametrize("form", FORMS)
def test_the_lyapunov_function_obeys_its_law_for_any_parameters_and_any_stiction(
    form: str, rest: float
) -> None:
    # V̇ = rᵀ(H ṙ + C r) with the acceleration that the true arm answers: nothing of the law's own proof.
    law, rng = law_of(form, rest=rest), np.random.default_rng(5)
    told = 0
    for n in range(60):
        state = drawn(rng, joint=None if n % 2 else n % ROBOT.nv)
        q, v, _, _, _ = state
        v_a, a_a, _ = reference(law, state)
        r = v_a - v
        H, C, g, viscous, coulomb, offset = textbook(worst(law, state), q, v)
        s = np.where(v == 0.0, rng.uniform(-1, 1, v.size), np.sign(v))
        a = np.linalg.solve(H, law.torque(*state) - C @ v - g - viscous * v - coulomb * s - offset)
        V, rate = 0.5 * r @ H @ r, r @ (H @ (a_a - a) + C @ r)
        if form == "armour":
            # Beyond the tube its torque is held within the radius and nothing is promised.
            if np.linalg.norm(r) <= law.tube.radius:
                told += 1
                assert rate <= OPTIONS[form]["alpha"] * (law.level - V) + 1e-9
        elif law.level <= V:
            told += 1
            assert rate <= 1e-9
    assert told > 5


@pytest.mark.parametrize("form", FORMS)
def test_the_robust_torque_keeps_within_the_radius_that_a_certifier_asks_for(form: str) -> None:
    law, rng = law_of(form), np.random.default_rng(6)
    used = 0.0
    for _ in range(100):
        state = drawn(rng)
        tau, r, w_M, _ = parts(law, state)
        u = law.torque(*state) - tau
        norm, eps = np.linalg.norm(w_M), law.tube.radius
        most = {
            "armour": (norm + w_M) / 2 + 0.5 * 1.0 * eps * (60.0 - SMALLEST),
            "clamped": (norm + w_M) / 2,
            "componentwise": w_M + 50.0 * eps,
        }[form]
        np.testing.assert_allclose(law.radius(w_M), most, rtol=1e-10)
        assert (np.abs(u) <= most * (1 + 1e-10)).all()
        assert (u * r >= 0.0).all()
        used = max(used, float((np.abs(u) / most).max()))
    assert used > 0.5


@pytest.mark.parametrize("form", ["clamped", "componentwise"])
def test_no_torque_is_added_without_error(form: str) -> None:
    law, rng = law_of(form), np.random.default_rng(7)
    q, v, a_ref = rng.uniform(-1, 1, (3, ROBOT.nv))
    state = np.stack([q, v, q, v, a_ref])
    np.testing.assert_array_equal(law.torque(*state), parts(law, state)[0])


def test_a_tube_has_the_size_its_level_and_inertia_give() -> None:
    tube = Tube(1e-3, 7.63, 5.0)  # the prototype's figures: 0.0162 rad/s and 0.0032 rad
    assert tube.radius == pytest.approx(0.0162, rel=2e-3)
    assert tube.position == pytest.approx(0.0032, rel=2e-2)
    assert tube.velocity == pytest.approx(2 * tube.radius)
    assert tube.reference_acceleration == pytest.approx(10 * tube.radius)
    assert Tube.of_radius(tube.radius, 7.63, 5.0).level == pytest.approx(1e-3)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_becomes_the_law(form: str, tmp_path: Path) -> None:
    law = law_of(form, rest=0.01)
    text = f'law = "robust"\nform = "{form}"\nspread = 0.05\nkr = 5\nlevel = {law.level!r}\n'
    text += f"smallest_inertia = {SMALLEST!r}\npayload = {PAYLOAD.tolist()}\nrest_velocity = 0.01\n"
    text += "".join(f"{name} = {value}\n" for name, value in OPTIONS[form].items())
    path = tmp_path / "robust.toml"
    path.write_text(text)
    read = read_controller(path, ROBOT)
    assert read.settings == law.settings
    np.testing.assert_array_equal(read.gains, law.gains)


def test_what_the_proof_does_not_cover_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown form 'clamp'\. Did you mean 'clamped'"):
        RobustTracking.nominal(ROBOT, 0.05, 5.0, 1e-3, 7.6, form="clamp")
    with pytest.raises(InputError, match="alpha: is needed in the form 'clamped'"):
        RobustTracking.nominal(ROBOT, 0.05, 5.0, 1e-3, 7.6)
    with pytest.raises(InputError, match="kappa: has no place in the form 'clamped'"):
        RobustTracking.nominal(ROBOT, 0.05, 5.0, 1e-3, 7.6, alpha=1.0, kappa=1.0)
    with pytest.raises(InputError, match=r"viscous' could be -0\.5, below zero"):
        RobustTracking.nominal(ROBOT, 1.5, 5.0, 1e-3, 7.6, alpha=1.0)
    with pytest.raises(InputError, match="smallest_inertia: must be positive"):
        RobustTracking.nominal(ROBOT, 0.05, 5.0, 1e-3, 0.0, alpha=1.0)


@pytest.mark.parametrize("form", ["armour", "clamped"])
def test_inside_the_tube_a_larger_alpha_asks_for_less_torque(form: str) -> None:
    slow = law_of(form)
    fast = replace(slow, alpha=1000.0)
    state = drawn(np.random.default_rng(5), 0.5 * slow.tube.radius)
    nominal, _, _, energy = parts(slow, state)
    assert energy < slow.level
    added = [float(np.linalg.norm(law.torque(*state) - nominal)) for law in (fast, slow)]
    assert added[0] < 0.9 * added[1]
