"""A recording accepts only sound content, never changes, and knows its content and its history."""

import copy
import hashlib
import json
import pickle
import struct
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from steelyard.errors import RecordingError, UnknownNameError
from steelyard.recording import CHANNELS, Recording, Step


def sample(n=6, joints=("elbow", "wrist"), **fields):
    rng = np.random.default_rng(3)
    shape = (n, len(joints))
    base = {"q": rng.normal(size=shape), "v": rng.normal(size=shape), "tau": rng.normal(size=shape)}
    extra = {"base_x": rng.normal(size=n), "wrench_tool_fx": rng.normal(size=n)}
    return Recording(**{"joints": joints, "time": 0.01 * np.arange(n), **base, "extra": extra, **fields})


def spoiled(value, row, column, bad):
    array = np.array(value)
    array[row, column] = bad
    return array


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"time": []}, "time: a recording needs at least 2 samples, got 0"),
        ({"time": [0.0]}, "time: a recording needs at least 2 samples, got 1"),
        ({"time": [0.0, 1.0]}, "q: has 3 rows, but time has 2"),
        (
            {"time": [0.0, 2.0, 2.0]},
            "time: must increase, but goes from 2 s to 2 s at row 2 .* 1 of 2 intervals",
        ),
        ({"time": [0.0, 2.0, 1.0]}, "from 2 s to 1 s at row 2 .*cut the log where the clock restarts"),
        ({"time": [0.0, np.nan, 1.0]}, "time: is nan at row 1"),
        ({"time": ["a", "b", "c"]}, "time: must hold real numbers"),
        ({"q": None}, "q: must hold real numbers"),
        ({"q": np.zeros((3, 3))}, r"q: expected shape \(N, 2\), got \(3, 3\)"),
        ({"q": [[1.0, 2.0], [1.0], [1.0, 2.0]]}, "q: must be an array, but its rows have different lengths"),
        ({"q": spoiled(np.zeros((3, 2)), 2, 1, np.inf)}, "q_wrist: is inf at row 2 .* 1 of 6 values"),
        ({"v": np.zeros((2, 2))}, "v: has 2 rows, but time has 3"),
        ({"a_ref": spoiled(np.zeros((3, 2)), 1, 0, np.nan)}, "aref_elbow: is nan at row 1"),
        ({"joints": ()}, "joints: a recording needs at least one joint"),
        ({"joints": "ab"}, "joints: must be a sequence of names"),
        ({"joints": ("elbow", "elbow")}, "joints 0 and 1 have the same name 'elbow'"),
        ({"joints": ("elbow", "")}, "joint 1: has an empty name"),
        ({"joints": ("elbow", 2)}, "joint 1: a name must be text, got int"),
        ({"joints": ("elbow", " wrist")}, "joint 1: name ' wrist' has spaces at its ends"),
        ({"joints": ("elbow", "wr\nist")}, "joint 1: .* cannot be printed"),
        ({"joints": ("0", "1")}, "joint 0: '0' is not a joint name; a bare number is the joint's place"),
        ({"extra": {"base_x": [1.0, 2.0]}}, "base_x: has 2 rows, but time has 3"),
        ({"extra": {"base_x": [1.0, np.nan, 2.0]}}, "base_x: is nan at row 1"),
        ({"extra": {"": np.zeros(3)}}, "extra column: has an empty name"),
        ({"extra": {"Timestamp": np.zeros(3)}}, "'Timestamp' would be read back as time or as a channel"),
        ({"extra": {"q_other": np.zeros(3)}}, "'q_other' would be read back"),
        ({"extra": {"effort.elbow": np.zeros(3)}}, "'effort.elbow' would be read back"),
        ({"extra": {"dq[4]": np.zeros(3)}}, "'dq\\[4\\]' would be read back"),
        ({"provenance": ("read",)}, "provenance: entry 0 is a str, not a Step"),
        ({"schema": 2}, "schema: layout 2 is unknown; this version knows 1"),
    ],
)
def test_unsound_content_is_refused_with_its_place(fields, message):
    sound = {"joints": ("elbow", "wrist"), "time": [0.0, 1.0, 2.0], "q": np.zeros((3, 2))}
    with pytest.raises(RecordingError, match=message):
        Recording(**{**sound, **fields})


def test_arrays_are_private_and_cannot_be_written_to():
    q = np.zeros((6, 2))
    recording = sample(q=q)
    q[:] = 7.0
    assert not recording.q.any()
    for array in (recording.time, *recording.channels.values(), *recording.extra.values()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(TypeError):
        recording.extra["more"] = q[:, 0]
    with pytest.raises(FrozenInstanceError):
        recording.q = q


def test_digest_is_the_sha256_of_names_and_little_endian_values():
    recording = sample(provenance=(Step("simulated"),))
    head = {
        "channels": ["q", "v", "tau"],
        "content": 1,
        "extra": ["base_x", "wrench_tool_fx"],
        "joints": ["elbow", "wrist"],
        "samples": 6,
    }
    parts = [recording.time, recording.q, recording.v, recording.tau, *recording.extra.values()]
    body = b"".join(struct.pack("<d", x) for part in parts for x in part.ravel())
    text = json.dumps(head, separators=(",", ":")).encode()
    assert recording.digest == hashlib.sha256(text + body).hexdigest()


def test_digest_depends_on_content_alone():
    plain = sample()
    assert sample(provenance=(Step("simulated", {"seed": 1}),)) == plain
    assert sample(q=np.asfortranarray(plain.q).astype(">f8")).digest == plain.digest
    backwards = dict(reversed(list(plain.extra.items())))
    assert sample(extra=backwards).digest == plain.digest
    assert len({plain, sample()}) == 1
    assert plain != "text"


@pytest.mark.parametrize(
    "change",
    [
        {"joints": ("elbow", "wrist2")},
        {"joints": ("wrist", "elbow")},
        {"time": 0.01 * np.arange(6) + 1e-12},
        {"v": None},
        {"v": None, "a": sample().v},
        {"a": np.zeros((6, 2))},
        {"extra": {}},
        {"extra": {"base_y": sample().extra["base_x"], "wrench_tool_fx": sample().extra["wrench_tool_fx"]}},
        {"q": np.nextafter(sample().q, 9.0)},
    ],
)
def test_any_change_of_content_changes_digest_and_equality(change):
    changed = replace(sample(), **change)
    assert changed.digest != sample().digest
    assert changed != sample()


def test_duration_and_rate_come_from_the_times():
    recording = Recording(("a",), [1.0, 1.1, 1.2, 1.3, 2.0], np.zeros((5, 1)))
    assert recording.n == 5
    assert recording.duration == pytest.approx(1.0)
    assert recording.rate == pytest.approx(10.0)
    assert "1 joint(s), 5 samples, 1 s at 10 Hz; q;" in repr(recording)


def test_windows_that_meet_share_no_sample_and_lose_none():
    recording = sample(n=100)
    left, right = recording.window(end=0.35), recording.window(start=0.35)
    np.testing.assert_array_equal(np.concatenate([left.time, right.time]), recording.time)
    np.testing.assert_array_equal(np.vstack([left.tau, right.tau]), recording.tau)
    np.testing.assert_array_equal(right.extra["base_x"], recording.extra["base_x"][recording.time >= 0.35])
    assert left.time[-1] < 0.35 <= right.time[0]
    assert recording.window(-np.inf, np.inf) == recording
    with pytest.raises(RecordingError, match=r"holds 0 samples.* 100 samples from 0 s to 0.99 s"):
        recording.window(5.0, 6.0)


def test_rows_are_those_of_the_slice():
    recording = sample(n=20)
    taken = recording.rows(slice(3, None, 4))
    for name in ("time", "q", "v", "tau"):
        np.testing.assert_array_equal(getattr(taken, name), getattr(recording, name)[3::4])
    with pytest.raises(RecordingError, match="step of -1 would turn time around"):
        recording.rows(slice(None, None, -1))
    with pytest.raises(RecordingError, match="holds 1 samples; at least 2"):
        recording.rows(slice(np.int64(0), np.int64(1)))


def test_a_joint_subset_keeps_each_joint_with_its_values():
    recording = sample(joints=("a", "b", "c"))
    subset = recording.joint_subset(["c", "a"])
    assert subset.joints == ("c", "a")
    for name, values in subset.channels.items():
        np.testing.assert_array_equal(values, getattr(recording, name)[:, [2, 0]])
    assert set(subset.extra) == set(recording.extra)
    with pytest.raises(UnknownNameError, match=r"unknown joint 'd'.*Valid: a, b, c"):
        recording.joint_subset(["d"])


def test_joints_known_by_number_take_the_name_at_that_place():
    recording = sample(joints=("2", "1"))
    assert recording.renamed(("elbow", "wrist")).joints == ("wrist", "elbow")
    assert sample(joints=("x", "y")).renamed(("elbow", "wrist")).joints == ("elbow", "wrist")
    with pytest.raises(RecordingError, match="3 names were given for 2 joints"):
        recording.renamed(("a", "b", "c"))
    with pytest.raises(RecordingError, match="numbers 2, 3, which do not index 2 names"):
        sample(joints=("2", "3")).renamed(("a", "b"))


def test_channels_and_extra_columns_can_be_set_and_removed():
    recording = sample()
    a = np.ones((6, 2))
    changed = recording.with_channels(a=a, v=None)
    assert list(changed.channels) == ["q", "a", "tau"]
    np.testing.assert_array_equal(changed.a, a)
    assert dict(changed.provenance[-1].detail) == {"set": ("a",), "removed": ("v",)}
    with pytest.raises(UnknownNameError, match=r"unknown channel 'taau'. Did you mean 'tau'"):
        recording.with_channels(taau=a)


def test_every_operation_adds_one_step_with_the_digest_of_its_input():
    start = sample(n=50, joints=("1", "2"))
    chain = [start]
    for operation in (
        lambda r: r.window(0.05, 0.4),
        lambda r: r.rows(slice(0, 20)),
        lambda r: r.renamed(("a", "b")),
        lambda r: r.joint_subset(("b",)),
        lambda r: r.with_channels(v=None),
        lambda r: r.revised("scaled", {"by": 2.0}, q=2 * r.q),
    ):
        chain.append(operation(chain[-1]))
    steps = chain[-1].provenance
    actions = ["window", "rows", "renamed", "joint_subset", "with_channels", "scaled"]
    assert [step.action for step in steps] == actions
    assert [step.digest for step in steps] == [recording.digest for recording in chain[:-1]]
    assert start.provenance == ()


def test_a_step_is_frozen_at_every_level_and_survives_json():
    detail = {"file": "log.csv", "nested": {"list": [1, 2.5, None, True]}}
    step = Step("read", detail, "ab")
    detail["nested"]["list"].append(3)
    assert step.detail["nested"]["list"] == (1, 2.5, None, True)
    with pytest.raises(TypeError):
        step.detail["nested"]["more"] = 1
    assert Step.from_json(json.loads(json.dumps(step.to_json()))) == step


@pytest.mark.parametrize("value", [np.nan, np.zeros(2), {1, 2}, object()])
def test_a_step_refuses_what_json_cannot_hold(value):
    with pytest.raises(RecordingError, match="step 'filter': detail cannot be kept as JSON"):
        Step("filter", {"value": value})


def test_a_step_refuses_other_forms():
    with pytest.raises(RecordingError, match="step action: must be text, got int"):
        Step(3)
    with pytest.raises(RecordingError, match="step 'read': must map names to values, got list"):
        Step("read", [1])
    with pytest.raises(RecordingError, match="exactly 'action', 'detail' and 'digest'"):
        Step.from_json({"action": "read"})


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_a_copy_for_another_process_is_equal_and_still_read_only(copied):
    recording = sample(provenance=(Step("read", {"list": [1]}),))
    twin = copied(recording)
    assert twin == recording
    assert twin.provenance == recording.provenance
    assert not twin.q.flags.writeable


def test_each_channel_has_a_unit():
    units = {name: channel.unit for name, channel in CHANNELS.items()}
    assert units["tau"] == "N·m or N"
    assert units["current"] == "A"
    assert units["q"] == units["q_ref"] == "rad or m"
