"""Designs under the constraints of Tian et al. (2024): the same search, another measure of clearance."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from excitation.small_designs import med7
from paper_003.tool_constraints import virtual_constraints_of
from paper_003.virtual_constraints import VirtualConstraints
from steelyard.errors import NoSolutionError
from steelyard.excitation import Design, DesignProblem, SearchBudget, design
from steelyard.excitation.local_search import Searcher, room
from steelyard.excitation.objective import RANGE, ClearanceBarrier, barrier
from steelyard.excitation.problem import some_pairs
from steelyard.limits import clearance_of
from steelyard.motion import LinearMotion
from steelyard.pose import Pose
from steelyard.robot import Capsule, Geometry

ONE_ROUND = SearchBudget(seconds=None, rounds=1)
HOOK = (Geometry(Capsule(0.02, 0.4), Pose.from_rpy((0.0, 2.2, 0.0), (0.2, 0.0, 0.05))),)
"""A rod that points back towards the arm: a search that does not look runs it into a link."""


@cache
def constraints() -> VirtualConstraints:
    return virtual_constraints_of(med7().robot, HOOK, np.random.default_rng(0))


@cache
def papers_way() -> DesignProblem:
    return replace(med7(), clearance=constraints())


@cache
def papers_design() -> Design:
    return design(papers_way(), ONE_ROUND, np.random.default_rng(0), workers=1)


def positions(motion: LinearMotion) -> np.ndarray:
    return motion.sample(np.linspace(0.0, motion.duration, 10_001)).q


def test_designs_keep_every_feature_point_out_of_every_ellipsoid() -> None:
    found = papers_design()
    q = positions(found.motion)
    assert constraints().values(q).min() > 0.0
    nearest = constraints().distances(q).min()
    assert nearest >= 0.8 * papers_way().distance
    assert found.margins.clearance == pytest.approx(nearest - papers_way().distance, abs=1e-3)
    # Without the constraints the same search enters an ellipsoid: they are what keeps it out.
    blind = design(replace(med7(), clearance=None), ONE_ROUND, np.random.default_rng(0), workers=1)
    assert constraints().values(positions(blind.motion)).min() < 0.0


def test_means_let_the_rod_collide_between_them_where_signed_distances_do_not() -> None:
    exact = clearance_of(med7().robot, tool=HOOK)
    tighter = design(replace(med7(), clearance=exact), ONE_ROUND, np.random.default_rng(0), workers=1)
    distances = exact.distances(positions(papers_design().motion)).min(axis=0)
    assert distances.min() < -0.01
    assert "tool" in exact.pairs[int(distances.argmin())].owners
    assert exact.distances(positions(tighter.motion)).min() >= 0.8 * med7().distance


def test_the_barrier_and_its_gradient_count_exactly_the_pairs_that_are_near() -> None:
    asked, searcher = papers_way(), Searcher(papers_way())
    apart = ClearanceBarrier(asked, constraints(), searcher.unknowns, searcher.ranges)
    acted = 0
    for seed in range(4):
        way = np.random.default_rng(seed).standard_normal(searcher.unknowns.shape)
        end = room(searcher, np.zeros_like(way), way)[:, None] * way
        # Ever larger motions, up to the limits: remembered distances are used, and given up in time.
        for share in np.linspace(0.0, 1.0, 21):
            q = searcher.unknowns.motion(share * end).sample(asked.clearance_times).q
            expected = barrier((constraints().distances(q) - asked.distance) / RANGE)[0]
            assert apart.gradient(share * end)[0] == pytest.approx(expected, rel=1e-9)
            if 0.0 < expected < np.inf:
                acted += 1
                h = 1e-6
                ahead, behind = (apart.gradient((share + step) * end)[0] for step in (h, -h))
                slope = float((apart.gradient(share * end)[1] * end).sum())
                assert (ahead - behind) / (2.0 * h) == pytest.approx(slope, rel=1e-4)
    assert acted >= 2


def test_some_pairs_are_measured_as_among_all() -> None:
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 7))
    for every in (constraints(), clearance_of(med7().robot, tool=HOOK)):
        few = some_pairs(every, [5, 2])
        assert type(few) is type(every)
        assert [pair.name for pair in few.pairs] == [every.pairs[5].name, every.pairs[2].name]
        np.testing.assert_allclose(few.distances(q), every.distances(q)[:, [5, 2]], atol=1e-14)


def test_a_start_inside_an_ellipsoid_is_refused_with_the_name_of_the_point_and_the_link() -> None:
    q = np.random.default_rng(0).uniform(-2.0, 2.0, (20_000, 7))
    inside = q[(constraints().values(q) < 0.0).any(axis=1)][0]
    with pytest.raises(NoSolutionError, match=r"tool point \d+ – lbr_link_\d: overlapping by"):
        design(replace(papers_way(), start=inside), ONE_ROUND, np.random.default_rng(0), workers=1)
