"""Files of `torch.save` and arrays of legged stacks: tensors are read, programs are never run."""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recording.written_datasets import _short, saved, table, tensor, torch_file
from steelyard.errors import InputError, RecordingError
from steelyard.recording import read
from steelyard.recording.tensors import tensors_of

RNG = np.random.default_rng(7)
TIME = (np.arange(50) * 0.0025).astype(np.float32)
POSITIONS, TARGETS, SPEEDS = RNG.normal(size=(3, 50, 12)).astype(np.float32)
LEGS = tuple(f"{leg}_{part}" for leg in ("LF", "RF", "LH", "RH") for part in ("HAA", "HFE", "KFE"))


def _file(tmp_path: Path, content: bytes, name: str = "log.pt") -> Path:
    (tmp_path / name).write_bytes(content)
    return tmp_path / name


def test_a_log_of_pace_is_positions_and_references_in_the_order_of_the_robot(tmp_path: Path) -> None:
    # leggedrobotics/pace-sim2real, scripts/pace/data_collection.py: torch.save of these three.
    content = torch_file({"time": TIME, "dof_pos": POSITIONS, "des_dof_pos": TARGETS})
    reading = read(_file(tmp_path, content), joints=LEGS, lenient=True)
    found = reading.recording
    assert found.joints == LEGS
    np.testing.assert_array_equal(found.time, TIME.astype(float))
    np.testing.assert_array_equal(found.q, POSITIONS.astype(float))
    np.testing.assert_array_equal(found.q_ref, TARGETS.astype(float))
    assert found.tau is None
    assert [f.code for f in reading.findings] == ["joint-order-assumed"]
    assert "order of the robot's joints" in reading.findings[0].message
    assert found.provenance[-1].detail["format"] == "pt"
    assert found.provenance[-1].detail["columns"]["des_dof_pos_3"] == "qref_LF_KFE"


def test_named_joints_go_by_their_names_and_nothing_is_assumed(tmp_path: Path) -> None:
    names = list(LEGS[::-1])
    arrays = {
        "time": TIME,
        "dof_pos": POSITIONS,
        "dof_vel": SPEEDS,
        "dof_pos_target": TARGETS,
        "torques": POSITIONS + 1,
        "joint_names": names,
    }
    np.savez(tmp_path / "log.npz", **arrays)  # type: ignore[arg-type]
    tensors = _file(tmp_path, torch_file(arrays))
    for path in (tmp_path / "log.npz", tensors):
        reading = read(path, joints=LEGS, lenient=True)
        np.testing.assert_array_equal(reading.recording.q, POSITIONS[:, ::-1].astype(float))
        np.testing.assert_array_equal(reading.recording.v, SPEEDS[:, ::-1].astype(float))
        np.testing.assert_array_equal(reading.recording.q_ref, TARGETS[:, ::-1].astype(float))
        assert not reading.findings


def test_a_step_gives_times_and_one_robot_of_many_axes_is_read(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "log.npz",
        dt=0.005,
        joint_pos=POSITIONS[:, None, :],
        joint_pos_target=TARGETS[:, None, :],
        actions=TARGETS,
    )
    found = read(tmp_path / "log.npz", joints=LEGS)
    np.testing.assert_allclose(found.time, np.arange(50) * 0.005)
    np.testing.assert_array_equal(found.q_ref, TARGETS.astype(float))
    assert "actions_1" in found.extra, "what a policy asks for is no position"
    for step in (0.0, -0.1, np.nan):
        np.savez(tmp_path / "log.npz", dt=step, joint_pos=POSITIONS)
        with pytest.raises(RecordingError, match="'dt' must be a positive number of seconds"):
            read(tmp_path / "log.npz", joints=LEGS)
    np.savez(tmp_path / "log.npz", time=TIME, joint_pos=np.stack([POSITIONS, POSITIONS], axis=1))
    with pytest.raises(RecordingError, match=r"'joint_pos' has the shape \(50, 2, 12\): 2 robots.*Save one"):
        read(tmp_path / "log.npz", joints=LEGS)
    np.savez(tmp_path / "log.npz", time=TIME, joint_pos=POSITIONS, joint_names=["a", "b"])
    with pytest.raises(RecordingError, match="has 12 columns, and 2 joints are named"):
        read(tmp_path / "log.npz", joints=LEGS)


def test_arrays_under_our_own_names_come_before_those_of_a_stack(tmp_path: Path) -> None:
    np.savez(tmp_path / "log.npz", time=TIME, q=POSITIONS, dof_pos=TARGETS)
    found = read(tmp_path / "log.npz", joints=LEGS)
    np.testing.assert_array_equal(found.q, POSITIONS.astype(float))
    np.testing.assert_array_equal(found.extra["dof_pos_1"], TARGETS[:, 0].astype(float))


@pytest.mark.parametrize("kind", ["<f4", "<f8", "<f2", "<i8", "<i4", "?"])
def test_tensors_of_every_kind_and_of_any_strides_are_what_they_were(kind: str) -> None:
    array = (RNG.normal(size=(5, 7)) * 10).astype(kind)
    turned = array.T
    program = table(
        {
            "whole": tensor("0", array.dtype.str[1:], (5, 7), (7, 1)),
            "turned": tensor("0", array.dtype.str[1:], (7, 5), (1, 7)),
            "part": tensor("0", array.dtype.str[1:], (2, 3), (7, 1), offset=9),
            "empty": tensor("0", array.dtype.str[1:], (0, 3), (3, 1)),
        }
    )
    found = tensors_of(saved(program, {"0": array.tobytes()}))
    np.testing.assert_array_equal(found["whole"], array)
    np.testing.assert_array_equal(found["turned"], turned)
    np.testing.assert_array_equal(found["part"], array[1:3, 2:5])
    assert found["empty"].shape == (0, 3)
    swapped = array.astype(array.dtype.newbyteorder(">"))
    np.testing.assert_array_equal(tensors_of(saved(program, {"0": swapped.tobytes()}, "big"))["whole"], array)


def test_a_table_in_a_table_is_named_by_both() -> None:
    inner = {"time": TIME.tolist(), "name": "a", "on": True, "none": None, "mixed": [1, "a"]}
    found = tensors_of(saved(pickle.dumps({"data": inner}, protocol=2)[2:-1]))
    assert set(found) == {"data.time", "data.name", "data.on"}


# Hostile files


class _Trap:
    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call[0], self.call[1:]


@pytest.mark.parametrize("protocol", range(6))
def test_a_program_in_a_file_is_not_run(tmp_path: Path, protocol: int) -> None:
    marker = tmp_path / "ran"
    for trap in (
        _Trap(os.system, f"touch {marker}"),
        _Trap(exec, f"open({str(marker)!r}, 'w')"),
        _Trap(__import__, "os"),
        {"time": TIME.tolist(), "dof_pos": _Trap(os.system, f"touch {marker}")},
    ):
        program = pickle.dumps(trap, protocol=protocol)
        content = saved(program[2:-1] if protocol >= 2 else program[:-1])
        with pytest.raises(
            RecordingError, match=r"log.pt: (asks for .*; nothing was run|is damaged).*numpy.savez"
        ):
            read(_file(tmp_path, content))
        _file(tmp_path, program)
        with pytest.raises(RecordingError, match=r"is no zip.*numpy.savez"):
            read(tmp_path / "log.pt")
    assert not marker.exists()


@pytest.mark.parametrize(
    "program",
    [
        b"cposix\nsystem\n" + _short("touch ran") + b"\x85R",
        b"cbuiltins\neval\n" + _short("1") + b"\x85R",
        b"(" + _short("touch ran") + b"iposix\nsystem\n",
        b"cposix\nsystem\n)\x81",
        b"ctorch\nload\n" + _short("x") + b"\x85R",
        b"ctorch._utils\n_rebuild_tensor_v2\n)R",
        b"}ctorch\nnn.Module\n" + b"b",
        b"r\xff\xff\xff\xff",
        b"]r\xff\xff\xff\xff" + b"h\x07",
        b"]" * 50 + b"a" * 49,
        b"t",
        b"0",
        b"}(u",
        b"(((",
        b"\x8a\xff" + b"1" * 255,
        b"\x8b\xff\xff\xff\x7f",
        b"B\xff\xff\xff\x7f",
        b"ctorch\nBFloat16Storage\n",
        tensor("0", "FloatStorage", (2, 2), (2, 1)),
        table({"a": tensor("0", "BFloat16Storage", (2, 2), (2, 1))}),
        table({"a": tensor("0", "f4", (2, 3), (3, 1))}),
        table({"a": tensor("0", "f4", (-2, 2), (2, 1))}),
        table({"a": tensor("0", "f4", (2, 2), (-2, 1), offset=3)}),
        table({"a": tensor("0", "f4", (2, 2), (2, 1), offset=1)}),
        table({"a": tensor("../../x", "f4", (2, 2), (2, 1))}),
        table({"a": tensor("1", "f4", (2, 2), (2, 1))}),
        table({"a": tensor("0", "f4", (2000000000, 4), (0, 1))}),
        table({"a": tensor("0", "f4", (1, 2000000), (1, 0))}),
    ],
)
def test_instructions_that_are_not_of_tensors_are_refused(tmp_path: Path, program: bytes) -> None:
    path = _file(tmp_path, saved(program, {"0": np.zeros(4, dtype="<f4").tobytes()}))
    with pytest.raises(InputError) as caught:
        read(path)
    assert "log.pt" in caught.value.place
    assert caught.value.remedy


def test_tables_that_hold_themselves_many_times_over_end(tmp_path: Path) -> None:
    program = b"}q\x00"
    for k in range(60):
        program += b"}q" + bytes([k + 1]) + b"(" + _short("a") + b"h" + bytes([k])
        program += _short("b") + b"h" + bytes([k]) + b"u"
    with pytest.raises(RecordingError, match="expected tensors by name"):
        read(_file(tmp_path, saved(program)))
    with pytest.raises(RecordingError, match="expected tensors by name"):
        read(_file(tmp_path, saved(b"}q\x00" + _short("a") + b"h\x00s")))


def test_storages_that_unpack_to_more_than_the_budget_are_refused(tmp_path: Path) -> None:
    program = table({"a": tensor("0", "f4", (1 << 30, 4), (4, 1))})
    path = _file(tmp_path, saved(program, {"0": b"\0" * 16}))
    with pytest.raises(InputError, match=r"would take .* of memory|more than the file holds"):
        read(path)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 400), st.binary(min_size=1, max_size=6))
def test_a_damaged_file_ends_as_one_kind_of_error(place: int, change: bytes) -> None:
    content = bytearray(torch_file({"time": TIME[:4], "dof_pos": POSITIONS[:4]}))
    content[place : place + len(change)] = change
    with contextlib.suppress(InputError):
        tensors_of(bytes(content))


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60))
def test_any_instructions_end_as_tensors_or_one_kind_of_error(program: bytes) -> None:
    with contextlib.suppress(InputError):
        tensors_of(saved(program, {"0": struct.pack("<f", 1.0)}))
