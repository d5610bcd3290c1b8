"""Drives: their terms, units and what they refuse."""

from __future__ import annotations

import math

import pytest

from steelyard.drive import DRIVE_TERMS, Drive, drive_term
from steelyard.errors import InputError, UnknownNameError


def test_the_terms_stand_in_the_order_of_the_torque_equation() -> None:
    assert [term.name for term in DRIVE_TERMS] == ["viscous", "coulomb", "offset", "rotor"]
    assert [term.symbol for term in DRIVE_TERMS] == ["Fv", "Fc", "Fo", "Ia"]
    assert [term.name for term in DRIVE_TERMS if term.signed] == ["offset"]


@pytest.mark.parametrize(
    ("term", "revolute", "prismatic"),
    [
        ("viscous", "N·m·s/rad", "N·s/m"),
        ("coulomb", "N·m", "N"),
        ("offset", "N·m", "N"),
        ("rotor", "kg·m²", "kg"),
    ],
)
def test_units_make_each_term_a_torque_or_a_force(term: str, revolute: str, prismatic: str) -> None:
    found = drive_term(term)
    assert (found.unit_revolute, found.unit_prismatic) == (revolute, prismatic)


def test_what_is_not_stated_is_unknown_not_zero() -> None:
    drive = Drive(viscous=0.0, offset=-1.0)
    assert [drive.value(term.name) for term in DRIVE_TERMS] == [0.0, None, -1.0, None]


def test_an_unknown_term_gets_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown drive term 'viscos'\. Did you mean 'viscous'"):
        drive_term("viscos")
    with pytest.raises(UnknownNameError):
        Drive().value("stribek")


@pytest.mark.parametrize("term", ["viscous", "coulomb", "rotor"])
def test_what_would_create_energy_is_refused(term: str) -> None:
    with pytest.raises(InputError, match=f"^{term}: cannot be negative, got -0.5 .* create energy"):
        Drive(**{term: -0.5})


@pytest.mark.parametrize("term", [term.name for term in DRIVE_TERMS])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(term: str, bad: float) -> None:
    with pytest.raises(InputError, match=f"^{term}: must be finite, got {bad}"):
        Drive(**{term: bad})
