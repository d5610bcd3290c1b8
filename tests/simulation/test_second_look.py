"""A second look at certified motions: it agrees with the proof, and says so where something is forged."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from oracles.random_robots import link_parameters
from steelyard.arrays import Array
from steelyard.drive import Drive
from steelyard.errors import SolverError
from steelyard.layout import layout_of
from steelyard.limits import (
    Certificate,
    Hull,
    MotionLimits,
    NotCertifiedError,
    Scene,
    Zonotope,
    certify,
    clearance_of,
)
from steelyard.limits.scene import Obstacle
from steelyard.motion import FourierMotion, random_fourier
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Cylinder, Geometry, MeshFile, Robot, Sphere
from steelyard.simulation import second_look
from steelyard.zoo import zoo_robot

KINDS = {"position", "velocity", "acceleration", "torque", "clearance"}
ARMS = ["panda", "scara", "kinova_gen3_2f85", "so101"]


def rubbing(robot: Robot) -> Robot:
    """With friction, rotors and limits of every kind."""
    joints = [
        replace(
            joint,
            drive=Drive(0.4 + 0.1 * k, 0.3, 0.05, 0.02),
            limits=replace(joint.limits, acceleration=50.0, effort=200.0),
        )
        for k, joint in enumerate(robot.joints)
    ]
    return replace(robot, joints=tuple(joints))


def around() -> Scene:
    """A shape of every kind, far enough away for an arm on a table."""
    corners = np.array([[x, y, z] for x in (0, 0.1) for y in (0, 0.2) for z in (0, 0.3)])
    solids = {
        "ball": Sphere(0.1),
        "box": Box(0.2, 0.3, 0.4),
        "pipe": Cylinder(0.1, 0.5),
        "pill": Capsule(0.1, 0.3),
        "wedge": Hull(corners[[0, 1, 2, 4, 7]]),
        "zonotope": Zonotope(np.zeros(3), 0.1 * np.array([[1.0, 0, 0], [0, 1, 0], [0, 0.5, 1], [1, 1, 1]])),
    }
    return Scene(
        tuple(
            Obstacle(name, solid, Pose.from_rpy((0.3 * k, 0.2, k), (2.0 * np.cos(k), 2.0 * np.sin(k), 0.5)))
            for k, (name, solid) in enumerate(solids.items())
        )
    )


@cache
def proven(name: str) -> tuple[MotionLimits, FourierMotion, Certificate]:
    robot = rubbing(zoo_robot(name))
    layout = layout_of(robot, ["viscous", "coulomb", "offset", "rotor"])
    limits = MotionLimits(robot, clearance_of(robot, around()), layout, layout.complete_nominal())
    for fraction in (0.4, 0.2, 0.1):
        motion = random_fourier(robot, np.random.default_rng(4), fraction=fraction)
        try:
            return limits, motion, certify(limits, motion, sharpness=0.9)
        except NotCertifiedError:
            continue
    raise AssertionError(name)


@pytest.mark.parametrize("name", ARMS)
def test_every_margin_is_seen_a_little_larger_than_it_is_proven(name: str) -> None:
    limits, motion, proof = proven(name)
    look = second_look(limits, motion, proof)
    assert look.instants >= 200
    assert look.unseen == ()
    assert len(look.margins) == len(proof.margins)
    assert {x.kind for x in look.margins} == KINDS
    for margin in look.margins:
        # A cylinder is proven as a prism around it, two percent of a radius wider.
        missed = 4e-3 if margin.kind == "clearance" else 0.0
        assert margin.proven <= margin.seen + 1e-6
        assert margin.seen <= margin.proven / 0.85 + missed
    assert "none of" in str(look)


@pytest.mark.parametrize("name", ["panda", "scara", "kinova_gen3_2f85"])
def test_its_torques_are_those_of_pinocchio(name: str) -> None:
    limits, motion, proof = proven(name)
    robot = limits.robot
    seen = {x.name: x for x in second_look(limits, motion, proof).margins if x.kind == "torque"}
    judge = PinocchioRobot.of(robot.untied, link_parameters(robot))
    tied = np.eye(robot.nv) if robot.ties is None else robot.ties.rates
    offset = np.zeros(len(tied)) if robot.ties is None else robot.ties.offset
    driven = [joint for joint in robot.joints if joint.mimic is None]
    for k, joint in enumerate(driven):
        at = motion.sample([seen[joint.name].instant])
        q, v, a = (np.ravel(x) @ tied.T for x in (at.q, at.v, at.a))
        tau = judge.torques(q + offset, v, a) + _drives(robot.untied, v, a)
        left = joint.limits.effort - abs(float((tau @ tied)[k]))
        assert seen[joint.name].seen == pytest.approx(left, abs=1e-6 * joint.limits.effort)


def _drives(robot: Robot, v: Array, a: Array) -> Array:
    terms = [joint.drive for joint in robot.joints]
    viscous, coulomb, offset, rotor = (
        np.array([getattr(x, name) for x in terms]) for name in ("viscous", "coulomb", "offset", "rotor")
    )
    return np.asarray(viscous * v + coulomb * np.sign(v) + offset + rotor * a)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_forged_margin_is_an_error_that_names_it(kind: str) -> None:
    limits, motion, proof = proven("panda")
    least = proof.smallest(kind)
    assert least is not None
    forged = replace(least, margin=1.02 * least.margin / 0.9 + 5e-3)
    margins = tuple(forged if x is least else x for x in proof.margins)
    with pytest.raises(SolverError, match="proof and second look disagree") as caught:
        second_look(limits, motion, replace(proof, margins=margins))
    assert (caught.value.evidence["kind"], caught.value.evidence["name"]) == (kind, least.name)


def test_torques_of_a_robot_with_other_friction_disagree() -> None:
    """A premise that is wrong, not a number: the certifier is told of no friction."""
    limits, motion, _ = proven("panda")
    bare = replace(limits.robot, joints=tuple(replace(x, drive=Drive()) for x in limits.robot.joints))
    layout = layout_of(bare)
    blind = MotionLimits(bare, clearance_of(bare), layout, layout.complete_nominal())
    proof = certify(blind, motion, sharpness=0.9)
    with pytest.raises(SolverError, match="torque limit"):
        second_look(MotionLimits(limits.robot, limits.clearance), motion, proof)


def test_a_mesh_is_looked_at_as_the_hull_of_its_vertices(tmp_path: Path) -> None:
    robot = zoo_robot("panda")
    half = 0.5 * np.array([0.06, 0.04, 0.08])
    corners = [half * signs for signs in product((-1.0, 1.0), repeat=3)]
    # Its surface has holes, so that it is its hull and nothing closer.
    faces = [(1, 2, 4), (4, 3, 1), (5, 6, 8), (8, 7, 5), (1, 5, 8), (2, 6, 7)]
    lines = ["v {} {} {}".format(*corner) for corner in corners] + [
        "f {} {} {}".format(*face) for face in faces
    ]
    (tmp_path / "block.obj").write_text("\n".join(lines))
    place = Pose.from_rpy((0, 0, 0), (0.0, 0.0, 0.06))
    motion = random_fourier(robot, np.random.default_rng(0), fraction=0.1)
    looks = []
    for shape in (MeshFile("block.obj"), Box(*(2.0 * half))):
        around_it = clearance_of(robot, tool=[Geometry(shape, place)], tool_meshes=tmp_path)
        limits = MotionLimits(robot, around_it)
        looks.append(second_look(limits, motion, certify(limits, motion)))
    mesh, box = looks
    assert mesh.unseen == ()
    assert any("tool" in margin.name for margin in mesh.margins)
    assert [margin.name for margin in mesh.margins] == [margin.name for margin in box.margins]
    np.testing.assert_allclose([x.seen for x in mesh.margins], [x.seen for x in box.margins], atol=1e-6)


def test_a_flat_shape_is_named_as_not_looked_at_again() -> None:
    robot = zoo_robot("panda")
    flat = Hull(np.array([[0.0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0.3, 0.3, 0]]))
    scene = Scene((Obstacle("sheet", flat, Pose.from_rpy((0, 0, 0), (2.0, 0.0, 0.0))),))
    limits = MotionLimits(robot, clearance_of(robot, scene))
    motion = random_fourier(robot, np.random.default_rng(0), fraction=0.1)
    look = second_look(limits, motion, certify(limits, motion))
    assert look.unseen
    assert all("sheet" in name for name in look.unseen)
    assert "Not looked at again" in str(look)
