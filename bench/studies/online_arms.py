"""The arm of Zhang et al. (2025) and the worlds it learns in: what is stated of it, truths drawn within."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from steelyard.drive import Drive
from steelyard.errors import NoSolutionError
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.limits import Hull, Scene, Zonotope, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.limits.shapes import Solid
from steelyard.payloads import Mount
from steelyard.pose import Pose
from steelyard.robot import Box, Capsule, Geometry, Link, Robot, Sphere
from steelyard.safe_learning import LawChoice, LoadModel, MuJoCoDriver, SafeLearningConfig, SensorErrors
from steelyard.uncertainty import ErrorBounds, PayloadBox
from steelyard.zoo import zoo_robot

Array = np.ndarray
ROBOT = "kinova_gen3_2f85"
DRIVE = ("viscous", "coulomb", "rotor")
SPREAD = 0.05
"""How far each number of the arm but those of the end effector may be off, as a part of it (VI-D1)."""
# Table I, in the frame of the last link: m, mx, my, mz, then Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
TABLE_I = PayloadBox.between(
    (1.2, -0.4, -0.4, -1.0, *[-0.2] * 6),
    (5.2, 0.4, 0.4, -0.1, *[0.2] * 6),
)
TORQUE = (0.025, 0.1)
"""Relative (VI-D1) and absolute error of the torque readings, dimensionless and N·m."""
FORMS = ("clamped", "componentwise", "clamped", "componentwise", "armour")
PATTERNS = ("edge", "bias", "even")
POSITION_ERRORS = (0.0, 1e-5)
KINDS = ("box", "sphere", "capsule", "hull", "zonotope")
MOST_OBSTACLES = 6
HOME = np.array([0.0, 0.26, np.pi, -2.2, 0.0, 0.96, np.pi / 2])
STRAYS = np.array([np.pi, 0.6, 0.6, 0.5, 0.8, 0.6, np.pi])
"""How far from `HOME` a run may start, rad."""
ROOM, OWN_ROOM = 0.03, 0.01
"""How far obstacles and its own links are from the arm at its start, m."""
DUMBBELL = (Geometry(Capsule(0.045, 0.1), Pose.identity()),)
_DRAWS, _INSIDE = 1000, 0.999


@dataclass(frozen=True, eq=False)
class World:
    """What is stated, and what is true.

    Attributes:
        setting: what is stated.
        robot: the true arm with its true end effector.
        ten: of the true end effector, shape (10,), SI.
        start: where the arm stands, shape (7,), rad.
        errors: of its sensors.
        sensor_seed: where their errors begin.
    """

    setting: SafeLearningConfig
    robot: Robot
    ten: Array
    start: Array
    errors: SensorErrors
    sensor_seed: int

    @property
    def parameters(self) -> Array:
        """The true parameters in the order of the setting's layout, shape (p,), SI."""
        return np.asarray(layout_of(self.robot, DRIVE).complete_nominal())

    def link(self) -> MuJoCoDriver:
        """The true arm, at its start."""
        rng = np.random.default_rng(self.sensor_seed)
        return MuJoCoDriver(self.robot, self.start, cycle=self.setting.cycle, errors=self.errors, rng=rng)


@cache
def arm() -> LoadModel:
    """What is known of the arm: all within `SPREAD` but its end effector, of which nothing is."""
    robot = zoo_robot(ROBOT)
    held = Mount(robot.link_names[-1], Pose.identity(), "end effector")
    return LoadModel.stated(robot, layout_of(robot, DRIVE), held, model_error=SPREAD, whole_link=True)


def drawn_world(
    rng: np.random.Generator,
    *,
    form: str,
    pattern: str,
    cycle: float,
    velocity_error: float,
    obstacles: int,
    duration: float = 3.0,
    reach: float = 1.2,
) -> World:
    """A world in which everything stated is true; plans last so long and go so far in each joint."""
    start = drawn_start(rng)
    tool = DUMBBELL if rng.random() < 0.5 else ()
    scene = drawn_scene(rng, start, obstacles, tool)
    ten = drawn_load(rng, edge=bool(rng.random() < 0.4))
    position = float(rng.choice(POSITION_ERRORS))
    known = arm()
    stated = ErrorBounds.stated(
        known.robot,
        known.layout,
        known.parameters,
        torque=TORQUE,
        model=SPREAD,
        velocity=velocity_error,
        position=position,
    )
    setting = SafeLearningConfig.of(
        known,
        TABLE_I,
        stated,
        law=LawChoice(form),
        scene=scene,
        tool=tool,
        cycle=cycle,
        duration=duration,
        switch=0.5 * duration,
        reach=reach,
    )
    errors = SensorErrors(*TORQUE, velocity_error, position, pattern)
    return World(setting, true_arm(rng, ten), ten, start, errors, int(rng.integers(2**31)))


def drawn_start(rng: np.random.Generator) -> Array:
    """A pose from which the arm does not touch itself."""
    robot = arm().robot
    apart = clearance_of(robot, tool=DUMBBELL)
    for _ in range(_DRAWS):
        q = HOME + STRAYS * rng.uniform(-1.0, 1.0, robot.nv)
        if apart.distances(q[None]).min() > OWN_ROOM:
            return np.asarray(q)
    raise NoSolutionError("no pose is free.", place="start")


def drawn_load(rng: np.random.Generator, *, edge: bool) -> Array:
    r"""Ten numbers of an end effector that can exist, evenly inside Table I or at its edge.

    With the second moments Σ of its density about the centre c, its tensor about the origin is
    $\operatorname{tr}(S)\,1 - S$ of $S = \Sigma + m\,c\,c^T$: mass and first moments are drawn from the box
    where the second term leaves room, and Σ as large as the rest of it allows, or as part of that. At the
    edge mass or a first moment is at an end of its interval too.
    """
    low, high = TABLE_I.lower, TABLE_I.upper
    while True:
        four = rng.uniform(low[:4], high[:4])
        if edge:
            k = rng.integers(4)
            four[k] = (low[k], high[k])[rng.integers(2)]
        m, h = four[0], four[1:]
        room = high[[4, 6, 9]] - _tensor(np.outer(h, h) / m)[[0, 2, 5]]
        if room.min() > 0.0:
            break
    A = rng.standard_normal((3, 3)) * rng.uniform(0.1, 1.0, 3)
    shape = A @ A.T
    largest = float((room / _tensor(shape)[[0, 2, 5]]).min())
    share = _INSIDE if edge else float(rng.uniform(0.05, _INSIDE))
    return np.concatenate((four, _tensor(np.outer(h, h) / m + share * largest * shape)))


def _tensor(S: Array) -> Array:
    """Ixx, Ixy, Iyy, Ixz, Iyz, Izz of second moments."""
    tensor = np.trace(S) * np.eye(3) - S
    return np.asarray(tensor[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]])


def true_arm(rng: np.random.Generator, ten: Array, spread: float = SPREAD) -> Robot:
    """An arm whose numbers differ from the stated ones by up to a share each, with a given end effector."""
    robot = arm().robot
    links = [_drawn_link(link, rng, spread) for link in robot.links[:-1]]
    last = robot.links[-1]
    bare = tuple(replace(part, body=None) for part in last.fixed)
    links.append(replace(last, own=Body.from_parameters(ten), fixed=bare))
    joints = []
    for joint in robot.joints:
        d, share = joint.drive, _shares(rng, spread, 3)
        terms = [(x or 0.0) * float(s) for x, s in zip((d.viscous, d.coulomb, d.rotor), share, strict=True)]
        joints.append(replace(joint, drive=Drive(terms[0], terms[1], 0.0, terms[2])))
    return replace(robot, links=tuple(links), joints=tuple(joints))


def _drawn_link(link: Link, rng: np.random.Generator, spread: float) -> Link:
    assert link.own is not None  # every link of the zoo states one
    phi = link.own.parameters
    for _ in range(20):
        body = Body.from_parameters(phi * _shares(rng, spread, 10))
        if body.consistency:
            return replace(link, own=body)
    # A common factor keeps any body possible.
    return replace(link, own=Body.from_parameters(phi * _shares(rng, spread, 1)))


def _shares(rng: np.random.Generator, spread: float, count: int) -> Array:
    """Factors about one, evenly drawn or, as often, at the ends but for rounding."""
    off = rng.choice([-1.0, 1.0], count) if rng.random() < 0.5 else rng.uniform(-1.0, 1.0, count)
    return np.asarray(1.0 + (1.0 - 1e-9) * spread * off)


def drawn_scene(rng: np.random.Generator, start: Array, count: int, tool: tuple[Geometry, ...]) -> Scene:
    """Obstacles of all kinds within the arm's reach, apart from it where it starts."""
    kinds = rng.permutation(np.resize(KINDS, max(count, len(KINDS))))[:count]
    placed: list[Obstacle] = []
    for k, kind in enumerate(kinds):
        placed.append(drawn_obstacle(rng, f"{kind} {k}", str(kind), start, tool))
    return Scene(tuple(placed))


def drawn_obstacle(
    rng: np.random.Generator, name: str, kind: str, start: Array, tool: tuple[Geometry, ...]
) -> Obstacle:
    """One obstacle, apart from the arm in a pose."""
    for _ in range(_DRAWS):
        angle, away, height = rng.uniform(-np.pi, np.pi), rng.uniform(0.3, 0.9), rng.uniform(-0.1, 0.9)
        place = (away * np.cos(angle), away * np.sin(angle), height)
        item = Obstacle(name, drawn_shape(rng, kind), Pose.from_quaternion(rng.standard_normal(4), place))
        if distance_of(item, start, tool) > ROOM:
            return item
    raise NoSolutionError("there is no room for an obstacle.", place="scene")


def distance_of(item: Obstacle, q: Array, tool: tuple[Geometry, ...]) -> float:
    """How far an obstacle is from the arm in a pose, m."""
    apart = clearance_of(arm().robot, Scene((item,)), tool=tool)
    mine = [k for k, pair in enumerate(apart.names) if item.name in pair]
    return float(apart.distances(q[None])[0, mine].min())


def drawn_shape(rng: np.random.Generator, kind: str) -> Solid:
    """A shape of 5 to 60 cm."""
    match kind:
        case "box":
            return Box(*rng.uniform(0.05, 0.3, 3).tolist())
        case "sphere":
            return Sphere(float(rng.uniform(0.04, 0.15)))
        case "capsule":
            return Capsule(float(rng.uniform(0.03, 0.1)), float(rng.uniform(0.1, 0.5)))
        case "hull":
            return Hull(0.08 * rng.standard_normal((12, 3)))
    return Zonotope(np.zeros(3), 0.06 * rng.standard_normal((4, 3)))
