"""Bodies for links that nobody weighed, and links that are not believed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shared_material import ROBOTS, needs_shared
from steelyard.consistency import doubts_about, link_places, link_shapes, sane_prior
from steelyard.consistency.link_shapes import uniform_body
from steelyard.errors import InputError
from steelyard.inertia import Body, box, check_body
from steelyard.layout import layout_of
from steelyard.robot import Link, Robot, load_robot
from steelyard.zoo import ZOO, zoo_robot


def without_inertials(robot: Robot, *names: str, shapes: bool = True) -> Robot:
    def bare(link: Link) -> Link:
        if names and link.name not in names:
            return link
        parts = tuple(replace(part, body=None) for part in link.fixed)
        return replace(link, own=None, fixed=parts, collision=link.collision if shapes else ())

    return replace(robot, links=tuple(bare(link) for link in robot.links))


def links_of(robot: Robot, phi: np.ndarray) -> np.ndarray:
    return phi[: 10 * len(robot.links)].reshape(-1, 10)


@pytest.mark.parametrize("name", sorted(ZOO))
@pytest.mark.parametrize("shapes", [True, False])
def test_every_link_without_inertial_gets_a_body_that_can_exist_and_raises_no_doubt(
    name: str, shapes: bool
) -> None:
    robot = without_inertials(zoo_robot(name), shapes=shapes)
    layout = layout_of(robot, ["viscous"])
    prior = sane_prior(robot, layout)
    places = link_places(robot, link_shapes(robot))
    for link, ten in zip(robot.links, links_of(robot, prior.parameters), strict=True):
        assert check_body(ten).strict
        assert doubts_about(Body.from_parameters(ten), places[link.name]) == []
    assert prior.replaced == robot.link_names
    (finding,) = prior.findings
    assert finding.code == "prior-from-shapes"


@pytest.mark.parametrize("name", ["panda", "ur10e", "lbr_med7", "kinova_gen3", "crane_x7"])
@pytest.mark.parametrize("shapes", [True, False])
def test_an_arm_gets_about_the_mass_its_maker_states(name: str, shapes: bool) -> None:
    real = zoo_robot(name)
    robot = without_inertials(real, shapes=shapes)
    stated = links_of(real, layout_of(real).nominal)[:, 0].sum()
    believed = links_of(robot, sane_prior(robot, layout_of(robot)).parameters)[:, 0].sum()
    assert 0.4 <= believed / stated <= 2.2


def test_the_total_mass_is_met_and_stated_links_stay_as_they_are() -> None:
    real = zoo_robot("ur10e")
    robot = without_inertials(real, "upper_arm_link", "wrist_1_link")
    layout = layout_of(robot)
    prior = sane_prior(robot, layout, total_mass=28.7)
    links = links_of(robot, prior.parameters)
    assert links[:, 0].sum() == pytest.approx(28.7)
    assert prior.replaced == ("upper_arm_link", "wrist_1_link")
    kept = [0, 2, 4, 5]
    assert np.array_equal(links[kept], links_of(real, layout_of(real).nominal)[kept])
    # Those filled in have one density, and are the uniform bodies of their shapes.
    shapes = link_shapes(robot)
    upper, wrist = shapes["upper_arm_link"], shapes["wrist_1_link"]
    assert links[1, 0] / upper.volume == pytest.approx(links[3, 0] / wrist.volume)
    assert links[1] == pytest.approx(uniform_body(upper, float(links[1, 0])))


def test_a_total_mass_that_leaves_nothing_is_refused() -> None:
    robot = without_inertials(zoo_robot("ur10e"), "wrist_1_link")
    with pytest.raises(InputError, match="leaves nothing"):
        sane_prior(robot, layout_of(robot), total_mass=20.0)
    with pytest.raises(InputError, match="must be positive"):
        sane_prior(robot, layout_of(robot), total_mass=-1.0)


def test_a_bar_lies_between_the_joints_of_its_link() -> None:
    robot = without_inertials(zoo_robot("two_link"), shapes=False)
    links = links_of(robot, sane_prior(robot, layout_of(robot)).parameters)
    first = Body.from_parameters(links[0])
    assert first.com == pytest.approx(0.5 * robot.joints[1].placement.translation)
    # The last link carries no joint: a ball at its own.
    assert Body.from_parameters(links[1]).com == pytest.approx(np.zeros(3))


def test_a_complete_and_sane_description_is_taken_as_it_is() -> None:
    for name in sorted(ZOO):
        robot = zoo_robot(name)
        layout = layout_of(robot, ["viscous", "rotor"])
        prior = sane_prior(robot, layout)
        assert np.array_equal(prior.parameters, layout.nominal, equal_nan=True)
        assert prior.replaced == ()
        assert prior.findings == ()


ABSURD = {
    "a tonne": lambda phi: 1000.0 / phi[0] * phi,
    "a placeholder": lambda phi: 1e-9 / phi[0] * phi,
    "a centre of mass two metres away": lambda phi: (
        Body(float(phi[0]), np.array([0.0, 2.0, 0.0]), 1e-2 * np.eye(3)).parameters
    ),
    "a radius of gyration of three metres": lambda phi: (
        Body(float(phi[0]), phi[1:4] / phi[0], 9.0 * phi[0] * np.eye(3)).parameters
    ),
    "a negative moment": lambda phi: phi - 10.0 * np.eye(10)[4],
}


@pytest.mark.parametrize("what", ABSURD)
@pytest.mark.parametrize("shapes", [True, False])
def test_an_absurd_link_is_named_and_replaced_and_the_others_are_kept(what: str, shapes: bool) -> None:
    robot = zoo_robot("panda")
    if not shapes:
        robot = replace(robot, links=tuple(replace(link, collision=()) for link in robot.links))
    layout = layout_of(robot)
    phi = layout.nominal
    phi[layout.of_link("panda_link3")] = ABSURD[what](phi[layout.of_link("panda_link3")])
    prior = sane_prior(robot, layout, phi)
    assert prior.replaced == ("panda_link3",)
    (finding,) = prior.findings
    assert (finding.code, finding.place) == ("absurd-prior", "panda_link3")
    assert "not believed" in finding.message
    links = links_of(robot, prior.parameters)
    assert 0.1 <= links[2, 0] <= 10.0
    others = [0, 1, 3, 4, 5, 6]
    assert np.array_equal(links[others], links_of(robot, phi)[others])


def test_a_link_is_heavier_than_steel_only_if_its_shapes_are() -> None:
    robot = zoo_robot("scara")
    places = link_places(robot, link_shapes(robot))
    place = places["link2"]
    assert place.shape is not None
    sides = np.ptp(place.shape.vertices, axis=0)
    steel = box(sides, density=7850.0)
    centred = Body(steel.mass, place.shape.centre, steel.inertia)
    heavier = Body(3.0 * steel.mass, place.shape.centre, 3.0 * steel.inertia)
    assert not any(doubt.absurd for doubt in doubts_about(centred, place))
    assert [doubt.quantity for doubt in doubts_about(heavier, place) if doubt.absurd] == ["mass"]


@needs_shared
@pytest.mark.parametrize("file", ["puma560/puma560_robot.urdf", "scara/scara.urdf"])
def test_vendors_that_publish_no_inertials_get_a_prior(file: str) -> None:
    robot = load_robot(ROBOTS / file)
    layout = layout_of(robot)
    prior = sane_prior(robot, layout, total_mass=20.0)
    links = links_of(robot, prior.parameters)
    assert links[:, 0].sum() == pytest.approx(20.0)
    assert all(check_body(ten).strict for ten in links)


def test_a_link_is_as_long_as_its_joints_are_apart_and_not_much_shorter_than_the_others() -> None:
    robot = zoo_robot("ur10e")
    places = list(link_places(robot, {}).values())
    apart = [float(np.linalg.norm(joint.placement.translation)) for joint in robot.joints[1:]]
    lengths = [place.length for place in places]
    assert lengths[2] == pytest.approx(apart[2])
    assert lengths[0] == lengths[3] == pytest.approx(0.25 * places[0].reach)
    assert lengths[0] > max(apart[0], apart[3])
    # The far end of the last link is not known.
    assert lengths[5] == max(lengths[:5])
