"""Wrenches of force-torque sensors in logs: named after frames, in N and N·m, in every format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from steelyard.errors import RecordingError
from steelyard.recording import Recording, read, wrench_columns_of, wrench_in, write

FRAME = "left_wrist_3_link_fx"
"""A name that holds underscores, digits and the name of an axis."""


def made(frame: str = FRAME) -> Recording:
    time, rng = np.arange(5) / 100.0, np.random.default_rng(0)
    extra = dict(zip(wrench_columns_of(frame), rng.normal(size=(6, 5)), strict=True))
    return Recording(("a", "b"), time, rng.normal(size=(5, 2)), extra=extra)


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet"])
def test_a_wrench_comes_back_from_every_format(tmp_path: Path, suffix: str) -> None:
    log = made()
    write(log, tmp_path / f"log{suffix}")
    back = read(tmp_path / f"log{suffix}")
    assert np.array_equal(wrench_in(back, FRAME), wrench_in(log, FRAME))
    assert wrench_columns_of(FRAME)[3] == "wrench_left_wrist_3_link_fx_mx"


def test_columns_of_others_are_mapped_and_their_units_converted(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("time,q_1,Fx,Fy,Fz,Tx,Ty,Tz\n0,0,1,2,3,4,5,6\n0.1,1,1,2,3,4,5,6\n")
    names = dict(zip(("Fx", "Fy", "Fz", "Tx", "Ty", "Tz"), wrench_columns_of("tool0"), strict=True))
    names["Fz"] += " [kN]"
    names["Tz"] += " [N·mm]"
    log = read(file, columns=names)
    assert wrench_in(log, "tool0")[1].tolist() == [1, 2, 3000, 4, 5, pytest.approx(0.006)]
    names["Fx"] += " [Nm]"
    with pytest.raises(RecordingError, match="no unit of force"):
        read(file, columns=names)


def test_a_wrench_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(RecordingError, match=FRAME):
        wrench_in(made(), "tool0")
    part = made()
    part = part.revised("cut", {}, extra={k: v for k, v in part.extra.items() if not k.endswith("_my")})
    with pytest.raises(RecordingError, match=f"missing.*{FRAME}_my"):
        wrench_in(part, FRAME)
