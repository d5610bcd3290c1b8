"""`Robot`: the tree of joints and links every other room works on; joints locked, rotors added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import digest
from steelyard.arrays import Array, checked, keep_checked, read_only
from steelyard.errors import DescriptionError, InputError, UnknownNameError
from steelyard.finding import Finding
from steelyard.inertia import Body
from steelyard.pose import Pose
from steelyard.robot.joint import Joint, JointKind, Limits, Mimic, Ties, check_ties, ties_of
from steelyard.robot.link import Geometry, Link, MeshSource

# `Robot`

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class Frame:
    """A named place on the robot.

    Attributes:
        name: link name of the description.
        link: index of the moving link that carries it, -1 for the base.
        placement: X_LF, the frame in that link's.
    """

    name: str
    link: int
    placement: Pose


@dataclass(frozen=True, eq=False)
class PartedLink:
    """A moving link, cut where a sensor sits.

    Attributes:
        link: its index among the moving links.
        arm: inertia on the arm's side, in the link's frame; None where nothing is stated.
        carried: inertia that the sensor carries, in the link's frame; None where nothing is stated.
        names: of the links that the sensor carries.
    """

    link: int
    arm: Body | None
    carried: Body | None
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Robot:
    """A tree of rigid links, with limits, geometry, nominal inertias and drives.

    Joint i moves link i; parents come before children. Coordinates are ordered like the joints. A robot whose
    first joint floats has a world for its base.

    Attributes:
        name: what it is called.
        base: the link that does not move.
        joints: the moving joints.
        links: the moving links, `links[i]` being the child of `joints[i]`.
        gravity: acceleration of free fall in the base frame, shape (3,), m/s².
        findings: what was noticed when its description was read.
        source: where its numbers come from.
        locks: the joints that are held still, see `locked`.
        tool: name of the link chosen as tool frame, or `None` for the default, see `tool_frame`.
        meshes: where the meshes of its description are looked for; `None` where they cannot be. It is no part
            of what is stored or digested, since files lie elsewhere on other machines.
    """

    name: str
    base: Link
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    gravity: Array = field(default_factory=lambda: np.array(STANDARD_GRAVITY))
    findings: tuple[Finding, ...] = ()
    source: str = ""
    locks: tuple[LockedJoint, ...] = ()
    tool: str | None = None
    schema: int = 1
    meshes: MeshSource | None = field(default=None, repr=False, metadata={"kept": False})

    def __post_init__(self) -> None:
        keep_checked(self, (3,), "gravity")
        if not self.joints:
            raise DescriptionError("has no moving joint.", place=f"robot '{self.name}'")
        if len(self.joints) != len(self.links):
            raise DescriptionError(
                f"{len(self.joints)} joints but {len(self.links)} moving links.", place=f"robot '{self.name}'"
            )
        for i, joint in enumerate(self.joints):
            if not -1 <= joint.parent < i:
                raise DescriptionError(
                    f"its parent link has index {joint.parent}, but parents must come before children.",
                    place=f"joint '{joint.name}'",
                )
        _no_duplicates("joint", self.joint_names)
        _no_duplicates("link", [frame.name for frame in self.frames])
        check_ties(self.joints)
        if self.tool is not None:
            self.frame(self.tool)

    @cached_property
    def nq(self) -> int:
        """Number of coordinates; more than `nv` where a joint floats or is spherical."""
        return sum(joint.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        """Number of degrees of freedom; a joint that mimics another has none of its own."""
        return sum(joint.nv for joint in self.joints)

    @cached_property
    def ties(self) -> Ties | None:
        """How the joints that mimic others follow them; `None` where there are none."""
        return ties_of(self.joints)

    @cached_property
    def untied(self) -> Robot:
        """The same robot with every joint free that mimics another; itself where none does."""
        if self.ties is None:
            return self
        return replace(self, joints=tuple(replace(joint, mimic=None) for joint in self.joints))

    def require_arm(self) -> None:
        """Refuse a robot that has a joint without exactly one coordinate of its own.

        Raises:
            DescriptionError: a joint floats, is spherical or mimics another; names it.
        """
        # All at once, so that a hand with many fingers is not found out joint by joint.
        leaders = dict.fromkeys(f"'{joint.mimic.joint}'" for joint in self.joints if joint.mimic is not None)
        for joint in self.joints:
            if joint.mimic is not None:
                raise DescriptionError(
                    f"joint '{joint.name}' mimics '{joint.mimic.joint}'; here each must move by itself.",
                    place=f"robot '{self.name}'",
                    remedy=f"Lock {', '.join(leaders)} (--lock JOINT=Q).",
                )
            if joint.nv != 1:
                raise DescriptionError(
                    f"joint '{joint.name}' is {joint.kind.value}; only arms on a fixed base, with one "
                    "degree of freedom a joint, are handled here.",
                    place=f"robot '{self.name}'",
                    remedy="Lock it (--lock JOINT=Q).",
                )

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the moving joints, in order."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """Names of the moving links, in order."""
        return tuple(link.name for link in self.links)

    @property
    def mass(self) -> float:
        """Stated mass of all links, the base included, kg."""
        bodies = [link.body for link in (self.base, *self.links)]
        return float(sum(body.mass for body in bodies if body is not None))

    @cached_property
    def own_bodies(self) -> dict[str, Body | None]:
        """What the description states of every link by itself, in its own frame, by name; bolted ones too."""
        bodies: dict[str, Body | None] = {}
        for link in (self.base, *self.links):
            bodies[link.name] = link.own
            bodies |= {part.name: part.body for part in link.fixed}
        return bodies

    @cached_property
    def frames(self) -> tuple[Frame, ...]:
        """Every link of the description as a frame: base, moving links, and the fixed ones on them."""
        frames = []
        for index, link in enumerate((self.base, *self.links), start=-1):
            frames.append(Frame(link.name, index, Pose.identity()))
            frames += [Frame(part.name, index, part.placement) for part in link.fixed]
        return tuple(frames)

    def frame(self, name: str) -> Frame:
        """Look a frame up by the name of its link.

        Args:
            name: a link name of the description, moving or fixed.

        Raises:
            UnknownNameError: no such link; lists those that exist.
        """
        for frame in self.frames:
            if frame.name == name:
                return frame
        raise UnknownNameError("link", name, [frame.name for frame in self.frames])

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Number of joints between the base and each moving link."""
        depths: list[int] = []
        for joint in self.joints:
            depths.append(1 if joint.parent < 0 else depths[joint.parent] + 1)
        return tuple(depths)

    @property
    def tool_frame(self) -> Frame:
        """The chosen tool frame; by default the last frame on the link at the end of the longest chain."""
        if self.tool is not None:
            return self.frame(self.tool)
        end = int(np.argmax(self.depths))
        return [frame for frame in self.frames if frame.link == end][-1]

    @property
    def rest_pose(self) -> Array:
        """Position nearest to zero within the limits, shape (nq,), rad or m; quaternions are not turned."""
        q = []
        for joint in self.joints:
            if joint.nq == 1:
                q.append([min(max(0.0, joint.limits.lower), joint.limits.upper)])
            elif joint.nq:
                q.append([0.0] * (joint.nq - 1) + [1.0])
        return np.concatenate(q)

    def limit_array(self, name: str) -> Array:
        """One limit of every degree of freedom as an array.

        Args:
            name: `lower`, `upper`, `velocity`, `acceleration` or `effort`.

        Returns:
            The limits, shape (nv,), rad or m and their derivatives, N·m or N; infinite where none is stated.
        """
        return np.array(
            [float(getattr(joint.limits, name)) for joint in self.joints for _ in range(joint.nv)]
        )

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """The same robot under another gravity.

        Args:
            gravity: acceleration of free fall in the base frame, shape (3,), m/s².

        Returns:
            A new robot.
        """
        return replace(self, gravity=np.asarray(gravity, dtype=float))

    def mounted(self, pose: Pose) -> Robot:
        r"""The same robot on a base that is turned: on a wall, on the ceiling, on a wedge.

        Gravity is kept in the base frame, so mounting the base at $X_{WB}$ in a world where the robot's
        present gravity falls gives $g_B = R_{WB}^T\,g_W$. Where the base stands moves no torque: the
        translation is not kept. Mounting twice is mounting at the product of the poses.

        Args:
            pose: X_WB, the base frame in the world's.

        Returns:
            A new robot.
        """
        return self.with_gravity(pose.rotation.T @ self.gravity)

    def with_tool_frame(self, name: str) -> Robot:
        """The same robot with another link's frame as its tool frame.

        Args:
            name: a link name of the description, moving or fixed.

        Returns:
            A new robot with the same digest, since its dynamics are the same.

        Raises:
            UnknownNameError: no such link; lists those that exist.
        """
        return replace(self, tool=name)

    def with_body(
        self, name: str, body: Body, *, frame: str | None = None, collision: Sequence[Geometry] = ()
    ) -> Robot:
        """The same robot with a tool or a payload bolted to one of its frames.

        The body becomes a fixed link. The tool frame stays the one it was.

        Args:
            name: what to call the body's link.
            body: its inertia in the frame it is bolted to.
            frame: name of the link that carries it; None for the tool frame.
            collision: its collision shapes, in that frame.

        Returns:
            A new robot.

        Raises:
            UnknownNameError: no such frame; lists those that exist.
            InputError: a link has that name already.
        """
        tool = self.tool_frame
        place = tool if frame is None else self.frame(frame)
        if any(name == other.name for other in self.frames):
            raise InputError(
                f"'{self.name}' already has a link '{name}'.", place="name", remedy="Choose another."
            )
        links = [self.base, *self.links]
        part = Link(name, body, collision=tuple(collision))
        links[place.link + 1] = links[place.link + 1].with_bolted(part, place.placement)
        return replace(self, base=links[0], links=tuple(links[1:]), tool=tool.name)

    def parted(self, frame: str) -> PartedLink:
        """What a sensor in a frame carries: all that is bolted to its moving link after it.

        A description lists what is bolted to a link from it outwards; a tool, a locked finger and a payload
        come last. The sensor's own body, and the moving link's, count to the arm.

        Args:
            frame: name of the sensor's link, moving or fixed.

        Returns:
            The two parts of the moving link.

        Raises:
            UnknownNameError: no such link; lists those that exist.
            InputError: the frame does not move.
        """
        place = self.frame(frame)
        if place.link < 0:
            raise InputError(
                f"'{frame}' is part of the base, which carries no sensor of what is held.",
                place="frame",
                remedy="Name a link that moves.",
            )
        link = self.links[place.link]
        names = [link.name, *(part.name for part in link.fixed)]
        first = names.index(frame)
        arm, carried = replace(link, fixed=link.fixed[:first]), Link(link.name, fixed=link.fixed[first:])
        return PartedLink(place.link, arm.body, carried.body, tuple(names[first + 1 :]))

    def locked(self, positions: Mapping[str, ArrayLike]) -> Robot:
        """The same robot with some joints held still.

        The link of a locked joint, and everything bolted to it, becomes fixed to the link that carries it;
        the joints beyond hang on that link. Names, inertias and shapes stay where they were, and so does the
        tool frame. The free joints keep their order. The drive of a locked joint says nothing any more. A
        joint that mimics a locked one is locked where it follows to.

        Args:
            positions: where to hold each joint, by name: one number, shape (), rad or m; for a spherical
                joint a quaternion x, y, z, w, shape (4,), dimensionless, and for a floating one x, y, z
                before it, shape (7,), m and dimensionless.

        Returns:
            A new robot; `locks` remembers the joints.

        Raises:
            UnknownNameError: no such joint; lists those that exist.
            InputError: a position is not finite or outside the joint's limits, the joint mimics another that
                is not locked, or no joint is left free.
        """
        return lock(self, positions)

    def floating(self) -> Robot:
        """The same robot with its base free to move: the base becomes a link on a floating joint.

        Returns:
            A new robot with six more degrees of freedom, first in order.

        Raises:
            DescriptionError: it floats already.
        """
        if any(joint.kind is JointKind.FLOATING for joint in self.joints):
            raise DescriptionError("floats already.", place=f"robot '{self.name}'")
        joints = (floating_base(), *(replace(joint, parent=joint.parent + 1) for joint in self.joints))
        world = world_link([frame.name for frame in self.frames])
        return replace(self, base=world, joints=joints, links=(self.base, *self.links))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that moves, weighs or limits.

        Findings, source, the memory of locks and the choice of a tool frame do not count.
        """
        return digest(replace(self, findings=(), source="", locks=(), tool=None))

    def with_rotors(self, rotors: Mapping[str, Rotor]) -> Robot:
        """The same robot with rotors at some of its joints.

        The armatures that the drives of these joints state are taken out, since the rotors replace them.

        Args:
            rotors: by the name of the joint they drive, which has one degree of freedom of its own.

        Returns:
            A new robot with a link and a joint more for each rotor, after its own.

        Raises:
            UnknownNameError: no such joint; lists those that exist.
            InputError: the joint cannot be driven by a rotor.
        """
        joints, links = list(self.joints), list(self.links)
        for name, rotor in rotors.items():
            if name not in self.joint_names:
                raise UnknownNameError("joint", name, self.joint_names)
            i = self.joint_names.index(name)
            driven = joints[i]
            if driven.nv != 1:
                raise InputError("has not one degree of freedom of its own.", place=f"joint '{name}'")
            joints[i] = replace(driven, drive=replace(driven.drive, rotor=None))
            axis = driven.axis if rotor.axis is None else rotor.axis / np.linalg.norm(rotor.axis)
            place = np.zeros(3) if rotor.place is None else rotor.place
            placement = driven.placement @ Pose(_along(axis), place)
            spin = Mimic(name, rotor.ratio)
            joints.append(
                Joint(
                    Rotor.name_at(name),
                    JointKind.CONTINUOUS,
                    driven.parent,
                    placement,
                    np.array([0.0, 0.0, 1.0]),
                    Limits(),
                    mimic=spin,
                )
            )
            links.append(Link(Rotor.name_at(name), rotor.body))
        return replace(self, joints=tuple(joints), links=tuple(links))


def floating_base() -> Joint:
    """The joint of a base that is free to move.

    Returns:
        The joint, between the world and the first link.
    """
    return Joint("floating_base", JointKind.FLOATING, -1, Pose.identity(), np.array([0.0, 0.0, 1.0]))


def world_link(taken: Sequence[str]) -> Link:
    """The world under a floating base.

    Args:
        taken: names that links have already.

    Returns:
        A link without inertia, of another name.
    """
    return Link(next(name for name in ("world", "ground", "inertial_frame") if name not in taken))


def _no_duplicates(kind: str, names: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DescriptionError(
                f"the name '{name}' is used twice.", place=f"{kind}s", remedy="Rename one."
            )
        seen.add(name)


# Joints held still: their links become fixed parts of the links that carry them.


@dataclass(frozen=True, eq=False)
class LockedJoint:
    """A joint of the description that is held still; remembered, not lost.

    Attributes:
        name: its name in the description.
        kind: how it would move.
        link: name of the link it would move, now a fixed one.
        position: where it is held, shape (nq,), rad or m; a spherical joint has a quaternion x, y, z, w,
            and a floating one x, y, z in m before it.
    """

    name: str
    kind: JointKind
    link: str
    position: Array

    def __post_init__(self) -> None:
        place = f"position of joint '{self.name}'"
        object.__setattr__(self, "position", read_only(checked(place, self.position, (self.kind.nq,))))


def lock(robot: Robot, positions: Mapping[str, ArrayLike]) -> Robot:
    """Hold joints still; the contract is that of `Robot.locked`.

    Args:
        robot: the robot.
        positions: by joint name, one number, or shape (4,) where the joint is spherical and (7,) where it
            floats, rad or m.

    Returns:
        A new robot.
    """
    for name in positions:
        if name not in robot.joint_names:
            raise UnknownNameError("joint", name, robot.joint_names)
    positions = {**positions, **_followers(robot, positions)}
    if len(positions) == len(robot.joints):
        raise InputError(
            "locking every joint leaves nothing that moves.",
            place=f"robot '{robot.name}'",
            remedy="Leave at least one joint free.",
        )
    links = {-1: robot.base}
    joints: list[Joint] = []
    locks: list[LockedJoint] = []
    # Where each link of `robot` ends up: the index of the moving link that carries it, and its pose there.
    carried = {-1: (-1, Pose.identity())}
    for i, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True)):
        carrier, X_CP = carried[joint.parent]
        X_CJ = X_CP @ joint.placement
        if joint.name in positions:
            position = _checked_position(joint, positions[joint.name])
            X_CL = X_CJ @ joint.motion(position)
            links[carrier] = links[carrier].with_bolted(link, X_CL)
            carried[i] = (carrier, X_CL)
            locks.append(LockedJoint(joint.name, joint.kind, link.name, position))
        else:
            links[len(joints)] = link
            carried[i] = (len(joints), Pose.identity())
            joints.append(replace(joint, parent=carrier, placement=X_CJ))
    base = links.pop(-1)
    return replace(
        robot,
        base=base,
        joints=tuple(joints),
        links=tuple(links.values()),
        locks=(*robot.locks, *locks),
        tool=robot.tool_frame.name,
    )


def _followers(robot: Robot, positions: Mapping[str, ArrayLike]) -> dict[str, float]:
    """Where the joints go that mimic a locked one; a position given for one of them must be that one."""
    places = {}
    for joint in robot.joints:
        mimic = joint.mimic
        if mimic is None or not {joint.name, mimic.joint} & positions.keys():
            continue
        place = f"joint '{joint.name}'"
        if mimic.joint not in positions:
            raise InputError(
                f"it mimics '{mimic.joint}' and has no position of its own.",
                place=place,
                remedy=f"Lock '{mimic.joint}' instead.",
            )
        q = checked(f"position of joint '{mimic.joint}'", positions[mimic.joint], ())
        follows = mimic.multiplier * float(q) + mimic.offset
        given = float(checked(f"position of {place}", positions.get(joint.name, follows), ()))
        if abs(given - follows) > 1e-9 * (1.0 + abs(follows)):
            raise InputError(
                f"it mimics '{mimic.joint}' and follows it to {follows:.6g} {joint.position_unit}, not "
                f"{given:.6g}.",
                place=place,
                remedy=f"Lock '{mimic.joint}' alone.",
            )
        places[joint.name] = follows
    return places


def _checked_position(joint: Joint, position: ArrayLike) -> Array:
    place = f"position of joint '{joint.name}'"
    if joint.kind.nq > 1:
        return checked(place, position, (joint.kind.nq,))
    q = checked(place, position, ())
    lower, upper = joint.limits.lower, joint.limits.upper
    if joint.mimic is None and not lower <= q <= upper:
        raise InputError(
            f"{q:.6g} {joint.position_unit} is outside its limits [{lower:.6g}, {upper:.6g}].",
            place=place,
            remedy="Choose a position within them.",
            evidence={"joint": joint.name, "position": float(q), "lower": lower, "upper": upper},
        )
    return q.reshape(1)


# Motors' rotors as bodies of their own: geared to their joint, spinning about an axis of the carrying link.
#
# A rotor turns by $n\,q$ against the link that carries it. Its momentum is felt by that link too, which the
# plain armature $I_a = n^2 I_m$ leaves out (Wensing et al. 2024, section 8). As a joint that mimics its own,
# it takes part in every computation.


@dataclass(frozen=True, eq=False)
class Rotor:
    """Where a joint's motor sits on the link that carries the joint, and how it is geared.

    Attributes:
        ratio: n, turns of the rotor per radian (or metre) of the joint, dimensionless or rad/m.
        axis: spin axis in the joint's frame, shape (3,), dimensionless; None for the joint's own.
        place: centre of the rotor in the joint's frame, shape (3,), m.
        body: its inertia in its frame, whose origin is `place` and whose z is the spin axis; None where
            nothing is known of it.
    """

    ratio: float
    axis: Array | None = None
    place: Array | None = None
    body: Body | None = None

    def __post_init__(self) -> None:
        if not np.isfinite(self.ratio) or self.ratio == 0.0:
            raise InputError(f"must be finite and not zero, got {self.ratio}.", place="ratio of a rotor")
        for name in ("axis", "place"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, read_only(checked(f"{name} of a rotor", value, (3,))))
        if self.axis is not None and not self.axis.any():
            raise InputError("has no direction.", place="axis of a rotor")

    @staticmethod
    def name_at(joint: str) -> str:
        """The name of the rotor's link and joint.

        Args:
            joint: name of the joint it drives.
        """
        return f"{joint}/rotor"

    @staticmethod
    def spin_only(names: Sequence[str]) -> dict[str, float]:
        """What is fixed when rotors are symmetric and only their spin inertia is asked about.

        The other nine numbers of a rotor that is balanced about its axis are as well those of the link that
        carries it, so they are counted there.

        Args:
            names: names of the driven joints.

        Returns:
            Value zero by parameter name, for `Layout.fixing`.
        """
        others = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz")
        return {f"{Rotor.name_at(name)}.{term}": 0.0 for name in names for term in others}


def _along(axis: Array) -> Array:
    """A rotation whose z is the axis; a coordinate axis gives entries 0 and ±1."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])
