r"""Structural identifiability: what the torques of any motion could ever say about each parameter.

The conditions of the blocks, each a few rows about its own bodies, make up one matrix for the robot. A change
of a body reaches the torques as if it were made to the bodies that carry it, so its columns in the rows of
every carrier follow by moving parameters towards the base (Wensing et al. 2024, Appendix G, with its
erratum):

$$N_{ii} = N_i, \qquad N_{ij} = N_{i,p(j)}\,B_j, \qquad \mathrm{Null}(N) = \text{what no torque can show}.$$
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, IntArray, read_only
from steelyard.budget import NUMBER, require_memory
from steelyard.compiled import interpreted_while_cheap, kernel
from steelyard.dynamics import torque_regressor
from steelyard.identifiable.base_parameters import (
    CLASSES,
    TIE_BREAK,
    BaseParameters,
    classify,
    echelon_form,
    row_space,
)
from steelyard.identifiable.mechanism import (
    Block,
    Mechanism,
    blocks_of,
    check_question,
    coupled_joints,
    flat_blocks,
    friction_groupings,
    longest_offset,
    mechanism_of,
)
from steelyard.identifiable.nullspace import (
    Spans,
    absorb,
    empty_spans,
    find_spans,
    move_coefficients,
)
from steelyard.identifiable.random_states import random_states
from steelyard.layout import Class, Layout
from steelyard.robot import JointKind, Robot

SURE = 1e-5
"""From here on, and below `DOUBTFUL`, lengths decide rank without a doubt."""
DOUBTFUL = 1e-10


@dataclass(frozen=True, eq=False)
class BodyKnowledge:
    """What can be known of one body.

    Attributes:
        link: its name.
        dim_velocity: dimension of the velocities it can have; gravity counts as one where it acts.
        dim_identifiable: dimension of the coefficients of its parameters that its energy can show.
        dim_transfer: dimension of the unseen changes shared with the body that carries it; of the whole block
            where several bodies move together, named at its first.
        classes: class of each parameter of the link and of its joint's drive, by name.

    The three dimensions are those of the recursion, None where the robot was asked as a whole.
    """

    link: str
    dim_velocity: int | None
    dim_identifiable: int | None
    dim_transfer: int | None
    classes: Mapping[str, Class]


@dataclass(frozen=True, eq=False)
class Conditions:
    """What a block of bodies that move together must fulfil for a change to go unseen.

    Attributes:
        columns: the parameters concerned, indices in phi, shape (w,), dimensionless.
        rows: N_i with orthonormal rows in scaled parameters, in SI, shape (rank, w), SI.
    """

    columns: IntArray
    rows: Array


def classes_in_layout(bodies: Sequence[BodyKnowledge], layout: Layout) -> tuple[Class, ...]:
    """The class of every parameter.

    Args:
        bodies: what can be known of each body.
        layout: the parameters asked about.

    Returns:
        The classes, in the order of the layout.
    """
    by_name = {name: kind for body in bodies for name, kind in body.classes.items()}
    return tuple(by_name[name] for name in layout.names)


@dataclass(frozen=True, eq=False)
class Identifiability:
    """What can be known of a robot's parameters from its torques.

    Attributes:
        robot: name of the robot.
        layout: the parameters asked about.
        static: whether only poses at rest were considered.
        bodies: what can be known of each body, in the order of the links.
        conditions: by block, parents before children; one of all bodies where joints are coupled.
        carriers: index of the body that carries each body, -1 for the base and where conditions are of all
            bodies, shape (nb,), dimensionless.
        moves: B, parameters of each body in its carrier's frame, shape (nb, 10, 10), SI.
        scales: factors that make the parameters comparable, lengths over the robot's, shape (p,), SI.
        joint_bodies: index of the body each driven joint moves, in the order of the layout's joints.
        kept: smallest length that counted as a direction, dimensionless.
        dropped: largest length that did not, dimensionless.
        coupled: joints that follow one on another link; where there are any, no recursion is known, and the
            lengths are singular values of the torques of random states.
    """

    robot: str
    layout: Layout
    static: bool
    bodies: tuple[BodyKnowledge, ...]
    conditions: tuple[Conditions, ...]
    carriers: IntArray
    moves: Array
    scales: Array
    joint_bodies: tuple[int, ...]
    kept: float
    dropped: float
    coupled: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of identifiable combinations."""
        return sum(len(block.rows) for block in self.conditions)

    @property
    def doubtful(self) -> bool:
        """Whether a length that decided about rank is neither clearly there nor clearly round-off."""
        return self.kept < SURE or self.dropped > DOUBTFUL

    @cached_property
    def classes(self) -> tuple[Class, ...]:
        """The class of every parameter, in the order of the layout."""
        return classes_in_layout(self.bodies, self.layout)

    @cached_property
    def pivots(self) -> IntArray:
        """Indices of the base parameters in phi, in the order of the tie-break, shape (b,), dimensionless."""
        base = (Class.ALONE, Class.BASE)
        chosen = [k for block in self.conditions for k in tie_break(self.layout, block.columns)]
        return read_only(np.array([k for k in chosen if self.classes[k] in base], dtype=np.int64))

    @cached_property
    def descriptor(self) -> Array:
        r"""N, whose rows span the identifiable combinations: $N\,\delta\phi = 0$ is unseen, (b, p), SI."""
        p = self.layout.size
        require_memory(
            4 * NUMBER * p * p,
            f"the combinations of {p} parameters",
            place=f"robot of {len(self.moves)} moving links",
            remedy="Lock joints that need not move.",
        )
        N = np.zeros((self.count, p))
        at = 0
        for block in self.conditions:
            N[at : at + len(block.rows), block.columns] = block.rows
            at += len(block.rows)
        for j, carrier in enumerate(self.carriers):
            if carrier >= 0:
                mine, its = slice(10 * j, 10 * j + 10), slice(10 * carrier, 10 * carrier + 10)
                own = N[:, mine].any(axis=1)
                N[~own, mine] = N[~own, its] @ self.moves[j]
        return read_only(N)

    @cached_property
    def base(self) -> BaseParameters:
        r"""The identifiable combinations $\beta = K\phi$ in reduced row echelon form."""
        return echelon_form(self.descriptor, self.scales, [int(k) for k in self.pivots], self.layout.names)

    @cached_property
    def nullspace(self) -> Array:
        """Basis of the changes no torque shows, one per column, (p, p - b), SI; each of one block alone."""
        columns = []
        for block in self.conditions:
            R = _null(block.rows, self.scales[block.columns])
            change = np.zeros((self.layout.size, R.shape[1]))
            change[block.columns] = R
            for j in (int(k) // 10 for k in block.columns if k < 10 * len(self.moves) and k % 10 == 0):
                carrier = self.carriers[j]
                if carrier >= 0:
                    change[10 * carrier : 10 * carrier + 10] -= self.moves[j] @ change[10 * j : 10 * j + 10]
            columns.append(change)
        return read_only(np.hstack(columns))


def tie_break(layout: Layout, columns: IntArray) -> list[int]:
    """The columns of a block in the order of preference among its parameters.

    Args:
        layout: the order of the parameters.
        columns: indices in phi, the ten of a body together, shape (w,), dimensionless.

    Returns:
        The same indices, those of each body reordered.
    """
    links = 10 * len(layout.links)
    ordered: list[int] = []
    for k in (int(k) for k in columns):
        if k >= links:
            ordered.append(k)
        elif k % 10 == 0:
            ordered += [k + place for place in TIE_BREAK]
    return ordered


def _null(rows: Array, scales: Array) -> Array:
    """Basis of what the rows annihilate, shape (w, w - rank), found in scaled parameters."""
    _, _, Vt = np.linalg.svd(rows / scales)
    return np.asarray(Vt[len(rows) :].T / scales[:, None])


# From a robot and the parameters asked about to what can be known of them, in floating point.
#
# Where joints follow one on another link, as the tips of many grippers do, no recursion is known: what the
# torques of random states tell stands in for it. That is as sure as the gap between the singular values that
# count and those that do not, which the answer states.


def structural_identifiability(
    robot: Robot, layout: Layout, *, static: bool = False, rng: np.random.Generator | None = None
) -> Identifiability:
    """Find what the torques of any motion, or of any pose at rest, could say about the parameters.

    Args:
        robot: the robot.
        layout: the parameters asked about. Those it fixes are asked about too; see `restricted`.
        static: whether the robot is only ever measured at rest.
        rng: source of the random states, asked for where joints follow one on another link; None for the
            same ones each time.

    Returns:
        The answer; `coupled` names the joints for which it is that of random states.

    Raises:
        InputError: the layout is another robot's, or has friction that grows with the load.
        NoSolutionError: joints follow one on another link, and the rank of the torques is ambiguous.
    """
    check_question(robot, layout)
    if coupled := coupled_joints(robot):
        return _at_random_states(robot, layout, static, tuple(coupled), rng or np.random.default_rng(0))
    mechanism = mechanism_of(robot)
    blocks = flat_blocks(mechanism)
    starts, bodies, parents, dofs = blocks
    armatures, offsets = "rotor" in layout.drive, "offset" in layout.drive
    sizes = np.diff(starts)
    widths = 10 * sizes + sizes * (dofs == 1) * (int(armatures) + int(offsets))
    found = empty_spans(len(mechanism.names), len(parents), int(widths.max()))
    geometry = mechanism.rotations, mechanism.offsets
    moves = mechanism.twists, mechanism.ratios
    find_spans(*blocks, *geometry, *moves, mechanism.gravity, armatures, offsets, static, found)
    codes = np.zeros((len(parents), int(widths.max())), dtype=np.int64)
    order = np.array(TIE_BREAK, dtype=np.int64)
    classify(starts, bodies, parents, widths, order, *geometry, found, codes)
    columns = _Columns(robot, layout, mechanism.length, static)
    conditions, classes, scales = [], [], np.ones(layout.size)
    for c, block in enumerate(mechanism.blocks):
        mine, scale = columns.of_block(block)
        scales[mine] = scale
        rows = found.N[c, : found.rank[c], : widths[c]] * scale
        friction, friction_classes = columns.friction(block)
        kinds = (CLASSES[code] for code in codes[c, : len(mine)].tolist())
        classes.append(dict(zip(mine, kinds, strict=True)) | friction_classes)
        conditions.append(_joined(mine, rows, friction))
    return Identifiability(
        robot.name,
        layout,
        static,
        _bodies(mechanism, columns, found, widths, classes),
        tuple(conditions),
        read_only(np.array([joint.parent for joint in robot.joints], dtype=np.int64)),
        read_only(body_moves(mechanism.rotations, mechanism.offsets * mechanism.length)),
        read_only(np.abs(scales)),
        tuple(i for i, joint in enumerate(robot.joints) if joint.kind.nv == 1),
        kept=float(found.gap[0]),
        dropped=float(found.gap[1]),
    )


def _at_random_states(
    robot: Robot, layout: Layout, static: bool, coupled: tuple[str, ...], rng: np.random.Generator
) -> Identifiability:
    """What the torques of random states, enough for every combination to show, say about the parameters.

    Friction is known apart from the rest by its law, as in the recursion.
    """
    columns = _Columns(robot, layout, longest_offset(robot), static)
    inertial: list[int] = []
    friction: list[tuple[list[int], Array]] = []
    classes: dict[int, Class] = {}
    scales, every = np.ones(layout.size), []
    for block in blocks_of(robot):
        mine, scale = columns.of_block(block)
        scales[mine] = np.abs(scale)
        terms, kinds = columns.friction(block)
        inertial, friction, classes = inertial + mine, friction + terms, classes | kinds
        every += [*mine, *(k for its, _ in terms for k in its)]
    q, v, a = random_states(robot, 4 * layout.size // robot.nv + 20, rng)
    if static:
        v, a = np.zeros_like(v), np.zeros_like(a)
    W = torque_regressor(robot, layout, q, v, a).reshape(-1, layout.size)[:, inertial]
    order = [inertial.index(k) for k in tie_break(layout, np.array(inertial))]
    found = row_space(W, order)
    classes |= dict(zip(inertial, found.classes, strict=True))
    # An orthonormal basis in scaled parameters, as the recursion gives.
    basis = np.linalg.qr((found.rows / scales[inertial]).T)[0].T * scales[inertial]
    rows = np.zeros((len(basis) + sum(len(more) for _, more in friction), layout.size))
    rows[: len(basis), inertial] = basis
    at = len(basis)
    for mine, more in friction:
        rows[at : at + len(more), mine] = more
        at += len(more)
    chosen = np.array(every, dtype=np.int64)
    joints, bodies = robot.joints, []
    for i, link in enumerate(layout.links):
        of_link = [10 * i + k for k in range(10)]
        if joints[i].kind.nv == 1:
            of_link += range(columns.first[i], columns.first[i] + len(layout.drive))
        kinds_by_name = {layout.names[k]: classes[k] for k in of_link}
        bodies.append(BodyKnowledge(link, None, None, None, kinds_by_name))
    return Identifiability(
        robot.name,
        layout,
        static,
        tuple(bodies),
        (Conditions(read_only(chosen), read_only(rows[:, chosen])),),
        read_only(np.full(len(joints), -1, dtype=np.int64)),
        read_only(np.tile(np.eye(10), (len(joints), 1, 1))),
        read_only(scales),
        tuple(i for i, joint in enumerate(joints) if joint.kind.nv == 1),
        kept=found.kept,
        dropped=found.dropped,
        coupled=coupled,
    )


class _Columns:
    """Where a block's parameters stand in phi, and how they are scaled inside the algorithm."""

    def __init__(self, robot: Robot, layout: Layout, length: float, static: bool) -> None:
        self.layout, self.static = layout, static
        ties = [joint.mimic for joint in robot.joints]
        self.multipliers = [Fraction(1) if tie is None else Fraction(tie.multiplier) for tie in ties]
        L, g = length, float(np.linalg.norm(robot.gravity)) or 1.0
        self.link_scale = np.array([1.0, *[1 / L] * 3, *[1 / L**2] * 6])
        slides = [joint.kind is JointKind.PRISMATIC for joint in robot.joints]
        self.scale = {
            "rotor": [1.0 if slide else 1.0 / L**2 for slide in slides],
            "offset": [-1.0 / (g if slide else g * L) for slide in slides],
        }
        driven = np.cumsum([joint.kind.nv == 1 for joint in robot.joints]) - 1
        self.first = [int(k) for k in 10 * len(layout.links) + len(layout.drive) * driven]

    def of_block(self, block: Block) -> tuple[list[int], Array]:
        """Indices in phi of links, armatures and offsets, and the factors from SI to scaled parameters."""
        mine = [10 * i + k for i in block.bodies for k in range(10)]
        scale = [self.link_scale] * len(block.bodies)
        for term in ("rotor", "offset") if block.dofs == 1 else ():
            if term in self.layout.drive:
                mine += [self.drive_column(i, term) for i in block.bodies]
                scale.append(np.array([self.scale[term][i] for i in block.bodies]))
        return mine, np.concatenate(scale)

    def drive_column(self, joint: int, term: str) -> int:
        return self.first[joint] + self.layout.drive.index(term)

    def friction(self, block: Block) -> tuple[list[tuple[list[int], Array]], dict[int, Class]]:
        """Rows of the friction terms, which no other term resembles, and the classes of their columns."""
        rows: list[tuple[list[int], Array]] = []
        classes: dict[int, Class] = {}
        if block.dofs != 1:
            return rows, classes
        for head, row in friction_groupings(self.layout, block, self.multipliers, self.first).items():
            mine, factors = list(row), np.array([float(factor) for factor in row.values()])
            if self.static:
                # No condition, but the columns stay: what nothing shows is part of the nullspace.
                rows.append((mine, np.zeros((0, len(mine)))))
                classes |= dict.fromkeys(mine, Class.UNIDENTIFIABLE)
                continue
            rows.append((mine, factors[None] / np.linalg.norm(factors)))
            classes |= dict.fromkeys(mine, Class.GROUPED)
            classes[head] = Class.ALONE if len(mine) == 1 else Class.BASE
        return rows, classes


def _joined(columns: list[int], rows: Array, friction: list[tuple[list[int], Array]]) -> Conditions:
    """The conditions of a block's bodies and of its friction terms in one matrix."""
    every = [*columns, *(k for mine, _ in friction for k in mine)]
    joined = np.zeros((len(rows) + sum(len(more) for _, more in friction), len(every)))
    joined[: len(rows), : len(columns)] = rows
    r, at = len(rows), len(columns)
    for mine, more in friction:
        joined[r : r + len(more), at : at + len(mine)] = more
        r, at = r + len(more), at + len(mine)
    return Conditions(read_only(np.array(every, dtype=np.int64)), read_only(joined))


def _bodies(
    mechanism: Mechanism, columns: _Columns, found: Spans, widths: IntArray, classes: list[dict[int, Class]]
) -> tuple[BodyKnowledge, ...]:
    dims = velocity_dimensions(found)
    bodies: dict[int, BodyKnowledge] = {}
    names, terms = columns.layout.names, len(columns.layout.drive)
    for c, block in enumerate(mechanism.blocks):
        for place, i in enumerate(block.bodies):
            mine = [10 * i + k for k in range(10)]
            if block.dofs == 1:
                mine += range(columns.first[i], columns.first[i] + terms)
            bodies[i] = BodyKnowledge(
                mechanism.names[i],
                int(dims[i]),
                int(found.dim_K[i]),
                int(widths[c] - found.rank[c]) if place == 0 else 0,
                {names[k]: classes[c][k] for k in mine},
            )
    return tuple(bodies[i] for i in range(len(mechanism.names)))


@interpreted_while_cheap(lambda found: 1e-3 * len(found.V))
@kernel
def velocity_dimensions(found: Spans) -> IntArray:
    """Dimension of each body's velocities and gravity together, shape (nb,), dimensionless."""
    dims = found.dim_V.copy()
    gap = np.array([np.inf, 0.0])
    for i in range(dims.size):
        V = found.V[i].copy()
        for r in range(found.dim_G[i]):
            dims[i] = absorb(V, dims[i], found.G[i, r].copy(), gap)
        dims[i] = absorb(V, dims[i], found.fall[i].copy(), gap)
    return dims


@interpreted_while_cheap(lambda R, _: 1e-3 * len(R))
@kernel
def body_moves(R: Array, p: Array) -> Array:
    """B of every body: its ten parameters in its carrier's frame, shape (nb, 10, 10), SI."""
    B = np.empty((R.shape[0], 10, 10))
    unit = np.empty(10)
    for i in range(R.shape[0]):
        for k in range(10):
            unit[:] = 0.0
            unit[k] = 1.0
            move_coefficients(R, p, i, unit, B[i, k], 0)
    return B
