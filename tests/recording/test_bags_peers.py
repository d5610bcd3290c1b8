"""Bags written by the packages `rosbags` and `mcap` are read to the same bits; skipped without them."""

import numpy as np
import pytest

from steelyard.recording import read

NAMES = ["base joint", "élan", "a_rather_long_name_of_a_joint"]
N = 60
RNG = np.random.default_rng(8)
Q, V, TAU = RNG.normal(size=(3, N, 3))
STAMP = 1_650_000_000_123_456_789 + 1_000_001 * np.arange(N)


def agrees(recording):
    assert recording.joints == tuple(NAMES)
    for channel, wanted in (("q", Q), ("v", V), ("tau", TAU)):
        assert getattr(recording, channel).tobytes() == wanted.tobytes()
    np.testing.assert_array_equal(np.round(recording.time * 1e9).astype(np.int64), STAMP - STAMP[0])


@pytest.mark.parametrize("storage", ["SQLITE3", "MCAP"])
@pytest.mark.parametrize("version", [8, 9])
def test_a_bag_of_rosbags_is_read(tmp_path, storage, version):
    rosbag2 = pytest.importorskip("rosbags.rosbag2")
    typesys = pytest.importorskip("rosbags.typesys")
    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    types = store.types
    kind = "sensor_msgs/msg/JointState"
    plugin = getattr(rosbag2.StoragePlugin, storage)
    with rosbag2.Writer(tmp_path / "bag", version=version, storage_plugin=plugin) as writer:
        channel = writer.add_connection("/joint_states", kind, typestore=store)
        for k, stamp in enumerate(STAMP.tolist()):
            time = types["builtin_interfaces/msg/Time"](sec=stamp // 10**9, nanosec=stamp % 10**9)
            header = types["std_msgs/msg/Header"](stamp=time, frame_id="world")
            message = types[kind](header=header, name=NAMES, position=Q[k], velocity=V[k], effort=TAU[k])
            writer.write(channel, stamp + 5000, store.serialize_cdr(message, kind))
    agrees(read(tmp_path / "bag"))
    (file,) = [path for path in (tmp_path / "bag").iterdir() if path.suffix in (".db3", ".mcap")]
    agrees(read(file))


@pytest.mark.parametrize("compression", ["NONE", "LZ4", "ZSTD"])
@pytest.mark.parametrize("chunking", [True, False])
def test_a_file_of_mcap_is_read(tmp_path, compression, chunking):
    writers = pytest.importorskip("mcap.writer")
    ros2 = pytest.importorskip("rosbags.typesys")
    store = ros2.get_typestore(ros2.Stores.ROS2_HUMBLE)
    types, kind = store.types, "sensor_msgs/msg/JointState"
    path = tmp_path / "log.mcap"
    with path.open("wb") as file:
        method = getattr(writers.CompressionType, compression)
        writer = writers.Writer(file, chunk_size=2048, compression=method, use_chunking=chunking)
        writer.start(profile="ros2")
        schema = writer.register_schema(kind, "ros2msg", b"")
        channel = writer.register_channel("/joint_states", "cdr", schema)
        for k, stamp in enumerate(STAMP.tolist()):
            time = types["builtin_interfaces/msg/Time"](sec=stamp // 10**9, nanosec=stamp % 10**9)
            header = types["std_msgs/msg/Header"](stamp=time, frame_id="")
            message = types[kind](header=header, name=NAMES, position=Q[k], velocity=V[k], effort=TAU[k])
            data = bytes(store.serialize_cdr(message, kind))
            writer.add_message(channel, stamp, data, stamp)
        writer.finish()
    agrees(read(path))


def test_empty_arrays_are_laid_out_as_rosbags_lays_them_out():
    typesys = pytest.importorskip("rosbags.typesys")
    from recording.written_bags import cdr

    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    types, kind = store.types, "sensor_msgs/msg/JointState"
    for names in (["a"], ["ab"], ["abcde", "f"]):
        empty = np.array([])
        time = types["builtin_interfaces/msg/Time"](sec=3, nanosec=4)
        header = types["std_msgs/msg/Header"](stamp=time, frame_id="base")
        q = np.arange(len(names), dtype=float)
        message = types[kind](header=header, name=names, position=q, velocity=empty, effort=q)
        assert bytes(store.serialize_cdr(message, kind)) == cdr(3_000_000_004, names, q, [], q)
