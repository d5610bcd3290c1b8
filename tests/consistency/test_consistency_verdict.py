"""Verdicts on full vectors, judged in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from steelyard.consistency import check_parameters
from steelyard.errors import ShapeError
from steelyard.layout import layout_of
from steelyard.zoo import zoo_robot


def exactly_possible(ten: np.ndarray) -> bool:
    """Whether the pseudo-inertia of ten numbers is positive semidefinite: all principal minors, exactly."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = (Fraction(float(value)) for value in ten)
    half = (xx + yy + zz) / 2
    J = [[half - xx, -xy, -xz, x], [-xy, half - yy, -yz, y], [-xz, -yz, half - zz, z], [x, y, z, m]]

    def minor(rows: tuple[int, ...]) -> Fraction:
        if not rows:
            return Fraction(1)
        matrix, det = [[J[i][j] for j in rows] for i in rows], Fraction(1)
        for k in range(len(rows)):
            pivot = next((r for r in range(k, len(rows)) if matrix[r][k] != 0), None)
            if pivot is None:
                return Fraction(0)
            if pivot != k:
                matrix[k], matrix[pivot], det = matrix[pivot], matrix[k], -det
            det *= matrix[k][k]
            for r in range(k + 1, len(rows)):
                f = matrix[r][k] / matrix[k][k]
                matrix[r] = [a - f * b for a, b in zip(matrix[r], matrix[k], strict=True)]
        return det

    return all(minor(rows) >= 0 for size in range(1, 5) for rows in combinations(range(4), size))


def test_every_link_is_judged_as_exact_arithmetic_judges_it() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot, ["viscous", "rotor"])
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(40):
        phi = layout.complete_nominal()
        phi[:70] *= 1.0 + 0.3 * rng.normal(size=70)
        verdict = check_parameters(layout, phi)
        for k, link in enumerate(verdict.links):
            assert link.consistent == exactly_possible(phi[10 * k : 10 * k + 10])
            assert bool(link.reasons) == (not link.consistent) == (link.margin < 0)
            seen.add(link.consistent)
        assert verdict.consistent == all(link.consistent for link in verdict.links)
    assert seen == {True, False}


def test_a_negative_friction_is_named_with_its_value_and_a_signed_offset_is_not() -> None:
    layout = layout_of(zoo_robot("two_link"), ["viscous", "offset", "rotor"])
    phi = layout.complete_nominal()
    phi[layout.index("joint2.viscous")] = -0.25
    phi[layout.index("joint1.offset")] = -3.0
    verdict = check_parameters(layout, phi)
    assert not verdict
    assert verdict.reasons == ("joint2.viscous: -0.25 N·m·s/rad is negative.",)


def test_a_known_parameter_must_have_its_value() -> None:
    layout = layout_of(zoo_robot("two_link")).fixing({"link2.m": 2.0})
    phi = np.array(layout.complete_nominal())
    assert check_parameters(layout, phi).consistent
    phi[layout.index("link2.m")] = 2.5
    assert any("not the known 2" in reason for reason in check_parameters(layout, phi).reasons)


def test_a_vector_of_another_size_is_refused() -> None:
    with pytest.raises(ShapeError, match="parameters"):
        check_parameters(layout_of(zoo_robot("two_link")), np.zeros(7))
