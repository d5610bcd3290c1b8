"""Sums add, sequences follow each other without a jump, and what does not fit is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion.motion_families import JOINTS, fourier, sinusoid, spline
from steelyard.errors import InputError
from steelyard.motion import SequenceMotion, in_sequence, quintic, slowed
from steelyard.motion.composition import SumMotion
from steelyard.motion.conditions import rest_to_rest

POSES = np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 0.5], [0.3, 0.2, -0.1]])


def go(k: int, seconds: float) -> object:
    return quintic(JOINTS, seconds, POSES[k], POSES[k + 1])


def test_a_sum_is_the_sum_of_its_parts() -> None:
    parts = (fourier(1), spline(1), sinusoid(1))
    t = np.linspace(0.0, 4.0, 60)
    at = SumMotion(parts).sample(t)
    for letter in ("q", "v", "a"):
        added = sum(getattr(part.sample(t), letter) for part in parts)
        np.testing.assert_allclose(getattr(at, letter), added, rtol=1e-14, atol=1e-14)


def test_a_sequence_runs_its_parts_in_turn() -> None:
    whole = in_sequence([go(0, 0.7), go(1, 1.1)])
    assert whole.duration == pytest.approx(1.8)
    t = np.linspace(0.0, 1.8, 181)
    q = whole.sample(t).q
    early = t < whole.parts[0].duration
    np.testing.assert_array_equal(q[early], whole.parts[0].sample(t[early]).q)
    np.testing.assert_allclose(q[~early], whole.parts[1].sample(t[~early] - 0.7).q, atol=1e-15)
    np.testing.assert_allclose(whole.sample([0.7]).q[0], POSES[1], atol=1e-15)


def test_a_series_repeats_in_a_sequence_as_often_as_it_is_there() -> None:
    series = rest_to_rest(fourier(2), POSES[0])
    whole = in_sequence([series, series, go(0, 1.0)])
    t = np.linspace(0.0, 8.0, 100)[:-1]
    np.testing.assert_allclose(whole.sample(t).q, series.sample(t).q, atol=1e-12)
    np.testing.assert_allclose(whole.sample([9.0]).q[0], POSES[1], atol=1e-15)


def test_beyond_its_ends_a_composition_stands_still() -> None:
    for whole in (in_sequence([go(0, 0.7), go(1, 1.1)]), SumMotion((fourier(0), spline(0)))):
        beyond = whole.sample([-1.0, whole.duration + 1.0])
        np.testing.assert_array_equal(beyond.q, whole.sample([0.0, whole.duration]).q)
        assert not beyond.v.any()
        assert not beyond.a.any()


def test_sequences_in_a_sequence_are_laid_out_flat() -> None:
    inner = in_sequence([go(0, 0.7), go(1, 1.1)])
    home = quintic(JOINTS, 1.0, POSES[2], POSES[0])
    outer = in_sequence([inner, home, inner])
    assert [part.duration for part in outer.parts] == [0.7, 1.1, 1.0, 0.7, 1.1]


def test_a_jump_at_a_seam_is_refused_with_its_joint() -> None:
    moved = quintic(JOINTS, 1.0, POSES[1] + [0.0, 1e-6, 0.0], POSES[2])
    with pytest.raises(InputError, match=r"parts\[1\]: the position of joint 'elbow' jumps by 1e-06"):
        SequenceMotion((go(0, 1.0), moved))
    moving = quintic(JOINTS, 1.0, POSES[1], POSES[2], start_velocity=[0.0, 0.0, 0.1])
    with pytest.raises(InputError, match=r"the velocity of joint 'slider' jumps by 0\.1"):
        SequenceMotion((go(0, 1.0), moving))
    pushed = quintic(JOINTS, 1.0, POSES[1], POSES[2], start_acceleration=[0.2, 0.0, 0.0])
    with pytest.raises(InputError, match=r"the acceleration of joint 'shoulder' jumps by 0\.2"):
        SequenceMotion((go(0, 1.0), pushed))


def test_parts_that_do_not_belong_together_are_refused() -> None:
    other = replace(fourier(0), joints=("a", "b", "c"))
    with pytest.raises(InputError, match=r"parts\[1\]: moves the joints \['a', 'b', 'c'\]"):
        SumMotion((fourier(0), other))
    with pytest.raises(InputError, match=r"parts\[1\]: was made for another robot"):
        SumMotion((fourier(0), replace(fourier(0), robot="other")))
    with pytest.raises(InputError, match=r"parts\[1\]: lasts 8.0 s, the first part 4.0 s"):
        SumMotion((fourier(0), slowed(fourier(0), 2.0)))
    for made in (SumMotion, SequenceMotion):
        with pytest.raises(InputError, match="parts: there must be at least one"):
            made(())
        with pytest.raises(InputError, match="schema: layout 9"):
            made((fourier(0),), schema=9)


def test_the_digest_tells_motions_apart() -> None:
    sums = [SumMotion((fourier(0), spline(s))) for s in (1, 1, 2)]
    assert sums[0].digest == sums[1].digest
    assert sums[0].digest != sums[2].digest
    assert SequenceMotion((fourier(0),)).digest != SumMotion((fourier(0),)).digest
