"""Drive terms and reductions take part in the analysis: counts of Oaki et al. (2026) and public arms."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.mixed_trees import mixed_tree
from oracles.numerical_identifiability import numbers, stacked_regressor
from shared_material import ROBOTS, needs_shared
from steelyard.errors import InputError
from steelyard.identifiable import restricted, structural_identifiability
from steelyard.identifiable.base_parameters import numerical_base
from steelyard.layout import layout_of
from steelyard.link_frames import modified_dh_frames, urdf_frames
from steelyard.reduction import symmetric_links
from steelyard.robot import load_robot
from steelyard.zoo import zoo_robot

FRAMES = {"mdh": modified_dh_frames, "urdf": urdf_frames}


# Oaki et al. (2026), Table I and its appendix; why its own frames give two more is in the findings on
# CRANE-X7: axial moments of links 4 and 6 show in products of inertia that are then taken for zero.
@pytest.mark.parametrize(
    ("drive", "frames", "count"),
    [
        ([], None, 43),
        (["rotor"], None, 48),
        ([], "mdh", 25),
        (["rotor"], "mdh", 30),
        ([], "urdf", 27),
        (["rotor"], "urdf", 32),
    ],
)
def test_crane_x7_has_the_counts_of_paper_004(drive: list[str], frames: str | None, count: int) -> None:
    robot = zoo_robot("crane_x7")
    layout = layout_of(robot, drive)
    reduction = None if frames is None else symmetric_links(layout, FRAMES[frames](robot))
    assert restricted(structural_identifiability(robot, layout), reduction).count == count


@needs_shared
def test_crane_x7_with_its_hand_has_57_and_62() -> None:
    # Both fingers move with one coordinate: their two armatures count once, and joints 1, 2 show none.
    robot = load_robot(ROBOTS / "crane_x7" / "crane_x7.urdf")
    counts = [structural_identifiability(robot, layout_of(robot, drive)).count for drive in ([], ["rotor"])]
    base = [numerical_base(robot, layout_of(robot, d), np.random.default_rng(0)) for d in ([], ["rotor"])]
    assert counts == [each.count for each in base] == [57, 62]


@pytest.mark.parametrize("frames", ["mdh", "urdf"])
@pytest.mark.parametrize("name", ["crane_x7", "puma560", "so101", "cheetah3_leg"])
def test_base_parameters_of_a_reduction_predict_what_its_parameters_predict(name: str, frames: str) -> None:
    robot = zoo_robot(name)
    layout = layout_of(robot, ["offset", "rotor"])
    reduction = symmetric_links(layout, FRAMES[frames](robot))
    found = restricted(structural_identifiability(robot, layout), reduction)
    rng = np.random.default_rng(7)
    WB = stacked_regressor(robot, layout, rng) @ reduction.matrix
    seen = numbers(WB, range(WB.shape[1]))
    assert found.count == seen.rank
    unlike = [x for x, y in zip(found.classes, seen.classes, strict=True) if (x == "alone") != (y == "alone")]
    assert unlike == []
    W = stacked_regressor(robot, layout, rng, samples=25) @ reduction.matrix
    rebuilt = W[:, found.base.columns] @ found.base.matrix
    np.testing.assert_allclose(rebuilt, W, atol=1e-9 * np.abs(W).max())


@pytest.mark.parametrize("seed", range(20))
def test_what_is_known_already_is_asked_no_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = mixed_tree(rng, bodies=4)
    layout = layout_of(robot, ["rotor"])
    known = rng.choice(layout.names, layout.size // 3, replace=False)
    layout = layout.fixing(dict.fromkeys(known.tolist(), 1.0))
    found = restricted(structural_identifiability(robot, layout))
    W = stacked_regressor(robot, layout, rng)[:, layout.free]
    seen = numbers(W, range(W.shape[1]))
    assert seen.kept > 1e5 * seen.dropped, "the judge is in doubt"
    assert found.count == seen.rank
    assert set(found.names).isdisjoint(known.tolist())
    assert [kind == "unidentifiable" for kind in found.classes] == [
        kind == "unidentifiable" for kind in seen.classes
    ]


def test_a_reduction_of_another_layout_is_refused() -> None:
    robot = zoo_robot("two_link")
    structure = structural_identifiability(robot, layout_of(robot))
    other = symmetric_links(layout_of(robot, ["rotor"]), urdf_frames(robot))
    with pytest.raises(InputError, match="another layout"):
        restricted(structure, other)
