"""The excitation certificate, judged by ranks and torques of Pinocchio's regressor along the same motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import random_states
from steelyard.dynamics import compress
from steelyard.errors import InputError
from steelyard.identifiable import structural_identifiability
from steelyard.identifiable.certificate import (
    ExcitationCertificate,
    certify_compressed,
    certify_excitation,
)
from steelyard.layout import layout_of
from steelyard.motion import random_fourier
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.robot.joint import Mimic
from steelyard.zoo import zoo_robot

Motion = tuple[np.ndarray, ...]
ARMS = ("puma560", "panda", "scara", "cheetah3_leg", "two_link")


def drawn(robot: Robot, samples: int = 150, seed: int = 0) -> Motion:
    return random_states(np.random.default_rng(seed), robot, samples)


def held(motion: Motion, places: dict[int, float]) -> Motion:
    """The motion with some joints of an arm held still."""
    q, v, a = (x.copy() for x in motion)
    for k, place in places.items():
        q[:, k], v[:, k], a[:, k] = place, 0.0, 0.0
    return q, v, a


def certified(
    robot: Robot, motion: Motion, drive: tuple[str, ...] = (), **options: object
) -> ExcitationCertificate:
    structure = structural_identifiability(robot, layout_of(robot, drive))
    return certify_excitation(structure, robot, *motion, rng=np.random.default_rng(7), **options)


def judged_regressor(robot: Robot, motion: Motion) -> np.ndarray:
    """Pinocchio's W of the links along the motion, (N nv, 10 nb)."""
    judge = PinocchioRobot.of(robot)
    return np.vstack([judge.regressor(*state) for state in zip(*motion, strict=True)])


def judged_rank(W: np.ndarray) -> int:
    norms = np.linalg.norm(W, axis=0)
    alive = norms > 1e-11 * norms.max()
    singular = np.linalg.svd(W[:, alive] / norms[alive], compute_uv=False)
    assert not ((singular < 1e-6 * singular[0]) & (singular > 1e-11 * singular[0])).any(), "no clear rank"
    return int((singular > 1e-8 * singular[0]).sum())


def test_what_the_layout_fixes_need_not_be_shown() -> None:
    """The rank of the free columns alone: with one link known, the others group otherwise."""
    robot = zoo_robot("puma560")
    layout = layout_of(robot)
    fixed = layout.fixing(dict.fromkeys(layout.names[20:30], 0.0))
    motion = drawn(robot)
    found = certify_excitation(
        structural_identifiability(robot, fixed), robot, *motion, rng=np.random.default_rng(7)
    )
    W = judged_regressor(robot, motion)[:, np.flatnonzero(fixed.free)]
    assert found.complete
    assert found.determined == judged_rank(W) < certified(robot, motion).determined
    assert fixed.free[found.base.columns].all()


@pytest.mark.parametrize("name", ARMS)
def test_a_rich_motion_determines_all_that_can_be_known(name: str) -> None:
    robot = zoo_robot(name)
    certificate = certified(robot, drawn(robot), ("viscous", "coulomb", "offset", "rotor"))
    assert certificate.complete
    assert certificate.determined == certificate.base.count == len(certificate.singular_values)
    assert str(certificate).startswith(f"this data determines {certificate.base.count} of")


def _hidden_motions() -> list[tuple[str, dict[int, float]]]:
    cases = []
    for name in ARMS:
        rng = np.random.default_rng(len(cases))
        nv = zoo_robot(name).nv
        for _ in range(6):
            still = rng.choice(nv, int(rng.integers(1, nv + 1)), replace=False)
            cases.append((name, {int(k): float(rng.choice([0.0, rng.uniform(-2, 2)])) for k in still}))
    return cases


@pytest.mark.parametrize(("name", "places"), _hidden_motions())
def test_what_is_missing_is_what_pinocchios_regressor_misses(name: str, places: dict[int, float]) -> None:
    robot = zoo_robot(name)
    motion = held(drawn(robot), places)
    certificate = certified(robot, motion)
    W = judged_regressor(robot, motion)
    assert certificate.determined == judged_rank(W)
    if certificate.missing:
        changes = np.column_stack([missing.direction.change for missing in certificate.missing])
        assert np.linalg.matrix_rank(changes) == len(certificate.missing)
        W_b = W[:, certificate.base.columns]
        size = np.abs(W_b) @ np.abs(changes)
        assert (np.abs(W_b @ changes) <= 1e-9 * size.max(axis=0) + 1e-12).all()


@pytest.mark.parametrize(("name", "places"), _hidden_motions())
def test_every_remedy_shows_what_was_missing(name: str, places: dict[int, float]) -> None:
    robot = zoo_robot(name)
    motion = held(drawn(robot), places)
    fresh = drawn(robot, seed=5)
    certificate = certified(robot, motion)
    for missing in certificate.missing:
        assert missing.remedies
        for remedy in missing.remedies:
            q, v, a = (x[:8].copy() for x in motion)
            for joint in remedy.elsewhere:
                k = robot.joint_names.index(joint)
                q[:, k] = fresh[0][0, k]
            for joint in remedy.moving:
                k = robot.joint_names.index(joint)
                q[:, k], v[:, k], a[:, k] = (x[:8, k] for x in fresh)
            W = judged_regressor(robot, (q, v, a))[:, certificate.base.columns]
            torque = W @ missing.direction.change
            assert np.abs(torque).max() > 1e-5, f"{missing} does not show by {remedy}"


@pytest.mark.parametrize(("name", "places"), _hidden_motions()[:12])
def test_no_joint_outside_the_remedies_shows_it_alone(name: str, places: dict[int, float]) -> None:
    robot = zoo_robot(name)
    motion = held(drawn(robot), places)
    fresh = drawn(robot, seed=5)
    certificate = certified(robot, motion)
    for missing in certificate.missing:
        alone = {remedy.moving + remedy.elsewhere for remedy in missing.remedies}
        for k, joint in enumerate(robot.joint_names):
            if (joint,) not in alone:
                q, v, a = (x[:8].copy() for x in motion)
                q[:, k], v[:, k], a[:, k] = (x[:8, k] for x in fresh)
                W = judged_regressor(robot, (q, v, a))[:, certificate.base.columns]
                assert np.abs(W @ missing.direction.change).max() < 1e-3


def test_a_still_first_joint_is_named_with_what_it_hides() -> None:
    """Nothing but joint 1 turns the links of a PUMA 560 about the vertical."""
    robot = zoo_robot("puma560")
    certificate = certified(robot, held(drawn(robot), {0: 0.4}))
    assert certificate.determined == 31
    assert [str(missing) for missing in certificate.missing] == [
        f"{leader}; it shows when joint1 moves freely (joint1 stays at 0.4 rad)"
        for leader in ("link1.Izz+", "link2.Ixx+", "link2.Ixy", "link3.Ixx+", "link3.Ixy+")
    ]


def test_two_joints_are_named_where_one_is_not_enough() -> None:
    """With joint 2 upright the two first axes of a Panda leave Ixx of link 2 out unless both help."""
    robot = zoo_robot("panda")
    certificate = certified(robot, held(drawn(robot), dict.fromkeys(range(4), 0.0)))
    (missing,) = (m for m in certificate.missing if str(m.direction) == "panda_link2.Ixx+")
    (remedy,) = missing.remedies
    assert (remedy.moving, remedy.elsewhere) == (("panda_joint1",), ("panda_joint2",))
    assert "panda_joint1 moves freely while panda_joint2 is elsewhere" in str(missing)


def test_constant_speed_hides_one_friction_term_behind_another() -> None:
    robot = zoo_robot("two_link")
    q, v, a = (x.copy() for x in drawn(robot))
    v[:, 1], a[:, 1] = 0.5, 0.0
    certificate = certified(robot, (q, v, a), ("viscous", "coulomb", "offset"))
    terms = {name for missing in certificate.missing for name, _ in missing.direction.terms}
    assert len(certificate.missing) == 2
    assert terms == {"joint2.viscous", "joint2.coulomb", "joint2.offset"}
    assert all(missing.facts == ("joint2 moves at one speed",) for missing in certificate.missing)


def test_round_off_in_the_speed_of_a_still_joint_is_no_evidence() -> None:
    robot = zoo_robot("two_link")
    q, v, a = held(drawn(robot), {1: 0.3})
    v[:, 1] += 1e-16 * np.random.default_rng(0).normal(size=len(v))
    certificate = certified(robot, (q, v, a), ("viscous",))
    assert [str(missing.direction) for missing in certificate.missing] == ["joint2.viscous"]


def test_data_too_short_for_its_unknowns_says_so() -> None:
    robot = zoo_robot("panda")
    certificate = certified(robot, drawn(robot, samples=3))
    assert certificate.determined == 21
    assert "it is too short: 21 torques cannot tell 43 numbers" in str(certificate)
    assert "missing: 12 more" in str(certificate)


@pytest.mark.parametrize("seed", range(5))
def test_more_data_never_determines_less(seed: int) -> None:
    robot = zoo_robot("cheetah3_leg")
    motion = drawn(robot, samples=12, seed=seed)
    counts = [certified(robot, tuple(x[:n] for x in motion)).determined for n in range(1, 13)]
    assert counts == sorted(counts)
    assert counts[-1] == 17


def test_a_robot_at_rest_without_gravity_tells_nothing() -> None:
    robot = zoo_robot("puma560").with_gravity((0.0, 0.0, 0.0))
    q, v, a = drawn(robot, samples=20)
    certificate = certified(robot, (q, 0 * v, 0 * a))
    assert certificate.determined == 0
    assert len(certificate.missing) == certificate.base.count == 34


def test_a_static_certificate_asks_for_poses_alone() -> None:
    robot = zoo_robot("puma560")
    structure = structural_identifiability(robot, layout_of(robot), static=True)
    q, v, a = held(drawn(robot), {1: 0.0, 2: 0.0})
    certificate = certify_excitation(structure, robot, q, 0 * v, 0 * a, rng=np.random.default_rng(0))
    assert 0 < certificate.determined < structure.count
    assert all(not remedy.moving for missing in certificate.missing for remedy in missing.remedies)
    assert any(remedy.elsewhere for missing in certificate.missing for remedy in missing.remedies)


def test_floating_robots_and_joints_that_follow_others_are_certified_too() -> None:
    robot = zoo_robot("cheetah3_leg")
    floating = robot.floating()
    q, v, a = (x.copy() for x in drawn(floating))
    assert certified(floating, (q, v, a)).complete
    q[:, :7], v[:, :6], a[:, :6] = q[0, :7], 0.0, 0.0
    certificate = certified(floating, (q, v, a))
    assert not certificate.complete
    assert any("floating_base never moves" in missing.facts for missing in certificate.missing)
    rods = zoo_robot("rr_parallel")
    twin = replace(rods.joints[0], name="rotor", mimic=Mimic(rods.joints[0].name, 5.0))
    tied = replace(
        rods, joints=(*rods.joints, twin), links=(*rods.links, replace(rods.links[0], name="spinner"))
    )
    assert certified(tied, drawn(tied)).complete


ACCURACY = {"kg m": 0.02, "kg m^2": 0.02}


def test_a_wanted_accuracy_is_met_in_as_many_directions_as_the_covariance_says() -> None:
    robot = zoo_robot("panda")
    motion = drawn(robot)
    sigma = np.linspace(0.5, 3.0, robot.nv)
    certificate = certified(robot, motion, sigma=sigma, accuracy=ACCURACY)
    W = judged_regressor(robot, motion)[:, certificate.base.columns] / np.tile(sigma, 150)[:, None]
    covariance = np.linalg.inv(W.T @ W) / 0.02**2
    expected = int((np.linalg.eigvalsh(covariance) <= 1.0).sum())
    assert 0 < expected < 43
    assert certificate.determined == expected
    np.testing.assert_allclose(
        np.sort(certificate.singular_values**-2.0), np.linalg.eigvalsh(covariance), rtol=1e-8
    )


def test_four_times_the_data_is_twice_as_accurate() -> None:
    robot = zoo_robot("panda")
    motion = drawn(robot)
    options = {"sigma": np.full(robot.nv, 1.0), "accuracy": ACCURACY}
    once = certified(robot, motion, **options)
    often = certified(robot, tuple(np.tile(x, (4, 1)) for x in motion), **options)
    np.testing.assert_allclose(often.singular_values, 2 * once.singular_values, rtol=1e-9)
    assert "times as much of the same data" in str(once)


def test_noisier_joints_count_less() -> None:
    robot = zoo_robot("two_link")
    motion = drawn(robot)
    quiet = certified(robot, motion, sigma=[1.0, 1.0], accuracy=ACCURACY)
    noisy = certified(robot, motion, sigma=[1.0, 10.0], accuracy=ACCURACY)
    assert (noisy.singular_values < quiet.singular_values * (1 + 1e-12)).all()
    assert noisy.singular_values[-1] < 0.8 * quiet.singular_values[-1]


def test_recordings_motions_and_compressed_logs_are_all_data() -> None:
    robot = zoo_robot("panda")
    structure = structural_identifiability(robot, layout_of(robot))
    motion = random_fourier(robot, np.random.default_rng(0))
    time = np.linspace(0.0, motion.duration, 200)
    planned = motion.sample(time)
    recording = Recording(robot.joint_names, time, planned.q, planned.v, planned.a)
    rng = np.random.default_rng(0)
    of_plan = certify_excitation(structure, robot, planned.q, planned.v, planned.a, rng=rng)
    of_log = certify_excitation(structure, robot, recording.q, recording.v, recording.a, rng=rng)
    tau = np.ones_like(planned.q)
    pieces = [(planned.q[k], planned.v[k], planned.a[k], tau[k]) for k in (slice(0, 90), slice(90, 200))]
    of_pieces = certify_compressed(structure, compress(robot, structure.layout, pieces))
    assert of_plan.complete
    assert of_plan.equations == 1400
    for other in (of_log, of_pieces):
        np.testing.assert_allclose(other.singular_values, of_plan.singular_values, rtol=1e-9)


def test_the_weakest_directions_are_right_singular_vectors_of_the_normalised_regressor() -> None:
    robot = zoo_robot("puma560")
    motion = drawn(robot)
    certificate = certified(robot, motion)
    W = judged_regressor(robot, motion)[:, certificate.base.columns]
    norms = np.linalg.norm(W, axis=0)
    _, singular, Vt = np.linalg.svd(W / norms)
    np.testing.assert_allclose(certificate.singular_values, singular / singular[0], rtol=1e-9)
    for direction, expected in zip(certificate.weakest, Vt[::-1], strict=False):
        z = direction.change * norms
        assert abs(z @ expected) == pytest.approx(np.linalg.norm(z), rel=1e-4)
        assert direction.terms[0][1] == 1.0


def test_what_does_not_fit_is_refused_with_the_remedy() -> None:
    robot = zoo_robot("two_link")
    motion = drawn(robot)
    with pytest.raises(InputError, match="needs the noise"):
        certified(robot, motion, accuracy=ACCURACY)
    with pytest.raises(InputError, match=r"State it for kg m, kg m\^2"):
        certified(robot, motion, sigma=[1.0, 1.0], accuracy={"kg m": 0.1})
    with pytest.raises(InputError, match="must be positive"):
        certified(robot, motion, sigma=[1.0, 0.0])
    with pytest.raises(InputError, match="accuracy"):
        certified(robot, motion, sigma=[1.0, 1.0], accuracy={"kg m": 0.1, "kg m^2": -1.0})
    with pytest.raises(InputError, match="between 0 and 1"):
        certified(robot, motion, smallest=2.0)
    with pytest.raises(InputError, match=r"v: "):
        certified(robot, (motion[0], None, motion[2]))
    structure = structural_identifiability(robot, layout_of(robot))
    other = compress(robot, layout_of(robot, ["viscous"]), [(*motion, motion[1])])
    with pytest.raises(InputError, match="layout of the structure"):
        certify_compressed(structure, other)
