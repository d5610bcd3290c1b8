"""The arm, dumbbells and scenes of the experiments of Zhang et al. (2025) are what they are said to be."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from oracles.pinocchio_robot import pinocchio_model
from paper_000.arm import (
    DRIVE,
    END_EFFECTOR,
    END_EFFECTOR_LOWER,
    END_EFFECTOR_UPPER,
    GRASP,
    SPREAD,
    arm,
    drawn_arm,
    end_effector,
    nominal,
)
from paper_000.dumbbells import DUMBBELLS, HANDLE_LENGTH, HANDLE_RADIUS, IRON, SLENDERNESS, STEEL, Dumbbell
from paper_000.poses import pose_error
from paper_000.scenes import EXPERIMENTS, HOVER, LOW, NARROW
from paper_000.tasks import clearance, holding
from steelyard.layout import layout_of
from steelyard.pose import Pose


def solid_moments(dumbbell: Dumbbell, rng: np.random.Generator, count: int) -> np.ndarray:
    """Mass, then Ixx, Iyy, Izz about the middle, by drawing points of the iron and the steel."""
    w, length = dumbbell.height, SLENDERNESS * dumbbell.height
    box = np.array([w / np.sqrt(3.0), 0.5 * length, 0.5 * w])
    x, y, z = (rng.uniform(-1.0, 1.0, (count, 3)) * box).T
    hexagon = np.abs(x) + np.abs(z) / np.sqrt(3.0) <= w / np.sqrt(3.0)
    weight = IRON * 8.0 * box.prod() / count * hexagon
    y = y + 0.5 * (HANDLE_LENGTH + length)
    head = np.array([weight.sum(), weight @ (y**2 + z**2), weight @ (x**2 + z**2), weight @ (x**2 + y**2)])
    m = STEEL * np.pi * HANDLE_RADIUS**2 * HANDLE_LENGTH
    across = m * (3.0 * HANDLE_RADIUS**2 + HANDLE_LENGTH**2) / 12.0
    return 2.0 * head + np.array([m, across, 0.5 * m * HANDLE_RADIUS**2, across])


def grasp_of(q: np.ndarray) -> pin.SE3:
    """Where Pinocchio finds the grasp."""
    model = pinocchio_model(arm())
    data = model.createData()
    full = np.concatenate(
        [
            (np.cos(x), np.sin(x)) if joint.nq == 2 else (x,)
            for x, joint in zip(q, model.joints[1:], strict=True)
        ]
    )
    pin.forwardKinematics(model, data, full)
    place = arm().frame(GRASP).placement
    return data.oMi[len(q)] * pin.SE3(place.rotation, place.translation)


@pytest.mark.parametrize("dumbbell", [DUMBBELLS[0], DUMBBELLS[-1]], ids=lambda d: f"{d.pounds} lb")
def test_a_dumbbell_weighs_what_its_iron_and_steel_weigh(dumbbell: Dumbbell) -> None:
    body = dumbbell.body
    drawn = solid_moments(dumbbell, np.random.default_rng(1), 400_000)
    np.testing.assert_allclose([body.mass, *np.diag(body.inertia)], drawn, rtol=5e-3)
    assert body.mass == pytest.approx(dumbbell.pounds * 0.45359237)
    np.testing.assert_allclose(body.com, 0.0, atol=1e-15)


@pytest.mark.parametrize("dumbbell", DUMBBELLS, ids=lambda d: f"{d.pounds} lb")
def test_table_one_holds_the_end_effector_with_every_dumbbell(dumbbell: Dumbbell) -> None:
    ten = holding(arm(), dumbbell).links[-1].body.parameters
    assert (ten >= END_EFFECTOR_LOWER).all()
    assert (ten <= END_EFFECTOR_UPPER).all()
    assert ten[0] == pytest.approx(1.28 + dumbbell.mass, abs=0.01), "VI-A: 1.28 kg without a dumbbell"


def test_the_nominal_of_table_one_lies_in_its_interval() -> None:
    assert (END_EFFECTOR_LOWER <= END_EFFECTOR).all()
    assert (END_EFFECTOR <= END_EFFECTOR_UPPER).all()


def test_drawn_arms_are_possible_and_within_the_spread() -> None:
    empty, ten = nominal(), end_effector()
    apart = []
    for seed in range(10):
        robot = drawn_arm(np.random.default_rng(seed))
        assert all(link.body.consistency for link in robot.links)
        phi = layout_of(robot, DRIVE).complete_nominal()
        off = np.abs(phi - empty)
        assert (off <= SPREAD * np.abs(empty) * (1.0 + 1e-12)).all()
        assert not off[ten].any()
        apart.append(off / np.where(empty == 0.0, 1.0, SPREAD * np.abs(empty)))
    used = np.delete(np.max(apart, axis=0), np.r_[ten])
    assert used[np.delete(empty, np.r_[ten]) != 0.0].min() > 0.3, "every number is drawn"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_grasp_ends_over_its_place_by_pinocchio(name: str) -> None:
    experiment = EXPERIMENTS[name]
    for dumbbell in experiment.dumbbells:
        found, wanted = grasp_of(experiment.end(dumbbell)), experiment.target(dumbbell)
        np.testing.assert_allclose(found.translation, wanted.translation, atol=1e-8)
        np.testing.assert_allclose(found.rotation, wanted.rotation, atol=1e-8)


def test_a_pose_error_is_the_way_and_the_turn_that_are_missing() -> None:
    rng = np.random.default_rng(2)
    for _ in range(5):
        q, other = LOW.start + rng.uniform(-0.3, 0.3, (2, 7))
        wanted, found = grasp_of(other), grasp_of(q)
        miss = pose_error(q, Pose(wanted.rotation, wanted.translation))
        np.testing.assert_allclose(miss[:3], wanted.translation - found.translation, atol=1e-12)
        np.testing.assert_allclose(miss[3:], pin.log3(wanted.rotation @ found.rotation.T), atol=1e-9)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_task_starts_and_ends_clear_of_everything(name: str) -> None:
    experiment = EXPERIMENTS[name]
    for dumbbell in experiment.dumbbells:
        robot = holding(arm(), dumbbell)
        poses = np.stack([experiment.start, experiment.end(dumbbell)])
        assert clearance(experiment, dumbbell, robot).distances(poses).min() > experiment.distance


def test_each_dumbbell_hovers_over_the_one_before() -> None:
    for lower, upper in zip(LOW.dumbbells[:-1], LOW.dumbbells[1:], strict=True):
        beneath = next(o for o in LOW.scene(upper).obstacles if o.name == f"{lower.pounds} lb")
        top = beneath.pose.translation[2] + 0.5 * beneath.shape.z
        bottom = LOW.target(upper).translation[2] - 0.5 * upper.height
        assert bottom - top == pytest.approx(HOVER)
    assert len(NARROW.scene(NARROW.dumbbells[0]).obstacles) == len(NARROW.obstacles)
