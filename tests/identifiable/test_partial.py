"""What some of the measurements can say, judged by Pinocchio's rows and by the theorems of the field."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.numerical_identifiability import stacked_regressor
from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import SOLID, random_robot, random_robot_on, random_states
from steelyard.dynamics import base_wrench_regressor
from steelyard.errors import DescriptionError, InputError, UnknownNameError
from steelyard.identifiable import Class, restricted, structural_identifiability
from steelyard.identifiable.partial import PartialIdentifiability, partial_identifiability
from steelyard.identifiable.random_states import in_free_flight
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot, Rotor, load_robot
from steelyard.robot.joint import Mimic
from steelyard.zoo import ZOO, zoo_robot

DRIVES = ["viscous", "coulomb", "offset", "rotor"]
WITH_A_BASE = ("cheetah3", "panda", "ur10e", "so101")
"""Robots of the zoo whose base states its inertia, so that they can fly."""


def asked(robot: Robot, measured: object, drive: list[str] | None = None, **options: bool):
    rng = np.random.default_rng(3)
    return partial_identifiability(robot, layout_of(robot, drive or []), measured, rng=rng, **options)


def judged_rows(robot: Robot, states: tuple[np.ndarray, ...], rows: list[int]) -> np.ndarray:
    judge = PinocchioRobot.of(robot)
    return np.vstack([judge.regressor(*state)[rows] for state in zip(*states, strict=True)])


def assert_says_the_same(found: PartialIdentifiability, W: np.ndarray) -> None:
    """Rank by singular values, and W = W_1 K on states that were not used to find K."""
    norms = np.linalg.norm(W, axis=0)
    alive = norms > 1e-11 * norms.max()
    singular = np.linalg.svd(W[:, alive] / norms[alive], compute_uv=False)
    assert found.count == int((singular > 1e-8 * singular[0]).sum())
    rebuilt = W[:, found.base.columns] @ found.base.matrix
    np.testing.assert_allclose(rebuilt / norms.max(), W / norms.max(), atol=1e-9)
    assert found.kept > 1e-5
    assert found.dropped < 1e-10


@pytest.mark.parametrize("name", list(ZOO))
@pytest.mark.parametrize("static", [False, True])
def test_all_joints_together_say_what_structure_allows(name: str, static: bool) -> None:
    robot = zoo_robot(name)
    found = asked(robot, robot.joint_names, DRIVES, static=static)
    structure = structural_identifiability(robot, layout_of(robot, DRIVES), static=static)
    assert found.count == structure.count
    assert found.classes == structure.classes
    np.testing.assert_allclose(found.base.matrix, structure.base.matrix, atol=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_the_same_parameters_lead_as_when_all_torques_are_asked_by_recursion(seed: int) -> None:
    """Oblique axes group moments with products of inertia, so the order of preference decides."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, shapes=SOLID, bodies=3)
    found = asked(robot, robot.joint_names)
    assert found.classes == found.structure.classes
    np.testing.assert_array_equal(found.base.columns, found.structure.base.columns)


@pytest.mark.parametrize("seed", range(12))
def test_some_joints_say_what_their_rows_of_pinocchios_regressor_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, shapes=SOLID, bodies=int(rng.integers(2, 6)))
    rows = sorted(int(k) for k in rng.choice(robot.nv, int(rng.integers(1, robot.nv + 1)), replace=False))
    found = asked(robot, [robot.joint_names[k] for k in rows])
    states = random_states(rng, robot, 40 * len(robot.links))
    assert_says_the_same(found, judged_rows(robot, states, rows))


@pytest.mark.parametrize("seed", range(8))
def test_joints_with_several_degrees_of_freedom_are_measured_in_all_of_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot_on("screws and balls", rng, shapes=SOLID)
    chosen = int(rng.integers(len(robot.joints)))
    first = sum(joint.nv for joint in robot.joints[:chosen])
    found = asked(robot, [robot.joint_names[chosen]])
    states = random_states(rng, robot, 40 * len(robot.links))
    rows = list(range(first, first + robot.joints[chosen].nv))
    assert_says_the_same(found, judged_rows(robot, states, rows))


@pytest.mark.parametrize("name", ["two_link", "puma560", "scara", "panda"])
def test_the_wrench_under_a_fixed_robot_says_what_a_held_floating_one_feels(name: str) -> None:
    robot = zoo_robot(name)
    floating = robot.floating()
    q, v, a = random_states(np.random.default_rng(0), robot, 60)
    still = np.zeros((60, 6))
    pose = np.tile([0, 0, 0, 0, 0, 0, 1.0], (60, 1))
    held = np.hstack([pose, q]), np.hstack([still, v]), np.hstack([still, a])
    W = judged_rows(floating, held, list(range(6)))[:, 10:]
    assert_says_the_same(asked(robot, "base"), W)


def _spinning(name: str, *, floating: bool = False) -> tuple[Robot, Layout]:
    """A robot of the zoo with a symmetric rotor at each joint, of which only the spin inertia is asked."""
    robot = zoo_robot(name).floating() if floating else zoo_robot(name)
    driven = [joint.name for joint in robot.joints if joint.nv == 1]
    geared = robot.with_rotors({joint: Rotor(5.0) for joint in driven})
    return geared, layout_of(geared).fixing(Rotor.spin_only(driven))


@pytest.mark.parametrize(
    ("name", "measured", "asked_about", "count"),
    [
        # Counts of all torques: Wensing et al. (2024), Tables 4 and 5, with rotors.
        ("puma560", None, 66, 40),
        ("cheetah3_leg", None, 33, 18),
        ("puma560", ["joint2", "joint5"], 66, None),
        ("puma560", ["joint6"], 66, None),
    ],
)
def test_rotors_that_only_spin_have_one_number_each(
    name: str, measured: list[str] | None, asked_about: int, count: int | None
) -> None:
    robot, layout = _spinning(name)
    joints = measured or [joint.name for joint in robot.joints if joint.nv == 1]
    found = partial_identifiability(robot, layout, joints, rng=np.random.default_rng(3))
    free = np.flatnonzero(layout.free)
    assert found.names == tuple(layout.names[k] for k in free)
    assert len(found.names) == len(found.classes) == asked_about
    # The judge's rows come by sample, one for each degree of freedom.
    W = stacked_regressor(robot, layout, np.random.default_rng(5))
    own = [joint.name for joint in robot.joints if joint.nv == 1]
    rows = [own.index(joint) for joint in joints]
    W = W.reshape(-1, robot.nv, layout.size)[:, rows].reshape(-1, layout.size)[:, free]
    assert_says_the_same(found, W)
    assert count is None or found.count == count
    assert found.possible == restricted(structural_identifiability(robot, layout)).count
    assert str(found).endswith(f"all torques: {found.possible}")


def test_all_torques_of_a_robot_with_rotors_put_the_same_parameters_first() -> None:
    robot, layout = _spinning("puma560")
    joints = [joint.name for joint in robot.joints if joint.nv == 1]
    found = partial_identifiability(robot, layout, joints, rng=np.random.default_rng(3))
    whole = restricted(structural_identifiability(robot, layout))
    assert found.classes == whole.classes
    np.testing.assert_allclose(found.base.matrix, whole.base.matrix, atol=1e-8)


def test_the_wrench_on_a_floating_base_sees_no_symmetric_rotor() -> None:
    """Wensing et al. (2024), Note 1: 31 with the leg of the cheetah, as without rotors."""
    robot, layout = _spinning("cheetah3_leg", floating=True)
    found = partial_identifiability(robot, layout, "base", rng=np.random.default_rng(3))
    assert (found.count, len(found.names), found.possible) == (31, 43, 34)
    W = stacked_regressor(robot, layout, np.random.default_rng(5)).reshape(-1, robot.nv, layout.size)
    assert_says_the_same(found, W[:, :6].reshape(-1, layout.size)[:, np.flatnonzero(layout.free)])


@pytest.mark.parametrize("name", list(ZOO))
def test_the_wrench_on_a_floating_base_says_all_that_torques_could_add(name: str) -> None:
    """Ayusawa's result (Wensing et al. 2024, Theorem 3); drives act between links, unseen (Note 1)."""
    robot = zoo_robot(name).floating()
    links = structural_identifiability(robot, layout_of(robot))
    found = asked(robot, "base", DRIVES)
    count = len(links.classes)
    assert found.count == links.count
    assert found.classes[:count] == links.classes
    assert set(found.classes[count:]) == {Class.UNIDENTIFIABLE}
    np.testing.assert_allclose(found.base.matrix[:, :count], links.base.matrix, atol=1e-8)
    assert not found.base.matrix[:, count:].any()


@pytest.mark.parametrize("name", WITH_A_BASE)
def test_in_free_flight_the_total_mass_stays_hidden(name: str) -> None:
    """The wrench is zero, so it tells the parameters up to a factor (Wensing et al. 2024, Remark 10)."""
    robot = zoo_robot(name).floating()
    layout = layout_of(robot)
    found = asked(robot, "base", ballistic=True)
    assert found.count == structural_identifiability(robot, layout).count - 1
    phi = layout.complete_nominal()
    assert np.abs(found.base.matrix @ phi).max() < 1e-9 * np.abs(found.base.matrix).max()
    assert found.classes[0] is not Class.ALONE


@pytest.mark.parametrize("name", WITH_A_BASE)
def test_torques_measured_in_flight_give_the_missing_scale(name: str) -> None:
    robot = zoo_robot(name).floating()
    found = asked(robot, ["base", *robot.joint_names[1:]], ballistic=True)
    assert found.count == found.structure.count
    assert asked(robot, robot.joint_names[1:], ballistic=True).count < found.count


def test_a_robot_in_free_flight_feels_no_wrench_and_its_momentum_falls_freely() -> None:
    robot = zoo_robot("cheetah3").floating()
    layout = layout_of(robot)
    q, v, a = random_states(np.random.default_rng(0), robot, 5)
    flight = in_free_flight(robot, layout, q, v, a)
    judge = PinocchioRobot.of(robot, layout.complete_nominal().reshape(-1, 10))
    for n in range(5):
        torques = judge.torques(q[n], v[n], flight[n])
        np.testing.assert_allclose(torques[:6], 0.0, atol=1e-9 * np.abs(torques).max())
    np.testing.assert_array_equal(flight[:, 6:], a[:, 6:])


@pytest.mark.parametrize("name", ["puma560", "cheetah3_leg", "scara"])
def test_measuring_more_never_says_less(name: str) -> None:
    robot = zoo_robot(name)
    counts = [asked(robot, robot.joint_names[k:], DRIVES).count for k in range(robot.nv)]
    assert counts == sorted(counts, reverse=True)
    assert asked(robot, ["base", *robot.joint_names], DRIVES).count >= counts[0]


def test_the_last_joint_knows_nothing_of_the_links_before_it() -> None:
    robot = zoo_robot("panda")
    found = asked(robot, ["panda_joint7"], DRIVES)
    assert {Class.UNIDENTIFIABLE} == set(found.classes[:60])
    seen = [
        name
        for name, kind in zip(layout_of(robot, DRIVES).names, found.classes, strict=True)
        if kind != "unidentifiable"
    ]
    assert all(name.startswith(("panda_link7", "panda_joint7")) for name in seen)
    assert str(found) == f"panda_joint7: {found.count} combinations; all torques: 69"


def test_a_joint_along_gravity_says_nothing_at_rest() -> None:
    robot = zoo_robot("scara")
    found = asked(robot, [robot.joint_names[0]], static=True)
    assert found.count == 0
    assert set(found.classes) == {Class.UNIDENTIFIABLE}


def test_the_same_seed_gives_the_same_bits() -> None:
    robot = zoo_robot("puma560")
    one, two = (asked(robot, ["joint1", "joint3"]) for _ in range(2))
    assert np.array_equal(one.base.matrix, two.base.matrix)


def _with_a_follower(parent: int) -> Robot:
    robot = zoo_robot("two_link")
    joint = replace(robot.joints[1], name="follower", parent=parent, mimic=Mimic(robot.joint_names[1], -0.5))
    link = replace(robot.links[1], name="tip", fixed=())
    return replace(robot, joints=(*robot.joints, joint), links=(*robot.links, link))


def test_a_joint_that_follows_another_has_no_torque_to_measure() -> None:
    robot = _with_a_follower(parent=0)
    with pytest.raises(InputError, match=r"'follower' follows 'joint2'.*Name 'joint2'"):
        asked(robot, ["follower"])
    assert (
        asked(robot, robot.joint_names[:2]).count == structural_identifiability(robot, layout_of(robot)).count
    )


def test_a_joint_that_follows_one_on_another_link_is_a_coupled_coordinate() -> None:
    robot = _with_a_follower(parent=1)
    found = asked(robot, robot.joint_names[:1])
    W = stacked_regressor(robot, layout_of(robot), np.random.default_rng(5)).reshape(-1, robot.nv, 30)
    assert_says_the_same(found, W[:, 0])
    assert found.possible == found.structure.count > found.count


def test_a_description_with_a_closed_loop_is_refused(tmp_path) -> None:
    joint = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/></joint>'
    bars = [("j1", "base", "a"), ("j2", "base", "b"), ("j3", "a", "c"), ("j4", "b", "c")]
    links = "".join(f'<link name="{name}"/>' for name in ("base", "a", "b", "c"))
    file = tmp_path / "four_bar.urdf"
    file.write_text(f'<robot name="four_bar">{links}{"".join(joint.format(*bar) for bar in bars)}</robot>')
    with pytest.raises(DescriptionError, match="Closed kinematic loops are not supported"):
        load_robot(file)


def test_what_cannot_be_asked_is_refused_with_the_choices() -> None:
    robot = zoo_robot("two_link")
    with pytest.raises(UnknownNameError, match=r"unknown joint 'joint9'.*Valid: base, joint1, joint2"):
        asked(robot, ["joint9"])
    with pytest.raises(InputError, match="each once"):
        asked(robot, ["joint1", "joint1"])
    with pytest.raises(InputError, match="at least one joint"):
        asked(robot, [])
    with pytest.raises(InputError, match=r"does not float.*--floating"):
        asked(robot, "base", ballistic=True)
    with pytest.raises(InputError, match="does not fly"):
        asked(robot.floating(), "base", static=True, ballistic=True)
    with pytest.raises(DescriptionError, match="no inertial is stated"):
        asked(robot.floating(), "base", ballistic=True)


def test_a_wrench_and_the_first_six_torques_of_a_floating_robot_are_the_same_question() -> None:
    robot = zoo_robot("puma560").floating()
    by_word, by_name = asked(robot, "base"), asked(robot, ["floating_base"])
    assert by_word.classes == by_name.classes
    np.testing.assert_allclose(by_word.base.matrix, by_name.base.matrix, atol=1e-9)
    q, v, a = random_states(np.random.default_rng(0), robot, 3)
    W = base_wrench_regressor(robot, layout_of(robot), q, v, a).reshape(18, -1)
    np.testing.assert_allclose(W[:, by_word.base.columns] @ by_word.base.matrix, W, atol=1e-9)
