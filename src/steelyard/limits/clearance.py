"""How far a robot stays from itself, from the tool it holds and from what stands around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy
from numpy.typing import ArrayLike

from steelyard.arrays import Array, IntArray, checked, read_only, read_only_view
from steelyard.compiled import kernel
from steelyard.dynamics.batch import gathered, states
from steelyard.dynamics.kinematics import poses_in_base
from steelyard.dynamics.motion_pass import cross, to_parent
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.limits.distance import COLUMNS, CORNERS, apart, overlapping
from steelyard.limits.parts import Pair, gather, part_of, refined, scene_pairs, self_pairs, without
from steelyard.limits.scene import FLOOR, Floor, Scene
from steelyard.limits.shapes import Cores, pack
from steelyard.robot import Geometry, MeshSource, Robot
from steelyard.threads import share

# Positions to look at before anything moves: the robot at rest, and a fixed set spread over its limits.

WITHOUT_LIMIT = np.pi
"""How far to either side a joint without limit is looked at, rad or m."""


def spread_poses(robot: Robot, count: int) -> Array:
    """Positions spread evenly over the limits (Halton's points); the same at every call.

    Args:
        robot: the robot.
        count: how many.

    Returns:
        q, shape (count, nq), rad or m.
    """
    unit = scipy.stats.qmc.Halton(robot.nq, scramble=False).random(count + 1)[1:]
    q = np.empty((count, robot.nq))
    at = 0
    for joint in robot.joints:
        own = unit[:, at : at + joint.nq]
        if joint.nq == 1:
            low, high = max(joint.limits.lower, -WITHOUT_LIMIT), min(joint.limits.upper, WITHOUT_LIMIT)
            q[:, at] = low + own[:, 0] * (high - low)
        elif joint.nq:
            q[:, at : at + joint.nq] = 2.0 * own - 1.0
            turn = scipy.special.ndtri(own[:, -4:])
            q[:, at + joint.nq - 4 : at + joint.nq] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
        at += joint.nq
    return q


# Signed distances of many pairs over many samples, and how they change with the joints (compiled).


@kernel
def place_cores(
    tree: Tree, cores: Cores, q: Array, R: Array, p: Array, R_0: Array, p_0: Array, x: Array
) -> None:
    """Write the corners of all cores in the base frame into x; the last of R_0 and p_0 is the base itself."""
    poses_in_base(tree, q, R, p, R_0, p_0)
    for s in range(len(cores.link)):
        i = cores.link[s]
        if i < 0:
            continue
        for k in range(cores.start[s], cores.start[s + 1]):
            ux, uy, uz = to_parent(R_0, i, cores.points[k, 0], cores.points[k, 1], cores.points[k, 2])
            x[k, 0], x[k, 1], x[k, 2] = p_0[i, 0] + ux, p_0[i, 1] + uy, p_0[i, 2] + uz


@kernel
def axes_in_base(tree: Tree, R_0: Array, p_0: Array, S: Array) -> None:
    """Write every degree of freedom's twist at the base's origin, in its axes, linear part first, into S."""
    s = tree.subspace
    for i in range(tree.parent.size):
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            lx, ly, lz = to_parent(R_0, i, s[k, 0], s[k, 1], s[k, 2])
            cx, cy, cz = to_parent(R_0, i, s[k, 3], s[k, 4], s[k, 5])
            ux, uy, uz = cross(p_0[i, 0], p_0[i, 1], p_0[i, 2], cx, cy, cz)
            S[k, 0], S[k, 1], S[k, 2] = lx + ux, ly + uy, lz + uz
            S[k, 3], S[k, 4], S[k, 5] = cx, cy, cz


@kernel
def measure_pairs(
    first: int,
    last: int,
    tree: Tree,
    cores: Cores,
    pairs: IntArray,
    q: Array,
    weights: Array,
    distances: Array,
    gradients: Array,
    adjoint: Array,
) -> None:
    r"""Write what is asked for: an array of no samples is not.

    The signed distances of all pairs go into distances (N, P), their gradients into gradients (N, nv, P),
    which starts at zero, and the gradient of their sum with weights (N, P) into adjoint (N, nv), for which
    pairs of weight zero are passed over.

    The points a, b and the direction n of a pair are the best ones, so their own change does not count: a
    distance is a force n on the first link at a, and its opposite on the second at b. They share a line of
    action and thus one moment m about the base's origin, and $\partial d / \partial q_k = \pm(n \cdot l_k +
    m \cdot c_k)$ for the degrees of freedom k between the two links.
    """
    nb, nv = tree.parent.size, tree.subspace.shape[0]
    R, p, R_0, p_0 = np.empty((nb, 3, 3)), np.empty((nb, 3)), np.zeros((nb + 1, 3, 3)), np.zeros((nb + 1, 3))
    for c in range(3):
        R_0[nb, c, c] = 1.0
    simplex, owners = np.empty((CORNERS, COLUMNS)), np.empty((CORNERS, 2), np.int64)
    x, out, start, link, radius = cores.points.copy(), np.empty(9), cores.start, cores.link, cores.radius
    S, F, force = np.empty((nv, 6)), np.empty((nb + 1, 6)), np.empty(6)
    each, weighted = len(gradients) > 0, len(adjoint) > 0
    for n in range(first, last):
        place_cores(tree, cores, q[n], R, p, R_0, p_0, x)
        if each or weighted:
            axes_in_base(tree, R_0, p_0, S)
            F[:] = 0.0
        for k in range(len(pairs)):
            if weighted and weights[n, k] == 0.0:
                continue
            s, t = pairs[k, 0], pairs[k, 1]
            gap = apart(x, start[s], start[s + 1], start[t], start[t + 1], simplex, owners, out)
            if gap < 0.0:
                gap = overlapping(cores, s, t, x, R_0, out)
            if len(distances) > 0:
                distances[n, k] = gap - radius[s] - radius[t]
            if not (each or weighted):
                continue
            force[0], force[1], force[2] = out[0], out[1], out[2]
            force[3], force[4], force[5] = cross(out[3], out[4], out[5], out[0], out[1], out[2])
            i, j = link[s], link[t]
            if each:
                _write_gradient(tree, S, force, i, j, gradients[n, :, k])
            if weighted:
                for c in range(6):
                    F[i, c] += weights[n, k] * force[c]
                    F[j, c] -= weights[n, k] * force[c]
        if weighted:
            _add_towards_base(tree, S, F, adjoint[n])


@kernel
def _write_gradient(tree: Tree, S: Array, force: Array, i: int, j: int, gradient: Array) -> None:
    """From both links towards the link that carries both."""
    while i != j:
        body, sign = (i, 1.0) if i > j else (j, -1.0)
        for k in range(tree.first_dof[body], tree.first_dof[body + 1]):
            work = 0.0
            for c in range(6):
                work += S[k, c] * force[c]
            gradient[k] = sign * work
        if i > j:
            i = tree.parent[i]
        else:
            j = tree.parent[j]


@kernel
def _add_towards_base(tree: Tree, S: Array, F: Array, gradient: Array) -> None:
    """Power of all wrenches F (nb + 1, 6), kept at the base's origin, with every degree of freedom."""
    for i in range(tree.parent.size - 1, -1, -1):
        for k in range(tree.first_dof[i], tree.first_dof[i + 1]):
            work = 0.0
            for c in range(6):
                work += S[k, c] * F[i, c]
            gradient[k] = work
        for c in range(6):
            F[tree.parent[i], c] += F[i, c]


LOOKED_AT = 256
"""Positions at which pairs that always overlap are looked for."""
TOUCHING = 1e-6
"""Distance up to which two shapes of a robot touch, m: surfaces drawn to meet may miss by round-off."""
BUILT = 2e-3
"""Shapes of a robot that are never farther apart than this are built so, m: no motion can part them."""
ROOM = 0.02
"""What is left beyond the distance at the start above an assumed floor, m: with less it may be elsewhere."""
LEAST = 16
"""Samples worth a thread of their own: each one is many pairs."""
_NOTHING = np.empty((0, 0))


@dataclass(frozen=True, eq=False)
class Clearance:
    """The pairs of shapes that must stay apart, ready to be measured.

    Attributes:
        robot: the robot.
        pairs: what is measured, in the order of every result.
        excluded: pairs left out because they overlap at rest, or are as near as that at every position.
        findings: what is not checked, and why.
    """

    robot: Robot
    pairs: tuple[Pair, ...]
    excluded: tuple[Pair, ...] = ()
    findings: tuple[Finding, ...] = ()
    _cores: Cores = field(init=False, repr=False)
    _index: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        parts = list(dict.fromkeys(part for pair in self.pairs for part in (pair.first, pair.second)))
        place = {part: k for k, part in enumerate(parts)}
        index = np.array([(place[pair.first], place[pair.second]) for pair in self.pairs], dtype=np.int64)
        cores = pack([part.link for part in parts], [part.core for part in parts])
        object.__setattr__(self, "_cores", cores)
        object.__setattr__(self, "_index", read_only(index.reshape(-1, 2)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the pairs, in order."""
        return tuple(pair.name for pair in self.pairs)

    def distances(self, q: ArrayLike) -> Array:
        """The signed distance of every pair, see `separation`.

        Args:
            q: joint positions, shape (N, nq), rad or m.

        Returns:
            Distances, negative where a pair overlaps, shape (N, P), m.
        """
        (q,) = states(self.robot, q=q)
        distances = np.empty((len(q), len(self.pairs)))
        self._measure(q, distances=distances)
        return distances

    def gradients(self, q: ArrayLike) -> tuple[Array, Array]:
        """The signed distance of every pair and its gradient in the joints.

        Where several points or directions are equally good (parallel faces, the middle of an overlap) the
        distance has a kink, and the gradient is that of one of them.

        Args:
            q: joint positions, shape (N, nq), rad or m.

        Returns:
            Distances, shape (N, P), m; gradients, shape (N, P, nv), m/rad or dimensionless, along the body's
            twist where a joint floats or is spherical.
        """
        (q,) = states(self.robot, q=q)
        distances = np.empty((len(q), len(self.pairs)))
        gradients = np.zeros((len(q), self.robot.untied.nv, len(self.pairs)))
        self._measure(q, distances=distances, gradients=gradients)
        return distances, np.ascontiguousarray(np.swapaxes(gathered(self.robot, gradients), 1, 2))

    def adjoint(self, q: ArrayLike, weights: ArrayLike) -> Array:
        r"""Gradient of $\sum_k w_{nk}\,d_k(q_n)$ in $q_n$; pairs of weight zero cost nothing.

        With $w = \partial f / \partial d$ it is the gradient of any function f of the distances.

        Args:
            q: joint positions, shape (N, nq), rad or m.
            weights: w, shape (N, P), SI.

        Returns:
            The gradient, shape (N, nv), SI; along the body's twist where a joint floats or is spherical.
        """
        (q,) = states(self.robot, q=q)
        w = checked("weights", weights, (len(q), len(self.pairs)))
        gradient = np.empty((len(q), self.robot.untied.nv))
        self._measure(q, weights=w, adjoint=gradient)
        return gathered(self.robot, gradient)

    def _measure(
        self,
        q: Array,
        *,
        weights: Array = _NOTHING,
        distances: Array = _NOTHING,
        gradients: Array = _NOTHING[..., None],
        adjoint: Array = _NOTHING,
    ) -> None:
        arrays = (read_only_view(weights), distances, gradients, adjoint)
        share(len(q), measure_pairs, tree_of(self.robot), self._cores, self._index, q, *arrays, least=LEAST)


def clearance_of(
    robot: Robot,
    scene: Scene | None = None,
    *,
    tool: Sequence[Geometry] = (),
    meshes: MeshSource | FilePath | None = None,
    tool_meshes: FilePath | None = None,
    ignore: Iterable[tuple[str, str]] = (),
    rest: ArrayLike | None = None,
    distance: float = 0.0,
    floor: Floor | None = None,
) -> Clearance:
    """Choose the pairs of shapes a robot must keep apart.

    These are the shapes of any two links, neighbours and the base included; the tool's with those of every
    link but the one that holds it; and all that move with everything in the scene. Two shapes of the robot
    are left out, and reported, in three cases. They are within the distance, or 2 mm, at rest and at each of
    256 positions spread over the limits: so the robot is built or drawn, as neighbours at their joint. Or
    they overlap at rest, or are never as far apart, and yet apart at some of the positions: then nothing is
    known of them, which is a warning. What the joints cannot move away from the floor is built so too; what
    starts in a floor that is only assumed, or 2 cm from the distance to it, is left out with a warning.
    Overlaps with the scene are never left out unless asked for.

    Args:
        robot: the robot.
        scene: what stands around it, in its base frame.
        tool: shapes it holds, in its tool frame.
        meshes: where the meshes of the description are looked for, or its folder; None for where the robot
            says. Those that are not found are reported as unchecked.
        tool_meshes: folder where meshes of the tool are looked for; None for the description's.
        ignore: pairs of names of links, obstacles or `tool` that may touch.
        rest: a position at which nothing collides, shape (nq,), rad or m; the one nearest to zero within the
            limits when not given.
        distance: how far apart things are to stay, m: shapes of the robot that never are cannot be asked to.
        floor: what the robot stands on, see `Floor.of`.

    Returns:
        The clearance; its findings say what is not checked.

    Raises:
        UnknownNameError: `ignore` names no link or obstacle.
    """
    findings: list[Finding] = []
    links, held, around = gather(robot, scene or Scene(), tool, meshes, findings, tool_meshes)
    ground = [] if floor is None else [part_of(floor.obstacle)]
    choices = list(dict.fromkeys(part.owner for part in (*links, *held, *around, *ground)))
    asked = list(ignore)
    own = without(self_pairs(links, held), asked, choices, findings)
    standing = without(scene_pairs((*links, *held), ground), asked, choices, [])
    outer = without(scene_pairs((*links, *held), around), asked, choices, [])
    q_rest = robot.rest_pose if rest is None else checked("rest", rest, (robot.nq,))
    kept, excluded = _told_apart(robot, own, q_rest, max(distance, BUILT), findings)
    if floor is not None:
        above, built = _above(robot, standing, q_rest, distance, floor.assumed, findings)
        kept, excluded = [*kept, *above], [*excluded, *built]
    outer = _closer(robot, outer, distance)
    _report_touching(Clearance(robot, tuple(outer)), q_rest, findings)
    return Clearance(robot, (*kept, *outer), tuple(excluded), tuple(findings))


def _told_apart(
    robot: Robot, own: Sequence[Pair], q_rest: Array, near: float, findings: list[Finding]
) -> tuple[list[Pair], list[Pair]]:
    """Pairs of the robot's own shapes that can be kept apart, and those that cannot, which are reported.

    Where the hulls of meshes meet at some position and not at all, pairs of their pieces stand in for them.
    """
    at_rest, least, most = _looked_at(robot, own, q_rest)
    apart = (at_rest > TOUCHING) & (most > near)
    kept = [pair for pair, fits in zip(own, apart & (least > near), strict=True) if fits]
    excluded = []
    for k in np.flatnonzero(most <= near).tolist():
        excluded.append(own[k])
        findings.append(_exclusion(own[k], at_rest[k], least[k], most[k], near))
    for k in np.flatnonzero((most > near) & ~(apart & (least > near))).tolist():
        pieces = refined(own[k])
        resting, nearest, furthest = _looked_at(robot, pieces, q_rest)
        clear = resting > TOUCHING
        if apart[k]:
            # A piece may be thickened more than the whole; what was known of that is not given up.
            kept += pieces if clear.all() else [own[k]]
            continue
        kept += [pair for pair, fits in zip(pieces, clear, strict=True) if fits]
        for n in np.flatnonzero(~clear).tolist():
            excluded.append(pieces[n])
            findings.append(_exclusion(pieces[n], resting[n], nearest[n], furthest[n], near))
    return kept, excluded


def _looked_at(robot: Robot, pairs: Sequence[Pair], q_rest: Array) -> tuple[Array, Array, Array]:
    """Distances of pairs at rest, and the least and the most of all positions looked at, shape (P,), m."""
    before = Clearance(robot, tuple(pairs))
    at_rest = before.distances(q_rest)[0]
    every = np.vstack([before.distances(spread_poses(robot, LOOKED_AT)), at_rest])
    return at_rest, every.min(axis=0), every.max(axis=0)


def _closer(robot: Robot, outer: Sequence[Pair], distance: float) -> list[Pair]:
    """Pairs with the scene, of pieces of those meshes whose hulls meet it at some position."""
    if not outer:
        return []
    least = Clearance(robot, tuple(outer)).distances(spread_poses(robot, LOOKED_AT)).min(axis=0)
    meets = least <= distance
    far = [pair for pair, near in zip(outer, meets, strict=True) if not near]
    return [*far, *(x for pair, near in zip(outer, meets, strict=True) if near for x in refined(pair))]


def _above(
    robot: Robot,
    standing: Sequence[Pair],
    q_rest: Array,
    distance: float,
    assumed: bool,
    findings: list[Finding],
) -> tuple[list[Pair], list[Pair]]:
    """Pairs with the floor that can be kept apart, and those that cannot, which are reported."""
    at_rest, least, most = _looked_at(robot, standing, q_rest)
    built = (most - least <= TOUCHING) & (most <= max(distance, BUILT))
    doubtful = ~built & (assumed & (at_rest <= distance + ROOM))
    for k in np.flatnonzero(built).tolist():
        message = "stay as near at every position looked at, so they are built, and are not kept apart."
        findings.append(Finding(Severity.INFO, "near-pair", message, standing[k].name))
    if doubtful.any():
        names = ", ".join(standing[k].first.title for k in np.flatnonzero(doubtful).tolist())
        nearest = float(at_rest[doubtful].min())
        where = f"{nearest:.2g} m above it" if nearest >= 0.0 else f"{-nearest:.2g} m inside it"
        message = (
            f"at the start they are {where}, so it may be elsewhere, and nothing is known of it there; state "
            "--floor, or another start."
        )
        findings.append(Finding(Severity.WARNING, "doubtful-floor", message, f"{FLOOR}, {names}"))
    left_out = built | doubtful
    return (
        [pair for pair, out in zip(standing, left_out, strict=True) if not out],
        [pair for pair, out in zip(standing, left_out, strict=True) if out],
    )


def _exclusion(pair: Pair, resting: float, least: float, most: float, near: float) -> Finding:
    """Why a pair is not kept apart: built so, or nothing is known of it."""
    if most <= TOUCHING:
        message = "overlap at every position looked at, so they are built, and are not kept apart."
        return Finding(Severity.INFO, "overlapping-pair", message, pair.name)
    if most <= near and least > TOUCHING:
        message = (
            f"are {1e3 * least:.2g} to {1e3 * most:.2g} mm apart at every position looked at, so they are "
            "built, and are not kept farther apart."
        )
        return Finding(Severity.INFO, "near-pair", message, pair.name)
    where = "at rest" if resting <= TOUCHING else "at some positions"
    message = (
        f"overlap {where} and are up to {1e3 * most:.3g} mm apart elsewhere; they are not kept apart, so "
        "nothing is known of them."
    )
    return Finding(Severity.WARNING, "overlapping-pair", message, pair.name)


def _report_touching(outer: Clearance, q_rest: Array, findings: list[Finding]) -> None:
    for pair, distance in zip(outer.pairs, outer.distances(q_rest)[0], strict=True):
        if distance < 0.0:
            message = f"overlap by {-1e3 * distance:.3g} mm at rest; they are kept apart all the same."
            findings.append(Finding(Severity.WARNING, "scene-overlap", message, pair.name))
