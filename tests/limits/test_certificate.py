"""Certificates are never false: what they prove holds at ten thousand instants a second, in every tube."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from motion.motion_families import with_ramps
from steelyard.archive import read_document
from steelyard.arrays import Array
from steelyard.dynamics import forward_kinematics, inverse_dynamics
from steelyard.enclosure import Tracking
from steelyard.errors import InputError
from steelyard.layout import layout_of
from steelyard.limits import (
    Certificate,
    MotionLimits,
    NotCertifiedError,
    Scene,
    certify,
    clearance_of,
)
from steelyard.limits.margins import Margins
from steelyard.limits.scene import Obstacle
from steelyard.motion import AnyMotion, FourierMotion, extent, pick_and_place, random_fourier
from steelyard.motion.spline import bezier
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Robot, Sphere
from steelyard.zoo import zoo_robot

ZOO = ("lbr_med7", "panda", "ur10e", "kinova_gen3", "crane_x7", "scara", "one_link")
TOUCHING = {"crane_x7": [("crane_x7_upper_arm_revolute_part_link", "crane_x7_shoulder_revolute_part_link")]}
RATE = 10_000.0
DRIVE = ("viscous", "coulomb", "offset", "rotor")


def random_scene(rng: np.random.Generator) -> Scene:
    """A table, a ball and a post somewhere within reach."""
    table = Obstacle(
        "table", Box(1.2, 1.2, 0.1), Pose.from_rpy([0, 0, 0], [0.0, 0.0, rng.uniform(-0.6, -0.1)])
    )
    ball = Obstacle("ball", Sphere(0.1), Pose.from_rpy([0, 0, 0], rng.uniform(-0.7, 0.7, 3)))
    post = Obstacle(
        "post", Capsule(0.05, 0.6), Pose.from_rpy(rng.uniform(-3, 3, 3), rng.uniform(-0.8, 0.8, 3))
    )
    return Scene((table, ball, post))


def limits_of(robot: Robot, scene: Scene | None = None, distance: float = 0.0) -> MotionLimits:
    layout = layout_of(robot, DRIVE)
    clearance = clearance_of(robot, scene, ignore=TOUCHING.get(robot.name, ()))
    return MotionLimits(robot, clearance, layout, layout.complete_nominal(), distance)


def dense(limits: MotionLimits, motion: AnyMotion) -> Margins:
    at = motion.sample(np.linspace(0.0, motion.duration, int(RATE * motion.duration) + 1))
    return limits.margins(at.q, at.v, at.a)


def assert_proves_no_more_than(certificate: Certificate, margins: Margins, limits: MotionLimits) -> None:
    names = {
        "position": limits.bounds.joints,
        "velocity": limits.bounds.joints,
        "acceleration": limits.bounds.joints,
        "torque": limits.robot.joint_names,
        "clearance": () if limits.clearance is None else limits.clearance.names,
    }
    for proven in certificate.margins:
        values: Array = getattr(margins, proven.kind)[:, names[proven.kind].index(proven.name)]
        assert 0.0 <= proven.margin <= values.min() + 1e-12


@pytest.mark.parametrize("name", ZOO)
def test_what_is_proven_holds_at_ten_kilohertz_and_what_is_refused_is_broken(name: str) -> None:
    rng = np.random.default_rng(11)
    robot = zoo_robot(name)
    for _ in range(3):
        limits = limits_of(robot, random_scene(rng))
        motion = random_fourier(robot, rng, period=4.0, fraction=float(rng.uniform(0.2, 1.0)))
        answer = attempt(limits, motion)
        if isinstance(answer, Certificate):
            assert_proves_no_more_than(answer, dense(limits, motion), limits)
        else:
            assert answer.broken
            at = motion.sample([answer.instant])
            assert limits.margins(at.q, at.v, at.a).smallest < 1e-9


def attempt(limits: MotionLimits, motion: AnyMotion) -> Certificate | NotCertifiedError:
    try:
        return certify(limits, motion)
    except NotCertifiedError as refusal:
        return refusal


@pytest.mark.parametrize("seed", range(4))
def test_an_obstacle_grazed_between_samples_is_refused_where_it_is_grazed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = zoo_robot("lbr_med7")
    motion = random_fourier(robot, rng, fraction=0.7)
    t = float(rng.integers(20, 180) * 0.05 + 0.025)
    at = motion.sample([t])
    tool = forward_kinematics(robot, at.q, [robot.tool_frame.name])[0, 0, :3, 3]
    bead = Obstacle("bead", Sphere(0.004), Pose.from_rpy([0, 0, 0], tool))
    limits = limits_of(robot, Scene((bead,)))
    assert limits.clearance is not None
    own = [k for k, pair in enumerate(limits.clearance.pairs) if pair.second.owner == "bead"]
    deepest = float(limits.clearance.distances(at.q)[0, own].min())
    assert deepest < 0.0
    with pytest.raises(NotCertifiedError, match="bead") as refusal:
        certify(limits, motion)
    assert refusal.value.kind == "clearance"
    assert refusal.value.broken
    met = motion.sample([refusal.value.instant])
    assert limits.clearance.distances(met.q)[0, own].min() < 0.0


@pytest.mark.parametrize("over", [-1e-5, 1e-5])
def test_a_speed_is_refused_just_above_its_limit_and_proven_just_below(over: float) -> None:
    robot = zoo_robot("ur10e")
    rng = np.random.default_rng(2)
    motion = random_fourier(robot, rng)
    fastest, when = peak_speed(motion, 2)
    joints = list(robot.joints)
    joints[2] = replace(joints[2], limits=replace(joints[2].limits, velocity=fastest / (1.0 + over)))
    limits = MotionLimits(replace(robot, joints=tuple(joints)))
    if over < 0.0:
        proven = next(
            m for m in certify(limits, motion).margins if (m.kind, m.name) == ("velocity", joints[2].name)
        )
        assert proven.margin == pytest.approx(1e-5 * fastest, rel=0.25)
        assert proven.start - 1e-6 <= when <= proven.end + 1e-6
    else:
        with pytest.raises(NotCertifiedError, match="velocity exceeds its limit") as refusal:
            certify(limits, motion)
        assert abs(motion.derivative([refusal.value.instant], 1)[0, 2]) > fastest / (1.0 + over)


def peak_speed(motion: FourierMotion, joint: int) -> tuple[float, float]:
    """The largest speed of a joint and when, polished far below the spacing of samples."""
    t = np.linspace(0.0, motion.duration, 20_001)
    near = t[np.abs(motion.derivative(t, 1)[:, joint]).argmax()]
    best = minimize_scalar(
        lambda x: -abs(float(motion.derivative([x], 1)[0, joint])),
        bounds=(near - 1e-3, near + 1e-3),
        method="bounded",
        options={"xatol": 1e-12},
    )
    return -float(best.fun), float(best.x)


def test_every_state_within_the_tracking_error_keeps_what_is_proven() -> None:
    rng = np.random.default_rng(4)
    robot = zoo_robot("kinova_gen3")
    start = np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.6, 0.0])
    post = Obstacle("post", Capsule(0.05, 0.5), Pose.from_rpy([0, 0, 0], [0.35, 0.45, 0.3]))
    limits = limits_of(robot, Scene((post,)))
    tube = Tracking(np.full(7, 5e-3), np.full(7, 2e-2), np.full(7, 0.1))
    motion = random_fourier(robot, rng, start=start, fraction=0.15, period=6.0)
    assert limits.parameters is not None
    uncertainty = 0.05 * np.abs(limits.parameters)
    certificate = certify(limits, motion, tracking=tube, uncertainty=uncertainty)
    assert limits.layout is not None
    at = motion.sample(np.tile(np.linspace(0.0, motion.duration, 2001), 5))
    sides = [rng.choice([-1.0, 1.0], at.q.shape) for _ in range(3)]
    q, v, a = (
        at.q + tube.position * sides[0],
        at.v + tube.velocity * sides[1],
        at.a + tube.acceleration * sides[2],
    )
    margins = limits.margins(q, v, a)
    assert_proves_no_more_than(certificate, margins, limits)
    torque = min(m.margin for m in certificate.margins if m.kind == "torque")
    for _ in range(5):
        theta = limits.parameters + uncertainty * rng.choice([-1.0, 1.0], uncertainty.shape)
        tau = inverse_dynamics(robot, limits.layout, theta, q, v, a)
        assert (limits.bounds.effort - np.abs(tau)).min() >= torque
    perfect = {(m.kind, m.name): m.margin for m in certify(limits, motion).margins}
    tubes = {(m.kind, m.name): m.margin for m in certificate.margins}
    velocity = [key for key in perfect if key[0] == "velocity"]
    assert all(tubes[key] < perfect[key] for key in velocity)


def test_a_limit_that_only_the_uncertainty_breaks_is_refused_as_possible() -> None:
    robot = zoo_robot("panda")
    limits = limits_of(robot)
    motion = random_fourier(robot, np.random.default_rng(0), fraction=0.2)
    certify(limits, motion)
    assert limits.parameters is not None
    with pytest.raises(NotCertifiedError, match="within bounds") as refusal:
        certify(limits, motion, uncertainty=5.0 * np.abs(limits.parameters))
    assert refusal.value.kind == "torque"
    assert not refusal.value.broken
    with pytest.raises(NotCertifiedError, match="position exceeds") as refusal:
        certify(limits, motion, tracking=Tracking(np.full(7, 4.0), np.zeros(7), np.zeros(7)))
    assert not refusal.value.broken


def test_every_family_of_motions_can_be_certified() -> None:
    robot = zoo_robot("two_link")
    limits = MotionLimits(robot)
    rng = np.random.default_rng(3)
    poses = 0.2 * rng.standard_normal((3, robot.nv))
    names = robot.joint_names
    fourier = random_fourier(robot, rng, fraction=0.3)
    for motion in (
        bezier(names, 2.0, 0.1 * rng.standard_normal((robot.nv, 6))),
        pick_and_place(names, poses, [0.0, 1.5, 3.0]),
        with_ramps(fourier, 1.0),
    ):
        certificate = certify(limits, motion)
        assert_proves_no_more_than(certificate, dense(limits, motion), limits)
        goes = extent(motion)
        for k, name in enumerate(names):
            own = [m for m in certificate.margins if (m.kind, m.name) == ("velocity", name)]
            assert all(m.margin <= robot.joints[k].limits.velocity - goes.velocity[k] + 1e-4 for m in own)


def test_a_certificate_states_what_it_rests_on_and_survives_its_file(tmp_path: Path) -> None:
    robot = zoo_robot("panda")
    limits = limits_of(robot, distance=0.005)
    motion = random_fourier(robot, np.random.default_rng(1), fraction=0.2)
    tube = Tracking(np.full(7, 1e-3), np.full(7, 2e-3), np.full(7, 3e-3))
    assert limits.parameters is not None
    certificate = certify(limits, motion, tracking=tube, uncertainty=0.01 * np.abs(limits.parameters))
    rests = certificate.assumptions
    assert (certificate.robot, certificate.motion) == (robot.digest, motion.digest)
    assert certificate.duration == motion.duration
    assert rests.distance == 0.005
    assert rests.findings == limits.findings
    assert (rests.lower <= limits.parameters).all()
    assert (limits.parameters <= rests.upper).all()
    certificate.write(tmp_path / "certificate.json")
    again = read_document(Certificate, tmp_path / "certificate.json")
    assert again.margins == certificate.margins
    assert again.stretches == certificate.stretches
    for name in ("position", "velocity", "acceleration"):
        np.testing.assert_array_equal(getattr(again.assumptions.tracking, name), getattr(tube, name))
    np.testing.assert_array_equal(again.assumptions.lower, rests.lower)
    np.testing.assert_array_equal(again.assumptions.upper, rests.upper)
    assert again.assumptions.parameters == rests.parameters
    smallest = certificate.smallest("clearance")
    assert smallest is not None
    assert smallest.margin == min(m.margin for m in certificate.margins if m.kind == "clearance")


def test_what_is_no_certificate_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    with pytest.raises(InputError, match="cannot be read"):
        read_document(Certificate, path)
    path.write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        read_document(Certificate, path)
    robot = zoo_robot("two_link")
    motion = random_fourier(robot, np.random.default_rng(0))
    certify(MotionLimits(robot), motion).write(path)
    path.write_text(path.read_text().replace('"margin": ', '"margin": -', 1))
    with pytest.raises(InputError, match="proves nothing"):
        read_document(Certificate, path)


def test_a_motion_of_other_joints_or_a_box_without_a_model_is_refused() -> None:
    robot = zoo_robot("two_link")
    motion = random_fourier(zoo_robot("ur10e"), np.random.default_rng(0))
    with pytest.raises(InputError, match="moves the joints"):
        certify(MotionLimits(robot), motion)
    motion = random_fourier(robot, np.random.default_rng(0))
    with pytest.raises(InputError, match="the limits have no parameters"):
        certify(MotionLimits(robot), motion, uncertainty=[1.0])


def test_a_search_without_room_says_that_nothing_is_proven() -> None:
    robot = zoo_robot("ur10e")
    limits = limits_of(robot)
    motion = random_fourier(robot, np.random.default_rng(2))
    fastest, _ = peak_speed(motion, 2)
    joints = list(robot.joints)
    joints[2] = replace(joints[2], limits=replace(joints[2].limits, velocity=fastest * (1.0 + 1e-6)))
    limits = MotionLimits(replace(robot, joints=tuple(joints)))
    certify(limits, motion)
    with pytest.raises(NotCertifiedError, match="is not proven near") as refusal:
        certify(limits, motion, most_stretches=1)
    assert not refusal.value.broken
