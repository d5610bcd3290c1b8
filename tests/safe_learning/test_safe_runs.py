"""In a world that is as stated nothing is ever broken, judged by the true states and by MuJoCo's collisions.

A short version of bench/studies/safe_runs.py, at 1 kHz and with shorter plans.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from oracles.coal_shapes import KINDS, coal_distance, random_place, random_shape
from oracles.driven_truth import Driven
from oracles.mujoco_contacts import MujocoContacts
from steelyard.dynamics import forward_kinematics
from steelyard.inertia import check_body
from steelyard.limits import Scene
from steelyard.limits.scene import Obstacle
from steelyard.pose import Pose
from steelyard.safe_learning import DONE, STOPPED, OnlineRun, Replanner

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from studies.online_arms import TABLE_I, World, arm, drawn_load, drawn_world
from studies.safe_runs import driven, true_states, violations

FORMS = {"clamped": "edge", "componentwise": "bias"}


@cache
def short_run(form: str) -> tuple[World, Driven, OnlineRun]:
    world = drawn_world(
        np.random.default_rng(5),
        form=form,
        pattern=FORMS[form],
        cycle=1e-3,
        velocity_error=1e-3,
        obstacles=5,
        duration=1.2,
        reach=0.3,
    )
    replanner = Replanner.exciting(world.setting, budget=None, evaluations=40, random=True)
    link, done = driven(world, 0, replanner, plans=2)
    return world, true_states(link, done), done


@pytest.mark.parametrize("form", FORMS)
def test_a_run_in_a_world_as_stated_breaks_nothing(form: str) -> None:
    world, truth, done = short_run(form)
    used, distance, broken = violations(world, truth, done)
    assert broken == ()
    assert done.record.outcome in (DONE, STOPPED)
    assert distance > 0.0
    assert used["box"] > 0.5  # the truth is no middle
    assert np.abs(truth.q - world.start).max() > 0.1  # and the arm moved


@pytest.mark.parametrize("form", FORMS)
def test_bounds_shrink_and_hold_the_truth_after_every_plan(form: str) -> None:
    world, _, done = short_run(form)
    boxes = [known.box for known in done.record.knowledge]
    assert all(((box.lower <= world.ten) & (world.ten <= box.upper)).all() for box in boxes)
    assert boxes[-1].spread[0] < 0.8 * TABLE_I.spread[0]


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"q": lambda x: x + 0.01}, "e"),
        ({"v": lambda x: x + 0.01}, "r"),
        ({"tau": lambda x: 3.0 * x}, "torque"),
        ({"v": lambda x: 100.0 * x}, "velocity"),
        ({"q": lambda x: x + np.array([0.0, 2.5, 0.0, 0.0, 0.0, 0.0, 0.0])}, "position"),
        ({"q": lambda x: x * np.array([1.0, 1.0, 0.0, 1.2, 1.0, 3.0, 1.0])}, "contact"),
        ({"q_ref": lambda x: x + 1e-9}, "another reference"),
    ],
)
def test_the_judge_sees_every_kind_of_violation(wrong: dict, kind: str) -> None:
    world, truth, done = short_run("clamped")
    spoilt = replace(truth, **{name: change(getattr(truth, name)) for name, change in wrong.items()})
    assert kind in violations(world, spoilt, done)[2]


def test_the_judge_sees_a_load_that_the_bounds_exclude() -> None:
    world, truth, done = short_run("clamped")
    other = replace(world, ten=world.ten + np.eye(10)[0] * 2.0)
    assert "bounds" in violations(other, truth, done)[2]


def test_drawn_loads_can_exist_inside_the_box_and_reach_its_edge() -> None:
    rng = np.random.default_rng(3)
    for edge in (False, True):
        loads = np.array([drawn_load(rng, edge=edge) for _ in range(200)])
        assert all(check_body(ten) for ten in loads)
        assert ((TABLE_I.lower <= loads) & (loads <= TABLE_I.upper)).all()
        place = (loads - TABLE_I.centre) / TABLE_I.spread
        assert (place[:, :4].min(axis=0) < -0.8).all()
        assert (place[:, :4].max(axis=0) > 0.8).all()
    assert np.abs(place[:, :4]).max(axis=1) == pytest.approx(1.0)


def test_mujoco_and_coal_agree_on_what_touches() -> None:
    rng, robot = np.random.default_rng(8), arm().robot
    items = tuple(Obstacle(kind, random_shape(rng, kind), random_place(rng, 0.5)) for kind in KINDS)
    judge = MujocoContacts(robot, Scene(items))
    alone = MujocoContacts(robot, Scene())
    q = rng.uniform(-2.0, 2.0, (25, robot.nv))
    q = q[~alone.touching(q)]
    frames = forward_kinematics(robot, q, list(robot.link_names))
    for at, poses, touches in zip(q, frames, judge.touching(q), strict=True):
        own = alone.least_distance(at[None])
        apart = min(
            coal_distance(g.shape, Pose(X[:3, :3], X[:3, 3]) @ g.pose, item.shape, item.pose)
            for X, link in zip(poses, robot.links, strict=True)
            for g in link.collision
            for item in items
        )
        assert touches == (apart < 0.0)
        assert judge.least_distance(at[None]) == pytest.approx(min(own, apart), abs=1e-5)
