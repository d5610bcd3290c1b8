"""What is known beforehand: centres, trust, sums, walls; what is replaced, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from shared_material import ROBOTS, needs_shared
from steelyard.consistency import Divergence, Prior, drawn_fits, prior_of
from steelyard.errors import InputError, UnknownNameError
from steelyard.inertia import check_body, relative_eigenvalue
from steelyard.layout import Layout, layout_of
from steelyard.robot import Robot, load_robot
from steelyard.zoo import ZOO, zoo_robot

DRIVE = ("viscous", "coulomb", "offset", "rotor")
FRICTION = ("viscous", "coulomb", "offset", "rotor", "asymmetric", "load")


def arm(name: str = "two_link", drive: tuple[str, ...] = DRIVE) -> tuple[Robot, Layout]:
    robot = zoo_robot(name)
    return robot, layout_of(robot, drive)


def fitted(prior: Prior, strength: float = 1.0) -> np.ndarray:
    """A fit to one equation that says next to nothing."""
    A = np.zeros((1, prior.layout.size))
    A[0, np.flatnonzero(prior.layout.free)[0]] = 1e-3
    return drawn_fits(A, np.zeros(1), Divergence(prior), [strength])[0].parameters


@pytest.mark.parametrize("name", ZOO)
def test_the_prior_of_every_robot_is_strictly_possible_and_nothing_is_vanishing(name: str) -> None:
    robot, layout = arm(name)
    prior = prior_of(robot, layout)
    n = 10 * len(layout.links)
    assert all(check_body(prior.centre[k : k + 10]).strict for k in range(0, n, 10))
    positive = prior.centre[n:][~prior.signed[n:]]
    assert (positive >= 1e-4 * np.median(positive)).all()
    assert positive.min() > 1e-6
    assert not prior.centre.flags.writeable


@pytest.mark.parametrize(
    ("body", "impossible"),
    [
        (np.zeros(10), False),
        (np.array([2.0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), False),  # a point at the origin
        (np.array([1, 0.1, 0, 0, 0, 0, 0.01, 0, 0, 0.01]), False),  # a point beside it
        (np.array([1, 0.5, 0, 0, 0, 0, 1 / 3, 0, 0, 1 / 3]), False),  # a rod
        (np.array([1, 0, 0, 0, 1, 0, 1, 0, 0, 2.0]), False),  # a plate
        (np.array([1, 0, 0, 0, 1, 0, 1, 0, 0, 5.0]), True),  # the triangle inequality
        (np.array([0, 0.1, 0, 0, 0, 0, 0, 0, 0, 0.0]), True),  # a moment without mass
        (np.array([-1.0, 0, 0, 0, 1, 0, 1, 0, 0, 1]), True),
    ],
)
def test_bodies_on_or_beyond_the_edge_are_replaced_and_the_impossible_named(
    body: np.ndarray, impossible: bool
) -> None:
    robot, layout = arm()
    believed = np.array(layout.nominal)
    believed[:10] = body
    prior = prior_of(robot, layout, believed)
    codes = [(finding.code, finding.place) for finding in prior.findings]
    assert codes == ([("impossible-prior", layout.links[0])] if impossible else [])
    assert check_body(prior.centre[:10]).strict
    assert float(relative_eigenvalue(prior.centre[:10])) >= 1e-5
    np.testing.assert_array_equal(prior.centre[10:20], layout.nominal[10:20])
    if not impossible:
        size = max(1.0, float(np.abs(body).max()))
        np.testing.assert_allclose(prior.centre[:10], body, atol=2e-3 * size)
    np.testing.assert_allclose(fitted(prior)[:20], prior.centre[:20], rtol=1e-3, atol=1e-6)


def test_friction_that_a_description_calls_zero_is_what_such_joints_have() -> None:
    robot, layout = arm("panda")
    believed = np.array(layout.complete_nominal())
    viscous, coulomb = (layout.index(f"{layout.joints[0]}.{term}") for term in ("viscous", "coulomb"))
    believed[viscous], believed[coulomb] = 0.0, 3.0
    prior = prior_of(robot, layout, believed)
    limit, speed = robot.joints[0].limits.effort, robot.joints[0].limits.velocity
    assert prior.centre[viscous] == pytest.approx(0.05 * limit / speed)
    assert prior.sources[viscous] == "typical"
    assert prior.centre[coulomb] == 3.0
    assert prior.sources[coulomb] == "description"
    assert prior.trust[viscous] < prior.trust[coulomb] < 1.0
    unknown = np.where(np.arange(layout.size) < 70, believed, np.nan)
    assert set(prior_of(robot, layout, unknown).sources[70:]) == {"typical"}


def test_a_joint_is_as_strong_as_it_was_seen_to_be_unless_it_stood_still() -> None:
    robot, layout = arm("panda")
    unknown = np.where(np.arange(layout.size) < 70, layout.nominal, np.nan)
    torque = np.array([2.0, 60.0, 30.0, 30.0, 10.0, 10.0, 1e-9])
    prior = prior_of(robot, layout, unknown, torque=torque)
    first, last = (layout.index(f"{layout.joints[k]}.coulomb") for k in (0, -1))
    assert prior.centre[first] == pytest.approx(0.05 * 20.0)
    assert prior.centre[last] > 0.05  # not 5e-10: nothing was seen, which says nothing


def test_total_mass_counts_the_base_where_it_is_described() -> None:
    robot, layout = arm()
    assert robot.base.body is None
    np.testing.assert_allclose(prior_of(robot, layout, total_mass=3.0).totals, 3.0)
    robot, layout = arm("panda")
    assert robot.base.body is not None
    prior = prior_of(robot, layout, total_mass=20.0)
    moving = 20.0 - robot.base.body.mass
    np.testing.assert_allclose(prior.totals, moving)
    assert prior.centre[:70:10].sum() == pytest.approx(moving)
    assert fitted(prior)[:70:10].sum() == pytest.approx(moving)
    assert prior.findings == ()
    (finding,) = prior_of(robot, layout, total_mass=60.0).findings
    assert finding.code == "total-mass-far-off"
    assert "scaled by" in finding.message


def test_a_weighed_link_and_a_data_sheets_rotor_are_given() -> None:
    robot, layout = arm("panda")
    link, joint = layout.links[2], layout.joints[3]
    prior = prior_of(robot, layout, masses={link: 4.0}, rotors={joint: 0.7})
    m, rotor = layout.index(f"{link}.m"), layout.index(f"{joint}.rotor")
    assert (prior.sources[m], prior.sources[rotor]) == ("given", "given")
    assert prior.centre[rotor] == 0.7
    assert prior.trust[rotor] > 1.0
    phi = fitted(prior)
    assert phi[m] == pytest.approx(4.0)
    stated = layout.nominal[layout.of_link(link)]
    np.testing.assert_allclose(prior.centre[layout.of_link(link)], stated * 4.0 / stated[0])


@needs_shared
def test_mirrored_legs_are_equal_up_to_the_signs_of_their_mirror() -> None:
    robot = load_robot(ROBOTS / "mini_cheetah" / "yobotics_mini_cheetah.urdf")
    layout = layout_of(robot)
    pairs = [("RL_hip", "RR_hip"), ("RL_thigh", "RR_thigh"), ("RL_thigh", "FL_thigh")]
    prior = prior_of(robot, layout, equal=pairs)
    np.testing.assert_allclose(prior.centre, layout.nominal, atol=1e-4)
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(30, layout.size)), rng.normal(size=30)
    phi = drawn_fits(A, b, Divergence(prior), [0.1])[0].parameters
    across = np.array([1, 1, -1, 1, 1, -1, 1, 1, -1, 1.0])  # y is turned around
    left, right, front = (phi[layout.of_link(x)] for x in ("RL_thigh", "RR_thigh", "FL_thigh"))
    assert abs(left[2]) > 1e-6
    np.testing.assert_allclose(left, across * right, atol=1e-9)
    np.testing.assert_allclose(left, front, atol=1e-9)


def test_a_mirror_is_found_where_only_products_of_inertia_show_it() -> None:
    robot, layout = arm("rr_parallel")
    body = np.array([1.0, 0.2, 0, 0, 0.1, 0.02, 0.2, 0, 0, 0.2])
    believed = np.array(layout.nominal)
    believed[:10], believed[10:20] = body, body * np.where(np.arange(10) == 5, -1.0, 1.0)
    prior = prior_of(robot, layout, believed, equal=[layout.links[:2]])
    np.testing.assert_allclose(prior.centre[:10], body, atol=1e-4)


def test_friction_believed_or_fixed_on_its_wall_leaves_room() -> None:
    robot, layout = arm("two_link", FRICTION)
    viscous, asymmetric = (layout.index(f"joint1.{term}") for term in ("viscous", "asymmetric"))
    believed = np.array(layout.nominal)
    believed[viscous], believed[asymmetric] = 0.1, 0.5
    phi = fitted(prior_of(robot, layout, believed))
    assert abs(phi[asymmetric]) < phi[viscous]
    still = layout.fixing({"joint1.viscous": 0.0, "joint1.asymmetric": 0.0})
    phi = fitted(prior_of(robot, still))
    assert phi[viscous] == phi[asymmetric] == 0.0


def test_fixed_numbers_are_never_overruled() -> None:
    robot, layout = arm()
    fixed = layout.fixing({"link1.m": 2.0, "joint1.rotor": 0.5})
    phi = fitted(prior_of(robot, fixed, rotors={"joint1": 0.1}))
    assert phi[0] == pytest.approx(2.0)
    assert phi[layout.index("joint1.rotor")] == 0.5
    with pytest.raises(InputError, match="layout fixes it at 2 kg"):
        prior_of(robot, fixed, masses={"link1": 3.0})


def test_what_cannot_be_known_is_refused_by_name() -> None:
    robot, layout = arm("panda")
    link, joint = layout.links[0], layout.joints[0]
    blind = np.array(layout.nominal)
    blind[10:20] = np.nan
    with pytest.raises(InputError, match=f"says nothing about {layout.links[1]}"):
        prior_of(robot, layout, blind)
    for wrong in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match=f"--mass {link}: must be a positive number"):
            prior_of(robot, layout, masses={link: wrong})
        with pytest.raises(InputError, match="--total-mass: must be a positive number"):
            prior_of(robot, layout, total_mass=wrong)
        with pytest.raises(InputError, match=f"--rotor {joint}: must be a positive number"):
            prior_of(robot, layout, rotors={joint: wrong})
    with pytest.raises(UnknownNameError, match="no_such_link"):
        prior_of(robot, layout, masses={"no_such_link": 1.0})
    with pytest.raises(UnknownNameError, match="no_such_joint"):
        prior_of(robot, layout, rotors={"no_such_joint": 1.0})
    with pytest.raises(UnknownNameError, match="no_such_link"):
        prior_of(robot, layout, equal=[(link, "no_such_link")])
    with pytest.raises(InputError, match="is equal to itself"):
        prior_of(robot, layout, equal=[(link, link)])
    with pytest.raises(InputError, match="Add rotor to --drive"):
        prior_of(robot, layout_of(robot, ["viscous"]), rotors={joint: 0.1})
    with pytest.raises(InputError, match="is less than the base alone"):
        prior_of(robot, layout, total_mass=0.5)
    with pytest.raises(InputError, match="for links that were not weighed"):
        prior_of(robot, layout, total_mass=20.0, masses={link: 30.0})
    with pytest.raises(InputError, match="torque"):
        prior_of(robot, layout, torque=np.ones(3))
