"""Primitives and recipes: what Appendix B of Oaki et al. (2026) says, and what a range leaves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from steelyard.errors import InputError
from steelyard.motion.recipes import (
    HIGH,
    LOW,
    MEDIUM,
    Primitive,
    Recipe,
    RecipeSwing,
    adjacent_pair_offsets,
    joint_group_offsets,
    primitive_within,
    single_joint_offsets,
    structured_recipes,
)
from steelyard.zoo import zoo_robot

RECIPES = {recipe.name: recipe for recipe in structured_recipes()}
PAIRS = {RecipeSwing.IN_PHASE, RecipeSwing.OPPOSITE}


def test_a_primitive_goes_to_one_side_then_the_other_and_back() -> None:
    # Oaki et al. (2026), Appendix B: the commanded offsets are 0, -a, +a, 0.
    posture = np.array([0.1, -1.5, 0.3])
    primitive = primitive_within(posture, [0.0, 0.5, -0.2], [-3.0] * 3, [3.0] * 3)
    offsets = primitive.waypoints - posture
    np.testing.assert_allclose(offsets, [[0, 0, 0], [0, -0.5, 0.2], [0, 0.5, -0.2], [0, 0, 0]], atol=1e-15)


def test_a_primitive_keeps_its_range_and_stays_as_near_to_the_posture_as_it_can() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        lower, upper = np.sort(rng.uniform(-2.0, 2.0, (2, 4)), axis=0)
        posture = rng.uniform(lower, upper)
        wish = rng.uniform(-1.5, 1.5, 4) * (rng.random(4) < 0.7)
        if not wish.any():
            continue
        primitive = primitive_within(posture, wish, lower, upper)
        way = primitive.waypoints
        assert (way >= lower - 1e-12).all()
        assert (way <= upper + 1e-12).all()
        still = wish == 0.0
        np.testing.assert_array_equal(way[:, still], way[:1, still].repeat(4, axis=0))
        # Not smaller than need be, and not elsewhere than need be.
        size = np.abs(primitive.offset)
        np.testing.assert_allclose(size, np.minimum(np.abs(wish), 0.5 * (upper - lower)), atol=1e-15)
        room = np.minimum(posture - lower, upper - posture) >= size
        np.testing.assert_allclose(primitive.centre[room], posture[room], atol=1e-15)
        moved = ~room & ~still
        touch = np.minimum(way[1:3] - lower, upper - way[1:3]).min(axis=0)
        np.testing.assert_allclose(touch[moved], 0.0, atol=1e-12)


def test_pairs_are_joints_of_which_one_carries_the_other() -> None:
    a = np.arange(1.0, 8.0)
    for phase in (1, -1):
        rows = adjacent_pair_offsets(zoo_robot("panda"), a, phase)
        expected = [np.eye(7)[j] * a[j] + phase * np.eye(7)[j + 1] * a[j + 1] for j in range(6)]
        np.testing.assert_array_equal(rows, expected)
    a[3] = 0.0  # a joint that is to stand still has no pairs
    assert len(adjacent_pair_offsets(zoo_robot("panda"), a)) == 4
    np.testing.assert_array_equal(single_joint_offsets(a), np.diag(a)[a > 0.0])
    assert adjacent_pair_offsets(zoo_robot("one_link"), [1.0]).shape == (0, 1)


@pytest.mark.parametrize("nv", range(1, 10))
@pytest.mark.parametrize("group", [None, 4])
def test_over_the_swings_of_a_group_no_two_joints_keep_step(nv: int, group: int | None) -> None:
    rows = joint_group_offsets(np.linspace(0.5, 1.0, nv), group)
    signs = np.sign(rows)
    assert (signs != 0.0).any(axis=0).all()
    if group is not None and nv > group + 1:
        assert (np.count_nonzero(rows, axis=1) == group + 1).all()
        assert rows[:, -1].all()
    for i in range(nv):
        for j in range(i):
            both = (signs[:, i] != 0.0) & (signs[:, j] != 0.0)
            product = signs[both, i] * signs[both, j]
            assert not both.any() or (product.min(), product.max()) == (-1.0, 1.0)


def test_the_families_have_the_numbers_of_table_ii() -> None:
    count = Counter(recipe.family for recipe in RECIPES.values())
    assert count == {"PA": 11, "PB": 11, "PC": 11, "AP": 5, "AG": 2, "V": 3}
    assert [r.name for r in RECIPES.values() if r.held_out] == ["V01", "V02", "V03"]
    assert len({recipe.steps for recipe in RECIPES.values()}) == len(RECIPES) == 43


def test_posture_families_are_one_grid_of_three_patterns_and_three_speeds() -> None:
    for letter in "ABC":
        grid = [RECIPES[f"P{letter}{k:02d}"] for k in range(1, 10)]
        patterns = Counter(tuple((step.wrist, step.swing) for step in recipe.steps) for recipe in grid)
        assert sorted(patterns.values()) == [3, 3, 3]
        for pattern in patterns:
            assert [wrist for wrist, _ in pattern] == [False, True]
            assert PAIRS & {swing for _, swing in pattern}
        assert {level(recipe) for recipe in grid} == {LOW, MEDIUM, HIGH}
        joined = [RECIPES[f"P{letter}{k}"] for k in (10, 11)]
        parts = {recipe.steps for recipe in grid}
        assert all(r.steps[:2] in parts and r.steps[2:] in parts for r in joined)
        assert {step.posture for r in (*grid, *joined) for step in r.steps} == {"ABC".index(letter)}


def level(recipe: Recipe) -> int:
    (only,) = {step.level for step in recipe.steps}
    return only


def test_pair_and_aggregated_families_are_as_appendix_b_says() -> None:
    pairs = [RECIPES[f"AP0{k}"] for k in range(1, 6)]
    assert all({step.swing for step in recipe.steps} == PAIRS for recipe in pairs)
    where = [(recipe.steps[0].posture, level(recipe)) for recipe in pairs]
    assert where == [(0, HIGH), (1, HIGH), (2, HIGH), (2, LOW), (2, MEDIUM)]
    assert [step.swing in PAIRS for step in RECIPES["AG01"].steps] == [True] * 3
    kinds = Counter(step.swing in PAIRS for step in RECIPES["AG02"].steps)
    assert kinds == {True: 3, False: 3}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Primitive(np.zeros(2), np.zeros(2), np.zeros(2)), "offset: moves no joint"),
        (
            lambda: Primitive(np.zeros(2), np.array([0.0, 0.1]), np.array([1.0, 0.0])),
            "centre: leaves the posture in a joint that stands still",
        ),
        (lambda: adjacent_pair_offsets(zoo_robot("panda"), np.ones(7), 2), "phase: must be 1 or -1"),
    ],
)
def test_what_is_no_primitive_is_refused(make: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()
