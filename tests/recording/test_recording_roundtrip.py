"""What is written comes back bit for bit, in every format, whatever the joints are called."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from steelyard.errors import RecordingError
from steelyard.recording import CHANNELS, Recording, Step, read, write
from steelyard.recording.files import SUFFIXES

NAMES = [
    "panda_joint1",
    "joint_a_2",
    "Schulter drehen",
    "関節3",
    "q_1",
    "ref_1",
    "[0]",
    "time",
    'say "hi", twice',
    "a;b;c;d",
    "#5",
    "1",
    "12",
    "1234567890123",
    "-1.5",
    "v",
    "x.y/z",
]
FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)
ODD = np.array([0.0, -0.0, 5e-324, -1.7976931348623157e308, 0.1, 1 / 3, 2.0**53 + 2, 1e22, 1e-7, 123456789.0])


@st.composite
def recordings(draw):
    names = st.one_of(st.sampled_from(NAMES), st.text(min_size=1, max_size=6).map(str.strip))
    sound = names.filter(lambda name: name and name.isprintable() and not name.startswith("0"))
    joints = tuple(draw(st.lists(sound, min_size=1, max_size=4, unique=True)))
    n = draw(st.integers(2, 6))
    steps = draw(st.lists(st.floats(1e-6, 1e3), min_size=n, max_size=n))
    fields = {
        name: draw(arrays(np.float64, (n, len(joints)), elements=FINITE))
        for name in CHANNELS
        if name == "q" or draw(st.booleans())
    }
    extras = ["base_x", "base_qw", "wrench_tool_fx", "Temperatur °C", "position_error", "v_bus", "état, 2"]
    extra = {
        name: draw(arrays(np.float64, n, elements=FINITE)) for name in draw(st.sets(st.sampled_from(extras)))
    }
    return Recording(joints, np.cumsum(steps), **fields, extra=extra, provenance=(Step("drawn", {"n": n}),))


def identical(a, b):
    same = a.joints == b.joints and list(a.channels) == list(b.channels) and list(a.extra) == list(b.extra)
    pairs = [(a.time, b.time), *zip(a.channels.values(), b.channels.values(), strict=True)]
    pairs += zip(a.extra.values(), b.extra.values(), strict=True)
    return same and all(x.tobytes() == y.tobytes() and x.shape == y.shape for x, y in pairs)


@settings(derandomize=True, max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(recordings())
def test_write_then_read_is_the_identity_in_every_format(tmp_path_factory, recording):
    folder = tmp_path_factory.mktemp("roundtrip", numbered=True)
    for suffix in SUFFIXES:
        path = folder / f"log{suffix}"
        write(recording, path)
        again = read(path)
        assert identical(again, recording), suffix
        assert again.digest == recording.digest, suffix
        assert again == recording, suffix


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("joint", NAMES)
def test_each_odd_joint_name_and_number_survives(tmp_path, joint, suffix):
    n = len(ODD)
    other = "other"
    recording = Recording(
        (joint, other), np.arange(n) / 3, np.column_stack([ODD, ODD[::-1]]), tau=np.ones((n, 2))
    )
    write(recording, tmp_path / f"log{suffix}")
    assert identical(read(tmp_path / f"log{suffix}"), recording)


def simple():
    steps = (
        Step("simulated", {"seed": 1, "list": [1, {"x": None}]}, "ab"),
        Step("filtered", {"cutoff": 10.0}),
    )
    q = np.column_stack([ODD, ODD[::-1]])
    extra = {"base_x": ODD[::-1]}
    return Recording(("elbow", "wrist"), np.arange(10) / 100, q, tau=-q, extra=extra, provenance=steps)


def test_csv_has_the_documented_columns_and_is_exact_for_another_reader(tmp_path):
    path = tmp_path / "log.csv"
    write(simple(), path)
    with path.open(newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["time", "q_elbow", "q_wrist", "tau_elbow", "tau_wrist", "base_x"]
    values = np.array([[float(cell) for cell in row] for row in rows])
    assert values[:, 1].tobytes() == ODD.tobytes()
    assert values[:, 5].tobytes() == ODD[::-1].tobytes()


def test_npz_is_plain_arrays_for_numpy(tmp_path):
    write(simple(), tmp_path / "log.npz")
    with np.load(tmp_path / "log.npz", allow_pickle=False) as file:
        assert file["joints"].tolist() == ["elbow", "wrist"]
        np.testing.assert_array_equal(file["tau"], simple().tau)
        assert json.loads(str(file["steelyard.recording"]))["schema"] == 1


def test_parquet_columns_carry_their_units(tmp_path):
    write(simple(), tmp_path / "log.parquet")
    schema = pq.read_schema(tmp_path / "log.parquet")
    assert schema.field("tau_elbow").metadata[b"unit"].decode() == "N·m or N"
    assert schema.field("time").metadata[b"unit"] == b"s"


@pytest.mark.parametrize("suffix", [".parquet", ".npz"])
def test_parquet_and_npz_carry_the_history(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    write(simple(), path)
    again = read(path)
    assert again.provenance[:-1] == simple().provenance
    assert again.provenance[-1].action == "read"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_recording_gives_the_same_bytes(tmp_path, suffix):
    write(simple(), tmp_path / f"a{suffix}")
    write(simple(), tmp_path / f"b{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_joints_select_and_order_on_reading(tmp_path, suffix):
    path = tmp_path / f"log{suffix}"
    write(simple(), path)
    taken = read(path, joints=["wrist"])
    assert taken == simple().joint_subset(["wrist"])
    ignored = dict(taken.provenance[-1].detail["ignored"])
    assert ignored == {"q_elbow": "joint not selected", "tau_elbow": "joint not selected"}
    assert read(path, joints=["wrist", "elbow"]) == simple().joint_subset(["wrist", "elbow"])


def test_a_changed_file_does_not_keep_a_history_that_is_no_longer_true(tmp_path):
    path = tmp_path / "log.parquet"
    write(simple(), path)
    table = pq.read_table(path)
    field = table.schema.field("q_elbow")
    pq.write_table(table.set_column(1, field, [ODD + 1.0]), path)
    for joints in (None, ["wrist"]):
        with pytest.raises(RecordingError, match=r"log.parquet: the content does not match the digest"):
            read(path, joints=joints)
    pq.write_table(table.set_column(1, field, [ODD + 1.0]).replace_schema_metadata(None), path)
    assert [step.action for step in read(path).provenance] == ["read"]
