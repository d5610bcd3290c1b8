"""Dynamic time warping: a run meets itself without change, and a warped copy comes back."""

import itertools

import numpy as np
import pytest

from signals.periodic_motion import motion, series, torque, uniform_time
from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording
from steelyard.signals import SOURCE_TIME, aligned
from steelyard.signals.alignment import warping_path


def warped_time(t):
    """When the reference was where the run is at t: ahead and behind by up to 0.15 s."""
    return t + 0.15 * np.sin(np.pi * t / t[-1]) * np.cos(1.3 * t)


def run(t):
    """The same path at another pace, with the velocities, accelerations and torques of that pace."""
    s = warped_time(t)
    ds = np.gradient(s, t, edge_order=2)
    dds = np.gradient(ds, t, edge_order=2)
    v = series(s, 1) * ds[:, None]
    a = series(s, 2) * ds[:, None] ** 2 + series(s, 1) * dds[:, None]
    return Recording(("shoulder", "elbow"), t, series(s), v=v, a=a, tau=1.5 * a + 0.7 * v + 4.0 * series(s))


def test_a_recording_aligned_with_itself_is_itself():
    log = motion(uniform_time(0.01, 8.0))
    same = aligned(log, log)
    assert same.extra[SOURCE_TIME] == pytest.approx(log.time, abs=1e-9)
    for name, values in log.channels.items():
        assert same.channels[name] == pytest.approx(values, abs=1e-9)
    pairs = warping_path(log.q, log.q, 50.0)
    assert np.array_equal(pairs, np.column_stack([np.arange(log.n)] * 2))


def test_a_warped_copy_comes_back_to_the_positions_of_the_reference():
    t = uniform_time(0.005, 8.0)
    reference, other = motion(t), run(t)
    back = aligned(other, reference)
    assert np.array_equal(back.time, reference.time)
    assert np.abs(other.q - reference.q).max() > 0.1
    assert np.sqrt(np.mean((back.q - reference.q) ** 2)) < 1e-4
    # The warp itself is recovered where the joints move.
    moving = np.linalg.norm(reference.v, axis=1) > 0.3
    error = np.abs(warped_time(back.extra[SOURCE_TIME]) - t)
    assert error[moving].max() < 0.005


def test_each_warped_row_still_obeys_the_equation_of_motion_it_was_measured_under():
    t = uniform_time(0.005, 8.0)
    back = aligned(run(t), motion(t))
    inner = slice(20, -20)
    left = 1.5 * back.a + 0.7 * back.v + 4.0 * back.q
    assert np.abs(left - back.tau)[inner].max() < 1e-6
    # Velocities of the reference would not belong to these torques.
    wrong = 1.5 * series(t, 2) + 0.7 * series(t, 1) + 4.0 * back.q
    assert np.abs(wrong - back.tau)[inner].max() > 0.5
    assert np.abs(torque(t) - back.tau)[inner].max() > 0.5


def test_runs_of_different_length_and_rate_meet():
    reference = motion(uniform_time(0.01, 8.0))
    slow = uniform_time(0.004, 8.8)
    other = motion(slow, q=series(slow / 1.1), v=series(slow / 1.1, 1) / 1.1, tau=None)
    back = aligned(other, reference, band=0.3)
    assert back.n == reference.n
    assert np.sqrt(np.mean((back.q - reference.q) ** 2)) < 1e-4
    assert np.abs(back.v - reference.v / 1.1).max() < 0.05


@pytest.mark.parametrize("seed", range(5))
def test_no_monotone_path_of_a_small_problem_is_shorter(seed):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((5, 2)), rng.standard_normal((6, 2))
    distance = np.sum((A[:, None] - B[None]) ** 2, axis=2)

    def every_path(i, j):
        if (i, j) == (4, 5):
            yield [(i, j)]
        for di, dj in ((1, 0), (0, 1), (1, 1)):
            if i + di < 5 and j + dj < 6:
                for path in every_path(i + di, j + dj):
                    yield [(i, j), *path]

    least = min(sum(distance[pair] for pair in path) for path in every_path(0, 0))
    pairs = warping_path(A, B, 6.0)
    assert distance[pairs[:, 0], pairs[:, 1]].sum() == pytest.approx(least)
    steps = {tuple(step) for step in np.diff(pairs, axis=0).tolist()}
    assert steps <= {(1, 0), (0, 1), (1, 1)}
    assert (pairs[0].tolist(), pairs[-1].tolist()) == ([0, 0], [4, 5])


def test_the_path_stays_in_its_band_and_time_never_runs_back():
    t = uniform_time(0.01, 8.0)
    pairs = warping_path(series(t), series(warped_time(t)), 5.0)
    assert np.abs(pairs[:, 1] - pairs[:, 0]).max() == 5
    noise = 0.01 * np.random.default_rng(0).standard_normal((len(t), 2))
    noisy = run(t).with_channels(q=run(t).q + noise)
    source = aligned(noisy, motion(t)).extra[SOURCE_TIME]
    assert all(b >= a for a, b in itertools.pairwise(source))


def test_runs_that_cannot_be_compared_are_refused():
    log = motion(uniform_time(0.01, 8.0))
    with pytest.raises(RecordingError, match="has joints a, b, the reference shoulder, elbow"):
        aligned(log.renamed(("a", "b")), log)
    with pytest.raises(InputError, match="narrower than a step of the diagonal"):
        aligned(log, log, band=0.001)
    with pytest.raises(InputError, match="no joint of the reference moves"):
        aligned(log, log.with_channels(q=np.zeros((log.n, 2))))
