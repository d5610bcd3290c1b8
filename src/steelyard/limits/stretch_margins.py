"""Every limit of a robot as a margin that is proven over whole stretches of time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, BoolArray, IntArray, read_only_view
from steelyard.compiled import kernel
from steelyard.dynamics.tree import Tree, tree_of
from steelyard.enclosure import (
    Forms,
    MotionForms,
    enclosed_torque,
    untied_motion,
    untied_positions,
)
from steelyard.limits.clearance import LEAST, Clearance, axes_in_base, place_cores
from steelyard.limits.distance import COLUMNS, CORNERS, apart, overlapping
from steelyard.limits.margins import MotionLimits
from steelyard.limits.shapes import Cores
from steelyard.threads import share

# How close pairs can come while the joints are anywhere within forms, proven (compiled).
#
# Let n be the direction in which two shapes are apart at the centre of the joints' forms. Whatever they do,
# the signed distance is at least $\min_a n \cdot a - \max_b n \cdot b$ over the corners of both, less their
# radii. Seen from the link that carries both, a corner depends on the joints k in between alone, by Taylor's
# theorem
#
# $$n \cdot a(q + \Delta) = n \cdot a(q) + \sum_k n \cdot a_k\,\Delta_k \pm \tfrac12 \sum_{kl} |a_{kl}| D_k
# D_l, \qquad |\Delta_k| \le D_k,$$
#
# where $a_k$ is its velocity for a unit velocity of joint k. Of two joints let k be the inner one: then
# $a_{kl} = \omega_k \times a_l$, of size at most $|a_l|$, and zero where k slides. Finally $|a_l|$ is a lever
# arm that only joints further out can change, by no more than they move the corner: $|a_l| + \sum_{m > l} D_m
# |a_m|$ bounds it over all positions, from the outermost joint inwards.
#
# With $\Delta_k = s_k\varepsilon + r_k\eta_k$, ε being time, the bound at a given ε is concave in it: it is
# smallest at an end.

ROUND_OFF = 1e-12
"""What rounding may cost, as a share of the lengths involved: far more than a chain of 256 links loses."""


def proven_gaps(clearance: Clearance, q: Forms, wanted: BoolArray) -> tuple[Array, Array]:
    """Bound the signed distances of pairs while the joints are anywhere within forms.

    Args:
        clearance: the pairs.
        q: joint positions, shape (K, nv), rad or m; the first symbol, if any, is what the bounds follow best.
        wanted: which pairs to look at, shape (K, P), dimensionless.

    Returns:
        What no distance is below, shape (K, P), m, and the gaps at the forms' centres, shape (K, P), m;
        infinite where not wanted.
    """
    every = untied_positions(clearance.robot, q)
    slope = every.generators[..., 0] if every.symbols else np.zeros_like(every.centre)
    rest = Forms(every.centre, every.generators[..., 1:], every.radius).deviation
    least, seen = np.full(wanted.shape, np.inf), np.full(wanted.shape, np.inf)
    share(
        len(wanted),
        _prove_gaps,
        tree_of(clearance.robot),
        clearance._cores,
        clearance._index,
        every.centre,
        read_only_view(slope),
        read_only_view(rest),
        read_only_view(wanted),
        least,
        seen,
        least=LEAST,
    )
    return least, seen


@kernel
def _prove_gaps(
    first: int,
    last: int,
    tree: Tree,
    cores: Cores,
    pairs: IntArray,
    q: Array,
    slope: Array,
    rest: Array,
    wanted: BoolArray,
    least: Array,
    seen: Array,
) -> None:
    nb = tree.parent.size
    R, p, R_0, p_0 = np.empty((nb, 3, 3)), np.empty((nb, 3)), np.zeros((nb + 1, 3, 3)), np.zeros((nb + 1, 3))
    for c in range(3):
        R_0[nb, c, c] = 1.0
    simplex, owners = np.empty((CORNERS, COLUMNS)), np.empty((CORNERS, 2), np.int64)
    x, out, start, link = cores.points.copy(), np.empty(9), cores.start, cores.link
    S, D, path, ends = np.empty((nb, 6)), np.empty(nb), np.empty(nb, np.int64), np.empty(3)
    # Sums are loops here: NumPy's along an axis take Numba three seconds to compile.
    farthest = 0.0
    for c in range(len(cores.points)):
        farthest = max(farthest, _size(cores.points[c]))
    for n in range(first, last):
        if not wanted[n].any():
            continue
        place_cores(tree, cores, q[n], R, p, R_0, p_0, x)
        axes_in_base(tree, R_0, p_0, S)
        lengths = farthest
        for k in range(nb):
            D[k] = (abs(slope[n, k]) + rest[n, k]) * (1.0 + ROUND_OFF)
            lengths += _size(p[k])
        turned = 1.0 + _size(D)
        for k in range(len(pairs)):
            if not wanted[n, k]:
                continue
            s, t = pairs[k, 0], pairs[k, 1]
            gap = apart(x, start[s], start[s + 1], start[t], start[t + 1], simplex, owners, out)
            if gap < 0.0:
                overlapping(cores, s, t, x, R_0, out)
            shared = _shared_link(tree, link[s], link[t])
            # The first moves towards the second along -n, the second towards the first along n.
            _reach(
                tree,
                S,
                D,
                slope[n],
                rest[n],
                path,
                x,
                start[s],
                start[s + 1],
                link[s],
                shared,
                out,
                -1.0,
                ends,
            )
            at_start, at_end, middle = ends[0], ends[1], ends[2]
            _reach(
                tree,
                S,
                D,
                slope[n],
                rest[n],
                path,
                x,
                start[t],
                start[t + 1],
                link[t],
                shared,
                out,
                1.0,
                ends,
            )
            gap = -(max(at_start + ends[0], at_end + ends[1]) + cores.radius[s] + cores.radius[t])
            lost = ROUND_OFF * (lengths * turned * turned + abs(gap))
            least[n, k] = gap - lost
            seen[n, k] = -(middle + ends[2] + cores.radius[s] + cores.radius[t])


@kernel
def _size(x: Array) -> float:
    """The sum of absolute values."""
    total = 0.0
    for k in range(x.size):
        total += abs(x[k])
    return total


@kernel
def _shared_link(tree: Tree, i: int, j: int) -> int:
    """The outermost link that carries both, -1 for the base."""
    while i != j:
        if i > j:
            i = tree.parent[i]
        else:
            j = tree.parent[j]
    return i


@kernel
def _reach(
    tree: Tree,
    S: Array,
    D: Array,
    slope: Array,
    rest: Array,
    path: IntArray,
    x: Array,
    first: int,
    last: int,
    link: int,
    shared: int,
    n: Array,
    sign: float,
    ends: Array,
) -> None:
    """Write how far corners x[first:last] of a link can reach along sign * n, seen from an inner link.

    At the first symbol's lower end, at its upper end, and at the centre of everything, into ends (3,).
    """
    count = 0
    while link != shared:
        path[count] = link
        count += 1
        link = tree.parent[link]
    nx, ny, nz = sign * n[0], sign * n[1], sign * n[2]
    ends[0] = ends[1] = ends[2] = -math.inf
    for a in range(first, last):
        ax, ay, az = x[a, 0], x[a, 1], x[a, 2]
        turns = 0.0
        for m in range(count):
            if _turns(tree, path[m]):
                turns += D[path[m]]
        linear = spread = moved = bend = 0.0
        for m in range(count):
            k = path[m]
            cx, cy, cz = S[k, 3], S[k, 4], S[k, 5]
            ux = S[k, 0] + cy * az - cz * ay
            uy = S[k, 1] + cz * ax - cx * az
            uz = S[k, 2] + cx * ay - cy * ax
            along = nx * ux + ny * uy + nz * uz
            linear += along * slope[k]
            spread += abs(along) * rest[k]
            arm = math.sqrt(ux * ux + uy * uy + uz * uz)
            own = 0.0
            if _turns(tree, k):
                arm += moved
                own = D[k]
            turns -= own
            bend += arm * D[k] * (0.5 * own + max(turns, 0.0))
            moved += arm * D[k]
        value = nx * ax + ny * ay + nz * az
        ends[0] = max(ends[0], value - linear + spread + bend)
        ends[1] = max(ends[1], value + linear + spread + bend)
        ends[2] = max(ends[2], value)


@kernel
def _turns(tree: Tree, k: int) -> bool:
    turns: bool = tree.subspace[k, 3] != 0.0 or tree.subspace[k, 4] != 0.0 or tree.subspace[k, 5] != 0.0
    return turns


_PER = {"position": "", "velocity": "/s", "acceleration": "/s²"}


@dataclass(frozen=True)
class Limit:
    """One limit.

    Attributes:
        kind: position, velocity, acceleration, torque or clearance.
        name: of the joint or the pair.
        unit: of its margin.
        column: where it stands among those of its kind.
    """

    kind: str
    name: str
    unit: str
    column: int


@dataclass(frozen=True, eq=False)
class StretchMargins:
    """The limits of a robot, ready to be proven.

    Attributes:
        limits: what a motion must respect.
        lower: smallest parameters, shape (p,), SI; empty where torques are not looked at.
        upper: largest parameters, shape (p,), SI.
    """

    limits: MotionLimits
    lower: Array
    upper: Array

    @cached_property
    def every(self) -> tuple[Limit, ...]:
        """Every limit that is stated, in the order of the results' columns."""
        b, robot = self.limits.bounds, self.limits.robot
        found = []
        units = [joint.position_unit for joint in robot.untied.joints for _ in range(joint.nv)]
        for kind, limited in (
            ("position", np.isfinite(b.lower) | np.isfinite(b.upper)),
            ("velocity", np.isfinite(b.velocity)),
            ("acceleration", np.isfinite(b.acceleration)),
        ):
            found += [
                Limit(kind, b.joints[k], units[k] + _PER[kind], k) for k in np.flatnonzero(limited).tolist()
            ]
        if self.limits.layout is not None:
            driven = [joint for joint in robot.joints if joint.mimic is None for _ in range(joint.nv)]
            for k in np.flatnonzero(np.isfinite(b.effort)).tolist():
                found.append(Limit("torque", driven[k].name, driven[k].effort_unit, k))
        if self.limits.clearance is not None:
            found += [Limit("clearance", name, "m", k) for k, name in enumerate(self.limits.clearance.names)]
        return tuple(found)

    def proven(self, motion: MotionForms, wanted: BoolArray) -> tuple[Array, Array]:
        """Bound the margins from below over stretches.

        Args:
            motion: positions, velocities and accelerations, each shape (K, nv), SI.
            wanted: which limits to look at, shape (K, M), dimensionless.

        Returns:
            What is left of every limit at least, shape (K, M), SI, rounded down, and what is left about the
            middle of each stretch, shape (K, M), SI; infinite where not wanted.
        """
        b = self.limits.bounds
        untied = untied_motion(self.limits.robot, motion)
        least, seen = np.full(wanted.shape, np.inf), np.full(wanted.shape, np.inf)
        for kind, forms, low, high in (
            ("position", untied.q, b.lower, b.upper),
            ("velocity", untied.v, -b.velocity, b.velocity),
            ("acceleration", untied.a, -b.acceleration, b.acceleration),
        ):
            at, columns = self._columns(kind)
            least[:, at], seen[:, at] = (x[:, columns] for x in _within(forms, low, high))
        at, columns = self._columns("torque")
        rows = np.flatnonzero(wanted[:, at].any(axis=1))
        if rows.size:
            for out, x in zip((least, seen), self._torques(_rows(motion, rows)), strict=True):
                out[rows, at] = x[:, columns]
        at, _ = self._columns("clearance")
        rows = np.flatnonzero(wanted[:, at].any(axis=1))
        if rows.size:
            for out, x in zip((least, seen), self._gaps(_rows(motion, rows), wanted[rows, at]), strict=True):
                out[rows, at] = x
        return np.where(wanted, least, np.inf), np.where(wanted, seen, np.inf)

    def _columns(self, kind: str) -> tuple[slice, list[int]]:
        """Where the limits of a kind stand among all, and which of their kind they are."""
        at = [k for k, limit in enumerate(self.every) if limit.kind == kind]
        return slice(at[0], at[-1] + 1) if at else slice(0, 0), [self.every[k].column for k in at]

    def _torques(self, motion: MotionForms) -> tuple[Array, Array]:
        layout, effort = self.limits.layout, self.limits.bounds.effort
        assert layout is not None  # without it no torque is limited
        tau = enclosed_torque(self.limits.robot, layout, self.lower, self.upper, motion)
        return _within(tau, -effort, effort)

    def _gaps(self, motion: MotionForms, wanted: BoolArray) -> tuple[Array, Array]:
        assert self.limits.clearance is not None  # without it no pair is kept apart
        least, seen = proven_gaps(self.limits.clearance, motion.q, wanted)
        return np.nextafter(least - self.limits.distance, -np.inf), seen - self.limits.distance


def _within(x: Forms, low: Array, high: Array) -> tuple[Array, Array]:
    """What is left to both sides at least, and at the centre, each (K, n)."""
    least = np.nextafter(np.minimum(x.lower - low, high - x.upper), -np.inf)
    return least, np.minimum(x.centre - low, high - x.centre)


def _rows(motion: MotionForms, rows: IntArray) -> MotionForms:
    return MotionForms(
        *(Forms(x.centre[rows], x.generators[rows], x.radius[rows]) for x in (motion.q, motion.v, motion.a))
    )
