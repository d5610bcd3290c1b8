"""Degrees, normalised values and counts become SI by hand-computed numbers; doubts are refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.recording import Recording, read, units_of

TURN = 2 * math.pi


def log(**columns: Any) -> dict[str, Any]:
    """A log in memory, 50 Hz."""
    n = len(next(iter(columns.values())))
    return {"time": np.arange(n) * 0.02, **columns}


def calibration(tmp_path: Path, **motors: Any) -> Path:
    """A file as LeRobot writes it."""
    usual = {"id": 1, "drive_mode": 0, "homing_offset": -1022, "range_min": 1024, "range_max": 3072}
    path = tmp_path / "arm.json"
    path.write_text(json.dumps({name: {**usual, **motor} for name, motor in motors.items()}))
    return path


def test_degrees_are_of_positions_and_of_what_is_derived_from_them() -> None:
    found = read(log(q_a=[0, 90], qref_a=[180, 0], v_a=[90, 0], a_a=[18, 0], tau_a=[1, 2]), units="degrees")
    np.testing.assert_allclose(found.q[:, 0], [0, math.pi / 2])
    np.testing.assert_allclose(found.q_ref[:, 0], [math.pi, 0])
    np.testing.assert_allclose(found.v[:, 0], [math.pi / 2, 0])
    np.testing.assert_allclose(found.a[:, 0], [math.pi / 10, 0])
    np.testing.assert_allclose(found.tau[:, 0], [1, 2])


def test_units_are_said_for_all_and_for_single_joints() -> None:
    found = read(log(q_a=[0, 90], q_b=[0, 1]), units="degrees,b=rad")
    np.testing.assert_allclose(found.q[1], [math.pi / 2, 1])
    with pytest.raises(UnknownNameError, match="unknown joint 'c'"):
        read(log(q_a=[0, 90]), units="degrees,c=rad")


def test_a_column_that_states_its_unit_keeps_it() -> None:
    found = read({"time_ms": [0, 20], "q_1 [deg]": [0, 90], "q_2": [0, 1000]}, units="counts:sts3215")
    np.testing.assert_allclose(found.time, [0, 0.02])
    np.testing.assert_allclose(found.q[:, 0], [0, math.pi / 2])
    np.testing.assert_allclose(found.q[:, 1], [-math.pi, (1000 - 2048) / 4096 * TURN])


def test_a_recording_is_in_si_whatever_is_said_of_logs_beside_it() -> None:
    given_log = Recording(("a",), [0.0, 1.0], [[1.0], [2.0]])
    assert read(given_log, units="degrees") == given_log


# Normalised values. LeRobot, motors_bus.py, `_normalize`: ((value - min) / (max - min)) * 200 - 100.


def test_normalised_values_are_parts_of_the_calibrated_range(tmp_path: Path) -> None:
    file = calibration(tmp_path, a={"zero": 0.25})
    # 1024 to 3072 counts of 4096 are half a turn: -100 is -90 degrees, 50 is 45 degrees from its middle.
    found = read(log(q_a=[-100, 0, 50, 100]), units="normalised", calibration=file)
    np.testing.assert_allclose(found.q[:, 0], 0.25 + np.radians([-90, 0, 45, 90]))


def test_a_gripper_is_normalised_from_nought_to_a_hundred(tmp_path: Path) -> None:
    file = calibration(tmp_path, gripper={"zero": 0.1, "range_min": 2000, "range_max": 3024})
    # 1024 counts are a quarter of a turn, from -45 to 45 degrees about the middle.
    found = read(log(q_gripper=[0, 50, 100]), units="normalised", calibration=file)
    np.testing.assert_allclose(found.q[:, 0], 0.1 + np.radians([-45, 0, 45]))
    with pytest.raises(RecordingError, match=r"'gripper' is written from 0 to 100.*State 'zero'"):
        read(log(q_gripper=[0, 50]), units="normalised", calibration=calibration(tmp_path, gripper={}))


def test_the_robots_limits_are_the_range_only_where_that_is_said() -> None:
    ranges = {"a": (-1.0, 3.0), "gripper": (-0.2, 1.8)}
    found = read(log(q_a=[-100, 50], q_gripper=[0, 50]), units="normalised", calibration=ranges)
    np.testing.assert_allclose(found.q, [[-1.0, -0.2], [2.0, 0.8]])
    with pytest.raises(RecordingError, match=r"'a' is normalised, and nothing says over which range"):
        read(log(q_a=[-100, 50]), units="normalised")
    with pytest.raises(UnknownNameError, match=r"--calibration limits: unknown joint 'b'"):
        read(log(q_b=[-100, 50]), units="normalised", calibration=ranges)
    with pytest.raises(InputError, match="has no range"):
        read(log(q_b=[-100, 50]), units="normalised", calibration={"b": (1.0, 1.0)})


def test_values_outside_the_range_are_not_normalised(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"holds 101, and normalised values of 'a' go from -100 to 100"):
        read(log(q_a=[0, 101]), units="normalised", calibration=calibration(tmp_path, a={}))
    with pytest.raises(
        RecordingError, match=r"holds -3, and normalised values of 'gripper' go from 0 to 100"
    ):
        read(log(q_gripper=[0, -3]), units="normalised", calibration={"gripper": (0.0, 1.0)})


def test_normalised_values_are_turned_round_already_and_direction_turns_them(tmp_path: Path) -> None:
    plain, turned, against = (
        read(
            log(q_a=[-100, 50]),
            units="normalised",
            calibration=calibration(tmp_path, a={"zero": 0.5, **more}),
        )
        for more in ({}, {"drive_mode": 1}, {"direction": -1})
    )
    assert turned == plain
    np.testing.assert_allclose(against.q - 0.5, -(plain.q - 0.5))


def test_the_middle_of_a_range_is_the_zero_only_with_a_warning(tmp_path: Path) -> None:
    reading = read(
        log(q_a=[-100, 50]), units="normalised", calibration=calibration(tmp_path, a={}), lenient=True
    )
    assert [(f.code, f.severity.value) for f in reading.findings] == [("zero-assumed", "warning")]
    file = calibration(tmp_path, a={"zero": 0})
    assert not read(log(q_a=[-100, 50]), units="normalised", calibration=file, lenient=True).findings


# Counts. 4096 in a turn: ROBOTIS e-Manual (X series) and Feetech's memory table (STS series).


def test_counts_are_parts_of_a_turn_from_the_middle(tmp_path: Path) -> None:
    found = read(log(q_a=[2048, 3072, 1024]), units="counts:xl330-m288")
    np.testing.assert_allclose(found.q[:, 0], [0, math.pi / 2, -math.pi / 2])
    file = calibration(tmp_path, a={"range_min": 1000, "range_max": 2000, "zero": 0.5})
    found = read(log(q_a=[1500, 1756, 1244]), units="counts:sts3215", calibration=file)
    np.testing.assert_allclose(found.q[:, 0], 0.5 + np.radians([0, 22.5, -22.5]))


def test_the_mode_of_the_drive_turns_counts_of_feetech_and_not_of_dynamixel(tmp_path: Path) -> None:
    file = calibration(tmp_path, a={"range_min": 0, "range_max": 4096, "drive_mode": 1, "zero": 0.0})
    feetech, dynamixel = (
        read(log(q_a=[2048, 3072], qref_a=[2048, 3072]), units=f"counts:{servo}", calibration=file)
        for servo in ("sts3215", "xl430-w250")
    )
    np.testing.assert_allclose(feetech.q[:, 0], [0, -math.pi / 2], atol=1e-15)
    np.testing.assert_allclose(dynamixel.q[:, 0], [0, math.pi / 2], atol=1e-15)
    np.testing.assert_array_equal(feetech.q_ref, feetech.q)


def test_the_mode_of_the_drive_does_not_turn_degrees_and_that_is_said(tmp_path: Path) -> None:
    file = calibration(tmp_path, a={"drive_mode": 1, "zero": 0})
    reading = read(log(q_a=[0, 90]), units="degrees", calibration=file, lenient=True)
    np.testing.assert_allclose(reading.recording.q[:, 0], [0, math.pi / 2])
    assert [f.code for f in reading.findings] == ["drive-mode-not-applied"]


@pytest.mark.parametrize(
    ("servo", "rpm", "ampere"),
    # ROBOTIS e-Manual: 0.229 rpm; 1 mA (XL330), 2.69 mA (XM430, XM540).
    [("xl330-m077", 0.229, 1e-3), ("xm430-w350", 0.229, 2.69e-3), ("xm540-w270", 0.229, 2.69e-3)],
)
def test_velocities_and_currents_of_dynamixel_are_by_their_manual(
    servo: str, rpm: float, ampere: float
) -> None:
    # Two's complement, as an unsigned register was logged: 65535 is -1, 4294967286 is -10.
    found = read(
        log(q_a=[2048, 2050], v_a=[100, 4294967286], current_a=[65535, 200]), units=f"counts:{servo}"
    )
    np.testing.assert_allclose(found.v[:, 0], np.array([100, -10]) * rpm * TURN / 60)
    np.testing.assert_allclose(found.current[:, 0], np.array([-1, 200]) * ampere)


def test_what_a_servo_does_not_tell_is_left_out_and_said() -> None:
    reading = read(
        log(q_a=[2048, 2050], v_a=[100, 10], current_a=[32768 + 3, 200]), units="counts:sts3215", lenient=True
    )
    # Feetech: bit 15 is the sign, 6.5 mA a count; the unit of its velocity is in a register.
    np.testing.assert_allclose(reading.recording.current[:, 0], np.array([-3, 200]) * 6.5e-3)
    assert reading.recording.v is None
    assert any(f.code == "unit-unknown" and "v of 'a'" in f.message for f in reading.findings)
    assert "nothing says" in reading.recording.provenance[-1].detail["ignored"]["v_a"]
    found = read(log(q_a=[2048, 2050], current_a=[1, 2]), units="counts:xl430-w250")
    assert found.current is None


def test_an_encoder_that_begins_anew_is_counted_on_and_that_is_said() -> None:
    truth = 4000 + 20 * np.arange(30)
    reading = read(log(q_a=truth % 4096, qref_a=(truth + 30) % 4096), units="counts:sts3215", lenient=True)
    np.testing.assert_allclose(reading.recording.q[:, 0], (truth - 2048) / 4096 * TURN)
    np.testing.assert_allclose(reading.recording.q_ref[:, 0], (truth + 30 - 2048) / 4096 * TURN)
    wrapped = [f for f in reading.findings if f.code == "counts-wrapped"]
    assert "column 'q_a'" in wrapped[0].place
    assert "row 5" in wrapped[0].message


def test_a_step_of_the_reference_is_not_taken_for_a_turn() -> None:
    found = read(log(q_a=[500] * 4, qref_a=[500, 500, 3500, 3500]), units="counts:sts3215")
    np.testing.assert_allclose(found.q_ref[2, 0], (3500 - 2048) / 4096 * TURN)


def test_jumps_that_no_servo_makes_are_refused() -> None:
    with pytest.raises(RecordingError, match=r"column 'q_a'.*passes the end of its encoder faster than"):
        read(log(q_a=[100, 100, 2900, 2900]), units="counts:sts3215")
    slow = {"time": [0.0, 0.5, 1.0], "q_a": [100, 4000, 3900]}
    with pytest.raises(RecordingError, match=r"too rare to tell which way, at row 1"):
        read(slow, units="counts:sts3215")
    with pytest.raises(RecordingError, match=r"jumps by 8000 counts at row 2.*does not begin anew"):
        read(log(q_a=[100, 100, 8100, 8100]), units="counts:xl330-m288")


def test_counts_of_several_turns_stay_what_they_are() -> None:
    found = read(log(q_a=[4094, 4100, 5000, 6000]), units="counts:xl330-m288")
    np.testing.assert_allclose(np.diff(found.q[:, 0]) / TURN * 4096, [6, 900, 1000])
    negative = read(log(q_a=[5, 4294967286]), units="counts:xl330-m288")
    np.testing.assert_allclose(np.diff(negative.q[:, 0]) / TURN * 4096, [-15])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 4095), st.lists(st.integers(-400, 400), min_size=2, max_size=40), st.integers(0, 1))
def test_counting_on_gives_the_path_that_was_wrapped(start: int, steps: list[int], drive: int) -> None:
    path = start + np.cumsum([0, *steps])
    found = read(log(q_a=path % 4096), units="counts:sts3215")
    np.testing.assert_allclose(found.q[:, 0], (path - 2048) / 4096 * TURN, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2000),
    st.integers(1, 2000),
    st.booleans(),
    st.floats(-3, 3),
    st.lists(st.floats(0, 1), min_size=2, max_size=9),
)
def test_counts_and_normalised_values_of_one_motion_agree(
    tmp_path_factory: pytest.TempPathFactory,
    low: int,
    span: int,
    drive: bool,
    zero: float,
    shares: list[float],
) -> None:
    folder = tmp_path_factory.mktemp("agree")
    file = calibration(
        folder, a={"range_min": low, "range_max": low + span, "drive_mode": int(drive), "zero": zero}
    )
    counts = low + span * np.array(shares)
    # LeRobot: the same share of the range, turned round by drive_mode.
    normalised = (counts - low) / span * 200 - 100
    normalised = np.clip(-normalised if drive else normalised, -100, 100)
    a = read(log(q_a=counts), units="counts:sts3215", calibration=file)
    b = read(log(q_a=normalised), units="normalised", calibration=file)
    np.testing.assert_allclose(a.q, b.q, atol=1e-9)


# What cannot be


@pytest.mark.parametrize(
    "text",
    [
        "grad",
        "",
        "degrees,rad",
        "a=rad,a=degrees",
        "=rad",
        "counts",
        "counts:",
        "counts:sts9",
        "degrees:sts3215",
        "a=",
    ],
)
def test_units_that_do_not_exist_are_refused_with_those_that_do(text: str) -> None:
    with pytest.raises(InputError, match=r"--units") as caught:
        units_of(text)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("motor", "message"),
    [
        ({"range_min": 3000, "range_max": 3000}, "is not less than range_max"),
        ({"range_min": "x"}, "'range_min' is a text"),
        ({"range_max": True}, "'range_max' is true or false"),
        ({"range_max": 1e300}, "'range_max' is a number"),
        ({"drive_mode": 2}, "'drive_mode' is 2"),
        ({"direction": 0.5}, "'direction' is 0.5"),
        ({"zero": "0"}, "'zero' is a text"),
    ],
)
def test_a_calibration_that_cannot_be_is_refused_with_its_motor(
    tmp_path: Path, motor: dict[str, Any], message: str
) -> None:
    with pytest.raises(RecordingError, match=rf"arm.json: a: .*{message}"):
        read(log(q_a=[0, 1]), units="normalised", calibration=calibration(tmp_path, a=motor))


def test_files_that_are_no_calibration_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "arm.json"
    for text, message in (
        ("[]", "holds a list"),
        ("{}", "holds no motor"),
        ('{"a": 1}', "a: holds a number"),
    ):
        path.write_text(text)
        with pytest.raises(RecordingError, match=message):
            units_of("normalised", path)
    with pytest.raises(RecordingError, match="cannot be read"):
        units_of("normalised", tmp_path / "none.json")
