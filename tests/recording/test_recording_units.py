"""A unit is converted when it is stated, and only then; columns are named by hand in text or in a file."""

import json

import numpy as np
import pytest

from steelyard.errors import InputError, RecordingError
from steelyard.recording import Recording, read
from steelyard.recording.columns import read_columns_map

VALUES = np.array([[0.0, 10.0, 20.0], [1.0, 30.0, 50.0], [2.0, -40.0, 70.0]])


def log(tmp_path, header):
    path = tmp_path / "log.csv"
    body = "\n".join(",".join(str(x) for x in row) for row in VALUES)
    path.write_text(f"{header}\n{body}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("column", "channel", "factor"),
    [
        ("q_2 [deg]", "q", np.pi / 180),
        ("q2 (°)", "q", np.pi / 180),
        ("q_2_deg", "q", np.pi / 180),
        ("q_2[rad]", "q", 1.0),
        ("pos_2 [mm]", "q", 1e-3),
        ("v_2 [rpm]", "v", 2 * np.pi / 60),
        ("dq2_rpm", "v", 2 * np.pi / 60),
        ("vel_2 [deg/s]", "v", np.pi / 180),
        ("acc_2 [deg/s²]", "a", np.pi / 180),
        ("acc_2 [rad/s^2]", "a", 1.0),
        ("tau_2 [mN·m]", "tau", 1e-3),
        ("effort_2 (N m)", "tau", 1.0),
        ("i_2 [mA]", "current", 1e-3),
        ("current_2_mA", "current", 1e-3),
    ],
)
def test_a_stated_unit_is_converted_and_said(tmp_path, column, channel, factor):
    header = f"t,q_1,{column}" if channel == "q" else f"t,q_1,{column.replace('2', '1', 1)}"
    reading = read(log(tmp_path, header), lenient=True)
    values = getattr(reading.recording, channel)[:, -1]
    np.testing.assert_allclose(values, factor * VALUES[:, 2], rtol=1e-15)
    said = [finding for finding in reading.findings if finding.code == "unit-converted"]
    assert len(said) == (factor != 1.0)
    assert len(reading.recording.provenance[-1].detail["units"]) == 1


@pytest.mark.parametrize(("name", "factor"), [("time_ms", 1e-3), ("t [us]", 1e-6), ("timestamp (ns)", 1e-9)])
def test_time_may_state_its_unit(tmp_path, name, factor):
    np.testing.assert_allclose(read(log(tmp_path, f"{name},q_1,tau_1")).time, factor * VALUES[:, 0])


def test_nothing_is_converted_that_states_no_unit(tmp_path):
    recording = read(log(tmp_path, "t,q_1,i_1"))
    np.testing.assert_array_equal(recording.q[:, 0], VALUES[:, 1])
    assert "units" not in recording.provenance[-1].detail


def test_a_unit_of_another_quantity_is_refused(tmp_path):
    with pytest.raises(
        RecordingError, match=r"column 'tau_1 \[deg\]' states deg, which is no unit of tau; known"
    ):
        read(log(tmp_path, "t,q_1,tau_1 [deg]"))


def test_behind_a_joint_name_only_brackets_are_a_unit(tmp_path):
    assert read(log(tmp_path, "t,q_elbow_deg,tau_elbow_deg")).joints == ("elbow_deg",)
    assert read(log(tmp_path, "t,q_elbow [deg],tau_elbow [Nm]")).joints == ("elbow",)


def test_a_joint_or_column_whose_name_a_reader_would_take_for_a_unit_is_refused():
    for name in ("elbow [deg]", "1_deg", "arm (mA)"):
        with pytest.raises(RecordingError, match="ends in a unit"):
            Recording((name,), [0, 1], [[0], [1]])
    with pytest.raises(RecordingError, match="would be read back"):
        Recording(("a",), [0, 1], [[0], [1]], extra={"time_ms": [1, 2]})


def test_a_map_may_state_the_unit_and_the_header_may(tmp_path):
    path = log(tmp_path, "Uhr,Winkel,Kraft [mNm]")
    recording = read(path, columns={"Uhr": "time", "Winkel": "q_1 [deg]", "Kraft [mNm]": "tau_1"})
    np.testing.assert_allclose(recording.q[:, 0], np.deg2rad(VALUES[:, 1]))
    np.testing.assert_allclose(recording.tau[:, 0], 1e-3 * VALUES[:, 2])
    assert recording == read(path, columns="Uhr=time, Winkel=q_1 [deg], Kraft [mNm]=tau_1")


def test_a_map_is_the_same_inline_in_json_and_in_toml(tmp_path):
    wanted = {"Uhr": "time", "2": "q_1 [deg]", "3": "q_2 [deg]", "x": "tau_1"}
    assert read_columns_map("Uhr=time, 2-3=q [deg] , x=tau_1") == wanted
    (tmp_path / "map.json").write_text(json.dumps({"Uhr": "time", "2-3": "q [deg]", "x": "tau_1"}))
    assert read_columns_map(str(tmp_path / "map.json")) == wanted
    (tmp_path / "map.toml").write_text('Uhr = "time"\n2-3 = "q [deg]"\nx = "tau_1"\n')
    assert read_columns_map(str(tmp_path / "map.toml")) == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' does not say what a column is"),
        ("a", "'a' does not say what a column is. Use NAME=MEANING"),
        ("a=b=c", "does not say"),
        ("a=time,a=q_1", "column 'a' is named twice"),
        ("2-3=q,3=v_1", "column '3' is named twice"),
        ("5-2=q", "the range 5-2 runs backwards"),
        ("absent.json", "absent.json: cannot be read: No such file"),
    ],
)
def test_a_map_that_says_nothing_is_refused(text, message):
    with pytest.raises(RecordingError, match=message):
        read_columns_map(text)


@pytest.mark.parametrize("content", ["[1, 2]", "{", '{"a": 3}', "[" * 20000, "\udc80"])
def test_a_map_file_of_another_form_is_refused(tmp_path, content):
    (tmp_path / "map.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError):
        read_columns_map(str(tmp_path / "map.json"))


def test_a_log_without_a_header_is_read_by_the_numbers_of_its_columns(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("0,10,20\n1,30,50\n2,-40,70\n")
    recording = read(path, columns="1=time,2-3=q")
    np.testing.assert_array_equal(recording.q, VALUES[:, 1:])
    with pytest.raises(RecordingError, match=r"a header is needed.*--columns '1=time, 2-7=q"):
        read(path)


def test_a_log_without_time_takes_a_stated_rate(tmp_path):
    path = log(tmp_path, "q_1,q_2,tau_1")
    columns = {"tau_1": "temperature"}
    assert read(path, columns=columns, rate=50.0).time.tolist() == [0.0, 0.02, 0.04]
    with pytest.raises(RecordingError, match="has a column of time, and a rate was given as well"):
        read(log(tmp_path, "t,q_1,q_2"), rate=50.0)
    for rate in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(RecordingError, match="rate: must be positive and finite"):
            read(log(tmp_path, "q_1,q_2,x"), rate=rate)
