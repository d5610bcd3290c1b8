r"""Positions of links and rows of the passivity regressor as jets, in world coordinates, for the checker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.online.jets import Jet, cross, mapped, product, sine_and_cosine, zeros
from steelyard.robot import JointKind, Robot


@dataclass(frozen=True, eq=False)
class LinkPose:
    """Where a link is, in the base frame.

    Attributes:
        rotation: shape (K, 3, 3).
        origin: shape (K, 3).
        axis: of its joint, shape (K, 3).
    """

    rotation: Jet
    origin: Jet
    axis: Jet


def link_poses(robot: Robot, q: Jet) -> list[LinkPose]:
    """Place every link.

    Args:
        robot: the robot; every joint turns.
        q: joint positions, shape (K, nv).

    Returns:
        The poses, in the order of the links.

    Raises:
        InputError: a joint does not turn about an axis.
    """
    poses: list[LinkPose] = []
    for i, joint in enumerate(robot.joints):
        if joint.kind not in (JointKind.REVOLUTE, JointKind.CONTINUOUS) or joint.mimic is not None:
            raise InputError(f"joint '{joint.name}' does not just turn: it cannot be checked.", place="robot")
        inner = poses[joint.parent] if joint.parent >= 0 else _base(q)
        u, placed = joint.axis, joint.placement
        sine, cosine = sine_and_cosine(q[:, i])
        kept = np.outer(u, u)
        turned = mapped("ab,k->kab", placed.rotation @ (np.eye(3) - kept), cosine)
        turned += mapped("ab,k->kab", placed.rotation @ np.cross(np.eye(3), u), sine)
        turned += _constant(placed.rotation @ kept, q)
        rotation = product("kab,kbc->kac", inner.rotation, turned)
        origin = inner.origin + mapped("b,kab->ka", placed.translation, inner.rotation)
        poses.append(LinkPose(rotation, origin, mapped("b,kab->ka", u, rotation)))
    return poses


def link_rows(robot: Robot, q: Jet, v: Jet, v_a: Jet, a_a: Jet) -> Jet:
    r"""The columns of the links in $H\ddot q_a + C(q, \dot q)\,\dot q_a + g = Y\varphi$.

    A point of a link at x from its origin is accelerated by
    $d + \alpha \times x + \omega_a \times (\omega \times x)$ when the robot moves with $\dot q$ and the
    reference with $\dot q_a$. A unit velocity of a joint with axis z moves it by $l + z \times x$. The
    products, summed over the link's mass, are

    $$m\,l \cdot d + h \cdot \big(l \times \alpha + (l \times \omega_a) \times \omega + d \times z\big)
      + \sum_{ab} I_{ab}\big(z_a\alpha_b + e_a\omega_{a,b} - \tfrac12\delta_{ab}\,e \cdot \omega_a\big),
      \qquad e = z \times \omega.$$

    Args:
        robot: the robot.
        q: positions, shape (K, nv).
        v: velocities, shape (K, nv).
        v_a: velocities of the reference, shape (K, nv).
        a_a: accelerations of the reference, shape (K, nv).

    Returns:
        Y, shape (K, nv, 10 nb).
    """
    poses = link_poses(robot, q)
    nothing = _constant(np.zeros(3), q)
    ground = (nothing, nothing, nothing, _constant(-robot.gravity, q))
    motions: list[tuple[Jet, Jet, Jet, Jet]] = []
    S, K = q.middle.shape[:2]
    shape = K, robot.nv, 10 * len(poses)
    Y = Jet(zeros(S, *shape), zeros(S, *shape), zeros(1, *shape)[0], q.balls)
    for i, (joint, pose) in enumerate(zip(robot.joints, poses, strict=True)):
        w_p, w_ap, b_p, d_p = motions[joint.parent] if joint.parent >= 0 else ground
        arm = pose.origin - (poses[joint.parent].origin if joint.parent >= 0 else nothing)
        turn, turn_a, push = (product("k,ka->ka", x[:, i], pose.axis) for x in (v, v_a, a_a))
        w, w_a = w_p + turn, w_ap + turn_a
        b = b_p + cross(w_p, turn_a) + push
        d = d_p + cross(b_p, arm) + cross(w_ap, cross(w_p, arm))
        motions.append((w, w_a, b, d))
        support = _support(robot, i)
        z = _stacked([poses[k].axis for k in support])
        lever = _stacked([pose.origin - poses[k].origin for k in support])
        own = [product("kba,kb->ka", pose.rotation, x) for x in (w, w_a, b, d)]
        _write(Y, i, support, _turned_in(pose, z), _turned_in(pose, _crossed(z, lever)), *own)
    return Y


def _write(Y: Jet, i: int, rows: list[int], z: Jet, l: Jet, w: Jet, w_a: Jet, b: Jet, d: Jet) -> None:  # noqa: E741
    """Write the ten columns of link i; everything is in its frame, z and l are (K, n, 3)."""
    e = cross(w, z).turned
    first = product("knb,kb->kn", l, d)
    moment = cross(b, l).turned + cross(w, cross(w_a, l)) + cross(d, z)
    T = product("kna,kb->knab", z, b) + product("kna,kb->knab", e, w_a)
    half = mapped("ab,kn->knab", 0.5 * np.eye(3), product("kna,ka->kn", e, w_a))
    T = T - half
    middle, radius, lost = (np.swapaxes(x, -1, -2) for x in (T.middle, T.radius, T.lost))
    both = T + Jet(middle, radius, lost, T.balls)
    for out, f, h, t, tt in (
        (Y.middle, first.middle, moment.middle, T.middle, both.middle),
        (Y.radius, first.radius, moment.radius, T.radius, both.radius),
        (Y.lost, first.lost, moment.lost, T.lost, both.lost),
    ):
        columns = [f, *np.moveaxis(h, -1, 0), t[..., 0, 0], tt[..., 0, 1], t[..., 1, 1]]
        columns += [tt[..., 0, 2], tt[..., 1, 2], t[..., 2, 2]]
        out[..., rows, 10 * i : 10 * i + 10] = np.stack(columns, axis=-1)


def _base(q: Jet) -> LinkPose:
    still = _constant(np.zeros(3), q)
    return LinkPose(_constant(np.eye(3), q), still, still)


def _constant(values: Array, like: Jet) -> Jet:
    """Numbers that depend on nothing, known to their last bits."""
    S, K = like.middle.shape[:2]
    c = zeros(S, K, *values.shape)
    c[0] = values
    lost = 2.0**-48 * np.abs(c)
    return Jet(c, lost, lost[0], like.balls)


def _support(robot: Robot, i: int) -> list[int]:
    found = []
    while i >= 0:
        found.append(i)
        i = robot.joints[i].parent
    return found


def _stacked(jets: list[Jet]) -> Jet:
    middle = np.stack([x.middle for x in jets], axis=2)
    radius = np.stack([x.radius for x in jets], axis=2)
    return Jet(middle, radius, np.stack([x.lost for x in jets], axis=1), jets[0].balls)


def _turned_in(pose: LinkPose, x: Jet) -> Jet:
    return product("kba,knb->kna", pose.rotation, x)


def _crossed(x: Jet, y: Jet) -> Jet:
    """The products x × y of vectors (K, n, 3), one pair at a time."""
    return _stacked([cross(x[:, k], y[:, k]) for k in range(x.middle.shape[2])])
