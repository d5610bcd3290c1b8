"""LeRobot datasets arrive as recordings: v2.0 to v3.0, episodes, names, times; hostile ones are refused."""

from __future__ import annotations

import json
import math
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from recording.written_datasets import JOINTS, V2_PATH, V3_PATH, info, rows, write_dataset
from steelyard.errors import InputError, MissingExtraError, RecordingError
from steelyard.recording import Recording, read, single_log, single_logs
from steelyard.workflows.record import digest_of

pa = pytest.importorskip("pyarrow", reason="datasets are Parquet; the extra `parquet` is not installed")
import pyarrow.parquet as pq  # noqa: E402

VERSIONS = ("v2.0", "v2.1", "v3.0")
FILE = "data/chunk-000/episode_000000.parquet"


def moved(n: int, seed: int, width: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """States and actions in degrees; one of them beyond 100, as of an arm that was calibrated in degrees."""
    t = np.arange(n)[:, None] / 30
    phases = np.random.default_rng(seed).uniform(0, 6, width)
    state = 110 * np.sin(2 * t + phases)
    return state.astype(np.float32), (state + 1.5).astype(np.float32)


@pytest.fixture(scope="module", params=VERSIONS)
def dataset(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "pick"
    return write_dataset(folder, request.param, [moved(90, 1), moved(70, 2), moved(80, 3)])


def test_each_episode_is_a_recording_with_its_own_times(dataset: Path) -> None:
    logs = single_logs([str(dataset)])
    assert [Path(str(log)).name for log in logs] == ["pick#0", "pick#1", "pick#2"]
    for log, (n, seed) in zip(logs, ((90, 1), (70, 2), (80, 3)), strict=True):
        state, action = moved(n, seed)
        found = read(log, joints=JOINTS, units="degrees,gripper=degrees")
        assert found.joints == JOINTS
        assert np.array_equal(found.time, np.arange(n) / 30)
        np.testing.assert_allclose(found.q, state.astype(float) * math.pi / 180, rtol=1e-14)
        np.testing.assert_allclose(found.q_ref, action.astype(float) * math.pi / 180, rtol=1e-14)
        assert found.v is None
        assert found.tau is None
        assert found.current is None
        step = found.provenance[-1]
        assert step.detail["file"] == Path(str(log)).name
        assert step.detail["fps"] == 30
        assert step.detail["written_in"]["wrist_roll"] == "degrees"


def test_episodes_are_chosen_by_number_and_range(dataset: Path) -> None:
    for name in (f"{dataset}#0-1,2", f"{dataset}/#2,0-1", dataset):
        assert {str(log) for log in single_logs([name])} == {f"{dataset}#{k}" for k in range(3)}
    assert single_log(f"{dataset}/#1", "--holdout") == f"{dataset}#1"
    a, b = (read(name, units="rad") for name in (f"{dataset}#1", f"{dataset}/#1"))
    assert a == b
    assert a.provenance == b.provenance
    with pytest.raises(RecordingError, match=r"holds 3 episodes.*pick#0 to .*pick#2"):
        read(dataset, units="rad")
    with pytest.raises(RecordingError, match=r"--holdout: is 3 episodes.*Choose one"):
        single_log(str(dataset), "--holdout")
    for name in (f"{dataset}#7", f"{dataset}#2,7"):
        with pytest.raises(RecordingError, match=r"no episode 7.*has 3, from 0 to 2"):
            single_logs([name])
    with pytest.raises(RecordingError, match="no episode 7"):
        read(f"{dataset}#7")
    for choice in ("x", "", "3-1", "1-", "-1", "0,,1", "0-999999999", "1e3", "٣"):
        with pytest.raises(RecordingError, match=r"chooses no episode|runs backwards"):
            single_logs([f"{dataset}#{choice}"])


def test_the_only_episode_needs_no_number(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "one", "v2.1", [moved(60, 1)])
    assert read(folder, units="rad") == read(f"{folder}#0", units="rad")


def test_a_file_whose_name_has_a_mark_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "a#1.csv").write_text("time,q_1\n0,0\n1,1\n")
    assert read(tmp_path / "a#1.csv").n == 2
    assert single_logs([tmp_path / "a#1.csv"]) == [tmp_path / "a#1.csv"]


def test_names_of_earlier_versions_and_of_lists_by_a_word_are_the_robots_joints(tmp_path: Path) -> None:
    names = {"motors": [f"main_{joint}" for joint in JOINTS]}
    folder = write_dataset(tmp_path / "old", "v2.0", [moved(40, 1)], names=names)
    found = read(folder, joints=JOINTS, units="degrees,gripper=degrees")
    np.testing.assert_allclose(found.q, np.radians(moved(40, 1)[0].astype(float)), rtol=1e-14)


def test_joints_of_the_dataset_that_are_not_asked_for_are_left_out(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "few", "v3.0", [moved(40, 1)])
    found = read(folder, joints=("elbow_flex", "shoulder_pan"), units="degrees")
    np.testing.assert_allclose(found.q, np.radians(moved(40, 1)[0][:, [2, 0]].astype(float)), rtol=1e-14)
    assert found.provenance[-1].detail["ignored"]["observation.state.gripper.pos"] == "joint not selected"


def test_joints_that_do_not_match_are_an_error_that_names_both(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "other", "v2.1", [moved(40, 1)], names=[f"m{k}.pos" for k in range(6)])
    with pytest.raises(
        RecordingError, match=r"q of joint 'shoulder_pan'.*'gripper'; there is one for .*'m0'"
    ):
        read(folder, joints=JOINTS, units="rad")
    columns = {
        f"{feature}.m{k}.pos": f"{prefix}_{joint}"
        for k, joint in enumerate(JOINTS)
        for feature, prefix in (("observation.state", "q"), ("action", "qref"))
    }
    found = read(folder, joints=JOINTS, units="rad", columns=columns)
    np.testing.assert_array_equal(found.q, moved(40, 1)[0].astype(float))


def test_a_unit_in_the_map_of_columns_comes_before_the_datasets(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "mixed", "v2.1", [moved(40, 1)])
    found = read(
        folder,
        joints=JOINTS,
        units="degrees",
        columns={
            "observation.state.gripper.pos": "q_gripper [mrad]",
            "action.gripper.pos": "qref_gripper [mrad]",
        },
    )
    np.testing.assert_allclose(found.q[:, 5], moved(40, 1)[0][:, 5].astype(float) * 1e-3, rtol=1e-14)
    np.testing.assert_allclose(found.q[:, 0], np.radians(moved(40, 1)[0][:, 0].astype(float)), rtol=1e-14)


def test_without_names_the_order_of_the_joints_is_assumed_and_said(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "bare", "v2.1", [moved(40, 1)], names=[])
    reading = read(folder, joints=JOINTS, units="rad", lenient=True)
    assert [f.place for f in reading.findings if f.code == "joint-order-assumed"] == [
        "bare#0: action",
        "bare#0: observation.state",
    ]
    np.testing.assert_array_equal(reading.recording.q, moved(40, 1)[0].astype(float))


def test_an_action_without_names_has_the_order_of_the_state(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "half", "v2.1", [moved(40, 1)])
    about = json.loads((folder / "meta/info.json").read_text())
    about["features"]["action"]["names"] = None
    (folder / "meta/info.json").write_text(json.dumps(about))
    turned = JOINTS[::-1]
    found = read(folder, joints=turned, units="rad")
    np.testing.assert_array_equal(found.q_ref, moved(40, 1)[1][:, ::-1].astype(float))


def with_columns(folder: Path, names: list[str], values: np.ndarray, **extra: Any) -> Path:
    """A dataset of one episode whose state has these names; further features by name, as (names, values)."""
    write_dataset(folder, "v2.1", [(values, values)], names=names)
    about = json.loads((folder / "meta/info.json").read_text())
    table = pq.read_table(folder / FILE)
    for feature, (labels, numbers) in extra.items():
        name = feature.replace("_", ".")
        about["features"][name] = {"dtype": "float32", "shape": [numbers.shape[1]], "names": labels}
        table = table.append_column(name, pa.array(numbers.tolist()))
    (folder / "meta/info.json").write_text(json.dumps(about))
    pq.write_table(table, folder / FILE)
    return folder


def test_velocities_are_taken_and_efforts_and_raw_currents_are_not(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(30, 4)).astype(np.float32)
    names = ["a.pos", "a.vel", "a.torque", "a.current"]
    effort = np.ones((30, 1), dtype=np.float32)
    folder = with_columns(tmp_path / "arm", names, values, observation_effort=(["a"], effort))
    found = read(folder, joints=("a",), units="degrees")
    np.testing.assert_allclose(found.v[:, 0], np.radians(values[:, 1].astype(float)), rtol=1e-14)
    np.testing.assert_allclose(found.v_ref[:, 0], np.radians(values[:, 1].astype(float)), rtol=1e-14)
    assert found.tau is None
    assert found.current is None
    assert {"observation.state.a.torque", "observation.state.a.current", "observation.effort.a"} <= set(
        found.extra
    )
    named = read(folder, joints=("a",), units="rad", columns={"observation.state.a.torque": "tau_a"})
    np.testing.assert_array_equal(named.tau[:, 0], values[:, 2].astype(float))


def test_currents_are_read_where_the_servo_is_said(tmp_path: Path) -> None:
    counts = np.column_stack([np.linspace(1000, 3000, 30), np.arange(30.0)]).astype(np.float32)
    folder = with_columns(tmp_path / "arm", ["a.pos", "a.current"], counts)
    found = read(folder, joints=("a",), units="counts:xm430-w350")
    # ROBOTIS e-Manual, XM430-W350: 2.69 mA a count.
    np.testing.assert_allclose(found.current[:, 0], np.arange(30) * 2.69e-3, rtol=1e-12)


def test_times_that_are_no_frames_are_taken_as_they_are(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "jitter", "v2.1", [moved(40, 1)])
    table = pq.read_table(folder / FILE)
    times = np.arange(40) / 30 + 0.003 * np.sin(np.arange(40))
    place = table.schema.get_field_index("timestamp")
    pq.write_table(table.set_column(place, "timestamp", pa.array(times)), folder / FILE)
    reading = read(folder, units="rad", lenient=True)
    np.testing.assert_array_equal(reading.recording.time, times)
    assert "measured-times" in {finding.code for finding in reading.findings}
    slow = pa.array(np.arange(40) / 25)
    pq.write_table(table.set_column(place, "timestamp", slow), folder / FILE)
    with pytest.raises(RecordingError, match=r"times are 0.04 s apart.*30 frames per second.*Set the one"):
        read(folder, units="rad")


# Units


def test_an_unknown_unit_is_refused_with_the_ways_to_say_it(tmp_path: Path) -> None:
    state, action = moved(40, 1)
    for factor in (1 / 60, 0.9):
        folder = write_dataset(tmp_path / str(factor), "v2.1", [(factor * state, factor * action)])
        with pytest.raises(RecordingError, match="does not say in which unit") as caught:
            read(folder, joints=JOINTS)
        for option in (
            "--units rad",
            "--units degrees",
            "--units normalised",
            "--calibration",
            "counts:SERVO",
        ):
            assert option in str(caught.value)
    counts = np.round(2048 + 10 * state)
    folder = write_dataset(tmp_path / "counts", "v2.1", [(counts, counts)])
    with pytest.raises(RecordingError, match="does not say in which unit"):
        read(folder, joints=JOINTS)


def test_degrees_are_known_where_values_can_be_nothing_else_but_a_grippers_are_not(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "deg", "v2.1", [moved(40, 1)])
    found = read(folder, joints=JOINTS[:5])
    np.testing.assert_allclose(found.q, np.radians(moved(40, 1)[0][:, :5].astype(float)), rtol=1e-14)
    for units in (None, "degrees"):
        with pytest.raises(RecordingError, match=r"'gripper' from 0 to 100 also where.*--lock gripper=Q"):
            read(folder, joints=JOINTS, units=units)


# What is wrong with a dataset


def _info(folder: Path, **changes: Any) -> Path:
    path = folder / "meta/info.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "small", "v2.1", [moved(40, 1)])


@pytest.mark.parametrize("version", ["v1.6", "v2.2", "v4.0", None, 3, ["v2.1"]])
def test_other_versions_are_refused_with_those_that_are_read(small: Path, version: Any) -> None:
    with pytest.raises(RecordingError, match=r"info.json: is of version .*Read are v2.0, v2.1, v3.0"):
        read(_info(small, codebase_version=version))


@pytest.mark.parametrize("fps", [-30, 0, "30", None, True, 1e9, float("1e308")])
def test_a_rate_that_is_none_is_refused(small: Path, fps: Any) -> None:
    with pytest.raises(RecordingError, match=r"info.json: 'fps' must be a positive number"):
        read(_info(small, fps=fps))


@pytest.mark.parametrize(
    "template",
    [
        "../../{episode_index}.parquet",
        "data/../../../etc/{episode_index:03d}.parquet",
        "/etc/passwd{episode_index}.parquet",
        "data/{episode_index.__class__}.parquet",
        "data/{episode_index:0999999999d}.parquet",
        "data/{episode_index!r}.parquet",
        "data/{secret}.parquet",
        "data\\..\\{episode_index}.parquet",
        "C:/{episode_index}.parquet",
        "data/{episode_index:06d}.csv",
        "data/\0{episode_index}.parquet",
        "{",
        "",
        7,
        "a" * 5000,
    ],
)
@pytest.mark.parametrize("version", ["v2.1", "v3.0"])
def test_a_pattern_that_leads_elsewhere_is_refused(tmp_path: Path, template: Any, version: str) -> None:
    folder = write_dataset(tmp_path / "a" / "b", version, [moved(40, 1)], data_path=template)
    pq.write_table(pa.table(rows(0, *moved(40, 1))), tmp_path / "0.parquet")
    with pytest.raises(RecordingError, match=r"info.json: 'data_path' .*LeRobot writes data/chunk-"):
        read(folder, units="rad")


@pytest.mark.parametrize("version", ["v2.1", "v3.0"])
def test_a_thousand_million_claimed_episodes_are_not_believed(tmp_path: Path, version: str) -> None:
    folder = write_dataset(tmp_path / "many", version, [moved(40, 1)], total_episodes=10**9)
    with pytest.raises(RecordingError, match=r"info.json: says 1000000000 episodes, and 1 are listed"):
        single_logs([folder])
    with pytest.raises(RecordingError, match=r"'total_episodes' must be a whole number"):
        single_logs([_info(folder, total_episodes=10**30)])


def test_damaged_lists_of_episodes_are_refused_with_their_place(small: Path) -> None:
    path = small / "meta/episodes.jsonl"
    for text, message in (
        ("{", r"episodes.jsonl:1.*is not JSON"),
        ("[]\n", r"episodes.jsonl:1: holds a list"),
        ('{"episode_index": -1}\n', r"episodes.jsonl:1: 'episode_index' must be"),
        ('{"episode_index": 0}\n{"episode_index": 0}\n', r"lists an episode twice"),
        ("", r"says 1 episodes, and 0 are listed"),
        ('{"episode_index": 0}\n' * 10_001, r"lists 10001 episodes; at most 10000"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            single_logs([small])
    path.unlink()
    with pytest.raises(InputError, match=r"episodes.jsonl: cannot be read"):
        single_logs([small])


def test_a_dataset_of_v3_whose_list_lies_is_refused(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "lies", "v3.0", [moved(40, 1), moved(30, 2)])
    path = folder / "meta/episodes/chunk-000/file-000.parquet"
    table = pq.read_table(path)
    for name, values, message in (
        ("length", [39, 30], r"file-000.parquet: holds 40 rows of episode 0, which is listed with 39"),
        ("data/file_index", [-1, 0], r"'data/file_index' must be a whole number"),
        ("data/file_index", [5, 0], r"file-005.parquet: cannot be read"),
        ("data/chunk_index", ["a", "b"], r"column 'data/chunk_index' is of type string"),
        ("data/chunk_index", [None, 0], r"or lacks numbers"),
    ):
        place = table.schema.get_field_index(name)
        pq.write_table(table.set_column(place, name, pa.array(values)), path)
        with pytest.raises(InputError, match=message):
            read(f"{folder}#0", units="rad")
    pq.write_table(table.drop_columns(["length"]), path)
    with pytest.raises(RecordingError, match=r"file-000.parquet: has no column 'length'"):
        single_logs([folder])
    path.write_bytes(b"PAR1 no")
    with pytest.raises(RecordingError, match="is damaged or not a Parquet file"):
        single_logs([folder])


def _changed(folder: Path, name: str, cells: Any) -> Path:
    table = pq.read_table(folder / FILE)
    pq.write_table(table.set_column(table.schema.get_field_index(name), name, cells), folder / FILE)
    return folder


def test_vectors_of_another_length_or_without_numbers_are_refused_with_their_row(small: Path) -> None:
    state = moved(40, 1)[0].tolist()
    for change, message in (
        ([*state[:7], state[7][:5], *state[8:]], r"observation.state': holds 5 numbers in row 7.*says 6"),
        ([*state[:9], None, *state[10:]], r"observation.state': holds nothing in row 9"),
        ([[*row, 0.0] for row in state], r"holds 7 numbers in row 0"),
        ([str(row) for row in state], r"is of type string; expected lists of 6 numbers"),
        ([[str(x) for x in row] for row in state], r"expected numbers"),
    ):
        with pytest.raises(RecordingError, match=message) as caught:
            read(_changed(small, "observation.state", pa.array(change)), units="rad")
        assert "episode_000000.parquet" in caught.value.place
        assert caught.value.remedy


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_numbers_that_are_none_are_named_or_left_out(small: Path, value: Any) -> None:
    state = moved(40, 1)[0].tolist()
    state[11][2] = value
    _changed(small, "observation.state", pa.array(state))
    with pytest.raises(RecordingError, match=r"row 11.*observation.state.elbow_flex.pos"):
        read(small, units="rad")
    reading = read(small, units="rad", lenient=True)
    assert reading.recording.n == 39
    assert reading.recording.provenance[-1].detail["left_out"] == ((11, 11),)


def test_fixed_lists_are_read_as_lists_are(small: Path) -> None:
    before = read(small, units="rad")
    state = moved(40, 1)[0]
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(state.ravel()), 6)
    assert read(_changed(small, "observation.state", fixed), units="rad") == before


def test_malformed_files_end_as_one_kind_of_error(small: Path) -> None:
    whole = (small / FILE).read_bytes()
    rng = np.random.default_rng(4)
    broken = [b"", b"PAR1", b"PAR1" * 100, whole[:-20], whole[: len(whole) // 2]]
    for _ in range(40):
        content = bytearray(whole)
        for place in rng.integers(0, len(whole), size=3):
            content[place] = rng.integers(256)
        broken.append(bytes(content))
    for content in broken:
        (small / FILE).write_bytes(content)
        try:
            found = read(small, units="rad")
        except InputError as error:
            assert error.place  # noqa: PT017
        else:
            assert isinstance(found, Recording)


def test_rows_of_another_episode_are_refused(small: Path) -> None:
    for numbers, message in (
        (np.ones(40, dtype=int), "holds no row of episode 0"),
        (np.array([0, 1] * 20), "rows of other episodes stand between"),
    ):
        with pytest.raises(RecordingError, match=message):
            read(_changed(small, "episode_index", pa.array(numbers)), units="rad")


def test_lists_that_repeat_to_more_than_the_budget_are_refused(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 60_000
    pq.write_table(pa.table(rows(0, np.zeros((n, 6)), np.zeros((n, 6)))), small / FILE)
    assert (small / FILE).stat().st_size < 10e6
    monkeypatch.setenv("STEELYARD_MEMORY", "0.01")
    with pytest.raises(InputError, match=r"would take .* of memory.*Split the dataset"):
        read(small, units="rad")


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([], "'features' is a list"),
        ({}, "has no feature 'observation.state'"),
        (
            {"observation.state": {"dtype": "float32", "shape": [6], "names": ["a"]}},
            "has 1 names for 6 numbers",
        ),
        ({"observation.state": {"dtype": "float32", "shape": [2], "names": ["a", "a"]}}, "has a name twice"),
        (
            {"observation.state": {"dtype": "float32", "shape": [10**12], "names": None}},
            "'shape' must be a whole",
        ),
        (
            {"observation.state": {"dtype": "float32", "shape": [10**6], "names": None}},
            "at most 4096 are read",
        ),
        ({"observation.state": {"dtype": "float32", "shape": [2], "names": [1, 2]}}, "no list of texts"),
    ],
)
def test_features_that_cannot_be_are_refused(small: Path, features: Any, message: str) -> None:
    with pytest.raises(RecordingError, match=message):
        read(_info(small, features=features), units="rad")


def test_a_folder_that_is_no_dataset_is_refused_as_before(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    with pytest.raises(RecordingError, match=r"is a directory.*bag or a LeRobot dataset"):
        read(tmp_path)
    with pytest.raises(RecordingError, match="no such file"):
        read(f"{tmp_path}/nothing/#1.csv")


def test_topics_are_of_bags_alone(small: Path) -> None:
    with pytest.raises(RecordingError, match="only bags have topics"):
        read(small, topic="/joint_states")


def test_the_digest_of_a_dataset_is_of_its_numbers_and_not_of_its_videos(small: Path) -> None:
    before = digest_of(small)
    (small / "videos").mkdir()
    with (small / "videos/large.mp4").open("wb") as video:
        os.truncate(video.fileno(), 3 << 30)
    assert digest_of(small) == before == digest_of(Path(f"{small}#0"))
    _changed(small, "observation.state", pa.array(moved(40, 2)[0].tolist()))
    assert digest_of(small) != before


# The Hub


class _Hub(ModuleType):
    """What stands in for the library of the Hub, which would fetch."""

    def __init__(self, folder: Path | None) -> None:
        super().__init__("huggingface_hub")
        self.folder, self.asked = folder, []

    def snapshot_download(self, **given: Any) -> str:
        self.asked.append(given)
        if self.folder is None:
            raise OSError("404: no such repository\nat https://…")
        return str(self.folder)


def test_a_dataset_of_the_hub_is_fetched_without_its_videos(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = _Hub(small)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert single_logs(["lerobot:org/name@v2.1"]) == [f"{small}#0"]
    assert read("lerobot:org/name#0", units="rad") == read(small, units="rad")
    assert hub.asked[0] == {
        "repo_id": "org/name",
        "repo_type": "dataset",
        "revision": "v2.1",
        "allow_patterns": ["meta/*", "data/*"],
    }
    monkeypatch.setitem(sys.modules, "huggingface_hub", _Hub(None))
    with pytest.raises(
        RecordingError, match=r"lerobot:org/name: cannot be fetched: 404: no such repository Check"
    ):
        read("lerobot:org/name")
    for name in (
        "lerobot:",
        "lerobot:org",
        "lerobot:../a/b",
        "lerobot:a/../b",
        "lerobot:a/b c",
        "lerobot:/etc/x",
    ):
        with pytest.raises(RecordingError, match="no name of a dataset on the Hub"):
            read(name)


def test_without_the_library_of_the_hub_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'steelyard\[hub\]'"):
        read("lerobot:org/name")


def test_patterns_of_both_versions_are_those_that_are_published() -> None:
    assert info("v2.1", 1, None, 1)["data_path"] == V2_PATH
    assert info("v3.0", 1, None, 1)["data_path"] == V3_PATH
