"""A log made ready: motion filtered and differentiated, torques as measured and compared in its band."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.special

from shared_material import DATA, needs_shared
from signals.periodic_motion import JOINTS, motion, series, torque, uniform_time
from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording, read, write
from steelyard.signals import Preparation, band_of, in_band, prepared, with_rows
from steelyard.signals.cutoff import cutoff_of, motion_band
from steelyard.signals.periodic import period_of
from steelyard.signals.preparation import repeats_after

TIME = uniform_time(0.005, 14.0)


def test_the_motion_becomes_its_exact_derivatives() -> None:
    done = prepared(motion(TIME, noise=1e-6)).recording
    for derivative, channel in enumerate((done.q, done.v, done.a)):
        exact = series(done.time, derivative)
        assert np.abs(channel - exact).max() < 2e-3 * np.abs(exact).max()


def test_torques_are_left_as_they_were_measured_so_that_dry_friction_stays_sharp() -> None:
    v = series(TIME, 1)
    measured = torque(TIME) + 3.0 * np.sign(v)
    done = prepared(motion(TIME, tau=measured), Preparation(cutoff=5.0)).recording
    rows = np.isin(TIME, done.time)
    assert rows.sum() == done.n
    np.testing.assert_array_equal(done.tau, measured[rows])


def test_the_interval_of_the_log_keeps_every_sample_and_torques_as_measured() -> None:
    time = uniform_time(0.001, 4.0)
    noisy = torque(time) + np.random.default_rng(0).standard_normal((len(time), len(JOINTS)))
    done = prepared(motion(time, tau=noisy), Preparation(cutoff=5.0, interval=0.001)).recording
    rows = (time >= done.time[0] - 1e-9) & (time <= done.time[-1] + 1e-9)
    np.testing.assert_array_equal(done.tau, noisy[rows])


def test_measured_and_predicted_torque_agree_in_the_band_although_a_smoothed_one_fits_no_jump() -> None:
    friction = 3.0 * np.sign(series(TIME, 1))
    noise = 0.3 * np.random.default_rng(0).standard_normal(friction.shape)
    done = prepared(motion(TIME, tau=torque(TIME) + friction + noise), Preparation(cutoff=5.0)).recording
    model = torque(done.time) + 3.0 * np.sign(done.v)
    measured, predicted = in_band(done, done.tau), in_band(done, model)
    in_the_band = np.sqrt(np.mean((measured - predicted) ** 2))
    against_the_jump = np.sqrt(np.mean((measured - model) ** 2))
    # White noise keeps the share of its power that lies below the cut-off: 5 of 100 Hz.
    assert in_the_band == pytest.approx(0.3 * np.sqrt(5.0 / 100.0), rel=0.25)
    assert against_the_jump > 5.0 * in_the_band


@pytest.mark.parametrize("f", [0.5, 4.0, 5.0, 8.0, 20.0])
def test_the_band_has_the_gain_of_a_butterworth_passed_twice(f: float) -> None:
    done = prepared(motion(TIME), Preparation(cutoff=5.0)).recording
    assert band_of(done) == 5.0
    wave = np.exp(2j * np.pi * f * done.time)
    passed = in_band(done, np.column_stack([wave.real, wave.imag]))
    inside = slice(done.n // 4, -done.n // 4)
    gain = np.mean((passed[:, 0] + 1j * passed[:, 1])[inside] / wave[inside])
    # The bilinear transform bends the axis: tan(π f h) stands for f.
    warped = np.tan(np.pi * f * 0.005) / np.tan(np.pi * 5.0 * 0.005)
    assert gain == pytest.approx(1.0 / (1.0 + warped**8), abs=2e-3)


def test_the_band_does_not_reach_across_a_gap() -> None:
    done = prepared(motion(TIME), Preparation(cutoff=5.0)).recording
    middle = (done.time > 5.0) & (done.time < 7.0)
    parted = with_rows(done, ~middle)
    before = parted.time < 6.0
    first, other = np.array(parted.tau), np.array(parted.tau)
    other[~before] += 100.0
    np.testing.assert_array_equal(in_band(parted, first)[before], in_band(parted, other)[before])
    whole = in_band(done, done.tau)[~middle]
    deep = parted.time < 4.0
    np.testing.assert_allclose(in_band(parted, first)[deep], whole[deep], atol=1e-3)


def test_a_recording_without_a_band_is_compared_as_it_is() -> None:
    log = motion(TIME)
    assert band_of(log) is None
    np.testing.assert_array_equal(in_band(log, log.tau), log.tau)
    with pytest.raises(InputError, match="has 3 samples, the recording"):
        in_band(log, np.zeros((3, 2)))


def test_the_cut_off_follows_the_motion_and_not_how_many_digits_a_file_keeps() -> None:
    t, width = uniform_time(0.005, 28.0), 0.3
    # A stroke whose spectrum falls as exp(-2π f width), without end but for the rounding.
    q = (1.0 / (1.0 + ((t - 14.0) / width) ** 2))[:, None] * [1.0, 0.5]
    logs = [Recording(JOINTS, t, np.round(q, digits), tau=q) for digits in (7, 10)]
    noise = [cutoff_of(log) for log in logs]
    assert noise[1].frequency > 1.2 * noise[0].frequency, "digits move the edge of the noise"
    bands = [motion_band(log, cutoff.each) for log, cutoff in zip(logs, noise, strict=True)]
    np.testing.assert_array_equal(*bands)
    # All but 1/10000 of the integral of f⁴ exp(-4π f width) lies below this.
    exact = scipy.special.gammaincinv(5.0, 1.0 - 1e-4) / (4.0 * np.pi * width)
    assert bands[0] == pytest.approx(exact, rel=0.02)
    assert band_of(prepared(logs[0]).recording) == band_of(prepared(logs[1]).recording)


def test_noise_still_lowers_the_cut_off() -> None:
    # Exact velocities would be used instead of noisy positions.
    log = motion(TIME, noise=3e-3).with_channels(v=None)
    done = prepared(log)
    assert band_of(done.recording) == pytest.approx(cutoff_of(log).frequency)
    assert any("noise rules" in remark for remark in done.remarks)


def test_a_fast_log_is_thinned_and_keeps_its_torques_band() -> None:
    fast = uniform_time(0.001, 14.0)
    done = prepared(motion(fast, noise=1e-5)).recording
    cutoff = band_of(done)
    assert cutoff is not None
    assert done.rate == pytest.approx(20.0 * cutoff, rel=1e-3)
    np.testing.assert_allclose(done.tau, torque(done.time), atol=1e-3)


def test_a_chosen_interval_is_kept_and_bounds_the_band() -> None:
    done = prepared(motion(TIME), Preparation(cutoff=30.0, interval=0.04)).recording
    assert np.diff(done.time) == pytest.approx(0.04)
    band = band_of(done)
    assert band is not None
    assert band < 12.5, "half the new rate"
    assert np.isfinite(in_band(done, done.tau)).all()


def test_the_period_is_seen_although_the_ends_are_cut() -> None:
    done = prepared(motion(TIME[TIME < 5.8]), Preparation(cutoff=2.0)).recording
    assert repeats_after(done) == pytest.approx(4.0, abs=1e-3)
    with pytest.raises(InputError, match="does not repeat"):
        period_of(done)
    assert repeats_after(motion(TIME)) == pytest.approx(4.0, abs=1e-3)
    once = TIME[TIME < 3.9]
    assert repeats_after(prepared(motion(once), Preparation(cutoff=5.0)).recording) is None


def test_that_a_motion_repeats_is_said_with_its_period() -> None:
    said = [remark for remark in prepared(motion(TIME)).remarks if "repeats" in remark]
    assert said == ["the motion repeats after 4 s."]


def test_rest_and_approach_are_cut_and_jitter_is_said() -> None:
    rng = np.random.default_rng(1)
    t = np.sort(TIME + 0.001 * rng.uniform(-1.0, 1.0, len(TIME)))
    moving = np.clip((t - 4.0) / 2.0, 0.0, 1.0)
    q = (moving**3 * (10.0 - 15.0 * moving + 6.0 * moving**2))[:, None] * series(t)
    done = prepared(Recording(JOINTS, t, q, tau=torque(t)), Preparation(cutoff=5.0))
    assert done.recording.time[0] == pytest.approx(4.0, abs=0.3)
    assert any("off an even line" in remark for remark in done.remarks)
    assert np.diff(done.recording.time) == pytest.approx(0.005, rel=1e-2)


def test_currents_need_constants_and_then_give_torques() -> None:
    log = motion(TIME, tau=None, current=torque(TIME))
    with pytest.raises(RecordingError, match="State the torque constants"):
        prepared(log)
    done = prepared(log, Preparation(np.array([2.0, 3.0]), cutoff=5.0)).recording
    np.testing.assert_allclose(done.tau, torque(done.time) * [2.0, 3.0], atol=1e-9)


@pytest.mark.parametrize("wrong", [{"cutoff": 0.0}, {"interval": -1.0}, {"cutoff": np.inf}])
def test_what_is_asked_for_must_be_positive(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="must be positive"):
        Preparation(**wrong)


@needs_shared
def test_a_bag_and_its_table_of_rounded_numbers_are_made_ready_alike() -> None:
    stem = DATA / "ur10_panda_unisa" / "ur10_exciting_trajectory"
    bag, table = (prepared(read(stem.with_suffix(suffix))).recording for suffix in (".db3", ".csv"))
    assert band_of(bag) == pytest.approx(band_of(table), rel=1e-9)
    for name in ("q", "v", "a", "tau"):
        x, y = bag.channels[name], table.channels[name]
        assert np.abs(x - y).max() < 1e-3 * np.abs(x).max()


def test_values_that_nobody_measured_are_refused_with_their_joint(tmp_path) -> None:
    for value in (1e13, -1e200):
        measured = torque(TIME)
        measured[7, 0] = value
        with pytest.raises(
            RecordingError, match=rf"tau of joint '{JOINTS[0]}': is .* at {TIME[7]:g} s, beyond"
        ):
            prepared(motion(TIME, tau=measured))
    with pytest.raises(RecordingError, match=r"^time: has samples .* apart over"):
        prepared(replace(motion(TIME), time=1e-20 * TIME))
    measured = torque(TIME)
    measured[:, 0] = 3.0
    log = motion(TIME, tau=measured)
    with pytest.raises(RecordingError, match=r"is 3 and changes by 0 in .* samples while the joint moves"):
        prepared(log)
    write(log, tmp_path / "dead.csv")
    with pytest.raises(RecordingError, match=rf"^dead\.csv: tau of joint '{JOINTS[0]}': "):
        prepared(read(tmp_path / "dead.csv"))


def test_a_log_whose_time_jumps_by_a_lifetime_is_refused_before_it_is_filled() -> None:
    time = TIME.copy()
    time[len(time) // 2 :] += 1e9
    with pytest.raises(InputError, match=r"time: a log of 1e\+09 s in steps of .* would take .* of memory"):
        prepared(replace(motion(TIME), time=time))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [2, 3, 9])
def test_a_log_of_a_few_samples_is_refused_before_anything_is_computed_of_it(n: int) -> None:
    rising = np.arange(2.0 * n).reshape(n, 2)
    log = Recording(JOINTS, 0.01 * np.arange(n), q=0.1 * rising, tau=rising)
    limit = np.full(2, 100.0)
    with pytest.raises(RecordingError, match=f"has {n} samples; a spectrum needs 100"):
        prepared(log, Preparation(torque_limit=limit))
    with pytest.raises(RecordingError, match=f"are cut at each end, but there are only {n}"):
        prepared(log, Preparation(torque_limit=limit, cutoff=5.0))
