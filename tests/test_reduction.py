"""Reductions by symmetry: counts of Oaki et al. (2026), torques by Pinocchio, round trips, contradictions."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import reduce

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import ArrayLike

from oracles.pinocchio_robot import PinocchioRobot, se3
from oracles.random_robots import random_robot, random_states
from shared_material import ROBOTS, needs_shared
from steelyard.archive import from_document, to_document
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, UnknownNameError
from steelyard.finding import Severity
from steelyard.identifiable.base_parameters import numerical_base
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import Layout, layout_of
from steelyard.link_frames import LinkFrames, modified_dh_frames, urdf_frames
from steelyard.pose import Pose
from steelyard.reduction import (
    SYMMETRIC,
    Condition,
    LinkRule,
    Reduction,
    fixed,
    project,
    symmetric_links,
)
from steelyard.robot import JointKind, Link, Robot, load_robot
from steelyard.zoo import zoo_robot

DRIVE = ["viscous", "coulomb", "offset", "rotor"]
HAND = "crane_x7_gripper_finger_a_joint"
AT = (0.1, 0.0, -0.2)
FRAMES = {"mdh": modified_dh_frames, "urdf": urdf_frames}


def tied(term: str, others: dict[str, float]) -> LinkRule:
    """A term that is a combination of others."""
    return LinkRule((Condition({term: 1.0} | {name: -weight for name, weight in others.items()}),))


def point_mass(at: ArrayLike) -> LinkRule:
    """A mass in one known point: the nine other numbers are tied to it."""
    unit = pin.Inertia(1.0, np.asarray(at, dtype=float), np.zeros((3, 3))).toDynamicParameters()
    rules = [tied(term, {"m": float(w)}) for term, w in zip(PARAMETER_NAMES[1:], unit[1:], strict=True)]
    return reduce(LinkRule.__and__, rules)


def nominal_link(layout: Layout, frames: LinkFrames, link: str) -> LinkRule:
    """A link of which nothing is asked."""
    phi = layout.nominal[layout.of_link(link)]
    in_D = se3(frames.pose(link).inverse()).act(pin.Inertia.FromDynamicParameters(phi)).toDynamicParameters()
    return fixed(dict(zip(PARAMETER_NAMES, in_D.tolist(), strict=True)))


CENTRED = fixed({"mx": 0.0, "my": 0.0})
OF_REVOLUTION = SYMMETRIC & CENTRED & tied("Iyy", {"Ixx": 1.0})
"""About z."""


def public_crane_x7() -> Robot:
    """The arm with its hand: the second finger mimics the first."""
    return load_robot(ROBOTS / "crane_x7" / "crane_x7.urdf")


def count(robot: Robot, layout: Layout, reduction: Reduction | None = None) -> int:
    base = numerical_base(robot, layout, np.random.default_rng(0), reduction)
    assert base.smallest_kept > 1e6 * base.largest_dropped
    return base.count


# Oaki et al. (2026), Table I: 25 link terms and five rotors beyond them, in modified Denavit-Hartenberg
# frames. In the description's own frames the axial moments of bodies 4 and 6 show in products of inertia of
# those before them; with these fixed they count themselves, which makes 27.
COUNTS = [(None, 43), ("mdh", 25), ("urdf", 27)]


@pytest.mark.parametrize(("frames", "links"), COUNTS)
@pytest.mark.parametrize(("drive", "more"), [([], 0), (["rotor"], 5)])
@pytest.mark.parametrize("source", ["zoo", pytest.param("public", marks=needs_shared)])
def test_crane_x7_has_the_counts_of_paper_004(
    source: str, drive: list[str], more: int, frames: str | None, links: int
) -> None:
    robot = zoo_robot("crane_x7") if source == "zoo" else public_crane_x7().locked({HAND: 0.1})
    layout = layout_of(robot, drive)
    reduction = None if frames is None else symmetric_links(layout, FRAMES[frames](robot))
    assert count(robot, layout, reduction) == links + more


def test_the_25_link_terms_are_those_of_paper_004() -> None:
    robot = zoo_robot("crane_x7")
    layout = layout_of(robot)
    reduction = symmetric_links(layout, modified_dh_frames(robot))
    first, *others = layout.links
    terms = [f"{first}.Izz@mdh"]
    terms += [f"{link}.{term}@mdh" for link in others for term in ("mx", "my", "Ixx", "Izz")]
    judge = PinocchioRobot.of(robot)
    states = zip(*random_states(np.random.default_rng(3), robot, 60), strict=True)
    WB = np.vstack([judge.regressor(q, v, a) for q, v, a in states]) @ reduction.matrix
    chosen = WB[:, [reduction.names.index(term) for term in terms]]
    assert (
        len(terms) == np.linalg.matrix_rank(chosen, rtol=1e-9) == np.linalg.matrix_rank(WB, rtol=1e-9) == 25
    )


@needs_shared
def test_with_a_hand_axis_and_friction_the_counts_are_39_and_65() -> None:
    # The hand axis adds a rotor and friction, but no link terms: its fingers are lumped, that is, known.
    robot = public_crane_x7()
    frames = modified_dh_frames(robot)
    arm, fingers = robot.link_names[:7], robot.link_names[7:]
    for drive, rule, total in (
        (["viscous", "rotor"], SYMMETRIC, 39),
        (["viscous", "coulomb", "rotor"], LinkRule(), 65),
    ):
        layout = layout_of(robot, drive)
        rules = dict.fromkeys(arm, rule) | {link: nominal_link(layout, frames, link) for link in fingers}
        assert count(robot, layout, Reduction(layout, frames, rules)) == total


@pytest.mark.parametrize("name", ["crane_x7", "lbr_med7", "kinova_gen3"])
def test_arms_whose_axes_meet_at_right_angles_have_four_terms_a_link(name: str) -> None:
    robot = zoo_robot(name)
    layout, frames = layout_of(robot), modified_dh_frames(robot)
    rows = [row for row in frames.rows[1:] if row is not None]
    np.testing.assert_allclose([row.a for row in rows], 0.0, atol=1e-12)
    np.testing.assert_allclose([np.cos(row.alpha) for row in rows], 0.0, atol=1e-12)
    assert count(robot, layout, symmetric_links(layout, frames)) == 1 + 4 * (len(layout.links) - 1)


def test_moving_only_the_origins_of_the_description_gives_25_as_well() -> None:
    robot = zoo_robot("crane_x7")
    origins = [Pose(np.eye(3), pose.translation) for pose in modified_dh_frames(robot).poses]
    frames = replace(urdf_frames(robot), name="moved", poses=tuple(origins))
    layout = layout_of(robot)
    assert count(robot, layout, symmetric_links(layout, frames)) == 25


def shifted(frames: LinkFrames, link: int, move: Pose) -> LinkFrames:
    poses = list(frames.poses)
    poses[link] = poses[link] @ move
    return replace(frames, poses=tuple(poses), rows=())


@pytest.mark.parametrize("link", range(7))
@pytest.mark.parametrize("rpy", [(np.pi, 0, 0), (0, 0, np.pi / 2), (0, -np.pi / 2, 0), (0, np.pi / 2, np.pi)])
def test_naming_the_axes_of_a_frame_otherwise_leaves_the_count_alone(
    link: int, rpy: tuple[float, float, float]
) -> None:
    robot = zoo_robot("crane_x7")
    frames = shifted(modified_dh_frames(robot), link, Pose.from_rpy(rpy))
    layout = layout_of(robot)
    assert count(robot, layout, symmetric_links(layout, frames)) == 25


def test_sliding_a_frame_along_its_axis_matters_only_where_the_arm_can_tell() -> None:
    slide = Pose(np.eye(3), np.array([0.0, 0.0, 0.07]))
    scara, crane = zoo_robot("scara"), zoo_robot("crane_x7")
    for robot, link, same in ((scara, 1, True), (scara, 3, True), (crane, 0, True), (crane, 2, False)):
        frames, layout = modified_dh_frames(robot), layout_of(robot)
        before = count(robot, layout, symmetric_links(layout, frames))
        after = count(robot, layout, symmetric_links(layout, shifted(frames, link, slide)))
        assert (after == before) is same


@pytest.mark.parametrize("seed", range(12))
def test_a_robot_that_is_as_assumed_has_the_torques_of_its_reduced_parameters(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, fixed=False)
    frames = modified_dh_frames(robot)
    layout = layout_of(robot)
    rules, bodies = {}, []
    for i, (link, pose) in enumerate(zip(layout.links, frames.poses, strict=True)):
        # Built by Pinocchio in D: principal axes along D's and a centre of mass on one of them, a cylinder on
        # z, or a mass in a known point.
        m, at = float(rng.uniform(0.5, 3)), rng.uniform(-0.3, 0.3, 3)
        box = pin.Inertia.FromBox(m, *rng.uniform(0.1, 0.5, 3))
        rod = pin.Inertia.FromCylinder(m, *rng.uniform(0.1, 0.5, 2))
        body, rules[link] = (
            (pin.Inertia(m, at * np.eye(3)[rng.integers(3)], box.inertia), SYMMETRIC),
            (pin.Inertia(m, at * [0, 0, 1], rod.inertia), OF_REVOLUTION),
            (pin.Inertia(m, at, np.zeros((3, 3))), point_mass(at)),
        )[i % 3]
        bodies.append(se3(pose).act(body).toDynamicParameters())
    reduction = Reduction(layout, frames, rules)
    found = project(reduction, np.concatenate(bodies))
    assert found.findings == ()
    judge = PinocchioRobot.of(robot, np.array(bodies))
    for q, v, a in zip(*random_states(rng, robot, 5), strict=True):
        Y = torque_regressor(robot, layout, q[None], v[None], a[None])[0]
        np.testing.assert_allclose(Y @ reduction.matrix @ found.theta, judge.torques(q, v, a), atol=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_reduced_parameters_survive_the_way_to_standard_ones_and_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng)
    layout = layout_of(robot, DRIVE)
    rule = (SYMMETRIC, OF_REVOLUTION, CENTRED, point_mass(AT), LinkRule())
    rules = {link: rule[rng.integers(len(rule))] for link in layout.links}
    reduction = Reduction(layout, modified_dh_frames(robot), rules)
    assert np.linalg.matrix_rank(reduction.matrix) == reduction.size == len(reduction.units)
    theta = rng.normal(size=reduction.size)
    found = project(reduction, reduction.standard(theta))
    np.testing.assert_allclose(found.theta, theta, atol=1e-12)
    np.testing.assert_allclose(found.residual, 0.0, atol=1e-12)


def test_drive_terms_pass_unchanged() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot, DRIVE)
    reduction = symmetric_links(layout, modified_dh_frames(robot))
    assert reduction.names[-8:] == layout.names[-8:]
    assert reduction.units[-8:] == tuple(parameter.unit for parameter in layout.parameters[-8:])
    np.testing.assert_array_equal(reduction.matrix[-8:, -8:], np.eye(8))
    assert not reduction.matrix[-8:, :-8].any()
    assert not reduction.matrix[:-8, -8:].any()
    assert reduction.names[6:8] == ("link1.Izz@mdh", "link2.m@mdh")


@pytest.mark.parametrize(
    ("rule", "free"),
    [
        (LinkRule(), PARAMETER_NAMES),
        (SYMMETRIC, ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz")),
        (SYMMETRIC & CENTRED, ("m", "mz", "Ixx", "Iyy", "Izz")),
        (OF_REVOLUTION, ("m", "mz", "Ixx", "Izz")),
        (point_mass(np.zeros(3)), ("m",)),
        (point_mass((0.1, 0.2, 0.3)), ("m",)),
        (fixed({"m": 2.0}) & SYMMETRIC & SYMMETRIC, ("mx", "my", "mz", "Ixx", "Iyy", "Izz")),
        (tied("mx", {"m": 0.3}), ("m", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")),
    ],
)
def test_each_rule_leaves_the_terms_it_should(rule: LinkRule, free: tuple[str, ...]) -> None:
    robot = zoo_robot("one_link")
    reduction = Reduction(layout_of(robot), urdf_frames(robot), {"link1": rule})
    assert reduction.names == tuple(f"link1.{term}@urdf" for term in free)


def test_the_torque_of_a_known_link_is_in_the_offset() -> None:
    robot = zoo_robot("so101")
    layout, frames = layout_of(robot), modified_dh_frames(robot)
    rules = {link: nominal_link(layout, frames, link) for link in layout.links}
    reduction = Reduction(layout, frames, rules)
    assert (reduction.size, reduction.names) == (0, ())
    np.testing.assert_allclose(reduction.offset, layout.complete_nominal(), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_what_the_layout_fixes_stays_at_its_value_whatever_theta_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, bodies=3, shapes=("solid",))
    layout = layout_of(robot, DRIVE)
    held = {"link0.m", "link0.mx", "link1.Ixy", "link1.mz", "joint0.viscous", "joint2.rotor"}
    parameters = [
        replace(p, fixed=True, nominal=1.5 if p.nominal is None else p.nominal) if p.name in held else p
        for p in layout.parameters
    ]
    layout = replace(layout, parameters=tuple(parameters))
    reduction = Reduction(layout, modified_dh_frames(robot))
    assert reduction.size == layout.size - len(held)
    phi = reduction.standard(rng.normal(size=reduction.size))
    k = [layout.index(name) for name in held]
    np.testing.assert_allclose(phi[k], layout.nominal[k], atol=1e-12)
    np.testing.assert_allclose(project(reduction, phi).residual, 0.0, atol=1e-11)


def test_a_virtual_link_has_no_reduced_parameters() -> None:
    robot = zoo_robot("two_link")
    robot = replace(robot, links=(Link("link1", virtual=True), robot.links[1]))
    layout = layout_of(robot)
    reduction = symmetric_links(layout, modified_dh_frames(robot))
    assert all(name.startswith("link2.") for name in reduction.names)
    assert not reduction.offset.any()
    assert count(robot, layout) == count(robot, layout, reduction)


def test_tied_moments_are_read_as_their_mean() -> None:
    robot = zoo_robot("one_link")
    reduction = Reduction(layout_of(robot), urdf_frames(robot), {"link1": OF_REVOLUTION})
    phi = np.array([2.0, 0.0, 0.0, 0.5, 3.0, 0.0, 5.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(project(reduction, phi).theta, [2.0, 0.5, 4.0, 1.0])


def test_asymmetry_is_reported_by_its_worst_term_and_size() -> None:
    robot = zoo_robot("one_link")
    reduction = symmetric_links(layout_of(robot), urdf_frames(robot))
    phi = np.array([2.0, 0.1, 0.0, 0.5, 3.0, 0.06, 5.0, 0.001, 0.0, 2.0])
    (finding,) = project(reduction, phi).findings
    assert (finding.severity, finding.code, finding.place) == (
        Severity.WARNING,
        "asymmetric-link",
        "link 'link1'",
    )
    assert "Ixy in its urdf frame is 0.06 instead of 0 kg m^2, off by 1.20%" in finding.message
    (finding,) = project(reduction, phi * [1, 1, 1, 1, 1, 0.1, 1, 1, 1, 1]).findings
    assert finding.severity is Severity.INFO
    massless = project(reduction, np.eye(10)[5])
    assert "inf" in massless.findings[0].message


def test_a_fixed_drive_term_given_otherwise_is_reported() -> None:
    robot = zoo_robot("one_link")
    layout = layout_of(robot, ["viscous"])
    held = replace(layout.parameters[-1], fixed=True, nominal=0.2)
    layout = replace(layout, parameters=(*layout.parameters[:-1], held))
    phi = layout.complete_nominal()
    phi[-1] = 0.5
    found = project(Reduction(layout, urdf_frames(robot)), phi)
    assert [finding.code for finding in found.findings] == ["departs-from-fixed"]
    assert found.residual[-1] == pytest.approx(0.3)


def test_a_reduction_survives_json_to_the_last_bit() -> None:
    robot = zoo_robot("so101")
    layout, frames = layout_of(robot, DRIVE), modified_dh_frames(robot)
    rules = {layout.links[0]: point_mass((0.1, 0.0, 0.2)), layout.links[2]: SYMMETRIC}
    reduction = Reduction(layout, frames, rules)
    again = from_document(Reduction, json.loads(json.dumps(to_document(reduction))))
    np.testing.assert_array_equal(again.matrix, reduction.matrix)
    np.testing.assert_array_equal(again.offset, reduction.offset)
    assert (again.names, again.units) == (reduction.names, reduction.units)


def test_rules_that_cannot_hold_together_are_refused() -> None:
    robot = zoo_robot("two_link")
    layout, frames = layout_of(robot), urdf_frames(robot)
    with pytest.raises(InputError, match="link 'link2': the conditions contradict each other by 1"):
        Reduction(layout, frames, {"link2": fixed({"m": 1.0}) & fixed({"m": 2.0})})
    with pytest.raises(InputError, match="link 'link1'"):
        Reduction(layout, frames, {"link1": point_mass((0, 0, 1)) & fixed({"m": 1.0, "mz": 0.0})})


def test_misnamed_things_are_refused_with_the_choices() -> None:
    robot = zoo_robot("two_link")
    layout, frames = layout_of(robot), urdf_frames(robot)
    with pytest.raises(UnknownNameError, match="Did you mean 'link2'"):
        Reduction(layout, frames, {"link_2": SYMMETRIC})
    with pytest.raises(UnknownNameError, match="Valid: m, mx, my"):
        fixed({"mass": 1.0})
    with pytest.raises(InputError, match="at least one term"):
        Condition({"m": 0.0})
    with pytest.raises(InputError, match="must be finite"):
        Condition({"m": 1.0}, np.nan)
    with pytest.raises(InputError, match="same robot"):
        Reduction(layout, urdf_frames(zoo_robot("scara")))
    other = layout_of(robot, ["viscous"])
    with pytest.raises(InputError, match="another layout"):
        numerical_base(robot, other, np.random.default_rng(0), symmetric_links(layout, frames))


def test_bases_are_found_for_robots_that_float_too() -> None:
    robot = zoo_robot("two_link").floating()
    assert robot.joints[0].kind is JointKind.FLOATING
    layout = layout_of(robot)
    # All ten of the base, and of each link behind a revolute joint the seven that do not move with it.
    assert count(robot, layout) == 10 + 7 + 7
