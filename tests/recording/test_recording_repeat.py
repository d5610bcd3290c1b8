"""The same motion is recognised through noise, gain, shift, pace and timing; another one is not."""

import numpy as np
import pytest

from shared_material import DATA
from steelyard.recording import Recording, read, same_motion

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared is not here")
JOINTS = ("a", "b", "c", "d")
LENGTH = 12.0


def fourier(seed, t):
    rng = np.random.default_rng(seed)
    phases, sizes = rng.uniform(0, 2 * np.pi, (5, 4)), rng.normal(size=(5, 4))
    k = 2 * np.pi / LENGTH * np.arange(1, 6)
    return sum(sizes[i] * np.sin(k[i] * t[:, None] + phases[i]) for i in range(5))


def run(seed=1, start=0.0, end=LENGTH, pace=1.0, gain=1.0, offset=0.0, noise=0.0, rate=100.0, joints=JOINTS):
    time = np.arange(0, (end - start) / pace, 1 / rate)
    q = offset + gain * fourier(seed, start + pace * time)
    v = np.gradient(q, time, axis=0)
    return Recording(joints, time, q + noise * np.random.default_rng(9).normal(size=q.shape), v)


@pytest.mark.parametrize("seed", range(6))
def test_a_motion_repeats_itself_through_noise_and_another_rate(seed):
    repeat = same_motion(run(seed), run(seed, noise=0.01, rate=63.0))
    assert repeat.gain == pytest.approx(1.0, abs=0.01)
    assert repeat.pace == pytest.approx(1.0, abs=0.02)
    assert repeat.residual < 0.05


@pytest.mark.parametrize("gain", [0.5, 1 / 1.4, 1.3])
def test_a_scaled_and_displaced_motion_is_the_same_with_its_gain(gain):
    repeat = same_motion(run(), run(gain=gain, offset=0.4))
    assert repeat.gain == pytest.approx(gain, rel=0.01)
    assert f"scaled by {gain:.3g}" in repeat.finding("first", "second").message


@pytest.mark.parametrize("pace", [0.4, 0.8, 1.7])
def test_a_faster_or_slower_run_is_the_same_with_its_pace(pace):
    repeat = same_motion(run(), run(pace=pace))
    assert repeat.pace == pytest.approx(pace, rel=0.02)
    assert f"at {repeat.pace:.3g} times its pace" in repeat.finding("x", "y").message


@pytest.mark.parametrize(("start", "end"), [(3.0, 10.0), (5.0, LENGTH), (0.0, 7.0)])
def test_a_stretch_of_a_motion_is_recognised_with_its_place(start, end):
    repeat = same_motion(run(), run(start=start, end=end))
    assert repeat.shift == pytest.approx(start, abs=0.1)
    assert same_motion(run(start=start, end=end), run()).shift == pytest.approx(-start, abs=0.1)


def test_the_same_path_with_another_timing_is_recognised():
    time = np.arange(0, LENGTH, 0.01)
    warped = time + 1.2 * np.sin(2 * np.pi * time / LENGTH)
    repeat = same_motion(run(), Recording(JOINTS, time, fourier(1, warped)))
    assert np.isnan(repeat.pace)
    assert "with another timing" in repeat.finding("x", "y").message


def test_rest_and_approach_around_the_motion_do_not_hide_it():
    inner = run()
    still = np.repeat(inner.q[:1], 300, axis=0)
    time = np.arange(300 + inner.n) * 0.01
    padded = Recording(JOINTS, time, np.vstack([still, inner.q]), np.vstack([0 * still, inner.v]))
    assert same_motion(inner, padded).residual < 0.05


@pytest.mark.parametrize("seed", range(2, 22))
def test_another_motion_of_the_same_kind_is_not_the_same(seed):
    assert same_motion(run(1), run(seed)) is None


def test_joints_are_matched_by_name_and_their_number_must_agree():
    other = run().joint_subset(JOINTS[::-1])
    assert same_motion(run(), other).residual < 1e-6
    assert same_motion(run(), run().renamed(["w", "x", "y", "z"])).residual < 1e-6
    assert same_motion(run(), run().joint_subset(JOINTS[:3])) is None
    assert same_motion(run(), Recording(JOINTS, [0, 1, 2], np.zeros((3, 4)))) is None


def pair(folder, first, second):
    return same_motion(read(DATA / folder / first), read(DATA / folder / second))


@needs_data
def test_the_two_kuka_logs_are_a_repeat():
    repeat = pair("kuka_lwr4", "measurements_1.csv", "measurements_2.csv")
    assert repeat.gain == pytest.approx(1.0, abs=1e-3)
    assert repeat.pace == pytest.approx(1.0, abs=1e-3)
    assert repeat.residual < 0.01


@needs_data
def test_the_two_xmate_logs_are_one_motion_scaled():
    repeat = pair("xmate7p", "traj1.csv", "traj2.csv")
    assert repeat.gain == pytest.approx(1 / 1.4, abs=2e-3)
    assert repeat.residual < 0.02
    finding = repeat.finding("traj1.csv", "traj2.csv")
    assert finding.code == "repeated-motion"
    assert "traj2.csv is the motion of traj1.csv scaled by 0.714" in finding.message


@needs_data
def test_a_load_does_not_change_the_motion_and_other_ur10e_logs_are_others():
    assert pair("ur10e", "ur-20_02_19_14harm50sec.csv", "ur-20_02_19_14harm50secLoad.csv").residual < 0.01
    names = ["ur-20_02_10-30sec_12harm.csv", "ur-20_02_12-40sec_12harm.csv", "ur-20_02_12-50sec_12harm.csv"]
    for first, second in zip(names, names[1:] + names[:1], strict=True):
        assert pair("ur10e", first, second) is None
