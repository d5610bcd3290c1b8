"""The checks pass what is right, and name what is wrong with its numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.audit import (
    Check,
    Status,
    TorqueError,
    Verdict,
    check_agreement,
    check_colour,
    check_excitation,
    check_friction,
    check_links,
    check_mass_matrix,
    check_torque,
    structured_torque,
    torque_error,
)
from steelyard.finding import Finding, Severity
from steelyard.identifiable import certify_excitation, structural_identifiability
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.zoo import zoo_robot

JOINTS = ("a", "b")

# Lambert (2023), Table 5.5: ten numbers a link (m, c, I about the frame), viscous, Coulomb and offset. It
# fits its torques and cannot exist. Its friction has the opposite sign of ours.
TABLE_5_5 = {
    "m": (1.000, 2.647, 1.965, 0.833, 1.447, 1.548, -0.170),
    "cx": (0.000, -0.011, 0.233, -0.398, -0.002, 0.149, -0.095),
    "cy": (0.000, -1.123, 0.005, 1.988, 0.001, -0.053, -0.105),
    "cz": (0.000, 0.067, -0.654, -0.001, -0.451, -0.058, -0.574),
    "Ixx": (1.006, 0.469, 0.629, 0.375, 0.324, 0.041, -0.047),
    "Ixy": (0.000, -0.006, -0.000, 0.121, -0.001, 0.025, -0.002),
    "Ixz": (0.000, 0.001, 0.154, 0.001, -0.002, 0.008, 0.024),
    "Iyy": (1.006, 0.046, 0.700, 0.053, 0.341, 0.045, -0.045),
    "Iyz": (0.000, 0.082, -0.011, -0.002, 0.016, -0.007, -0.010),
    "Izz": (0.008, 0.463, 0.071, 0.430, 0.015, 0.068, -0.054),
    "viscous": (0.035, 0.242, 0.140, -0.099, -0.007, -0.087, -0.100),
    "coulomb": (-0.310, -0.431, -0.257, -0.406, -0.454, -0.401, -0.384),
    "offset": (0.400, -0.645, -0.360, 0.752, -0.049, -0.227, -0.010),
}


def test_the_panda_of_paper_001_that_fits_its_torques_cannot_exist() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, ["viscous", "coulomb", "offset"])
    phi = np.zeros(layout.size)
    for k in range(7):
        row = {name: values[k] for name, values in TABLE_5_5.items()}
        first = [row["m"], *(row["m"] * row[c] for c in ("cx", "cy", "cz"))]
        phi[10 * k : 10 * k + 10] = first + [row[i] for i in ("Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")]
        phi[layout.of_joint(robot.joint_names[k])] = [-row[term] for term in layout.drive]
    check = check_links(layout, phi)
    assert check.status is Status.FAIL
    impossible = check.evidence["impossible"]
    assert isinstance(impossible, dict)
    assert "panda_link7" in impossible
    assert "-0.17" in impossible["panda_link7"]
    assert not {f"panda_joint{k}.coulomb" for k in range(1, 8)} & set(impossible)
    assert {f"panda_joint{k}.viscous" for k in (1, 2, 3)} <= set(impossible)
    assert "panda_joint1.offset" not in impossible
    # A negative last link need not make the mass matrix of the whole arm indefinite; here it is said which.
    matrix = check_mass_matrix(robot, layout, phi, possible=False, rng=np.random.default_rng(0))
    assert matrix.status in (Status.WARN, Status.FAIL)


def test_the_description_of_the_panda_can_exist_and_its_mass_matrix_is_proven() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, ["viscous", "coulomb"])
    phi = layout.complete_nominal()
    assert check_links(layout, phi).status is Status.PASS
    matrix = check_mass_matrix(robot, layout, phi, possible=True, rng=np.random.default_rng(0))
    assert matrix.status is Status.PASS
    assert matrix.evidence["proven"] is True
    wrong = check_mass_matrix(robot, layout, -phi, possible=False, rng=np.random.default_rng(0))
    assert wrong.status is Status.FAIL


@pytest.mark.parametrize(
    ("overall", "joints", "status"),
    [
        (2.0, (2.0, 3.0), Status.PASS),
        (2.0, (2.0, 50.0), Status.WARN),
        (20.0, (20.0, 20.0), Status.WARN),
        (60.0, (60.0, 60.0), Status.FAIL),
    ],
)
def test_torque_errors_are_judged_overall_and_by_joint(
    overall: float, joints: tuple[float, ...], status: Status
) -> None:
    check = check_torque("held-out torque", TorqueError(overall, joints), JOINTS)
    assert check.status is status
    assert f"{overall:.2f} %" in check.message
    assert ("b (50 %)" in check.message) == (joints[1] == 50.0)


def test_a_repeat_is_no_test_and_a_better_description_is_said() -> None:
    good = TorqueError(2.0, (2.0, 2.0))
    repeated = check_torque("held-out torque", good, JOINTS, repeat="it repeats the training motion")
    assert repeated.status is Status.WARN
    assert "no held-out test" in repeated.message
    worse = check_torque("held-out torque", good, JOINTS, nominal=TorqueError(1.0, (1.0, 1.0)))
    assert worse.status is Status.WARN
    assert "the description was better" in worse.message


def test_noise_is_white_and_a_slow_residual_is_not() -> None:
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((2000, 2))
    assert check_colour(noise, JOINTS).status is Status.PASS
    slow = np.column_stack([noise[:, 0], np.sin(np.arange(2000) / 100.0)])
    check = check_colour(slow, JOINTS)
    assert check.status is Status.WARN
    assert "residual of b" in check.message
    lag = check.evidence["lag_one"]
    assert isinstance(lag, dict)
    assert lag["b"] == pytest.approx(np.cos(0.01), abs=1e-2)


def test_friction_that_the_model_lacks_is_seen_in_the_residual() -> None:
    rng = np.random.default_rng(1)
    v = np.column_stack([np.sin(np.arange(2000) / 50.0), np.cos(np.arange(2000) / 70.0)])
    residual = 0.1 * rng.standard_normal((2000, 2))
    assert check_friction(residual, v, JOINTS).status is Status.PASS
    residual[:, 1] += 0.2 * np.sign(v[:, 1])
    check = check_friction(residual, v, JOINTS)
    assert check.status is Status.WARN
    assert "b (80 %)" in check.message  # 0.04 of 0.05
    assert "a (" not in check.message


def test_what_is_no_felt_part_of_the_torque_is_not_named() -> None:
    rng = np.random.default_rng(1)
    v = np.column_stack([np.sin(np.arange(2000) / 50.0), np.cos(np.arange(2000) / 70.0)])
    friction = np.column_stack([0.01 * rng.standard_normal(2000), 0.2 * np.sign(v[:, 1])])
    torque = np.column_stack([50.0 * v[:, 0], 0.5 * v[:, 1]])
    slow = np.column_stack([friction[:, 0], 0.2 * np.sin(np.arange(2000) / 100.0)])
    # 0.2 N·m is two fifths of what the second joint feels, and nothing in an arm of 35 N·m.
    assert check_friction(friction, v, JOINTS, torque).status is Status.PASS
    assert check_colour(slow, JOINTS, torque).status is Status.PASS
    assert check_friction(friction, v, JOINTS, torque * (0.1, 1.0)).status is Status.WARN
    assert check_colour(slow, JOINTS, torque * (0.1, 1.0)).status is Status.WARN
    error = torque_error(torque, torque - friction)
    assert error.joints[1] > 30.0
    assert check_torque("held-out torque", error, JOINTS).status is Status.PASS
    assert check_torque("held-out torque", replace(error, shares=()), JOINTS).status is Status.WARN


def test_a_description_that_is_better_by_nothing_that_matters_is_not_held_against_a_model() -> None:
    good, better = TorqueError(0.3, (0.3, 0.3)), TorqueError(0.2, (0.2, 0.2))
    assert check_torque("held-out torque", good, JOINTS, nominal=better).status is Status.PASS


def test_a_log_that_contradicts_the_description_fails_by_its_cause() -> None:
    cause = Finding(Severity.ERROR, "torque-sign", "its torque has the other sign.", "a")
    check = check_agreement([cause], 20.0, 1.0, 15.0)
    assert check.status is Status.FAIL
    assert check.message.startswith("a: its torque has the other sign.")
    small = replace(cause, severity=Severity.WARNING)
    assert check_agreement([small], 1.0, 0.9, 0.5).status is Status.WARN
    assert check_agreement([], 1.0, 1.0, 0.5).status is Status.PASS


def test_torque_that_is_neither_noise_nor_friction_is_held_against_the_description() -> None:
    rng = np.random.default_rng(3)
    t = np.arange(4000) / 100.0
    v = np.column_stack([np.sin(t), np.cos(0.7 * t)])
    torque = 10.0 * np.column_stack([np.cos(1.3 * t), np.sin(0.9 * t)])
    noise = 3.0 * rng.standard_normal(torque.shape)
    friction = np.sign(v) * (1.0 + 0.1 * np.abs(torque) + 0.02 * t[:, None])
    assert structured_torque(noise, v, torque, torque) < 5.0
    assert structured_torque(friction, v, torque, torque) < 1.0
    other = 2.0 * np.sin(2.1 * t)[:, None] * np.ones(2)
    share = structured_torque(other + 0.3 * noise, v, torque, torque)
    assert share == pytest.approx(20.0, abs=2.0)  # rms 2 of rms 10 at each joint
    check = check_agreement([], 20.0, 20.0, share)
    assert check.status is Status.FAIL
    assert "neither noise nor friction" in check.message
    assert check_agreement([], 7.0, 7.0, 7.0).status is Status.WARN


def test_excitation_is_judged_by_what_the_motion_determines() -> None:
    robot = zoo_robot("two_link")
    structure = structural_identifiability(robot, layout_of(robot))
    rng = np.random.default_rng(2)
    motion = random_fourier(robot, rng)
    s = motion.sample(np.linspace(0, motion.duration, 300))
    rich = certify_excitation(structure, robot, s.q, s.v, s.a, rng=rng)
    assert check_excitation(rich, 20.0).status is Status.PASS
    assert check_excitation(rich, 1e5).status is Status.WARN
    q = s.q.copy()
    q[:, 1] = 0.3
    still = np.zeros_like(s.v)
    poor = certify_excitation(structure, robot, q, still, still, rng=rng)
    check = check_excitation(poor, np.inf)
    assert check.status is Status.WARN
    assert f"determines {poor.determined} of 6" in check.message


def test_a_verdict_is_its_worst_check_and_says_what_was_not_run() -> None:
    passed, warned = Check("x", Status.PASS, "."), Check("y", Status.WARN, ".")
    failed, skipped = Check("z", Status.FAIL, "."), Check("u", Status.NOT_RUN, ".")
    assert Verdict((passed, skipped)).status is Status.PASS
    assert Verdict((passed, warned)).status is Status.WARN
    assert Verdict((passed, warned, failed)).status is Status.FAIL
    assert Verdict((skipped,)).status is Status.NOT_RUN
    assert Verdict((passed, skipped)).untested == ("u",)
    assert Verdict((passed, warned)).check("y") is warned
