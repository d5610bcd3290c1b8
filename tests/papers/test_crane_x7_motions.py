"""The motions of Oaki et al. (2026) for their own arm: proven safe at all times, informative by Pinocchio."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from paper_004.crane_x7_motions import CRANE_X7_POSTURES, crane_x7_motions
from steelyard.errors import InputError
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, certify, clearance_of
from steelyard.link_frames import modified_dh_frames
from steelyard.motion import extent, structured_motions, structured_recipes
from steelyard.motion.structured import StructuredMotions
from steelyard.reduction import symmetric_links
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot


def limits_of(robot: Robot) -> MotionLimits:
    layout = layout_of(robot, ["viscous", "coulomb", "rotor"])
    return MotionLimits(robot, clearance_of(robot), layout, layout.complete_nominal())


@cache
def crane() -> tuple[MotionLimits, StructuredMotions]:
    limits = limits_of(zoo_robot("crane_x7_hand"))
    return limits, crane_x7_motions(limits)


def test_all_motions_of_paper_004_keep_every_limit_at_all_times() -> None:
    limits, motions = crane()
    assert len(motions) == 43
    for item in motions:
        proof = certify(limits, item.motion)
        for kind in ("position", "velocity", "acceleration", "torque", "clearance"):
            margin = proof.smallest(kind)
            assert margin is not None
            assert margin.margin > 0.0


def test_the_speeds_are_those_of_appendix_b() -> None:
    limits, motions = crane()
    v_max = limits.robot.limit_array("velocity")
    for name, shares in (("PA01", (0.25, 0.3)), ("PA02", (0.5, 0.6)), ("PC03", (0.75, 0.9))):
        fastest = extent(motions[name]).velocity / v_max
        np.testing.assert_allclose(fastest[:2], shares[0], rtol=1e-5)
        np.testing.assert_allclose(fastest[4:], shares[1], rtol=1e-5)


def test_they_last_as_long_as_the_paper_says() -> None:
    _, motions = crane()
    assert motions["AG02"].duration == pytest.approx(110.0, rel=0.05)
    assert sum(item.motion.duration for item in motions.identification) < 1600.0
    for item in motions:
        ends = item.motion.sample([0.0, item.motion.duration])
        assert not ends.v.any()
        assert not ends.a.any()


def test_the_postures_are_those_of_the_paper_where_the_description_lets_them() -> None:
    _, motions = crane()
    given = np.degrees(np.abs(motions.postures - CRANE_X7_POSTURES))
    np.testing.assert_allclose(np.delete(given, 3, axis=1), 0.0, atol=1e-9)
    assert given[0, 3] == 0.0
    assert (given[1:, 3] < 5.0).all()
    assert [finding.code for finding in motions.findings].count("moved-posture") == 2
    turned = np.degrees(motions.variants - motions.postures)
    np.testing.assert_allclose(turned[:, 5], 90.0, atol=2.0)
    np.testing.assert_allclose(np.delete(turned, 5, axis=1), 0.0, atol=1e-9)


def paper_columns(robot: Robot) -> np.ndarray:
    """The 25 link parameters of Table I among the inertial parameters of the seven arm links, (80, 25)."""
    arm = zoo_robot("crane_x7")
    layout = layout_of(arm)
    reduction = symmetric_links(layout, modified_dh_frames(arm))
    first, *others = layout.links
    terms = [f"{first}.Izz@mdh"]
    terms += [f"{link}.{term}@mdh" for link in others for term in ("mx", "my", "Ixx", "Izz")]
    columns = np.zeros((10 * robot.nv, len(terms)))
    columns[: layout.size] = reduction.matrix[:, [reduction.names.index(term) for term in terms]]
    return columns


def test_each_of_the_40_shows_all_39_parameters_as_well_as_the_papers_do() -> None:
    # Oaki et al. (2026), Appendix A: condition numbers from 31.6 to 182.8 in SI units, on measured motions.
    limits, motions = crane()
    robot = limits.robot
    judge, columns = PinocchioRobot.of(robot), paper_columns(robot)
    for item in motions.identification:
        at = item.motion.sample(np.linspace(0.0, item.motion.duration, 150))
        rows = [
            np.hstack((judge.regressor(q, v, a) @ columns, np.diag(a)[:, 2:], np.diag(v)))
            for q, v, a in zip(at.q, at.v, at.a, strict=True)
        ]
        W = np.vstack(rows)
        assert W.shape[1] == 39
        assert np.linalg.cond(W) < 125.0, item.name


def test_swings_of_one_joint_at_a_time_alone_leave_parameters_unseen() -> None:
    # Why every pattern of the posture families has adjacent pairs as well.
    limits, _ = crane()
    singles = [
        replace(r, steps=(r.steps[0], replace(r.steps[0], wrist=True))) for r in structured_recipes()[:1]
    ]
    motions = structured_motions(limits, postures=CRANE_X7_POSTURES, wrist=5, recipes=tuple(singles))
    judge, columns = PinocchioRobot.of(limits.robot), paper_columns(limits.robot)
    at = motions["PA01"].sample(np.linspace(0.0, motions["PA01"].duration, 150))
    W = np.vstack([judge.regressor(*state) @ columns for state in zip(at.q, at.v, at.a, strict=True)])
    assert np.linalg.matrix_rank(W, rtol=1e-9) < 25


def test_without_its_hand_axis_the_arm_has_the_same_motions() -> None:
    limits = limits_of(zoo_robot("crane_x7"))
    motions = crane_x7_motions(limits, recipes=structured_recipes()[-2:])
    assert motions.names == crane()[1].names[-2:]
    assert motions["V02"].joints == limits.robot.joint_names
    certify(limits, motions["V02"])
    with pytest.raises(InputError, match="has 6 joints, a CRANE-X7 has 7"):
        crane_x7_motions(limits_of(zoo_robot("ur10e")))


def test_the_same_arm_has_the_same_motions_to_the_last_bit() -> None:
    limits, motions = crane()
    again = crane_x7_motions(limits, recipes=structured_recipes()[-2:])
    for item in again:
        assert item.motion.digest == motions[item.name].digest
