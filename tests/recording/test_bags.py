"""ROS 2 bags give each number to its joint, whatever the container and the order of the message."""

import struct

import numpy as np
import pytest

from recording.written_bags import JOINT_STATE, cdr, db3, mcap
from shared_material import DATA
from steelyard.errors import RecordingError, UnknownNameError
from steelyard.recording import read

NAMES = ["shoulder", "elbow", "wrist"]
N = 40
RNG = np.random.default_rng(3)
Q, V, TAU = (np.sin(np.arange(N)[:, None] / 9 + RNG.normal(size=3)) for _ in range(3))
STAMP = 1_700_000_000_000_000_000 + 2_000_000 * np.arange(N)
RECEIVED = STAMP + 700_000 + RNG.integers(0, 400_000, N)


def messages(order=lambda k: [0, 1, 2], topic=1, **options):
    rows = []
    for k in range(N):
        o = order(k)
        data = cdr(int(STAMP[k]), [NAMES[i] for i in o], Q[k, o], V[k, o], TAU[k, o], **options)
        rows.append((topic, int(RECEIVED[k]), data))
    return rows


def is_the_motion(recording):
    assert recording.joints == tuple(NAMES)
    for channel, wanted in (("q", Q), ("v", V), ("tau", TAU)):
        assert getattr(recording, channel).tobytes() == wanted.tobytes()
    np.testing.assert_allclose(recording.time, 0.002 * np.arange(N), rtol=0, atol=1e-15)


CONTAINERS = {
    "db3": lambda folder, rows, **o: db3(folder / "log.db3", rows, **o),
    "mcap": lambda folder, rows, **o: mcap(folder / "log.mcap", rows, **o),
    "chunks": lambda folder, rows, **o: mcap(folder / "log.mcap", rows, compression="", **o),
    "zstd": lambda folder, rows, **o: mcap(folder / "log.mcap", rows, compression="zstd", **o),
    "lz4": lambda folder, rows, **o: mcap(folder / "log.mcap", rows, compression="lz4", **o),
}


@pytest.fixture(params=CONTAINERS)
def container(request, tmp_path):
    return lambda rows, **options: CONTAINERS[request.param](tmp_path, rows, **options)


def test_every_container_gives_the_same_bits(container):
    is_the_motion(read(container(messages())))


def test_joints_are_told_apart_by_name_when_the_order_varies(container):
    orders = [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    is_the_motion(read(container(messages(lambda k: orders[k % 3]))))


def test_both_byte_orders_and_any_frame_name_are_read(container):
    for frame in ("", "a", "world", "base_link_7"):
        mixed = [
            (1, int(RECEIVED[k]), cdr(int(STAMP[k]), NAMES, Q[k], V[k], TAU[k], "<>"[k % 2], frame))
            for k in range(N)
        ]
        is_the_motion(read(container(mixed)))


def test_messages_written_out_of_order_come_in_the_order_of_reception(container):
    rows = messages()
    is_the_motion(read(container([rows[k] for k in np.random.default_rng(1).permutation(N)])))


def test_without_stamps_the_time_of_reception_counts_and_is_said(container):
    rows = [(1, int(RECEIVED[k]), cdr(0, NAMES, Q[k], V[k], TAU[k])) for k in range(N)]
    recording = read(container(rows))
    np.testing.assert_allclose(recording.time, (RECEIVED - RECEIVED[0]) * 1e-9, rtol=1e-12, atol=1e-15)
    assert any("times of reception" in note for note in recording.provenance[-1].detail["notes"])


@pytest.mark.parametrize("effort", [[], [np.nan] * 3])
def test_a_channel_that_no_message_fills_is_left_out_and_said(container, effort):
    rows = [(1, int(RECEIVED[k]), cdr(int(STAMP[k]), NAMES, Q[k], [], effort)) for k in range(N)]
    recording = read(container(rows))
    assert list(recording.channels) == ["q"]
    notes = recording.provenance[-1].detail["notes"]
    assert "no message carries v." in notes
    assert "no message carries tau." in notes


TWO = (
    ("/arm/joint_states", JOINT_STATE),
    ("/hand/joint_states", JOINT_STATE),
    ("/tf", "tf2_msgs/msg/TFMessage"),
)


def test_several_topics_are_listed_and_one_is_chosen_by_name(container):
    other = [(2, int(t), cdr(int(t), ["finger"], [0.1 * k])) for k, t in enumerate(RECEIVED)]
    path = container(messages() + other + [(3, 5, b"\0\1\0\0")], topics=TWO)
    with pytest.raises(
        RecordingError, match=r"2 topics of joint states: '/arm/joint_states' \(40 messages\), '/h"
    ):
        read(path)
    is_the_motion(read(path, topic="/arm/joint_states"))
    assert read(path, topic="/hand/joint_states").joints == ("finger",)
    with pytest.raises(
        UnknownNameError, match=r"unknown topic '/arm/joint_state'. Did you mean '/arm/joint_st"
    ):
        read(path, topic="/arm/joint_state")
    with pytest.raises(
        RecordingError, match="topic '/tf' is of type tf2_msgs/msg/TFMessage, not sensor_msgs"
    ):
        read(path, topic="/tf")


def test_a_bag_without_joint_states_lists_what_it_holds(container):
    with pytest.raises(RecordingError, match=r"no topic of type .*; its topics are '/tf' \(tf2_msgs"):
        read(container([(1, 5, b"")], topics=TWO[2:]))


def test_only_bags_have_topics(tmp_path):
    (tmp_path / "log.csv").write_text("t,q_1\n0,1\n1,2\n")
    with pytest.raises(RecordingError, match="only bags have topics"):
        read(tmp_path / "log.csv", topic="/joint_states")


def test_two_sets_of_joints_on_one_topic_need_a_choice(container):
    hand = [(1, int(t) + 1, cdr(int(t), ["finger"], [0.5], [0.0], [1.0])) for t in RECEIVED]
    path = container(messages() + hand)
    with pytest.raises(RecordingError, match="2 sets of joints: shoulder, elbow, wrist; finger"):
        read(path)
    is_the_motion(read(path, joints=NAMES))
    swapped = read(path, joints=["wrist", "elbow"])
    assert swapped.q.tobytes() == np.ascontiguousarray(Q[:, [2, 1]]).tobytes()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (cdr(5, NAMES, Q[0], V[0], TAU[0])[:-9], "is cut off inside its effort values"),
        (cdr(5, NAMES, Q[0], V[0], TAU[0])[:34], "is cut off inside a text"),
        (cdr(5, NAMES, Q[0, :2], V[0], TAU[0]), "has 2 values of q for 3 joints"),
        (cdr(5, ["elbow", "elbow", "wrist"], Q[0], V[0], TAU[0]), "names a joint twice"),
        (b"\0\7\0\0" + b"\0" * 60, "does not start as CDR does"),
        (b"", "of 0 bytes does not start as CDR does"),
    ],
    ids=["effort", "text", "sizes", "names", "header", "empty"],
)
def test_a_message_that_is_no_joint_state_is_named_and_left_out_only_on_request(container, data, reason):
    rows = messages()
    rows[7] = (1, rows[7][1], data)
    path = container(rows)
    with pytest.raises(RecordingError, match=rf"1 place cannot be used: row 7: 'message' .*{reason}"):
        read(path)
    reading = read(path, lenient=True)
    assert reading.recording.q.tobytes() == np.delete(Q, 7, axis=0).tobytes()
    (named,) = [finding for finding in reading.findings if finding.code == "broken-row"]
    assert f"{path.name}: row 7" in named.place
    assert reason in named.message


def test_other_encodings_are_refused(tmp_path):
    with pytest.raises(RecordingError, match="is encoded as 'ros1'; only 'cdr' is read"):
        read(db3(tmp_path / "log.db3", messages(), encoding="ros1"))


def test_a_db3_in_write_ahead_mode_is_read(tmp_path):
    path = db3(tmp_path / "log.db3", messages())
    data = bytearray(path.read_bytes())
    data[18:20] = b"\2\2"  # the file format's two version numbers: 2 is the write-ahead log
    path.write_bytes(data)
    is_the_motion(read(path))


def test_messages_left_in_a_write_ahead_log_are_not_passed_over_in_silence(tmp_path):
    path = db3(tmp_path / "log.db3", messages())
    (tmp_path / "log.db3-wal").write_bytes(b"messages")
    with pytest.raises(RecordingError, match=r"messages in 'log.db3-wal' are not in the bag"):
        read(path)
    reading = read(path, lenient=True)
    is_the_motion(reading.recording)
    assert any("log.db3-wal" in finding.message for finding in reading.findings)


def test_a_folder_is_read_as_the_bag_that_its_metadata_lists(tmp_path):
    rows = messages()
    db3(tmp_path / "log_0.db3", rows[:25])
    db3(tmp_path / "log_1.db3", rows[25:])
    with pytest.raises(
        RecordingError, match=r"holds several bags and no metadata.yaml: log_0.db3, log_1.db3"
    ):
        read(tmp_path)
    listed = "rosbag2_bagfile_information:\n  relative_file_paths:\n    - log_0.db3\n    - log_1.db3\n"
    (tmp_path / "metadata.yaml").write_text(listed)
    is_the_motion(read(tmp_path))
    (tmp_path / "log_1.db3").unlink()
    with pytest.raises(RecordingError, match=r"lists 'log_1.db3', which is not there \(1 of 2 missing\)"):
        read(tmp_path)


def test_a_folder_with_one_bag_needs_no_metadata(tmp_path):
    mcap(tmp_path / "log_0.mcap", messages())
    is_the_motion(read(tmp_path))


def test_a_compressed_bag_says_how_to_unpack_it(tmp_path):
    (tmp_path / "log_0.db3.zstd").write_bytes(b"x")
    with pytest.raises(RecordingError, match=r"'log_0.db3.zstd' is compressed. Unpack it with zstd -d"):
        read(tmp_path)


def test_an_mcap_cut_off_by_a_crash_gives_what_was_written_before_on_request(tmp_path):
    path = mcap(tmp_path / "log.mcap", messages(), compression="zstd", per_chunk=10)
    data = path.read_bytes()
    chunks = [
        i for i in range(len(data)) if data[i : i + 1] == b"\x06" and data[i + 5 : i + 25] == b"\0" * 20
    ]
    path.write_bytes(data[: chunks[2] + 60])
    with pytest.raises(RecordingError, match="the file is cut off inside the record at byte"):
        read(path)
    reading = read(path, lenient=True)
    assert reading.recording.q.tobytes() == Q[:20].tobytes()
    assert any("cut off" in finding.message for finding in reading.findings)


def test_a_chunk_that_does_not_match_its_checksum_is_damage(tmp_path):
    path = mcap(tmp_path / "log.mcap", messages(), compression="", per_chunk=10)
    value = struct.pack("<d", Q[15, 1])
    path.write_bytes(path.read_bytes().replace(value, struct.pack("<d", 0.25)))
    with pytest.raises(RecordingError, match="a chunk does not match its checksum"):
        read(path)
    assert read(path, lenient=True).recording.n == 10


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared is not here")
def test_the_ur10_bag_holds_the_numbers_of_its_csv():
    bag = read(DATA / "ur10_panda_unisa" / "ur10_exciting_trajectory.db3")
    table = read(DATA / "ur10_panda_unisa" / "ur10_exciting_trajectory.csv", joints=bag.joints)
    assert bag.joints[0] == "shoulder_pan_joint"
    np.testing.assert_allclose(bag.time, table.time, rtol=0, atol=2e-9)
    for channel in ("q", "v", "tau"):
        # The CSV carries six digits.
        np.testing.assert_allclose(getattr(bag, channel), getattr(table, channel), rtol=6e-6, atol=1e-12)
