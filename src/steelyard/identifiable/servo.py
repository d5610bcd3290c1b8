r"""What a log of commands and positions could ever say of position servos and of what they carry.

Where no limit holds, the log shows of every joint k the lead of its command over its position, and nothing
else:

$$e_k(q, v, a) = \frac{1}{k_{p,k}} \big((Y \phi)_k + I_a a + (F_v + k_d) v + F(v) \operatorname{sign} v\big)
  - q_o,$$

and where one holds, $(Y\phi + I_a a + F_v v + F \operatorname{sign} v)_k / \tau_{max,k} = \pm 1$. Two sets of
numbers cannot be told apart where all these agree in all states; whether that leaves a freedom is the rank of
their derivatives over random states.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array
from steelyard.drive import SERVO_TERMS
from steelyard.dynamics import torque_regressor
from steelyard.errors import InputError, UnknownNameError
from steelyard.identifiable.random_states import random_states
from steelyard.layout import Class, layout_of
from steelyard.robot import Robot

SERVO_QUESTION = ("stiffness", "damping", "armature", "viscous", "coulomb")
"""Terms that are asked about where nothing else is said."""

_RANK = 1e-9
_SHARE = 1e-6
_NAMES = tuple(term.name for term in SERVO_TERMS)


@dataclass(frozen=True, eq=False)
class ServoStructure:
    """What logs without torque can say, for any motion; by the rank of random states, so it is numerical.

    Attributes:
        names: of the numbers asked about, `<joint>.<term>`.
        classes: of each: `alone` is known by itself, `grouped` in a sum or a ratio, `unidentifiable` is not
            seen at all.
        sums: numbers of which the sum alone is known.
        scales: sets of joints that share one unknown scale of torque: all their torques, and the links that
            they carry, are known in ratio alone.
        kept: smallest singular value that counted, over the largest, dimensionless.
        dropped: largest that did not, dimensionless.
    """

    names: tuple[str, ...]
    classes: tuple[Class, ...]
    sums: tuple[tuple[str, ...], ...]
    scales: tuple[tuple[str, ...], ...]
    kept: float
    dropped: float

    def sentences(self) -> list[str]:
        """The answer in words.

        Returns:
            What is known by itself, in sums, in ratio, and not at all, each where there is any.
        """
        of = {
            kind: [name for name, one in zip(self.names, self.classes, strict=True) if one is kind]
            for kind in Class
        }
        said = []
        if of[Class.ALONE]:
            said.append(f"Known by themselves: {', '.join(of[Class.ALONE])}.")
        said += [f"Known by their sum alone: {' and '.join(group)}." for group in self.sums]
        for joints in self.scales:
            subject = f"joint {joints[0]}" if len(joints) == 1 else f"joints {', '.join(joints)}"
            said.append(
                f"The scale of torque of {subject} is not seen: gains, friction and inertias are known in "
                "ratio. A known gain, moment of gravity or load fixes it."
            )
        told = {name for group in self.sums for name in group}
        tied = {joint for joints in self.scales for joint in joints}
        shared = [x for x in of[Class.GROUPED] if x not in told and x.rpartition(".")[0] not in tied]
        if shared:
            said.append(f"Known together with numbers of links alone: {', '.join(shared)}.")
        if of[Class.UNIDENTIFIABLE]:
            said.append(f"Not seen at all: {', '.join(of[Class.UNIDENTIFIABLE])}.")
        return said


def servo_structure(
    robot: Robot,
    terms: Sequence[str] = SERVO_QUESTION,
    *,
    known: Collection[str] = (),
    links_known: bool = True,
    saturates: Collection[str] = (),
    rng: np.random.Generator,
) -> ServoStructure:
    """Say what logs of commands and positions can show.

    Args:
        robot: the robot.
        terms: terms that every joint has, names of `drive.SERVO_TERMS`; what is not among them is zero, but
            for stiffness and limit, which are known then. The delay, whose effect in
            time nothing else has, is always known where commands move, and is not asked.
        known: names of numbers that are known, `<joint>.<term>` or `<link>.<inertial name>`.
        links_known: whether the numbers of all links are those of the description.
        saturates: joints that drive at their limit in some of the log.
        rng: source of the states, and of links where they are not known.

    Raises:
        UnknownNameError: a term, joint or number does not exist.
        InputError: a joint does not have one degree of freedom.
    """
    layout, n = layout_of(robot), robot.nv
    joints = robot.joint_names
    if len(joints) != n:
        raise InputError("a joint does not have one degree of freedom of its own.", place="robot")
    for term in terms:
        if term not in _NAMES:
            raise UnknownNameError("servo term", term, _NAMES)
    for joint in saturates:
        if joint not in joints:
            raise UnknownNameError("joint", joint, joints)
    asked = [(k, term) for k in range(n) for term in terms if term != "delay"]
    names = [f"{joints[k]}.{term}" for k, term in asked]
    every = {f"{joint}.{term}" for joint in joints for term in _NAMES} | set(layout.names)
    for name in known:
        if name not in every:
            raise UnknownNameError("number", name, sorted(every))
    free = [(pair, name) for pair, name in zip(asked, names, strict=True) if name not in known]
    p = layout.size
    link_free = [] if links_known else [c for c in range(p) if layout.names[c] not in known]
    J = _derivatives(robot, terms, [pair for pair, _ in free], link_free, saturates, rng)
    scale = np.linalg.norm(J, axis=0)
    unseen = scale <= _RANK * max(float(scale.max(initial=0.0)), 1e-300)
    _, s, Vt = np.linalg.svd(J[:, ~unseen] / scale[~unseen], full_matrices=True)
    share = s / max(float(s[0]), 1e-300) if s.size else s
    rank = int(np.sum(share > _RANK))
    N = np.zeros((len(scale), Vt.shape[1] - rank))
    N[~unseen] = Vt[rank:].T / scale[~unseen, None]
    # What concerns the links alone is the old question, and has its own answer.
    count = len(free)
    U, size, _ = np.linalg.svd(N[:count], full_matrices=False)
    own = U[:, size > _SHARE * max(float(size.max(initial=0.0)), 1e-300)] if size.size else U
    classes = []
    at = {name: place for place, (_, name) in enumerate(free)}
    for name in names:
        if name not in at:
            classes.append(Class.ALONE)
        elif unseen[at[name]]:
            classes.append(Class.UNIDENTIFIABLE)
        else:
            moves = np.linalg.norm(own[at[name]]) if own.size else 0.0
            classes.append(Class.GROUPED if moves > _SHARE else Class.ALONE)
    grouped = {name for name, kind in zip(names, classes, strict=True) if kind is Class.GROUPED}
    sums = []
    for joint in joints:
        pair = (f"{joint}.damping", f"{joint}.viscous")
        if joint not in saturates and all(name in grouped for name in pair):
            sums.append(pair)
    gains = [at[f"{joint}.stiffness"] for joint in joints if f"{joint}.stiffness" in grouped]
    named = [joint for joint in joints if f"{joint}.stiffness" in grouped]
    kept = float(share[rank - 1]) if rank else 0.0
    dropped = float(share[rank]) if rank < len(share) else 0.0
    return ServoStructure(tuple(names), tuple(classes), tuple(sums), _tied(own[gains], named), kept, dropped)


def _derivatives(
    robot: Robot,
    terms: Collection[str],
    free: Sequence[tuple[int, str]],
    link_free: Sequence[int],
    saturates: Collection[str],
    rng: np.random.Generator,
) -> Array:
    """Derivatives of all leads in the logarithms of servo numbers, and in links, at generic numbers."""
    layout, n = layout_of(robot), robot.nv
    phi = layout.complete_nominal()
    if link_free:
        # Generic links: those of the description might be special.
        size = np.abs(phi).reshape(-1, 10).max(axis=0)
        change = rng.normal(size=phi.shape) * np.tile(size, len(phi) // 10)
        phi[link_free] += 0.3 * change[link_free]
    samples = 4 * (len(free) + len(link_free)) // n + 20
    q, v, a = random_states(robot, samples, rng)
    Y = torque_regressor(robot, layout, q, v, a)
    y = np.einsum("skp,p->sk", Y.reshape(samples, n, -1), phi)
    size = float(np.sqrt(np.mean(y**2))) or 1.0
    value = {term: rng.uniform(0.5, 1.5, n) * size for term in _NAMES}
    for term in _NAMES:
        # What is not asked about is not there; one that acted would be known, and fix the scale.
        if term not in terms and term not in ("stiffness", "limit", "stribeck_velocity"):
            value[term][:] = 0.0
    sign = np.sign(v)
    fade = np.exp(-np.abs(v) / value["stribeck_velocity"] * size)
    common = y + value["armature"] * a + value["viscous"] * v
    common += (value["coulomb"] + value["stribeck"] * fade) * sign
    parts = {
        "armature": value["armature"] * a,
        "viscous": value["viscous"] * v,
        "coulomb": value["coulomb"] * sign,
        "stribeck": value["stribeck"] * fade * sign,
        "stribeck_velocity": value["stribeck"] * fade * sign * np.abs(v) / value["stribeck_velocity"] * size,
    }
    lead = common + value["damping"] * v
    follows = {**parts, "stiffness": -lead, "damping": value["damping"] * v}
    follows["offset"] = -value["stiffness"] * np.ones_like(v)
    held = {**parts, "limit": -common}
    blocks = []
    for answer, gain, rows in (
        (follows, value["stiffness"], range(n)),
        (held, value["limit"], [robot.joint_names.index(joint) for joint in saturates]),
    ):
        for k in rows:
            block = np.zeros((samples, len(free) + len(link_free)))
            for column, (joint, term) in enumerate(free):
                if joint == k and term in answer:
                    block[:, column] = answer[term][:, k] / gain[k]
            block[:, len(free) :] = Y.reshape(samples, n, -1)[:, k, link_free] / gain[k]
            blocks.append(block)
    return np.concatenate(blocks)


def _tied(own: Array, joints: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Joints whose gains can only move together: rows that are proportional."""
    groups: list[list[int]] = []
    for k in range(len(joints)):
        for group in groups:
            x, y = own[group[0]], own[k]
            if abs(abs(float(x @ y)) - float(np.linalg.norm(x) * np.linalg.norm(y))) <= _SHARE * float(
                np.linalg.norm(x) * np.linalg.norm(y)
            ):
                group.append(k)
                break
        else:
            groups.append([k])
    return tuple(tuple(joints[k] for k in group) for group in groups)
