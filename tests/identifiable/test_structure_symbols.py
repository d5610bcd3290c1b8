"""The class of every parameter and the groupings, against tables and formulas of Wensing et al. (2024)."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.paper_mechanisms import CHEETAH_LEG, PUMA, RX90, SCARA, Mechanism, with_spin
from steelyard.identifiable import structural_identifiability
from steelyard.layout import layout_of

# Rows m, mx, my, mz, Ixx, Iyy, Izz, Iyz, Ixz, Ixy, and the spin of the rotor; one letter per body:
# * known alone, B base, o grouped, x out of reach. In Table 5 Ixz of the free leg's second body is printed as
# a star: m_z of the third is handed to it over the length of the thigh, as in the fixed leg (an erratum).
ROWS = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Iyz", "Ixz", "Ixy", "Im")
TABLE_2 = "xxoooo xBB*** x*BBB* xxoooo xBBBBB xooooo BBBBB* x***** xB**** x*B*** oo****"
TABLE_4 = "xoBo xBo* xBo* xxxx xxxx xxxx BBo* xxxx xxxx xxxx o***"
TABLE_5_FIXED = "xoo *B* B** xoo xBB xoo BB* x** xB* x** oo*"
TABLE_5_FREE = "ooo *B* B** ooo BBB ooo BB* *** *B* *** ***"
LETTERS = {"alone": "*", "base": "B", "grouped": "o", "unidentifiable": "x"}


@pytest.mark.parametrize(
    ("mechanism", "floating", "table"),
    [
        (PUMA, False, TABLE_2),
        (SCARA, False, TABLE_4),
        (CHEETAH_LEG, False, TABLE_5_FIXED),
        (CHEETAH_LEG, True, TABLE_5_FREE),
    ],
    ids=["table 2", "table 4", "table 5 fixed", "table 5 free"],
)
def test_the_symbols_are_those_of_the_paper(mechanism: Mechanism, floating: bool, table: str) -> None:
    robot = mechanism.robot(rotors=True, floating=floating)
    found = with_spin(robot)
    kinds = dict(zip(found.names, found.classes, strict=True))
    joints = range(1, len(mechanism.rows) + 1)
    printed = dict(zip(ROWS, table.split(), strict=True))
    for row in ROWS:
        names = [f"joint{i}/rotor.Izz" if row == "Im" else f"link{i}.{row}" for i in joints]
        assert "".join(LETTERS[kinds[name]] for name in names) == printed[row], row


def test_links_alone_have_the_symbols_they_have_beside_rotors() -> None:
    for mechanism, table in ((PUMA, TABLE_2), (SCARA, TABLE_4)):
        robot = mechanism.robot()
        found = structural_identifiability(robot, layout_of(robot))
        for row, printed in zip(ROWS[:-1], table.split(), strict=False):
            kinds = [body.classes[f"{body.link}.{row}"] for body in found.bodies]
            assert "".join(LETTERS[kind] for kind in kinds) == printed, row


def test_another_elbow_gives_the_same_count_and_other_symbols() -> None:
    # RX90 has no offset a3, so that mx and Ixy of its third body are known alone.
    robot = RX90.robot()
    third = structural_identifiability(robot, layout_of(robot)).bodies[2].classes
    assert (third["link3.mx"], third["link3.Ixy"]) == ("alone", "alone")
    robot = PUMA.robot()
    third = structural_identifiability(robot, layout_of(robot)).bodies[2].classes
    assert (third["link3.mx"], third["link3.Ixy"]) == ("base", "base")


def test_the_leading_groupings_of_the_puma_are_the_known_formulas() -> None:
    # From a symbolic run with the lengths left open: a2 and d3 of the third row, a3 and d4 of the fourth.
    robot = PUMA.robot()
    a2, d3, a3, d4 = 0.2, 0.4, 0.153, 0.839
    base = structural_identifiability(robot, layout_of(robot)).base
    wrist = {f"link{i}.m": 1.0 for i in (4, 5, 6)}
    beyond = {"link3.m": 1.0, **wrist}
    expected = {
        "link2.mx+": {"link2.mx": 1.0, **dict.fromkeys(beyond, a2)},
        "link2.my": {"link2.my": 1.0},
        "link2.Ixx+": {"link2.Ixx": 1.0, "link2.Iyy": -1.0, **dict.fromkeys(beyond, -(a2**2))},
        "link2.Ixz+": {"link2.Ixz": 1.0, "link3.mz": -a2, **dict.fromkeys(beyond, -a2 * d3)},
        "link3.mx+": {"link3.mx": 1.0, **dict.fromkeys(wrist, a3)},
        "link3.my+": {"link3.my": 1.0, "link4.mz": 1.0, **dict.fromkeys(wrist, d4)},
    }
    for name, combination in expected.items():
        row = dict(zip(layout_of(robot).names, base.matrix[base.names.index(name)], strict=True))
        found = {key: value for key, value in row.items() if value != 0.0}
        assert found.keys() == combination.keys(), name
        np.testing.assert_allclose(
            [found[key] for key in combination], list(combination.values()), atol=1e-12
        )
