"""Positive definiteness of the mass matrix: what is proven, searched and refuted."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.consistency import check_parameters
from steelyard.consistency.mass_matrix import Definiteness, judge_mass_matrix
from steelyard.dynamics import mass_matrix
from steelyard.errors import InputError
from steelyard.identifiable import structural_identifiability
from steelyard.layout import layout_of
from steelyard.zoo import zoo_robot


def test_possible_links_prove_it() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    base = structural_identifiability(robot, layout).base
    verdict = judge_mass_matrix(robot, layout, layout.complete_nominal(), base, np.random.default_rng(0))
    assert verdict.definiteness is Definiteness.PROVEN
    M = mass_matrix(robot, layout, layout.complete_nominal(), verdict.pose[None])[0]
    assert np.linalg.eigvalsh(M)[0] == pytest.approx(verdict.smallest)


def test_impossible_links_with_the_torques_of_possible_ones_prove_it_too() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    base = structural_identifiability(robot, layout).base
    phi = base.standard(base.matrix @ layout.complete_nominal(), np.zeros(layout.size))
    assert not check_parameters(layout, phi).consistent
    verdict = judge_mass_matrix(robot, layout, phi, base, np.random.default_rng(1))
    assert verdict.definiteness is Definiteness.PROVEN
    assert "same base parameters" in verdict.sentence


def test_a_positive_matrix_without_possible_links_is_only_searched() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    base = structural_identifiability(robot, layout).base
    rng = np.random.default_rng(2)
    beta = base.matrix @ layout.complete_nominal() + 2e-3 * rng.normal(size=base.count)
    phi = base.standard(beta, layout.complete_nominal())
    verdict = judge_mass_matrix(robot, layout, phi, base, rng)
    assert verdict.definiteness is Definiteness.SEARCHED
    assert verdict.smallest > 0
    assert "No possible links" in verdict.sentence


def test_a_pose_with_a_negative_eigenvalue_refutes_it() -> None:
    robot = zoo_robot("panda")
    layout = layout_of(robot)
    base = structural_identifiability(robot, layout).base
    phi = np.array(layout.complete_nominal())
    phi[layout.of_link(layout.links[6])] *= -1.0
    verdict = judge_mass_matrix(robot, layout, phi, base, np.random.default_rng(3))
    assert verdict.definiteness is Definiteness.REFUTED
    assert np.linalg.eigvalsh(mass_matrix(robot, layout, phi, verdict.pose[None])[0])[0] < 0


def test_rods_without_width_are_never_negative_and_not_called_definite() -> None:
    robot = zoo_robot("two_link")
    layout = layout_of(robot)
    base = structural_identifiability(robot, layout).base
    phi = np.array(layout.complete_nominal())
    phi[:10] = [1.0, 0, 0, 0.5, 0.25, 0, 0.25, 0, 0, 0]  # A point mass at 0.5 m.
    verdict = judge_mass_matrix(robot, layout, phi, base, np.random.default_rng(4))
    assert verdict.definiteness in (Definiteness.NOT_NEGATIVE, Definiteness.REFUTED)


def test_floating_robots_are_refused() -> None:
    robot = zoo_robot("panda").floating()
    layout = layout_of(robot)
    base = structural_identifiability(robot, layout).base
    with pytest.raises(InputError, match="floating"):
        judge_mass_matrix(robot, layout, np.zeros(layout.size), base, np.random.default_rng(0))
