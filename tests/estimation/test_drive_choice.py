"""Drive terms are taken where left-out blocks of a log ask for them, and only there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from steelyard.consistency import Prior, prior_of
from steelyard.drive import Drive, StribeckShape
from steelyard.estimation import choose_drive, lag_seen_by, largest_torque, with_lag
from steelyard.estimation.auto import fit_auto
from steelyard.estimation.drive_choice import DriveChoice
from steelyard.estimation.linear import fit_weighted
from steelyard.estimation.torque_lag import torque_lag
from steelyard.formats.model_files import mjcf_model
from steelyard.identification import identification_data, identification_problem
from steelyard.layout import Layout, layout_of
from steelyard.motion import random_fourier
from steelyard.problem import Problem
from steelyard.robot import Robot
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot

LINEAR = ("viscous", "coulomb", "offset", "rotor")
FRICTION = {
    "none": {},
    "load": {"load": 0.1},
    "stribeck": {"stribeck": 0.03, "stribeck_shape": StribeckShape(0.15, 1.0)},
    "asymmetric": {"asymmetric": 0.008},
}


def driven(robot: Robot, *, rotor: float = 2e-3, **more: object) -> Robot:
    """The robot with friction in shares of every joint's torque limit."""
    joints = []
    for joint in robot.joints:
        limit = joint.limits.effort
        own = {
            k: v * limit if k in ("stribeck", "asymmetric") and isinstance(v, float) else v
            for k, v in more.items()
        }
        drive = Drive(viscous=0.02 * limit, coulomb=0.03 * limit, rotor=rotor * limit, **own)  # type: ignore[arg-type]
        joints.append(replace(joint, drive=drive))
    return replace(robot, joints=tuple(joints))


def asked(
    robot: Robot, seed: int, described: Drive | None = None
) -> tuple[Problem, Callable[[Layout], Prior]]:
    """A simulated industrial log of a robot whose description says nothing of its drives, or one thing."""
    rng = np.random.default_rng(seed)
    motion = random_fourier(robot, rng, period=5.0)
    log = simulate_motion(robot, motion, sensor="industrial", rng=rng)
    stated = described or Drive()
    bare = replace(robot, joints=tuple(replace(joint, drive=stated) for joint in robot.joints))
    layout = layout_of(bare, LINEAR)
    data = replace(identification_data(bare, layout, [log], log), prior=layout.nominal)
    problem = identification_problem(data).problem

    def known(other: Layout) -> Prior:
        return prior_of(bare, other, other.nominal, torque=largest_torque(problem))

    return problem, known


def chosen(friction: str, seed: int = 0, **more: float) -> DriveChoice:
    problem, known = asked(driven(zoo_robot("ur10e"), **FRICTION[friction], **more), seed)
    return choose_drive(problem, known)


@pytest.mark.parametrize("friction", FRICTION)
def test_the_friction_that_the_arm_has_is_chosen_and_no_other(friction: str) -> None:
    choice = chosen(friction)
    assert set(choice.terms) - set(LINEAR) == ({friction} - {"none"})
    assert set(LINEAR) <= set(choice.terms)
    codes = [finding.code for finding in choice.findings]
    assert codes == ([] if friction == "none" else ["drive-chosen"])
    if friction != "none":
        first, last = [trial for trial in choice.trials if trial.taken]
        assert f"{first.percent:.3g} % without" in choice.findings[0].message
        assert f"to {last.percent:.3g} % with it" in choice.findings[0].message
        assert last.change < -last.standard_error
        assert last.percent < 0.5 * first.percent


def test_friction_stated_far_too_small_is_not_made_up_for_by_another_term() -> None:
    """Public descriptions of KUKA's arms state 10 N·m·s/rad and 0.1 N·m at every joint."""
    problem, known = asked(driven(zoo_robot("ur10e")), 0, Drive(viscous=10.0, coulomb=0.1))
    choice = choose_drive(problem, known)
    assert choice.terms == LINEAR
    bare = choose_drive(*asked(driven(zoo_robot("ur10e")), 0))
    assert choice.trials[0].percent < 1.2 * bare.trials[0].percent


def test_load_friction_is_zero_at_joints_that_show_none() -> None:
    layout = chosen("load").layout
    free = {x.owner for x in layout.parameters if x.term == "load" and not x.fixed}
    assert {"shoulder_lift_joint", "elbow_joint"} <= free
    # Nothing but its own small inertia loads the last joint.
    assert "wrist_3_joint" not in free


def test_a_rotor_that_torques_do_not_feel_is_left_out_unless_it_was_stated() -> None:
    problem, known = asked(driven(zoo_robot("ur10e"), rotor=0.0), 0)
    choice = choose_drive(problem, known)
    assert choice.terms == ("viscous", "coulomb", "offset")
    assert [finding.code for finding in choice.findings] == ["no-rotor-felt"]
    assert "--rotor JOINT=" in choice.findings[0].message
    assert choose_drive(problem, known, keep=("rotor",)).terms == LINEAR


def test_nothing_is_chosen_where_nothing_can_be_left_out() -> None:
    problem, known = asked(driven(zoo_robot("two_link")), 0)
    few = {x: getattr(problem.samples, x)[:10] for x in ("time", "q", "v", "a", "tau")}
    short = replace(problem, evidence=replace(problem.samples, **few))
    choice = choose_drive(short, known)
    assert choice.layout is short.layout
    assert not choice.trials


def test_without_a_prior_friction_is_chosen_and_the_rotor_stays() -> None:
    problem, _ = asked(driven(zoo_robot("ur10e"), load=0.1), 0)
    assert choose_drive(problem).terms == (*LINEAR, "load")


def test_a_chosen_load_term_gives_believable_links_and_a_file_that_says_what_it_lacks() -> None:
    problem, known = asked(driven(zoo_robot("ur10e"), load=0.1), 0)
    layout = choose_drive(problem, known).layout
    posed = replace(problem, layout=layout, prior=layout.nominal, compressed=None)
    estimate = fit_auto(posed, known(layout))
    assert estimate.parameters is not None
    places = [layout.index(f"{joint}.load") for joint in ("shoulder_lift_joint", "elbow_joint")]
    np.testing.assert_allclose(estimate.parameters[places], 0.1, atol=0.02)
    masses = estimate.parameters[0 : 10 * len(layout.links) : 10]
    described = layout.nominal[0 : 10 * len(layout.links) : 10]
    assert 0.7 < masses.sum() / described.sum() < 1.4
    (lacks,) = [
        x for x in mjcf_model(problem.robot, layout, estimate.parameters).findings if x.place == "MJCF"
    ]
    assert lacks.code == "friction-left-out"
    assert "shoulder_lift_joint" in lacks.message


def test_a_lag_bends_an_estimate_of_other_terms_by_what_moved_torques_show() -> None:
    problem, known = asked(driven(zoo_robot("ur10e")), 0)
    lag = torque_lag(problem)
    plain = fit_weighted(problem)
    again = lag_seen_by(problem, plain, lag)
    np.testing.assert_allclose(again.sensitivity, lag.sensitivity, rtol=0.05, atol=1.0)
    layout = layout_of(problem.robot, (*LINEAR, "load"))
    loaded = replace(problem, layout=layout, prior=layout.nominal, compressed=None)
    estimate = fit_auto(loaded, known(layout))
    # Joints that do not show friction under load have none in the layout of the estimate.
    seen = lag_seen_by(replace(loaded, layout=estimate.layout, compressed=None), estimate, lag)
    assert seen.sensitivity.shape == estimate.values.shape
    assert (np.diag(with_lag(estimate, seen).covariance) >= np.diag(estimate.covariance)).all()
