"""One frame for every moving link, and the table that ties them together where there is one."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.errors import InputError, UnknownNameError
from steelyard.pose import Pose
from steelyard.robot import JointKind, Robot


@dataclass(frozen=True)
class DHRow:
    r"""One joint in modified Denavit-Hartenberg numbers, stated for its zero position.

    $$X = R_z(\gamma)\,T_z(b)\,R_x(\alpha)\,T_x(a)\,R_z(\theta)\,T_z(d)$$

    is the frame of the joint's link in that of the parent link; a serial chain has $\gamma = b = 0$.

    Attributes:
        joint: name of the joint.
        kind: how it moves.
        alpha: turn about the parent's x, rad.
        a: way along the parent's x, m.
        theta: turn about z, rad; the position of a joint that rotates is added to it.
        d: way along z, m; the position of a prismatic joint is added to it.
        gamma: turn about the parent's z, rad; zero unless the tree branches at the parent.
        b: way along the parent's z, m; zero unless the tree branches at the parent.
        pitch: way along z by turn about it, m/rad; zero unless the joint is helical.
    """

    joint: str
    kind: JointKind
    alpha: float
    a: float
    theta: float
    d: float
    gamma: float = 0.0
    b: float = 0.0
    pitch: float = 0.0

    def pose(self, position: float = 0.0) -> Pose:
        """The frame of the joint's link in that of the parent link.

        Args:
            position: of the joint, rad or m.

        Returns:
            X.
        """
        turn, way = (position, self.pitch * position) if self.kind.rotates else (0.0, position)
        return (
            Pose.from_rpy((0.0, 0.0, self.gamma), (0.0, 0.0, self.b))
            @ Pose.from_rpy((self.alpha, 0.0, 0.0), (self.a, 0.0, 0.0))
            @ Pose.from_rpy((0.0, 0.0, self.theta + turn), (0.0, 0.0, self.d + way))
        )


@dataclass(frozen=True, eq=False)
class LinkFrames:
    """One frame D for every moving link.

    Attributes:
        name: a word for the choice, such as `mdh`; it ends the names of parameters stated in these frames.
        links: names of the moving links.
        poses: X_LD of each, the frame D in the link's own frame.
        base: the frame from which the rows of the first joints start, in the base frame.
        rows: one row a joint, `None` for a joint without an axis; empty where the frames follow no table.
        misfit: largest entry by which a row's homogeneous matrix differs from the frames it ties together,
            dimensionless or m; no more than round-off unless axes are nearly, but not exactly, parallel.
    """

    name: str
    links: tuple[str, ...]
    poses: tuple[Pose, ...]
    base: Pose
    rows: tuple[DHRow | None, ...] = ()
    misfit: float = 0.0
    schema: int = 1

    def __post_init__(self) -> None:
        if len(self.poses) != len(self.links) or len(self.rows) not in (0, len(self.links)):
            raise InputError(
                f"{len(self.links)} links do not match {len(self.poses)} poses and {len(self.rows)} rows.",
                place="link frames",
            )

    def pose(self, link: str) -> Pose:
        """The frame D of a link.

        Args:
            link: name of a moving link.

        Returns:
            X_LD.

        Raises:
            UnknownNameError: no such link; lists those that exist.
        """
        if link not in self.links:
            raise UnknownNameError("moving link", link, self.links, place="link frames")
        return self.poses[self.links.index(link)]


def urdf_frames(robot: Robot) -> LinkFrames:
    """The frames the description gives its links, so that each D is the link's own frame.

    Args:
        robot: the robot.

    Returns:
        The frames, named `urdf`.
    """
    here = Pose.identity()
    return LinkFrames("urdf", robot.link_names, (here,) * len(robot.links), here)
