"""Messages of every type, written by `rosbags` from published definitions, keep their numbers."""

import dataclasses

import numpy as np
import pytest

from recording.written_bags import JOINT_STATE, cdr, db3, mcap
from steelyard.errors import RecordingError, SteelyardError
from steelyard.recording import read

typesys = pytest.importorskip("rosbags.typesys")

N, JOINTS = 30, [f"fr3_joint{k}" for k in range(1, 8)]
RNG = np.random.default_rng(11)
STAMP = 1_700_000_000_000_000_000 + 1_000_000 * np.arange(N)
POINT = "trajectory_msgs/JointTrajectoryPoint"
NOW = ["reference", "feedback", "error", "output"]
MULTI = "trajectory_msgs/MultiDOFJointTrajectoryPoint"


def controller_state(points, several):
    lines = ["std_msgs/Header header", "string[] joint_names", *(f"{POINT} {name}" for name in points)]
    lines += ["string[] multi_dof_joint_names"] if several else []
    return "\n".join([*lines, *(f"{MULTI} multi_dof_{name}" for name in several)])


FRANKA = {
    "franka_msgs/msg/Errors": "\n".join(f"bool error_{k}" for k in range(36)),
    "franka_msgs/msg/Elbow": "\n".join(f"float64[2] {name}" for name in ("p", "d", "c", "v", "a")),
    "franka_msgs/msg/CollisionIndicators": (
        "geometry_msgs/Vector3 a\ngeometry_msgs/Vector3 b\ngeometry_msgs/Vector3 c\ngeometry_msgs/Vector3 d\n"
        "float64[7] is_joint_collision\nfloat64[7] is_joint_contact"
    ),
    "franka_msgs/msg/FrankaRobotState": """
std_msgs/Header header
CollisionIndicators collision_indicators
# The joint state consisting out of position (q), velocity (dq) and effort (tau_J)
sensor_msgs/JointState measured_joint_state
sensor_msgs/JointState desired_joint_state
sensor_msgs/JointState measured_joint_motor_state
float64[7] ddq_d
float64[7] dtau_j
sensor_msgs/JointState tau_ext_hat_filtered
Elbow elbow
geometry_msgs/WrenchStamped k_f_ext_hat_k
geometry_msgs/WrenchStamped o_f_ext_hat_k
geometry_msgs/InertiaStamped inertia_ee
geometry_msgs/InertiaStamped inertia_load
geometry_msgs/InertiaStamped inertia_total
geometry_msgs/PoseStamped o_t_ee
geometry_msgs/PoseStamped o_t_ee_d
geometry_msgs/PoseStamped o_t_ee_c
geometry_msgs/PoseStamped f_t_ee
geometry_msgs/PoseStamped ee_t_k
geometry_msgs/TwistStamped o_dp_ee_d
geometry_msgs/TwistStamped o_dp_ee_c
geometry_msgs/AccelStamped o_ddp_ee_c
float64 time
float64 control_command_success_rate
uint8 ROBOT_MODE_OTHER=0
uint8 ROBOT_MODE_IDLE=1
uint8 robot_mode
Errors current_errors
Errors last_motion_errors
""",
    "franka_msgs/msg/FrankaState": "std_msgs/Header header\n"
    + "\n".join(
        f"float64[{n}] {name}"
        for n, names in (
            (6, "cartesian_collision cartesian_contact"),
            (7, "q q_d dq dq_d ddq_d theta dtheta tau_j dtau_j tau_j_d"),
            (6, "k_f_ext_hat_k"),
            (2, "elbow elbow_d elbow_c delbow_c ddelbow_c"),
            (7, "joint_collision joint_contact"),
            (6, "o_f_ext_hat_k o_dp_ee_d o_dp_ee_c o_ddp_ee_c"),
            (7, "tau_ext_hat_filtered"),
            (1, "m_ee"),
            (3, "f_x_cee"),
            (9, "i_ee"),
            (1, "m_load"),
            (3, "f_x_cload"),
            (9, "i_load"),
            (1, "m_total"),
            (3, "f_x_ctotal"),
            (9, "i_total"),
            (16, "o_t_ee o_t_ee_d o_t_ee_c f_t_ee ee_t_k"),
        )
        for name in names.split()
    ).replace("float64[1] ", "float64 ")
    + "\nfloat64 time\nfloat64 control_command_success_rate\nuint8 robot_mode\nErrors current_errors\n"
    "Errors last_motion_errors",
}
LBR = (
    "float64 sample_time\n"
    + "\n".join(f"int8 state_{k}" for k in range(8))
    + "\nuint32 time_stamp_sec\nuint32 time_stamp_nano_sec\nfloat64[7] measured_joint_position\n"
    "float64[7] {}measured_torque\nfloat64[7] commanded_torque\nfloat64[7] external_torque\n"
    "float64[7] ipo_joint_position\nfloat64 tracking_performance"
)
CONTROLLER = "control_msgs/msg/JointTrajectoryControllerState"
DEFINITIONS = {
    "newest": {CONTROLLER: controller_state(NOW, NOW)},
    "between": {CONTROLLER: controller_state([*NOW, "desired", "actual"], [*NOW, "desired", "actual"])},
    "oldest": {CONTROLLER: controller_state(["desired", "actual", "error"], [])},
    "robot": {**FRANKA},
    "arm": {**FRANKA},
    "lbr": {"lbr_fri_idl/msg/LBRState": LBR.format("")},
    "lbr_msgs": {
        "lbr_fri_msgs/msg/LBRState": LBR.format("commanded_joint_position\nfloat64[7] "),
    },
}
KINDS = {"robot": "franka_msgs/msg/FrankaRobotState", "arm": "franka_msgs/msg/FrankaState"}
# The field of each channel, by the definitions above.
CHANNELS = {
    "newest": {"q": "feedback.positions", "v": "feedback.velocities", "q_ref": "reference.positions"},
    "between": {"q": "feedback.positions", "tau": "feedback.effort", "a_ref": "reference.accelerations"},
    "oldest": {"q": "actual.positions", "v": "actual.velocities", "q_ref": "desired.positions"},
    "robot": {
        "q": "measured_joint_state.position",
        "v": "measured_joint_state.velocity",
        "tau": "measured_joint_state.effort",
        "q_ref": "desired_joint_state.position",
        "a_ref": "ddq_d",
    },
    "arm": {"q": "q", "v": "dq", "tau": "tau_j", "q_ref": "q_d", "v_ref": "dq_d", "a_ref": "ddq_d"},
    "lbr": {"q": "measured_joint_position", "tau": "measured_torque", "q_ref": "ipo_joint_position"},
    "lbr_msgs": {
        "q": "measured_joint_position",
        "tau": "measured_torque",
        "q_ref": "commanded_joint_position",
    },
}


def filled(store, name, values, stamp):
    """A message of random numbers in which every number tells its field, kept in `values` by dotted path."""
    return _message(store, name, "", values, stamp)


def _message(store, name, path, values, stamp):
    base, nodes = typesys.base, store.fielddefs[name][1]
    made = {}
    for field, (kind, what) in nodes:
        at = f"{path}.{field}".strip(".")
        if kind == typesys.base.Nodetype.NAME:
            made[field] = _message(store, what, at, values, stamp)
        elif kind == base.Nodetype.BASE:
            made[field] = _single(what[0], at, stamp)
            values[at] = made[field]
        else:
            (inner, kind_of), size = what
            if inner == base.Nodetype.NAME:
                made[field] = []
            elif kind_of[0] == "string":
                made[field] = [] if field.startswith("multi") else JOINTS
            else:
                made[field] = values[at] = RNG.normal(size=size or len(JOINTS))
    return store.types[name](**made)


def _single(what, at, stamp):
    if what == "string":
        return "fr3_link0"
    if at.endswith(("stamp.sec", "time_stamp_sec")):
        return int(stamp // 10**9)
    if at.endswith(("stamp.nanosec", "time_stamp_nano_sec")):
        return int(stamp % 10**9)
    return float(RNG.normal()) if what.startswith("float") else what == "bool"


def written(which):
    """A store that knows the types, the rows of a bag, and the numbers of each field."""
    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    types = {}
    for name, text in DEFINITIONS[which].items():
        types |= typesys.get_types_from_msg(text, name)
    for name in types:
        store.fielddefs.pop(name, None)
    store.register(types)
    kind = KINDS.get(which, next(iter(DEFINITIONS[which])))
    rows, numbers = [], []
    for stamp in STAMP.tolist():
        numbers.append({})
        message = filled(store, kind, numbers[-1], stamp)
        rows.append((1, stamp + 5000, bytes(store.serialize_cdr(message, kind))))
    told = {field: np.array([row[field] for row in numbers]) for field in numbers[0]}
    return store, kind, rows, told


def definition(store, kind):
    return store.generate_msgdef(kind, ros_version=2)[0]


@pytest.mark.parametrize("carried", [True, False], ids=["mcap", "db3"])
@pytest.mark.parametrize("which", DEFINITIONS)
def test_a_message_gives_the_numbers_of_its_fields_to_its_joints(tmp_path, which, carried):
    store, kind, rows, told = written(which)
    topics = [("/states", kind)]
    if carried:
        path = mcap(tmp_path / "log.mcap", rows, topics, definitions=[definition(store, kind)])
    else:
        path = db3(tmp_path / "log.db3", rows, topics)
    recording = read(path)
    numbered = which in ("arm", "lbr", "lbr_msgs")
    assert recording.joints == (tuple("1234567") if numbered else tuple(JOINTS))
    np.testing.assert_allclose(recording.time, 0.001 * np.arange(N), rtol=0, atol=1e-12)
    for channel, field in CHANNELS[which].items():
        assert recording.channels[channel].tobytes() == told[field].tobytes(), channel
    if which == "robot":
        wrench = [recording.extra[f"estimated_wrench_fr3_link0_{axis}"] for axis in ("fx", "mz")]
        np.testing.assert_array_equal(wrench[0], told["o_f_ext_hat_k.wrench.force.x"])
        np.testing.assert_array_equal(wrench[1], told["o_f_ext_hat_k.wrench.torque.z"])
        outside = recording.extra["external_torque_fr3_joint7"]
        np.testing.assert_array_equal(outside, told["tau_ext_hat_filtered.effort"][:, 6])


def test_a_field_that_a_later_version_adds_is_read_past_where_the_bag_says_so(tmp_path):
    later = LBR.format("").replace("float64[7] measured_torque", "string note\nfloat64[7] measured_torque")
    DEFINITIONS["later"] = {"lbr_fri_idl/msg/LBRState": later}
    try:
        store, kind, rows, told = written("later")
    finally:
        del DEFINITIONS["later"]
    kept = mcap(tmp_path / "a.mcap", rows, [("/s", kind)], definitions=[definition(store, kind)])
    assert read(kept).tau.tobytes() == told["measured_torque"].tobytes()
    rosbag2 = pytest.importorskip("rosbags.rosbag2")
    plugin = rosbag2.StoragePlugin.SQLITE3
    with rosbag2.Writer(tmp_path / "bag", version=9, storage_plugin=plugin) as writer:
        channel = writer.add_connection("/s", kind, typestore=store)
        for _, received, message in rows:
            writer.write(channel, received, message)
    assert read(tmp_path / "bag").tau.tobytes() == told["measured_torque"].tobytes()
    with pytest.raises(
        RecordingError, match=r"carries no definition, and its messages are of none that is kn"
    ):
        read(db3(tmp_path / "a.db3", rows, [("/s", kind)]))


def test_desired_states_of_other_joints_are_not_taken_for_those_of_the_measured_ones(tmp_path):
    store, kind, rows, _ = written("robot")
    message = store.deserialize_cdr(rows[4][2], kind)
    desired = dataclasses.replace(message.desired_joint_state, name=JOINTS[::-1])
    changed = dataclasses.replace(message, desired_joint_state=desired)
    rows[4] = (1, rows[4][1], bytes(store.serialize_cdr(changed, kind)))
    with pytest.raises(
        RecordingError, match=r"row 4: 'message' names other joints in desired_joint_state\.name"
    ):
        read(db3(tmp_path / "log.db3", rows, [("/s", kind)]))


# Several topics on one time base

Q = np.sin(np.arange(N)[:, None] / 7 + np.arange(7))
SLOPE = np.arange(1.0, 8.0)
STATES, EFFORTS, SENSOR = "/joint_states", "/efforts", "/ft"
WRENCH = "geometry_msgs/msg/WrenchStamped"
TOPICS = [(STATES, JOINT_STATE), (EFFORTS, JOINT_STATE), (SENSOR, WRENCH)]


def positions(late=0):
    return [(1, int(t) + 7, cdr(int(t) + late, JOINTS, Q[k], Q[k])) for k, t in enumerate(STAMP)]


def efforts(when, number=2, received=9):
    """Torques that grow in proportion to time, which interpolation gives exactly; and other positions."""
    return [
        (
            number,
            int(t) + received,
            cdr(int(t), JOINTS[::-1], 9 + Q[0], [], (t - STAMP[0]) * 1e-9 * SLOPE[::-1]),
        )
        for t in when
    ]


def wrenches(frame="tool0"):
    # The head of a joint state is that of a wrench: stamp, frame, and here six numbers.
    import struct

    rows = []
    for k, t in enumerate(STAMP):
        head = struct.pack("<iII", int(t) // 10**9, int(t) % 10**9, len(frame) + 1) + frame.encode() + b"\0"
        head += b"\0" * (-len(head) % 8)
        rows.append((3, int(t) + 3, b"\0\1\0\0" + head + struct.pack("<6d", *(k + np.arange(6.0)))))
    return rows


def notes(recording):
    return " ".join(recording.provenance[-1].detail["notes"])


@pytest.mark.parametrize("write", [db3, mcap])
def test_topics_are_joined_each_channel_from_the_first_that_tells_it(tmp_path, write):
    path = write(tmp_path / f"log.{write.__name__}", positions() + efforts(STAMP) + wrenches(), TOPICS)
    recording = read(path, topic=f"{STATES},{EFFORTS},{SENSOR}")
    assert recording.q.tobytes() == recording.v.tobytes() == Q.tobytes()
    np.testing.assert_allclose(recording.tau, np.outer(0.001 * np.arange(N), SLOPE), rtol=1e-12, atol=1e-15)
    for k, axis in enumerate(("fx", "fy", "fz", "mx", "my", "mz")):
        np.testing.assert_array_equal(recording.extra[f"wrench_tool0_{axis}"], k + np.arange(N))
    assert "'/efforts' gives tau." in notes(recording)
    assert "'/ft' gives wrench_tool0." in notes(recording)
    turned = read(path, topic=f"{EFFORTS},{STATES}")
    assert turned.joints == tuple(JOINTS[::-1])
    np.testing.assert_array_equal(turned.q, np.tile(9 + Q[0], (N, 1)))
    np.testing.assert_array_equal(turned.v, Q[:, ::-1])


def test_between_messages_a_channel_is_interpolated_and_beyond_its_ends_rows_are_left_out(tmp_path):
    when = STAMP[3:-4] + 400_000
    path = db3(tmp_path / "log.db3", positions() + efforts(when), TOPICS)
    recording = read(path, topic=f"{STATES},{EFFORTS}")
    kept = slice(4, N - 4)
    np.testing.assert_allclose(recording.time, 0.001 * np.arange(N)[kept], atol=1e-12)
    assert recording.q.tobytes() == Q[kept].tobytes()
    np.testing.assert_allclose(recording.tau, np.outer(recording.time, SLOPE), rtol=1e-9)
    assert "8 of 30 messages on '/joint_states' lie where another topic is silent" in notes(recording)


def test_gaps_are_not_bridged(tmp_path):
    when = np.delete(STAMP + 400_000, slice(10, 15))
    path = db3(tmp_path / "log.db3", positions() + efforts(when), TOPICS)
    recording = read(path, topic=f"{STATES},{EFFORTS}")
    milliseconds = np.round(recording.time * 1e3).astype(int).tolist()
    assert milliseconds == [k for k in range(1, N) if not 10 <= k <= 15]


def test_a_message_of_the_same_time_counts_at_the_edge_of_a_gap(tmp_path):
    path = db3(tmp_path / "log.db3", positions() + efforts(np.delete(STAMP, slice(10, 15))), TOPICS)
    recording = read(path, topic=f"{STATES},{EFFORTS}")
    milliseconds = np.round(recording.time * 1e3).astype(int).tolist()
    assert milliseconds == [k for k in range(N) if not 10 <= k < 15]


def test_a_rarer_topic_is_a_warning(tmp_path):
    path = db3(tmp_path / "log.db3", positions() + efforts(STAMP[::5]), TOPICS)
    reading = read(path, topic=f"{STATES},{EFFORTS}", lenient=True)
    (joined,) = [finding for finding in reading.findings if finding.code == "bag-joined"]
    assert joined.severity.value == "warning"
    assert "come 5 times more rarely" in joined.message


def test_clocks_that_differ_are_refused_and_without_stamps_reception_counts(tmp_path):
    far = positions(late=2_000_000_000) + efforts(STAMP)
    with pytest.raises(
        RecordingError, match=r"'/joint_states' and '/efforts' are of clocks that differ by 2 s"
    ):
        read(db3(tmp_path / "far.db3", far, TOPICS), topic=f"{STATES},{EFFORTS}")
    silent = [(1, row[1], cdr(0, JOINTS, Q[k])) for k, row in enumerate(positions())]
    recording = read(db3(tmp_path / "b.db3", silent + efforts(STAMP), TOPICS), topic=f"{STATES},{EFFORTS}")
    assert "times of reception, as the messages on '/joint_states' carry no stamps" in notes(recording)


def test_one_topic_of_joint_states_is_read_alone_and_others_are_named(tmp_path):
    recording = read(db3(tmp_path / "log.db3", positions() + wrenches(""), TOPICS))
    assert not recording.extra
    assert "Join it with --topic /joint_states,/ft." in notes(recording)
    named = read(tmp_path / "log.db3", topic="/joint_states,/ft")
    assert "wrench_ft_fx" in named.extra
    with pytest.raises(RecordingError, match=r"no topic of '/ft' tells joint positions"):
        read(tmp_path / "log.db3", topic="/ft")


def test_topics_without_a_time_in_common_are_refused(tmp_path):
    path = db3(tmp_path / "log.db3", positions() + efforts(STAMP + 10**9), TOPICS)
    with pytest.raises(RecordingError, match="the topics have no time in common"):
        read(path, topic=f"{STATES},{EFFORTS}")


def test_efforts_of_another_arm_are_not_joined_by_their_number(tmp_path):
    other = [(2, int(t), cdr(int(t), [f"left_{k}" for k in range(7)], Q[0], [], Q[0])) for t in STAMP]
    with pytest.raises(
        RecordingError, match=r"'/efforts' is of joints left_0, .* and '/joint_states' of fr3_j"
    ):
        read(db3(tmp_path / "log.db3", positions() + other, TOPICS), topic=f"{STATES},{EFFORTS}")
    _, kind, rows, told = written("lbr")
    numbered = [(2, *row[1:]) for row in rows]
    path = db3(tmp_path / "n.db3", positions() + numbered, [(STATES, JOINT_STATE), ("/lbr", kind)])
    assert read(path, topic=f"{STATES},/lbr").tau.tobytes() == told["measured_torque"].tobytes()


def test_efforts_of_a_ur_are_said_to_be_currents(tmp_path):
    names = [
        f"left_{name}_joint"
        for name in ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
    ]
    rows = [(1, int(t), cdr(int(t), names, Q[k, :6], Q[k, :6], Q[k, :6])) for k, t in enumerate(STAMP)]
    assert "motor currents in A as effort" in notes(read(db3(tmp_path / "log.db3", rows)))


@pytest.mark.parametrize(
    "text",
    [
        "float64[99999999999999] x",
        "wstring a",
        "A a\n" + "=" * 80 + "\nMSG: lbr_fri_idl/A\nA a",
        "§",
        "float64[] x",
    ],
)
def test_a_definition_that_cannot_be_is_refused(tmp_path, text):
    kind = "lbr_fri_idl/msg/LBRState"
    path = mcap(
        tmp_path / "log.mcap", [(1, 5, b"\0\1\0\0" + b"\1" * 99)] * 3, [("/s", kind)], definitions=[text]
    )
    with pytest.raises(RecordingError):
        read(path)


@pytest.mark.parametrize("which", ["robot", "oldest"])
def test_whatever_is_done_to_such_a_bag_only_errors_of_the_house_escape(tmp_path, which):
    store, kind, rows, _ = written(which)
    path = mcap(tmp_path / "log.mcap", rows[:6], [("/s", kind)], definitions=[definition(store, kind)])
    data, refused = path.read_bytes(), 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        changed = bytearray(data)
        for index in rng.integers(len(data), size=int(rng.integers(1, 30))):
            changed[index] = int(rng.choice([0, 1, 127, 255, rng.integers(256)]))
        path.write_bytes(changed)
        for lenient in (False, True):
            try:
                read(path, lenient=lenient)
            except SteelyardError:
                refused += 1
    assert refused > 20
