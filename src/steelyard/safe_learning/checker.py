"""The check of a plan's certificate by other means: slopes in plain arithmetic, cut more finely.

Nothing of how the proof was found is used, but the claim and the stretches it was found on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from steelyard.arrays import Array
from steelyard.control import Tube
from steelyard.errors import InputError
from steelyard.limits import Clearance, Hull, MotionLimits, NotCertifiedError, Part, separation
from steelyard.motion import SplineMotion
from steelyard.pose import Pose
from steelyard.robot import JointKind, Robot
from steelyard.safe_learning.planning.certificate import PlanCertificate

# Numbers and their slopes, each as a middle and a radius: the plain arithmetic of the checker.
#
# An array of numbers of shape (...) that depend on S variables is held as two arrays of shape (1 + S, ...):
# in row 0 the value at one point $x_0$, with how far it is from there over all points, behind it the slopes A
# with
#
# $$f(x) = f(x_0) + \sum_s A_s(x)\,(x_s - x_{0,s}).$$
#
# A slope is a mean of derivatives on the way from $x_0$ to x, so only half of how far a factor is from its
# value at $x_0$ enters: $fg - f_0g_0 = \tfrac12(f_0 + f)(g - g_0) + \tfrac12(g_0 + g)(f - f_0)$. The
# variables are in groups, each in its unit ball; so f is within the sum of the norms of its slopes from
# $f(x_0)$, and that is taken after every operation where it says more than the operation's own bound. Every
# result is widened by more than its rounding errors.

_JET_ROUNDING = 2.0**-46
"""More than a result loses to rounding, as a share of the sizes of its terms."""
_SKEW = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    _SKEW[_k, _i, _j], _SKEW[_k, _j, _i] = -1.0, 1.0


@dataclass(frozen=True, eq=False)
class Jet:
    """Values and slopes of an array of numbers.

    Attributes:
        middle: values at the point, then slopes, shape (1 + S, ...), SI.
        radius: how far values and slopes are from there at most, shape (1 + S, ...), SI.
        lost: how far the values at the point are off by rounding at most, shape (...), SI.
        balls: how many variables share each ball, in order; empty where slopes are of no use for the values.
    """

    middle: Array
    radius: Array
    lost: Array
    balls: tuple[int, ...] = ()

    def __add__(self, other: Jet) -> Jet:
        c = self.middle + other.middle
        radius = (self.radius + other.radius) * (1.0 + _JET_ROUNDING) + _JET_ROUNDING * np.abs(c)
        lost = (self.lost + other.lost) * (1.0 + _JET_ROUNDING) + _JET_ROUNDING * np.abs(c[0])
        return _tightened(c, radius, lost, self.balls)

    def __sub__(self, other: Jet) -> Jet:
        return self + other.turned

    def __getitem__(self, index: object) -> Jet:
        """Entries of the numbers; the axis of the slopes stays whole."""
        at = index if isinstance(index, tuple) else (index,)
        return Jet(self.middle[:, *at], self.radius[:, *at], self.lost[*at], self.balls)

    @property
    def turned(self) -> Jet:
        """The same with the opposite sign."""
        return Jet(-self.middle, self.radius, self.lost, self.balls)

    @property
    def size(self) -> Array:
        """What the absolute values do not exceed, shape (...), SI."""
        most: Array = (np.abs(self.middle[0]) + self.radius[0]) * (1.0 + _JET_ROUNDING)
        return most


def zero_jets(*shape: int) -> Array:
    """Zeros whose axis of boxes, the second, lies closest in memory: sums run five times faster along it.

    Args:
        shape: 1 + S, K, and that of the numbers.

    Returns:
        The zeros, natural shape (1 + S, K, ...), dimensionless.
    """
    s, k, *rest = shape
    last = 1 + len(rest)
    return np.zeros((s, *rest, k)).transpose(0, last, *range(1, last))


def jet_product(axes: str, x: Jet, y: Jet) -> Jet:
    """A sum of products.

    Args:
        axes: which, as for `numpy.einsum`, such as `kij,kj->ki`; without the axis of the slopes.
        x: the first.
        y: the second.

    Returns:
        The sums.
    """
    f, g = np.abs(x.middle), np.abs(y.middle)
    F, G = f + x.radius, g + y.radius
    middle = _ruled(axes, x.middle, y.middle, x.middle[0], y.middle[0])
    least = _ruled(axes, f, g, f[0], g[0])
    most = _ruled(axes, F, G, *(z[0] + 0.5 * (j.radius[0] + j.lost) for z, j in ((f, x), (g, y))))
    lost = _ruled(axes, (f[0] + x.lost)[None], (g[0] + y.lost)[None], f[0], g[0])[0]
    grown = 1.0 + 2.0 * _JET_ROUNDING
    return _tightened(
        middle, most * grown - least + 1e-300, lost * grown - least[0] + 1e-300, x.balls or y.balls
    )


def jet_mapped(axes: str, numbers: Array, x: Jet) -> Jet:
    """Sums of products with numbers that are exact but for their last bits.

    Args:
        axes: which, as for `numpy.einsum`, such as `ij,kj->ki`; without the axis of the slopes.
        numbers: natural shape (...), SI.
        x: what they multiply.

    Returns:
        The sums.
    """
    inputs, out = axes.split("->")
    a, b = inputs.split(",")
    spec, size = f"{a},s{b}->s{out}", np.abs(numbers)
    most = _JET_ROUNDING * _summed(spec, size, np.abs(x.middle) + x.radius) + 1e-300
    lost = _summed(spec, size, x.lost[None])[0] + most[0]
    return _tightened(_summed(spec, numbers, x.middle), _summed(spec, size, x.radius) + most, lost, x.balls)


def jet_cross(x: Jet, y: Jet) -> Jet:
    """The cross products of vectors in the last axis; x has no other axis but that of the K boxes.

    Args:
        x: shape (K, 3).
        y: shape (K, 3) or (K, n, 3).

    Returns:
        x × y, of the shape of y.
    """
    middle, radius, lost = (
        _summed("iab,ski->skab", signs, part)
        for signs, part in ((_SKEW, x.middle), (np.abs(_SKEW), x.radius), (np.abs(_SKEW), x.lost[None]))
    )
    skew = Jet(middle, radius, lost[0], x.balls)
    return jet_product("kab,kb->ka" if y.middle.ndim == 3 else "kab,knb->kna", skew, y)


def jet_sine_and_cosine(x: Jet) -> tuple[Jet, Jet]:
    r"""Sine and cosine: neither changes faster than its argument, nor by more than 2.

    Args:
        x: angles.

    Returns:
        Both.
    """
    s, c, r = np.sin(x.middle[0]), np.cos(x.middle[0]), np.minimum(x.radius[0], 2.0) + _JET_ROUNDING
    found = []
    for value, d in ((s, c), (c, -s)):
        g = x.middle[1:]
        most = (
            (np.abs(d) + 0.5 * r + 2.0 * x.lost + _JET_ROUNDING)
            * (np.abs(g) + x.radius[1:])
            * (1.0 + _JET_ROUNDING)
        )
        middle, radius = d * g, most - np.abs(d * g) + 1e-300
        both = np.concatenate((value[None], middle)), np.concatenate((r[None], radius))
        found.append(_tightened(*both, x.lost + _JET_ROUNDING, x.balls))
    return found[0], found[1]


def _tightened(middle: Array, radius: Array, lost: Array, balls: tuple[int, ...]) -> Jet:
    """The jet, its values no further from those at the point than slopes allow; writes into the radius."""
    if balls:
        size = np.abs(middle[1:])
        size += radius[1:]
        size *= size
        reach, first = lost, 0
        for count in balls:
            reach = reach + np.sqrt(size[first : first + count].sum(axis=0))
            first += count
        np.minimum(radius[0], reach * (1.0 + _JET_ROUNDING) + 1e-150, out=radius[0])
    return Jet(middle, radius, lost, balls)


def _ruled(axes: str, f: Array, g: Array, f_0: Array, g_0: Array) -> Array:
    """In row 0 the product of row 0, behind it f_0 times the rows of g and g_0 times those of f."""
    inputs, out = axes.split("->")
    a, b = inputs.split(",")
    total = _summed(f"s{a},{b}->s{out}", f, g_0)
    total += _summed(f"{a},s{b}->s{out}", f_0, g)
    total[0] = _summed(f"s{a},{b}->s{out}", f[:1], g[0])[0]
    return total


def _summed(spec: str, x: Array, y: Array) -> Array:
    """`numpy.einsum` of two arrays into the order of `zero_jets`."""
    into = zero_jets(*[(x, y)[k].shape[axis] for k, axis in _sources(spec)])
    return np.asarray(np.einsum(spec, x, y, out=into))


@cache
def _sources(spec: str) -> list[tuple[int, int]]:
    """Operand and axis that each axis of a sum comes from."""
    inputs, out = spec.split("->")
    both = inputs.split(",")
    return [(0, both[0].index(letter)) if letter in both[0] else (1, both[1].index(letter)) for letter in out]


# The states of a tube around a Bezier curve as jets in time and errors, for the checker.
#
# A piece of a Bezier curve is a Bezier curve, and stays within the hull of its control points.

_STATE_ROUNDING = 2.0**-44


@dataclass(frozen=True, eq=False)
class CheckedStates:
    """Positions, velocities, and velocities and accelerations of the reference, each shape (K, nv).

    Attributes:
        q: positions.
        v: velocities.
        v_a: velocities of the reference.
        a_a: accelerations of the reference.
    """

    q: Jet
    v: Jet
    v_a: Jet
    a_a: Jet


def curve_spans(plan: SplineMotion, start: Array, end: Array, order: int) -> tuple[Array, Array]:
    """What a derivative of a Bezier curve does over pieces of it.

    Args:
        plan: the curve, of one polynomial piece.
        start: where each piece starts, shape (K,), s.
        end: where it ends, shape (K,), s.
        order: 0 for the position, and so on.

    Returns:
        Middle and radius, each shape (K, nv), rad or m over the order's power of s.

    Raises:
        InputError: the plan has several polynomial pieces.
    """
    if len(plan.breaks) != 2:
        raise InputError("only a plan of one polynomial piece can be checked.", place="plan")
    c = np.array(plan.control.T)
    bulk = np.abs(c).max(axis=0)
    for k in range(order):
        c = np.diff(c, axis=0) * ((plan.degree - k) / plan.duration)
        bulk = bulk * 2.0 * (plan.degree - k) / plan.duration
    n = len(c) - 1
    s, e = (x[:, None] / plan.duration for x in (start, end))
    corners = []
    for i in range(n + 1):
        # The i-th control point of the piece: n - i steps of de Casteljau at its start, i at its end.
        points = [np.broadcast_to(x, (len(start), c.shape[1])) for x in c]
        for k in range(n):
            t = e if k < i else s
            points = [(1.0 - t) * a + t * b for a, b in pairwise(points)]
        corners.append(points[0])
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    middle = 0.5 * (low + high)
    return middle, (high - low) * (0.5 + _STATE_ROUNDING) + _STATE_ROUNDING * bulk


def checked_states(plan: SplineMotion, start: Array, end: Array, tube: Tube) -> CheckedStates:
    """The states of a tube over pieces of a plan, about the middle of each piece without errors.

    Their variables are the time, e and r, each over its greatest size: one number and two balls.

    Args:
        plan: the plan.
        start: where each piece starts, shape (K,), s.
        end: where it ends, shape (K,), s.
        tube: the errors that are allowed.
    """
    t = 0.5 * (start + end)
    h = (0.5 * (end - start) + math.ulp(float(end.max())))[:, None]
    points = [curve_spans(plan, t, t, order) for order in range(3)]
    spans = [curve_spans(plan, start, end, order) for order in range(4)]
    K, e, r = tube.kr, tube.position, tube.radius

    def state(order: int, along_e: float, along_r: float) -> Jet:
        (c, lost), (hull, reach), n = points[order], spans[order], len(plan.joints)
        middle, radius = zero_jets(2 + 2 * n, *c.shape), zero_jets(2 + 2 * n, *c.shape)
        middle[0], radius[0] = c, np.abs(hull - c) + reach + lost
        radius[0] += (abs(along_e) * e + abs(along_r) * r) * (1.0 + _STATE_ROUNDING)
        middle[1], radius[1] = (h * x for x in spans[order + 1])
        joint = np.arange(n)
        middle[2 + joint, :, joint] = along_e * e
        middle[2 + n + joint, :, joint] = along_r * r
        return Jet(middle, radius + _STATE_ROUNDING * np.abs(middle), np.asfortranarray(lost), (1, n, n))

    return CheckedStates(state(0, -1.0, 0.0), state(1, K, -1.0), state(1, K, 0.0), state(2, -K * K, K))


# Positions of links and rows of the passivity regressor as jets, in world coordinates, for the checker.


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
        sine, cosine = jet_sine_and_cosine(q[:, i])
        kept = np.outer(u, u)
        turned = jet_mapped("ab,k->kab", placed.rotation @ (np.eye(3) - kept), cosine)
        turned += jet_mapped("ab,k->kab", placed.rotation @ np.cross(np.eye(3), u), sine)
        turned += _constant(placed.rotation @ kept, q)
        rotation = jet_product("kab,kbc->kac", inner.rotation, turned)
        origin = inner.origin + jet_mapped("b,kab->ka", placed.translation, inner.rotation)
        poses.append(LinkPose(rotation, origin, jet_mapped("b,kab->ka", u, rotation)))
    return poses


def checked_link_rows(robot: Robot, q: Jet, v: Jet, v_a: Jet, a_a: Jet) -> Jet:
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
    Y = Jet(zero_jets(S, *shape), zero_jets(S, *shape), zero_jets(1, *shape)[0], q.balls)
    for i, (joint, pose) in enumerate(zip(robot.joints, poses, strict=True)):
        w_p, w_ap, b_p, d_p = motions[joint.parent] if joint.parent >= 0 else ground
        arm = pose.origin - (poses[joint.parent].origin if joint.parent >= 0 else nothing)
        turn, turn_a, push = (jet_product("k,ka->ka", x[:, i], pose.axis) for x in (v, v_a, a_a))
        w, w_a = w_p + turn, w_ap + turn_a
        b = b_p + jet_cross(w_p, turn_a) + push
        d = d_p + jet_cross(b_p, arm) + jet_cross(w_ap, jet_cross(w_p, arm))
        motions.append((w, w_a, b, d))
        support = _support(robot, i)
        z = _stacked([poses[k].axis for k in support])
        lever = _stacked([pose.origin - poses[k].origin for k in support])
        own = [jet_product("kba,kb->ka", pose.rotation, x) for x in (w, w_a, b, d)]
        _write(Y, i, support, _turned_in(pose, z), _turned_in(pose, _crossed(z, lever)), *own)
    return Y


def _write(Y: Jet, i: int, rows: list[int], z: Jet, l: Jet, w: Jet, w_a: Jet, b: Jet, d: Jet) -> None:  # noqa: E741
    """Write the ten columns of link i; everything is in its frame, z and l are (K, n, 3)."""
    e = jet_cross(w, z).turned
    first = jet_product("knb,kb->kn", l, d)
    moment = jet_cross(b, l).turned + jet_cross(w, jet_cross(w_a, l)) + jet_cross(d, z)
    T = jet_product("kna,kb->knab", z, b) + jet_product("kna,kb->knab", e, w_a)
    half = jet_mapped("ab,kn->knab", 0.5 * np.eye(3), jet_product("kna,ka->kn", e, w_a))
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
    c = zero_jets(S, K, *values.shape)
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
    return jet_product("kba,knb->kna", pose.rotation, x)


def _crossed(x: Jet, y: Jet) -> Jet:
    """The products x × y of vectors (K, n, 3), one pair at a time."""
    return _stacked([jet_cross(x[:, k], y[:, k]) for k in range(x.middle.shape[2])])


# Gaps between the shapes of a robot in its tube, by one separating plane each, for the checker.

_GAP_ROUNDING = 1e-12
"""More than a unit vector's length is off by, and a gap by rounding, in m."""


class CheckedGaps:
    """The corners of every shape over pieces of a plan."""

    def __init__(
        self, clearance: Clearance, plan: SplineMotion, start: Array, end: Array, tube: Tube
    ) -> None:
        robot, self._pairs = clearance.robot, clearance.pairs
        poses = link_poses(robot, checked_states(plan, start, end, tube).q)
        parts = dict.fromkeys(part for pair in self._pairs for part in (pair.first, pair.second))
        self._corners = {part: _corners(part, poses) for part in parts}

    def least(self, pair: int, distance: float) -> Array:
        """What the gap of a pair is nowhere below; no better plane is looked for beyond a distance.

        Args:
            pair: which of the clearance's pairs.
            distance: enough for every piece, m.

        Returns:
            The gaps, rounded down, shape (K,), m.
        """
        A, B = self._pairs[pair].first, self._pairs[pair].second
        a, b = self._corners[A].middle[0], self._corners[B].middle[0]
        normals = a.mean(axis=1) - b.mean(axis=1)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
        gaps = self._along(normals, A, B)
        short = np.flatnonzero(gaps < distance)
        if len(short):
            here = Pose.identity()
            for k in short:
                normals[k] = separation(Hull(a[k]), here, Hull(b[k]), here).normal
            gaps = np.maximum(gaps, self._along(normals, A, B))
        return gaps

    def _along(self, normals: Array, A: Part, B: Part) -> Array:
        """The gaps along unit vectors from B to A, shape (K,)."""
        x, y = (jet_mapped("kc,knc->kn", normals, self._corners[part]) for part in (A, B))
        between = _differences(x, y)
        low = between.middle[0] - between.radius[0]
        gaps: Array = (
            low.min(axis=(1, 2)) * (1.0 - _GAP_ROUNDING) - A.core.radius - B.core.radius - _GAP_ROUNDING
        )
        return gaps


def _corners(part: Part, poses: list[LinkPose]) -> Jet:
    """The corners of a part, (K, n, 3)."""
    points = part.core.points
    if part.link < 0:
        S, K = poses[0].origin.middle.shape[:2]
        c = zero_jets(S, K, *points.shape)
        c[0] = points
        return Jet(c, 0.0 * c, 0.0 * c[0], poses[0].origin.balls)
    pose = poses[part.link]
    turned = jet_mapped("nb,kab->kna", points, pose.rotation)
    return turned + pose.origin[:, None]


def _differences(x: Jet, y: Jet) -> Jet:
    """Of each of x with each of y, (K, n, m)."""
    return x[:, :, None] - y[:, None, :]


CUTS = 2
"""Into how many pieces each stretch of the certificate is cut at first."""
MOST_HALVINGS = 5
"""How often a piece is halved before the check is given up."""
MOST_PIECES = 1024
"""Pieces that are looked at in one round; where more are left, nothing would come of halving them."""
_MARGIN_ROUNDING = 1e-12


@dataclass(frozen=True)
class PlanCheck:
    """What a check has found to be left of the limits at least; infinite where nothing is limited.

    Attributes:
        position: rad or m.
        velocity: rad/s or m/s.
        acceleration: of the plan, rad/s² or m/s².
        torque: N·m or N.
        clearance: m.
    """

    position: float
    velocity: float
    acceleration: float
    torque: float
    clearance: float


def check_plan(certificate: PlanCertificate, limits: MotionLimits, plan: SplineMotion) -> PlanCheck:
    """Verify a certificate again.

    Args:
        certificate: what is claimed.
        limits: what must be respected, with layout and nominal parameters.
        plan: the plan, of one polynomial piece.

    Returns:
        What is left of the limits.

    Raises:
        InputError: the certificate is of another robot, plan, model or limit.
        NotCertifiedError: a limit could not be verified; says which and when.
    """
    _same(certificate, limits, plan)
    bounds, tube = limits.bounds, certificate.tube
    names = bounds.joints

    def curve(order: int, low: Array, high: Array, error: float) -> Callable[[Array, Array], Array]:
        def margins(start: Array, end: Array) -> Array:
            c, r = curve_spans(plan, start, end, order)
            return np.minimum(c - low, high - c) - (r + error) * (1.0 + _MARGIN_ROUNDING)

        return margins

    def torques(start: Array, end: Array) -> Array:
        most: Array = certificate.effort - _most_torque(certificate, limits, plan, start, end)
        return most

    kinds = {
        "position": curve(0, bounds.lower, bounds.upper, tube.position),
        "velocity": curve(1, -bounds.velocity, bounds.velocity, tube.velocity),
        "acceleration": curve(2, -bounds.acceleration, bounds.acceleration, 0.0),
        "torque": torques,
    }
    found = {kind: _verified(kind, names, certificate.edges, margins) for kind, margins in kinds.items()}
    gap = np.inf
    clearance = limits.clearance
    if clearance is not None and clearance.pairs:

        def gaps(start: Array, end: Array) -> Array:
            corners = CheckedGaps(clearance, plan, start, end, tube)
            every = [corners.least(k, limits.distance) for k in range(len(clearance.pairs))]
            return np.stack(every, axis=1) - limits.distance * (1.0 + _MARGIN_ROUNDING)

        gap = _verified("clearance", clearance.names, certificate.edges, gaps)
    return PlanCheck(**found, clearance=gap)


def _same(certificate: PlanCertificate, limits: MotionLimits, plan: SplineMotion) -> None:
    layout, nominal = limits.layout, limits.parameters
    claims = {
        "robot": certificate.motion.robot == limits.robot.digest,
        "plan": certificate.motion.motion == plan.digest and certificate.edges[-1] == plan.duration,
        "joints": certificate.joints == limits.robot.joint_names == plan.joints,
        "parameters": layout is not None
        and certificate.parameters == layout.names
        and np.array_equal(certificate.nominal, np.asarray(nominal)),
        "effort": np.array_equal(certificate.effort, limits.bounds.effort),
    }
    for name, same in claims.items():
        if not same:
            raise InputError(f"is not that of the certificate: {name}.", place="certificate")


def _verified(
    kind: str, names: tuple[str, ...], edges: Array, margins: Callable[[Array, Array], Array]
) -> float:
    """The least margin over all pieces, cut until none is negative."""
    fine = np.union1d(edges, (edges[:-1, None] + np.diff(edges)[:, None] * np.arange(CUTS) / CUTS).ravel())
    start, end, least = fine[:-1], fine[1:], np.inf
    for _ in range(MOST_HALVINGS + 1):
        left = margins(start, end)
        kept = (left >= 0.0).all(axis=1)
        least = min(least, float(left[kept].min(initial=np.inf)))
        start, end, left = start[~kept], end[~kept], left[~kept]
        if not len(start):
            return least
        if 2 * len(start) > MOST_PIECES:
            break
        middle = 0.5 * (start + end)
        start, end = np.concatenate((start, middle)), np.concatenate((middle, end))
    row, column = np.unravel_index(int(left.argmin()), left.shape)
    raise NotCertifiedError(
        f"its {kind} could not be verified near t = {start[row]:.6g} s.",
        kind=kind,
        name=names[column],
        instant=float(start[row]),
        margin=float(left[row, column]),
        broken=False,
        remedy="",
    )


def _most_torque(
    certificate: PlanCertificate, limits: MotionLimits, plan: SplineMotion, start: Array, end: Array
) -> Array:
    """What the size of each joint's torque does not exceed over pieces, (K, nv)."""
    robot, layout, tube, law = limits.robot, limits.layout, certificate.tube, certificate.law
    assert layout is not None  # the certificate is of the same layout
    links = 10 * len(layout.links)
    columns = layout.drive_columns.T
    F, rho_F = (
        np.where(columns >= 0, phi[columns], 0.0) for phi in (certificate.nominal, certificate.half_widths)
    )
    phi, rho = certificate.nominal[:links], certificate.half_widths[:links]
    x = checked_states(plan, start, end, tube)
    Y = checked_link_rows(robot, x.q, x.v, x.v_a, x.a_a)
    tau = (
        jet_mapped("p,kjp->kj", phi, Y)
        + jet_mapped("j,kj->kj", F[0], x.v_a)
        + jet_mapped("j,kj->kj", F[3], x.a_a)
    )
    sign, unsure, least = _friction_signs(x.v_a, certificate)
    nominal = np.abs(tau.middle[0] + F[2] + F[1] * sign) + tau.radius[0] + np.abs(F[1]) * unsure
    w = Y.size @ rho
    w += rho_F[0] * x.v_a.size + rho_F[3] * x.a_a.size + rho_F[1] + rho_F[2]
    w += np.abs(F[1]) * (1.0 - least)
    w *= 1.0 + _MARGIN_ROUNDING
    norm = np.linalg.norm(w, axis=1, keepdims=True)
    robust = w if law.form == "componentwise" else 0.5 * (norm + w)
    most: Array = (nominal + robust + law.reserve) * (1.0 + _MARGIN_ROUNDING)
    return most


def _friction_signs(v_a: Jet, certificate: PlanCertificate) -> tuple[Array, Array, Array]:
    """Middle and radius of sat(v_a / v_0), and its least size, each (K, nv)."""
    ends = v_a.middle[0] - v_a.radius[0], v_a.middle[0] + v_a.radius[0]
    v_0 = certificate.law.rest_velocity
    low, high = (np.sign(x) if v_0 == 0.0 else np.clip(x / v_0, -1.0, 1.0) for x in ends)
    least = np.maximum(np.maximum(low, -high) - _MARGIN_ROUNDING, 0.0)
    return 0.5 * (low + high), 0.5 * (high - low) + _MARGIN_ROUNDING, least
