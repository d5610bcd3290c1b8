"""Logs in memory are read as files are: recordings, columns by name, data frames."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import RecordingError
from steelyard.recording import Recording, log_name, read, require_readable_logs, write

TIME = np.linspace(0.0, 1.0, 11)
Q = np.column_stack((np.sin(TIME), np.cos(TIME)))
LOG = Recording(("a", "b"), TIME, Q, tau=2.0 * Q, extra={"heat": TIME})
COLUMNS = {"time": TIME, "q_a": Q[:, 0], "q_b": Q[:, 1], "tau_a": 2.0 * Q[:, 0], "tau_b": 2.0 * Q[:, 1]}


def test_a_recording_of_the_joints_asked_for_is_taken_as_it_is() -> None:
    taken = read(LOG)
    assert taken == LOG
    assert taken.provenance[-1].detail["file"] == log_name(LOG), "findings are to name the log"
    assert read(taken) is taken
    assert read(taken, joints=["a", "b"]) is taken
    reading = read(taken, joints=("a", "b"), lenient=True)
    assert reading.recording is taken
    assert reading.findings == ()


def test_of_a_recording_joints_are_chosen_as_of_a_file(tmp_path: Path) -> None:
    write(LOG, tmp_path / "log.csv")
    from_file, taken = (read(log, joints=["b"]) for log in (tmp_path / "log.csv", LOG))
    assert taken == from_file
    assert taken.provenance[-1].action == "read"
    with pytest.raises(RecordingError, match="sha256") as refused:
        read(LOG, joints=["b", "c"])
    assert set(refused.value.evidence["missing"]) == {"c"}


def test_numbers_of_a_recording_index_the_joints_that_are_asked_for() -> None:
    numbered = Recording(("1", "2"), TIME, Q)
    assert read(numbered, joints=["x", "y"]).joints == ("x", "y")


class _Series:
    """A column as pandas and Polars have them: no array, but it gives one."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    def to_numpy(self) -> np.ndarray:
        return self._values


class _Frame:
    """What pandas and Polars have in common."""

    columns = tuple(COLUMNS)

    def __getitem__(self, name: str) -> _Series:
        return _Series(COLUMNS[name])


@pytest.mark.parametrize("kind", ["columns", "matrices", "frame", "pandas", "polars"])
def test_columns_by_name_and_data_frames_are_what_a_file_of_them_is(kind: str) -> None:
    given: object = COLUMNS
    joints = None
    if kind == "matrices":
        given, joints = {"time": TIME, "q": Q, "tau": 2.0 * Q}, ["a", "b"]
    elif kind == "frame":
        given = _Frame()
    elif kind != "columns":
        given = pytest.importorskip(kind, reason=f"{kind} is not installed").DataFrame(COLUMNS)
    found = read(given, joints=joints)
    np.testing.assert_array_equal(found.q, Q)
    assert found.joints == ("a", "b")
    assert found == replace(LOG, extra={})


def test_units_and_other_names_of_columns_count_in_memory_too() -> None:
    degrees = {"t": TIME, "Winkel": np.rad2deg(Q[:, 0])}
    found = read(degrees, columns={"Winkel": "q_1 [deg]"})
    np.testing.assert_allclose(found.q[:, 0], Q[:, 0], rtol=1e-14)


def test_missing_numbers_are_refused_or_left_out() -> None:
    holes = {"time": list(TIME), "q_1": [None, *Q[1:, 0].tolist()]}
    with pytest.raises(RecordingError, match="1 place cannot be used"):
        read(holes)
    reading = read(holes, lenient=True)
    assert reading.recording.n == TIME.size - 1
    assert "sha256" in reading.findings[0].place


def test_the_name_of_a_log_in_memory_tells_its_content() -> None:
    assert log_name("a/b.csv") == log_name(Path("a/b.csv")) == "a/b.csv"
    assert log_name(LOG) == f"<Recording, sha256 {LOG.digest[:12]}>"
    other = {**COLUMNS, "q_a": Q[:, 1]}
    assert log_name(COLUMNS) == log_name(dict(COLUMNS)) != log_name(other)
    require_readable_logs([LOG, COLUMNS])


def test_what_is_no_log_is_refused() -> None:
    with pytest.raises(RecordingError, match="got int"):
        read(3)  # type: ignore[call-overload]
    with pytest.raises(RecordingError, match="only bags have topics"):
        read(LOG, topic="/joint_states")
