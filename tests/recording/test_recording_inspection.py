"""A log's own numbers reveal its defects, and a sound log has none."""

import numpy as np
import pytest

from shared_material import DATA
from steelyard.recording import Recording, inspect_recording, main_motion_rows, read
from steelyard.recording.inspection.inspect import quantum
from steelyard.recording.inspection.phases import period

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared is not here")
N = 2000
T = 0.005 * np.arange(N)
W = np.array([[1.1, 2.3], [0.7, 3.1], [1.9, 0.55]])


def motion(t=T):
    """Two sines without a common period for each of three joints: positions, velocities."""
    q = np.stack([np.sin(w * t + k) + 0.4 * np.sin(u * t) for k, (w, u) in enumerate(W)], axis=1)
    v = np.stack([w * np.cos(w * t + k) + 0.4 * u * np.cos(u * t) for k, (w, u) in enumerate(W)], axis=1)
    return q, v


def log(time=T, **changes):
    q, v = motion(time)
    noise = np.random.default_rng(0).normal(size=(2, *q.shape))
    fields = {"q": q, "v": v + 1e-3 * noise[0], "tau": 5 * q - 2 * v + 0.05 * noise[1]} | changes
    return Recording(("a", "b", "c"), time, **fields)


def codes(recording):
    return [finding.code for finding in inspect_recording(recording)]


def found(recording, code):
    return [finding for finding in inspect_recording(recording) if finding.code == code]


def test_a_sound_log_has_no_findings():
    assert codes(log()) == []


def test_too_few_samples_are_said_to_be():
    assert codes(log().rows(slice(0, 5))) == ["too-short"]


def test_jitter_beyond_a_twentieth_is_said_with_its_extent():
    rng = np.random.default_rng(1)
    uneven = T + rng.uniform(-0.001, 0.001, N)
    (finding,) = found(log(uneven), "clock-jitter")
    assert "median of 5" in finding.message
    assert not found(log(T + rng.uniform(-5e-5, 5e-5, N)), "clock-jitter")


def test_each_gap_is_named_by_the_rows_around_it():
    kept = np.delete(np.arange(N), [*range(301, 305), *range(1200, 1250)])
    places = [finding.place for finding in found(log(T[kept]), "gap")]
    assert places == ["rows 300 to 301", "rows 1195 to 1196"]


def test_samples_that_repeat_the_one_before_are_counted():
    recording = log()
    rows = np.arange(N) - (np.arange(N) % 10 == 3)
    held = Recording(recording.joints, T, recording.q[rows], recording.v[rows], tau=recording.tau[rows])
    (finding,) = found(held, "repeated-samples")
    assert finding.message.startswith("200 of 2000")
    assert finding.place == "row 3"


def test_a_false_rate_is_revealed_by_the_velocities():
    q, v = motion()
    (finding,) = found(Recording(("a", "b", "c"), T / 20, q, v), "rate-contradicted")
    assert finding.severity == "error"
    assert "the log runs at 200 Hz, not at the 4000 Hz" in finding.message


def test_time_in_milliseconds_is_a_false_rate():
    q, v = motion()
    assert (
        "v is 1000 times dq/dt"
        in found(Recording(("a", "b", "c"), 1e3 * T, q, v), "rate-contradicted")[0].message
    )


def test_degrees_are_recognised_on_either_side():
    q, v = motion()
    (positions,) = found(log(q=np.rad2deg(q)), "units-contradict")
    assert "positions are in degrees and velocities in radians" in positions.message
    (speeds,) = found(log(v=np.rad2deg(v)), "units-contradict")
    assert "velocities are in degrees per second and positions in radians" in speeds.message
    both = log(q=np.rad2deg(q), v=np.rad2deg(v))
    assert found(both, "degrees-suspected")
    assert not found(both, "units-contradict")
    assert found(log(q=np.rad2deg(q), v=None), "degrees-suspected")


def test_a_velocity_of_wrong_sign_scale_or_joint_is_named():
    _, v = motion()
    assert found(log(v=v * [1, -1, 1]), "velocity-sign")[0].place == "joint 'b'"
    assert found(log(v=v * [1, 1, 1.3]), "velocity-scale")[0].place == "joint 'c'"
    swapped = found(log(v=v[:, [0, 2, 1]]), "velocity-mismatch")
    assert [finding.place for finding in swapped] == ["joint 'b'", "joint 'c'"]


def test_an_offset_of_the_velocity_is_no_contradiction():
    _, v = motion()
    assert codes(log(v=v + 0.3)) == []


def test_references_converted_twice_are_named():
    q, _ = motion()
    scaled = found(log(q_ref=np.deg2rad(q)), "reference-scale")
    assert len(scaled) == 3
    assert "degrees against radians" in scaled[0].message
    assert not found(log(q_ref=q), "reference-scale")


def test_dead_channels_and_still_joints_are_told_apart():
    q, v = motion()
    dead = log(
        tau=np.column_stack([q[:, 0], np.full(N, 0.3), q[:, 2]]), q=q * [1, 1, 0] + 0.1, v=v * [1, 1, 0]
    )
    assert [f.place for f in found(dead, "dead-channel")] == ["v_c", "tau_b"]
    assert [f.place for f in found(dead, "still-joint")] == ["q_c"]


def test_a_clipped_torque_is_saturated_and_a_held_one_is_not():
    tau = log().tau
    clipped = tau.copy()
    clipped[:, 1] = np.clip(clipped[:, 1], -3.0, 3.0)
    findings = found(log(tau=clipped), "saturation")
    assert [f.place.split(",")[0] for f in findings] == ["tau_b", "tau_b"]
    assert "largest value 3 N·m" in findings[0].message
    assert not found(log(tau=np.round(tau, 1)), "saturation")
    rest = np.concatenate([np.full(400, T[0]), T])
    q, v = motion(rest)
    v[:400] = 0.0
    held = 5 * q
    held[:400] = held.max(axis=0) + 1.0
    still = Recording(("a", "b", "c"), 0.005 * np.arange(len(rest)), q, v, tau=held)
    assert not found(still, "saturation")


@pytest.mark.parametrize("step", [2 * np.pi / 4096, 0.1, 1e-3])
def test_the_step_of_a_quantised_signal_is_found(step):
    q, _ = motion()
    for j in range(3):
        assert quantum(step * np.round(q[:, j] / step)) == pytest.approx(step, rel=1e-9)
        assert quantum(q[:, j]) == 0.0
    recording = log(q=step * np.round(q / step))
    assert f"a {step:.3g}, b {step:.3g}, c {step:.3g}" in found(recording, "quantised")[0].message


def with_approach(rest=1.0, ramp=1.0, pause=0.5):
    """Rest, a move to the start, a pause, then the motion."""
    q, v = motion()
    before = np.arange(-(rest + ramp + pause), 0, 0.005)
    phase = np.clip((before + ramp + pause) / ramp, 0, 1)
    s, ds = phase**2 * (3 - 2 * phase), 6 * phase * (1 - phase) / ramp
    q_all = np.vstack([q[0] - 0.5 * (1 - s)[:, None], q])
    v_all = np.vstack([0.5 * ds[:, None] * np.ones(3), v])
    return Recording(("a", "b", "c"), np.concatenate([before, T]), q_all, v_all), len(before)


def test_an_approach_before_the_motion_is_parted_from_it():
    recording, start = with_approach()
    assert main_motion_rows(recording) == slice(start, recording.n)
    (finding,) = found(recording, "approach-phase")
    assert finding.place == f"rows 0 to {start - 1}"
    quiet = recording.rows(slice(start - 80, None))
    assert found(quiet, "rest-before")
    assert not found(quiet, "approach-phase")


def test_a_motion_that_repeats_gives_its_period_and_one_that_does_not_gives_none():
    t = np.arange(0, 15, 0.005)
    period_s = 6.0
    k = 2 * np.pi / period_s
    q = np.column_stack([np.sin(k * t) + np.sin(3 * k * t + 1), np.cos(2 * k * t) + 0.5 * np.sin(5 * k * t)])
    seconds, off = period(Recording(("a", "b"), t, q))
    assert seconds == pytest.approx(period_s, abs=0.02)
    assert off < 0.02
    assert "periodic" in codes(Recording(("a", "b"), t, q))
    assert period(log()) is None


def test_places_name_the_file_of_the_log(tmp_path):
    path = tmp_path / "run7.csv"
    q, v = motion()
    rows = np.column_stack([T, q, -v])
    header = "t,q_1,q_2,q_3,v_1,v_2,v_3"
    np.savetxt(path, rows, delimiter=",", header=header, comments="")
    assert all(finding.place.startswith("run7.csv: ") for finding in inspect_recording(read(path)))


@needs_data
def test_the_panda_log_has_the_eight_gaps_the_quantum_and_the_period_of_its_notes():
    findings = inspect_recording(read(DATA / "panda_gaz" / "trajectory_1.csv"))
    assert [f.code for f in findings].count("gap") == 8
    (steps,) = [f for f in findings if f.code == "quantised"]
    assert "1 0.0357" in steps.message
    (repeats,) = [f for f in findings if f.code == "periodic"]
    assert "repeats after 13.3" in repeats.message


@needs_data
@pytest.mark.parametrize(
    ("name", "first", "last"),
    [  # the rows that the authors of the data use, from its notes
        ("ur-20_02_12-50sec_12harm.csv", 355, 5090),
        ("ur-20_02_12-40sec_12harm.csv", 500, 4460),
        ("ur-20_02_10-30sec_12harm.csv", 635, 3510),
        ("ur-20_02_19_14harm50sec.csv", 195, 4966),
        ("ur-20_02_19_14harm50secLoad.csv", 308, 5071),
    ],
)
def test_the_ur10e_logs_have_an_approach_phase_where_their_authors_cut(name, first, last):
    recording = read(DATA / "ur10e" / name)
    main = main_motion_rows(recording)
    assert abs(main.start - first) < 50
    assert abs(main.stop - last) < 50
    assert {"approach-phase", "clock-jitter"} <= set(codes(recording))


@needs_data
def test_the_rate_that_the_xmate_notebook_claims_is_contradicted_by_its_log():
    true = read(DATA / "xmate7p" / "traj1.csv")
    claimed = Recording(true.joints, np.arange(true.n) / 1000.0, true.q, true.v, tau=true.tau)
    (finding,) = found(claimed, "rate-contradicted")
    assert "runs at 50" in finding.message or "runs at 49.9" in finding.message
    assert not found(true, "rate-contradicted")


def test_torques_that_are_currents_times_constants_are_said_to_be_no_better_than_these():
    _, v = motion()
    current = 3.0 * v + 0.2
    K = np.array([2.0, 0.5, 1.0])
    (finding,) = found(log(tau=K * current, current=current), "torque-of-current")
    assert "a 2, b 0.5, c 1." in finding.message
    assert "--torque-constant-error" in finding.message
    # A meter of its own agrees with the current to within its noise only.
    noise = 0.01 * np.random.default_rng(2).normal(size=v.shape)
    assert not found(log(tau=K * (current + noise), current=current), "torque-of-current")
    still = current * [1.0, 1.0, 0.0]
    (finding,) = found(log(tau=K * still, current=still), "torque-of-current")
    assert "c 1" not in finding.message
