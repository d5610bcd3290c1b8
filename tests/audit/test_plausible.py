"""What somebody could have built passes; arms of tonnes do not, whatever torques they explain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from shared_material import DATA, ROBOTS, needs_shared
from steelyard.audit import Check, Status, check_plausible
from steelyard.audit.plausible import _bodies, _holding, _position
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.pose import Pose
from steelyard.robot import Joint, JointKind, Limits, Link, Robot, load_robot
from steelyard.zoo import ZOO, zoo_robot

DRIVE = ["viscous", "coulomb", "rotor"]
# The last link of this one weighs 0.3 kg, measures 0.1 m and is said to have a radius of gyration of 0.41 m.
ODD = {"kuka_lwr4.urdf"}


def without_shapes(robot: Robot) -> Robot:
    return replace(robot, links=tuple(replace(link, collision=()) for link in robot.links))


def checked(
    robot: Robot, change: Callable[[dict[str, np.ndarray]], None] | None = None, **known: object
) -> Check:
    """The check of the robot's own numbers, changed link by link or joint by joint."""
    layout = layout_of(robot, DRIVE)
    phi = layout.nominal
    parts = {name: phi[layout.of_link(name)] for name in layout.links}
    parts |= {name: phi[layout.of_joint(name)] for name in layout.joints}
    if change is not None:
        change(parts)
    return check_plausible(robot, layout, phi, **known)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(ZOO))
@pytest.mark.parametrize("shapes", [True, False])
def test_the_zoo_is_plausible_with_and_without_its_shapes_and_description(name: str, shapes: bool) -> None:
    robot = zoo_robot(name) if shapes else without_shapes(zoo_robot(name))
    nominal = layout_of(robot, DRIVE).nominal
    for described in (None, nominal):
        check = checked(robot, described=described)
        assert check.status is Status.PASS, check.message


@needs_shared
@pytest.mark.parametrize(
    "file",
    sorted([*ROBOTS.rglob("*.urdf"), *ROBOTS.rglob("*.xml"), *DATA.glob("*/*.urdf")]),
    ids=lambda file: f"{file.parent.name}/{file.name}",
)
def test_public_descriptions_raise_no_alarm(file: Path) -> None:
    robot = load_robot(file)
    check = checked(robot, meshes=file.parent)
    if all(link.body is None for link in robot.links):
        assert check.status is Status.NOT_RUN
    else:
        assert check.status is (Status.WARN if file.name in ODD else Status.PASS), check.message


def test_a_panda_of_two_tonnes_fails_with_and_without_anything_known_of_it() -> None:
    # The masses that a fit without prior wrote for the Panda (findings on its real log).
    masses = {"panda_link1": 234.3, "panda_link2": 418.2, "panda_link3": 754.1, "panda_link4": 767.0}

    def heavier(parts: dict[str, np.ndarray]) -> None:
        for name, mass in masses.items():
            parts[name][:] *= mass / parts[name][0]

    for robot in (zoo_robot("panda"), without_shapes(zoo_robot("panda"))):
        unlimited = replace(robot, joints=tuple(replace(j, limits=Limits()) for j in robot.joints))
        for arm in (robot, unlimited):
            assert checked(arm, heavier).status is Status.FAIL
        described = layout_of(robot, DRIVE).nominal
        check = checked(robot, heavier, described=described)
        assert check.status is Status.FAIL
        assert "panda_link2 weighs 418.2 kg, described 0.6469 kg" in check.message
        assert any("together, described 16.06 kg" in text for text in check.evidence["absurd"])  # type: ignore[attr-defined]


def scaled(link: str, factor: float) -> Callable[[dict[str, np.ndarray]], None]:
    def change(parts: dict[str, np.ndarray]) -> None:
        parts[link][:] *= factor

    return change


@pytest.mark.parametrize(
    ("factor", "status"),
    [
        (0.05, "fail"),
        (0.2, "warn"),
        (0.5, "pass"),
        (1.0, "pass"),
        (2.0, "pass"),
        (4.0, "warn"),
        (12.0, "fail"),
    ],
)
def test_a_links_mass_is_held_against_the_described_one(factor: float, status: str) -> None:
    robot = without_shapes(zoo_robot("ur10e"))
    check = checked(robot, scaled("forearm_link", factor), described=layout_of(robot, DRIVE).nominal)
    assert check.status == status, check.message
    links = check.evidence["links"]
    assert links["forearm_link"]["mass"] == pytest.approx(3.87 * factor)  # type: ignore[index]
    assert links["forearm_link"]["described_mass"] == pytest.approx(3.87)  # type: ignore[index]


@pytest.mark.parametrize(("factor", "status"), [(0.15, "fail"), (0.45, "warn"), (0.6, "pass"), (2.4, "warn")])
def test_the_total_is_held_against_the_described_one(factor: float, status: str) -> None:
    robot = zoo_robot("ur10e")

    def all_scaled(parts: dict[str, np.ndarray]) -> None:
        for name in robot.link_names:
            parts[name][:] *= factor

    check = checked(robot, all_scaled, described=layout_of(robot, DRIVE).nominal)
    assert check.status == status, check.message


@pytest.mark.parametrize(("total", "status"), [(28.7, "pass"), (40.0, "warn"), (100.0, "fail")])
def test_the_total_is_held_against_the_scales(total: float, status: str) -> None:
    check = checked(zoo_robot("ur10e"), total=total)
    assert check.status == status
    assert status == "pass" or f"on the scales {total:.4g} kg" in check.message


def test_a_finger_of_ten_times_its_mass_is_odd_but_not_absurd() -> None:
    robot = zoo_robot("crane_x7_hand")
    described = layout_of(robot, DRIVE).nominal
    light = scaled("crane_x7_finger_link", 0.05)
    assert checked(robot, light, described=described).status is Status.WARN


def moved(link: str, offset: float) -> Callable[[dict[str, np.ndarray]], None]:
    def change(parts: dict[str, np.ndarray]) -> None:
        body = Body.from_parameters(parts[link])
        parts[link][:] = Body(body.mass, body.com + np.array([0.0, offset, 0.0]), body.inertia).parameters

    return change


@pytest.mark.parametrize("shapes", [True, False])
@pytest.mark.parametrize("known", [True, False])
def test_a_centre_of_mass_metres_away_fails(shapes: bool, known: bool) -> None:
    robot = zoo_robot("ur10e") if shapes else without_shapes(zoo_robot("ur10e"))
    described = layout_of(robot, DRIVE).nominal if known else None
    assert checked(robot, moved("wrist_1_link", 3.0), described=described).status is Status.FAIL
    assert checked(robot, moved("wrist_1_link", 0.05), described=described).status is Status.PASS


def test_a_centre_of_mass_a_hand_outside_its_shapes_is_odd() -> None:
    robot = zoo_robot("lbr_med7")
    check = checked(robot, moved("lbr_link_4", 0.2))
    assert check.status is Status.WARN
    assert "lbr_link_4 has its centre of mass" in check.message
    assert "outside its shapes" in check.message


def test_a_radius_of_gyration_beyond_the_link_fails_and_a_point_warns() -> None:
    robot = zoo_robot("lbr_med7")

    def spread(factor: float) -> Callable[[dict[str, np.ndarray]], None]:
        def change(parts: dict[str, np.ndarray]) -> None:
            body = Body.from_parameters(parts["lbr_link_4"])
            parts["lbr_link_4"][:] = Body(body.mass, body.com, factor * body.inertia).parameters

        return change

    assert checked(robot, spread(1000.0)).status is Status.FAIL
    assert checked(robot, spread(1e-4)).status is Status.WARN
    assert checked(robot, spread(3.0)).status is Status.PASS


def test_an_odd_radius_of_gyration_that_the_description_states_is_no_doubt() -> None:
    robot = zoo_robot("ur10e")
    layout = layout_of(robot, DRIVE)
    odd = layout.nominal.copy()
    body = Body.from_parameters(odd[layout.of_link("forearm_link")])
    odd[layout.of_link("forearm_link")] = Body(body.mass, body.com, 30.0 * body.inertia).parameters
    assert check_plausible(robot, layout, odd, described=layout.nominal).status is Status.WARN
    assert check_plausible(robot, layout, odd, described=odd).status is Status.PASS


@pytest.mark.parametrize(
    ("term", "value", "status"),
    [
        ("rotor", 1e-12, "warn"),
        ("rotor", 0.0, "pass"),
        ("rotor", 1e4, "fail"),
        ("coulomb", 200.0, "fail"),
        ("coulomb", 60.0, "pass"),
        ("viscous", 100.0, "warn"),
        ("viscous", 1e4, "fail"),
    ],
)
def test_drives_are_held_against_what_the_joint_can_do(term: str, value: float, status: str) -> None:
    robot = zoo_robot("panda")  # its second joint is limited to 87 N·m and 2.175 rad/s

    def change(parts: dict[str, np.ndarray]) -> None:
        parts["panda_joint2"][DRIVE.index(term)] = value

    check = checked(robot, change)
    assert check.status == status, check.message
    assert status == "pass" or "panda_joint2" in check.message


def test_holding_torques_are_pinocchios() -> None:
    for name in ("panda", "scara", "cheetah3_leg"):
        robot = replace(zoo_robot(name), gravity=np.array([2.0, -5.0, -8.0]))
        layout = layout_of(robot)
        judge = PinocchioRobot.of(robot, layout.nominal.reshape(-1, 10))
        poses = [[float(_position(j, k, n)[0]) for k, j in enumerate(robot.joints)] for n in range(32)]
        zero = np.zeros(robot.nv)
        torques = np.array([judge.torques(np.array(q), zero, zero) for q in poses])
        expected = np.median(np.abs(torques), axis=0)
        assert _holding(robot, _bodies(layout, layout.nominal)) == pytest.approx(expected, abs=1e-9)


def test_grams_for_kilograms_are_told_by_the_torque_limits() -> None:
    robot = without_shapes(zoo_robot("panda"))

    def grams(parts: dict[str, np.ndarray]) -> None:
        for name in robot.link_names:
            parts[name][:] *= 1000.0

    check = checked(robot, grams)
    assert check.status is Status.FAIL
    assert any("to hold the arm still" in text for text in check.evidence["absurd"])  # type: ignore[attr-defined]


def test_a_described_link_that_is_absurd_itself_is_not_held_against() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, DRIVE)
    described = layout.nominal
    described[layout.of_link("panda_link3")] *= 1000.0
    check = checked(robot, described=described)
    assert check.status is Status.PASS, check.message


def gantry(masses: tuple[float, ...] = (800.0, 400.0, 100.0)) -> Robot:
    """Three sliding joints with coinciding frames, a bridge of 800 kg, no shapes."""
    axes = np.eye(3)
    joints = tuple(
        Joint(
            f"slide{k}",
            JointKind.PRISMATIC,
            k - 1,
            Pose.identity(),
            axes[k],
            Limits(0.0, travel, 1.0, 5.0, 3000.0),
        )
        for k, travel in enumerate((6.0, 3.0, 1.5))
    )
    links = tuple(
        Link(f"stage{k}", Body(mass, np.array([0.0, 1.0, 0.0]) if k == 0 else np.zeros(3), mass * np.eye(3)))
        for k, mass in enumerate(masses)
    )
    return Robot("gantry", Link("rail"), joints, links)


def test_a_gantry_of_a_tonne_and_a_floating_base_are_not_absurd() -> None:
    assert checked(gantry()).status is Status.PASS
    assert checked(zoo_robot("cheetah3").floating()).status is Status.PASS


def test_nothing_is_said_where_nothing_is_known() -> None:
    robot = zoo_robot("one_link")
    bare = replace(robot, links=(replace(robot.links[0], own=None, collision=()),))
    assert checked(bare).status is Status.NOT_RUN
    # One link without shapes and without a further joint: nothing says how large it is.
    unknown = replace(robot, links=(replace(robot.links[0], collision=()),))
    free = replace(unknown, joints=(replace(unknown.joints[0], limits=Limits()),))
    assert checked(free, scaled("link1", 1000.0)).status is Status.PASS
