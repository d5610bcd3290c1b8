"""Exact identifiability of the robots of Wensing et al. (2024): counts, dimensions, tables of symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from steelyard.identifiable.exact.identifiability import ExactIdentifiability, exact_identifiability
from steelyard.layout import layout_of
from steelyard.robot import Joint, JointKind, Link, Robot
from steelyard.robot.joint import Mimic
from steelyard.zoo import zoo_robot

ROWS = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Iyz", "Ixz", "Ixy")
# One row for each of these, one symbol for each body. The floating leg's Ixz of body 2 is printed as a star;
# it must be a filled circle, since mz of body 3 joins it as it does on the fixed torso.
SYMBOLS = {
    "puma560": "××○○○○ ×●●★★★ ×★●●●★ ××○○○○ ×●●●●● ×○○○○○ ●●●●●★ ×★★★★★ ×●★★★★ ×★●★★★",
    "scara": "×○●○ ×●○★ ×●○★ ×××× ×××× ×××× ●●○★ ×××× ×××× ××××",
    "cheetah3_leg": "×○○ ★●★ ●★★ ×○○ ×●● ×○○ ●●★ ×★★ ×●★ ×★★",
    "floating leg": "○○○ ★●★ ●★★ ○○○ ●●● ○○○ ●●★ ★★★ ★●★ ★★★",
}
# dim V and dim K without and with gravity, dim T with gravity.
DIMENSIONS = {
    "puma560": ("136666", "256666", "1 6 10 10 10 10", "1 8 10 10 10 10", "933333"),
    "scara": ("1344", "2444", "1 4 4 4", "1 4 4 4", "9797"),
    "cheetah3_leg": ("136", "366", "1 6 10", "3 9 10", "733"),
}


def with_rotors(robot: Robot, ratio: float) -> Robot:
    """A body beside each link that turns about its joint's z axis, driven through a gear."""
    axis = np.array([0.0, 0.0, 1.0])
    rotors = tuple(
        Joint(f"gear_{j.name}", JointKind.CONTINUOUS, j.parent, j.placement, axis, mimic=Mimic(j.name, ratio))
        for j in robot.joints
    )
    links = tuple(Link(f"rotor_{j.name}") for j in robot.joints)
    return replace(robot, joints=robot.joints + rotors, links=robot.links + links)


def rank_over(answer: ExactIdentifiability, names: Sequence[str]) -> int:
    """Exact rank of the groupings where all parameters but these are known."""
    rows = [[row.get(name, Fraction(0)) for name in names] for row in answer.groupings.values()]
    return int(fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row in rows]).rank())


def still(robot: Robot) -> Robot:
    return robot.with_gravity(np.zeros(3))


def test_the_counts_of_paper_002_come_out() -> None:
    expected = {  # with gravity, without, at rest: findings of the tables of Wensing et al. (2024)
        "puma560": (36, 34, 10),
        "scara": (8, 8, 1),
        "cheetah3_leg": (17, 13, 6),
        "rr_parallel": (4, 4, 0),
        "rr_perpendicular": (8, 8, 2),
    }
    for name, counts in expected.items():
        robot = zoo_robot(name)
        layout = layout_of(robot)
        found = (
            exact_identifiability(robot, layout).count,
            exact_identifiability(still(robot), layout).count,
            exact_identifiability(robot, layout, static=True).count,
        )
        assert found == counts, name


@pytest.mark.parametrize(
    ("name", "ratio", "count"), [("puma560", 5.0, 40), ("scara", 5.0, 11), ("cheetah3_leg", 10.0, 18)]
)
def test_symmetric_gyroscopic_rotors_add_what_paper_002_counts(name: str, ratio: float, count: int) -> None:
    robot = zoo_robot(name)
    geared = with_rotors(robot, ratio)
    answer = exact_identifiability(geared, layout_of(geared))
    # All of a symmetric rotor but its moment about the axis stays where its carrier is.
    axial = [f"rotor_{joint.name}.Izz" for joint in robot.joints]
    assert rank_over(answer, [*layout_of(robot).names, *axial]) == count


@pytest.mark.parametrize("name", SYMBOLS)
def test_every_parameter_has_the_symbol_of_the_tables(name: str) -> None:
    robot = zoo_robot("cheetah3_leg").floating() if name == "floating leg" else zoo_robot(name)
    bodies = exact_identifiability(robot, layout_of(robot)).bodies
    bodies = bodies[1:] if name == "floating leg" else bodies
    for term, row in zip(ROWS, SYMBOLS[name].split(), strict=True):
        assert "".join(body.classes[f"{body.link}.{term}"].symbol for body in bodies) == row, term


@pytest.mark.parametrize("name", DIMENSIONS)
def test_spans_have_the_dimensions_of_the_tables(name: str) -> None:
    robot = zoo_robot(name)
    layout = layout_of(robot)
    without = exact_identifiability(still(robot), layout).bodies
    within = exact_identifiability(robot, layout).bodies
    V0, V, K0, K, transfers = DIMENSIONS[name]
    assert [body.dim_velocity for body in without] == [int(x) for x in V0]
    assert [body.dim_velocity for body in within] == [int(x) for x in V]
    assert [body.dim_identifiable for body in without] == [int(x) for x in K0.split()]
    assert [body.dim_identifiable for body in within] == [int(x) for x in K.split()]
    assert [body.dim_transfer for body in within] == [int(x) for x in transfers]
