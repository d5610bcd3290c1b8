"""Whatever a log calls its columns, each number ends at its joint, or the doubt is said."""

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from steelyard.errors import RecordingError, UnknownNameError
from steelyard.recording import read

ROWS = 3


def log(tmp_path, header, rows=None):
    """A log whose column k holds 100 k + row, the first one 0, 1, 2."""
    width = len(header.split(","))
    lines = rows or [",".join(str(100 * k + row) for k in range(width)) for row in range(ROWS)]
    path = tmp_path / "log.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def origin(values):
    """Which column of the file each column of a channel came from."""
    return [int(x) // 100 for x in values[0]]


@pytest.mark.parametrize("time", ["time", "t", "T", "Time", "timestamp", "time_s", "times"])
def test_time_is_recognised(tmp_path, time):
    assert read(log(tmp_path, f"{time},q_1")).time.tolist() == [0, 1, 2]


@pytest.mark.parametrize("form", ["{}_{}", "{}{}", "{}.{}", "{}[{}]", "{}_[{}]"])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(
    ("channel", "words"),
    [
        ("q", ("q", "Q", "pos", "position", "positions", "actual_q")),
        ("v", ("v", "dq", "qd", "qdot", "vel", "velocity", "Velocity")),
        ("a", ("a", "ddq", "qdd", "acc", "acceleration")),
        ("tau", ("tau", "effort", "torque", "Torque")),
        ("current", ("current", "i", "I")),
        ("q_ref", ("qref", "target_q")),
        ("v_ref", ("vref", "target_qd")),
        ("a_ref", ("aref", "target_qdd")),
    ],
)
def test_spellings_with_numbers_are_recognised(tmp_path, channel, words, first, form):
    if form == "{}_[{}]" and words[0] in ("q", "v"):
        words = words[2:]  # q_[0] is our own form, of a joint named [0]
    for word in words:
        if form == "{}_[{}]" and word in ("a", "tau", "current", "qref", "vref", "aref"):
            continue
        columns = [form.format(word, number) for number in (first, first + 1)]
        positions = [] if channel == "q" else ["q_1", "q_2"]
        recording = read(log(tmp_path, ",".join(["t", *positions, *columns])))
        assert recording.joints == ("1", "2")
        start = 1 + len(positions)
        assert origin(getattr(recording, channel)) == [start, start + 1], columns


def test_names_may_hold_underscores_and_end_in_digits(tmp_path):
    recording = read(log(tmp_path, "time,q_panda_joint1,q_joint_a_2,tau_joint_a_2,tau_panda_joint1"))
    assert recording.joints == ("panda_joint1", "joint_a_2")
    assert origin(recording.tau) == [4, 3]


def test_other_spellings_may_carry_names(tmp_path):
    recording = read(log(tmp_path, "t,pos_elbow,pos_wrist,effort.wrist,effort.elbow,Vel_elbow,Vel_wrist"))
    assert recording.joints == ("elbow", "wrist")
    assert origin(recording.tau) == [4, 3]
    assert origin(recording.v) == [5, 6]


def test_shuffled_columns_and_ten_joints_stay_with_their_numbers(tmp_path):
    order = [10, 2, 1, 3, 9, 8, 7, 6, 5, 4]
    columns = [f"q{k}" for k in order] + [f"tau_{k}" for k in range(1, 11)]
    names = [f"j{k}" for k in range(1, 11)]
    recording = read(log(tmp_path, ",".join(["t", *columns])), joints=names)
    assert recording.joints == tuple(names)
    assert origin(recording.q) == [1 + order.index(k) for k in range(1, 11)]
    assert origin(recording.tau) == list(range(11, 21))
    by_number = read(log(tmp_path, ",".join(["t", *columns])))
    assert by_number.renamed(names).joint_subset(names) == recording


def test_numbers_index_named_positions(tmp_path):
    recording = read(log(tmp_path, "t,q_elbow,q_wrist,tau_1,tau_2"))
    assert recording.joints == ("elbow", "wrist")
    assert origin(recording.tau) == [3, 4]


def test_a_single_joint_needs_no_number(tmp_path):
    recording = read(log(tmp_path, "t,q,dq,tau"), joints=["pendulum"])
    assert recording.joints == ("pendulum",)
    assert (origin(recording.v), origin(recording.tau)) == ([2], [3])


def test_columns_are_mapped_by_hand(tmp_path):
    path = log(tmp_path, "Uhr,Schulter,Kraft,t")
    mapping = {"Uhr": "time", "Schulter": "q_shoulder", "Kraft": "tau_shoulder", "t": "clock"}
    recording = read(path, columns=mapping)
    assert recording.joints == ("shoulder",)
    assert origin(recording.tau) == [2]
    assert list(recording.extra) == ["clock"]
    assert dict(recording.provenance[-1].detail["columns"]) == mapping
    with pytest.raises(UnknownNameError, match=r"unknown column 'Schuler'. Did you mean 'Schulter'"):
        read(path, columns={"Schuler": "q_1"})
    with pytest.raises(RecordingError, match="column 'Uhr' is mapped to 3"):
        read(path, columns={"Uhr": 3})
    with pytest.raises(RecordingError, match="'Uhr' and 'Schulter' both claim to be 'time'"):
        read(path, columns={"Uhr": "time", "Schulter": "time"})


def test_the_read_step_accounts_for_every_column(tmp_path):
    rows = ["0,1,2,run,7,nan", "1,1,2,stop,7,1", "2,1,2,run,7,1"]
    path = log(tmp_path, "t,pos1,effort1,mode,base_x,lidar", rows)
    recording = read(path)
    (step,) = recording.provenance
    assert step.action == "read"
    assert step.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert step.detail["file"] == "log.csv"
    assert dict(step.detail["columns"]) == {
        "t": "time",
        "pos1": "q_1",
        "effort1": "tau_1",
        "base_x": "base_x",
    }
    assert step.detail["extra"] == ("base_x",)
    assert dict(step.detail["ignored"]) == {
        "mode": "3 of 3 cells are not finite numbers",
        "lidar": "1 of 3 cells are not finite numbers",
    }
    assert recording.extra["base_x"].tolist() == [7, 7, 7]


def test_words_that_only_look_like_a_channel_stay_extra(tmp_path):
    recording = read(log(tmp_path, "t,q_1,q_2,position_error,v_bus,current,a_flag"))
    assert recording.joints == ("1", "2")
    assert list(recording.channels) == ["q"]
    assert list(recording.extra) == ["position_error", "v_bus", "current", "a_flag"]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("t,time,q_1", "columns 't' and 'time' both claim to be time"),
        ("t,q_1,pos1", "columns 'q_1' and 'pos1' both claim to be q of joint '1'"),
        ("t,q_1,q_01", "columns 'q_1' and 'q_01' both claim to be q of joint '1'"),
        ("t,q_a,dq_a,vel_a", "columns 'dq_a' and 'vel_a' both claim to be v of joint 'a'"),
        ("t,q_1,q_1", "columns 2 and 3 have the same name 'q_1'"),
        ("q_1,q_2", "no time among the columns 'q_1', 'q_2'. Name it one of time, t,"),
        ("t,v_1,v_2", "no joint positions among the columns 't', 'v_1', 'v_2'.*q_<joint>"),
        ("t,q_1,q_2,tau_1", "no column for tau of joint '2'; there is one for joint '1'"),
        ("t,q_1,q_2,tau_3", "column 'tau_3' is of joint 3, but there are positions only of '1', '2'"),
    ],
)
def test_doubt_about_a_column_is_an_error(tmp_path, header, message):
    with pytest.raises(RecordingError, match=f"log.csv: {message}"):
        read(log(tmp_path, header))


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        (["a"], "column 'q_2' is of joint 2, but 1 joints were given: 'a'"),
        (["a", "b", "c"], "no column for q of joint 'c'; there is one for joint 'a', 'b'"),
        (["a", "a"], "joints 0 and 1 have the same name 'a'"),
    ],
)
def test_joints_that_do_not_fit_the_file_are_refused(tmp_path, joints, message):
    with pytest.raises(RecordingError, match=message):
        read(log(tmp_path, "t,q_1,q_2"), joints=joints)


def test_matrices_of_other_tools_npz_files_are_read(tmp_path):
    path = tmp_path / "log.npz"
    q = np.arange(12.0).reshape(4, 3)
    contacts = np.zeros((4, 2, 2))
    np.savez(
        path,
        times=np.arange(4),
        positions=q,
        torques=np.asfortranarray(-q),
        base_x=np.ones(4),
        contacts=contacts,
    )
    recording = read(path, joints=["a", "b", "c"])
    np.testing.assert_array_equal(recording.q, q)
    np.testing.assert_array_equal(recording.tau, -q)
    assert list(recording.extra) == ["base_x"]
    assert "shape (4, 2, 2)" in recording.provenance[-1].detail["ignored"]["contacts"]


def test_other_tools_parquet_files_are_read(tmp_path):
    path = tmp_path / "log.parquet"
    columns = {
        "timestamp": pa.array([0, 1, 2]),
        "pos_1": pa.array([1.5, 2.5, 3.5], pa.float32()),
        "mode": pa.array(["a", "b", "c"]),
        "contact": pa.array([True, False, True]),
        "force": pa.array([1.0, None, 2.0]),
    }
    pq.write_table(pa.table(columns), path)
    recording = read(path)
    assert recording.q.ravel().tolist() == [1.5, 2.5, 3.5]
    assert recording.extra["contact"].tolist() == [1, 0, 1]
    ignored = dict(recording.provenance[-1].detail["ignored"])
    assert ignored == {"mode": "is of type string", "force": "1 of 3 cells are not finite numbers"}
    pq.write_table(pa.table({**columns, "pos_1": pa.array([1, None, 2])}), path)
    with pytest.raises(RecordingError, match="row 1, column 'pos_1': '' is empty"):
        read(path)
    pq.write_table(pa.table({**columns, "pos_1": columns["mode"]}), path)
    with pytest.raises(RecordingError, match="column 'pos_1' holds no numbers: is of type string"):
        read(path)
