"""Logs of real robots are read as their notes describe them."""

from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import RecordingError
from steelyard.recording import read

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"

# rows, joints, rate in Hz, duration in s, effort channel: from the README beside each log.
LOGS = {
    "kuka_lwr4/measurements_1.csv": (5027, 7, 200, 25.1, "tau"),
    "kuka_lwr4/measurements_2.csv": (5027, 7, 200, 25.1, "tau"),
    "panda_gaz/trajectory_1.csv": (None, 7, 1000, 21.0, "tau"),
    "ur10_panda_unisa/ur10_exciting_trajectory.csv": (None, 6, 125, 27.5, "tau"),
    "ur10_panda_unisa/panda_exciting_trajectory.csv": (None, 7, 30, 24.2, "tau"),
    "ur10e/ur-20_02_10-30sec_12harm.csv": (None, 6, 100, None, "current"),
    "ur10e/ur-20_02_12-40sec_12harm.csv": (None, 6, 100, None, "current"),
    "ur10e/ur-20_02_12-50sec_12harm.csv": (None, 6, 100, None, "current"),
    "ur10e/ur-20_02_19_14harm50sec.csv": (None, 6, 100, None, "current"),
    "ur10e/ur-20_02_19_14harm50secLoad.csv": (None, 6, 100, None, "current"),
    "xmate7p/traj1.csv": (1001, 7, 50, 20.0, "tau"),
    "xmate7p/traj2.csv": (1001, 7, 50, 20.0, "tau"),
}


def shared(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not beside the repository")
    return path


@pytest.mark.parametrize("name", LOGS)
def test_a_real_log_has_the_rows_joints_and_rate_of_its_notes(name):
    path = shared(name)
    rows, nj, rate, duration, effort = LOGS[name]
    recording = read(path)
    assert recording.joints == tuple(str(k) for k in range(1, nj + 1))
    assert list(recording.channels) == ["q", "v", effort]
    assert not recording.extra
    lines = path.read_text().splitlines()
    assert recording.n == len(lines) - 1 == (rows or recording.n)
    assert recording.rate == pytest.approx(rate, rel=0.02)
    if duration is not None:
        assert recording.duration == pytest.approx(duration, abs=0.06)
    table = np.loadtxt(lines, delimiter=",", skiprows=1)
    stacked = np.column_stack([recording.time, recording.q, recording.v, getattr(recording, effort)])
    assert stacked.tobytes() == table.tobytes()


def test_joint_names_bind_to_the_numbers_of_a_real_log():
    names = [f"fer_joint{k}" for k in range(1, 8)]
    path = shared("ur10_panda_unisa/panda_exciting_trajectory.csv")
    assert read(path, joints=names) == read(path).renamed(names)


def test_a_raw_log_without_a_header_is_refused_with_the_remedy():
    path = shared("ur10e/raw_corrupt/ur-19_09_27-11_32_02.csv")
    with pytest.raises(RecordingError, match="starts with a row of 19 numbers; a header is needed"):
        read(path)
