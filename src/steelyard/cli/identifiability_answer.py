"""The answers of the different arithmetics in one form, for `steelyard identifiability`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steelyard.errors import InputError, NoSolutionError
from steelyard.identifiability import (
    BaseParameters,
    Class,
    ExactIdentifiability,
    Identifiability,
    RestrictedIdentifiability,
    exact_identifiability,
    partial_identifiability,
    proven_rest,
    restricted,
    structural_identifiability,
    symbolic_identifiability,
)
from steelyard.layout import Layout
from steelyard.reduction import Reduction
from steelyard.robot import Robot, rotor_name


@dataclass(frozen=True)
class Answer:
    """What is printed.

    Attributes:
        names: names of the parameters asked about.
        classes: class of each.
        count: number of identifiable combinations; None where the rank is ambiguous.
        bodies: per link, its dimensions and the classes of its parameters.
        groupings: per identifiable combination, its terms.
        exact: whether the count is a proof.
        kept: smallest size that counted, dimensionless; infinite in exact arithmetic.
        dropped: largest size that did not, dimensionless.
        doubtful: whether one of the two is too close to call.
        notes: what else should be said.
    """

    names: tuple[str, ...]
    classes: tuple[Class, ...]
    count: int | None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    groupings: list[dict[str, Any]] = field(default_factory=list)
    exact: bool = False
    kept: float = float("inf")
    dropped: float = 0.0
    doubtful: bool = False
    notes: list[str] = field(default_factory=list)


def floating_answer(
    robot: Robot,
    layout: Layout,
    plain: Identifiability,
    static: bool,
    reduction: Reduction | None,
    *,
    forgiving: bool = False,
) -> Answer:
    """By floating point; an ambiguous rank is an answer without a count when that is forgiven."""
    structure = structural_identifiability(robot, layout, static=static)
    try:
        found = restricted(structure, reduction) if reduction or not layout.free.all() else structure
    except NoSolutionError:
        if not forgiving:
            raise
        return Answer(layout.names, structure.classes, None, doubtful=True)
    names = found.names if isinstance(found, RestrictedIdentifiability) else layout.names
    return Answer(
        names,
        found.classes,
        found.count,
        body_documents(structure, plain, names, found.classes),
        [] if forgiving else groupings(found.base, names),
        kept=min(structure.kept, found.kept),
        dropped=max(structure.dropped, found.dropped),
        doubtful=structure.doubtful,
        notes=coupling_notes(structure),
    )


def proven_answer(
    robot: Robot,
    layout: Layout,
    plain: Identifiability,
    static: bool,
    reduction: Reduction | None,
    *,
    symbolic: bool,
) -> Answer:
    """In exact arithmetic; with formulas in the lengths where asked for."""
    if reduction is not None:
        raise InputError(
            "goes in floating point only: frames of a reduction are no rational numbers.",
            place="--reduce",
            remedy="Leave out --exact and --symbolic.",
        )
    structure = structural_identifiability(robot, layout, static=static)
    if symbolic:
        if not layout.free.all():
            raise InputError(
                "goes with armatures only.", place="--symbolic", remedy="Write --rotors armature."
            )
        formulas = symbolic_identifiability(robot, layout, static=static)
        rows = [(head, {name: str(x) for name, x in row.items()}) for head, row in formulas.groupings.items()]
        lengths = ", ".join(f"{name} = {float(x):g}" for name, x in formulas.symbols.items())
        notes = [f"True for all lengths but special ones. Here: {lengths}."] if lengths else []
        return _proven(structure, plain, layout.names, formulas.classes, rows, notes)
    exact = exact_identifiability(robot, layout, static=static)
    rest = exact if layout.free.all() else proven_rest(exact)
    names = layout.names if isinstance(rest, ExactIdentifiability) else rest.names
    numbers = [(head, {name: float(x) for name, x in row.items()}) for head, row in rest.groupings.items()]
    return _proven(structure, plain, names, rest.classes, numbers, [])


def _proven(
    structure: Identifiability,
    plain: Identifiability,
    names: Sequence[str],
    classes: Sequence[Class],
    rows: Sequence[tuple[str, Mapping[str, object]]],
    notes: list[str],
) -> Answer:
    return Answer(
        tuple(names),
        tuple(classes),
        len(rows),
        body_documents(structure, plain, names, classes),
        [{"leading": head, "terms": dict(row)} for head, row in rows],
        exact=True,
        notes=notes,
    )


def partial_answer(
    robot: Robot,
    layout: Layout,
    plain: Identifiability,
    measured: Sequence[str],
    static: bool,
    *,
    forgiving: bool = False,
) -> Answer:
    """When some torques are measured only; by the rank of their regressor over random states."""
    rng = np.random.default_rng(0)
    try:
        found = partial_identifiability(robot, layout, measured, rng=rng, static=static)
    except NoSolutionError:
        if not forgiving:
            raise
        return Answer((), (), None, doubtful=True)
    return Answer(
        found.names,
        found.classes,
        found.count,
        body_documents(found.structure, plain, found.names, found.classes),
        groupings(found.base, found.names),
        kept=found.kept,
        dropped=found.dropped,
        notes=[
            f"Measured: {', '.join(found.measured)}; all torques would tell {found.possible}.",
            *coupling_notes(found.structure),
        ],
    )


def coupling_notes(structure: Identifiability) -> list[str]:
    """That the recursion could not be used, where it could not."""
    if not structure.coupled:
        return []
    named = ", ".join(f"'{name}'" for name in structure.coupled[:3])
    more = f" and {len(structure.coupled) - 3} more" if len(structure.coupled) > 3 else ""
    return [
        f"Joints that follow one on another link ({named}{more}) have no recursion: the count is the rank of "
        "the torques at random states."
    ]


def body_documents(
    structure: Identifiability, plain: Identifiability, names: Sequence[str], classes: Sequence[Class]
) -> list[dict[str, Any]]:
    """Dimensions and classes by link; drive terms and rotors stand with the link that their joint moves.

    Dimensions are those of the links alone, without rotors.
    """
    layout = structure.layout
    owners = {link: link for link in layout.links}
    for joint, body in zip(layout.joints, structure.joint_bodies, strict=True):
        owners.setdefault(joint, layout.links[body])
    rotors = {rotor_name(joint): joint for joint in layout.joints}
    owners |= {rotor: owners[joint] for rotor, joint in rotors.items() if rotor in layout.links}
    by_link: dict[str, dict[str, str]] = {link: {} for link in layout.links if link not in rotors}
    for name, kind in zip(names, classes, strict=True):
        owner, _, term = name.rpartition(".")
        # A joint may be called like a link; its terms are told apart by their words.
        link = owner if owner in by_link and term.partition("@")[0] in _TEN else owners[owner]
        by_link[link][name] = kind.value
    return [
        {
            "link": body.link,
            "dim_velocity": body.dim_velocity,
            "dim_identifiable": body.dim_identifiable,
            "dim_transfer": body.dim_transfer,
            "classes": by_link[body.link],
        }
        for body in plain.bodies
    ]


_TEN = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def groupings(base: BaseParameters, names: Sequence[str]) -> list[dict[str, Any]]:
    """Each identifiable combination with its terms, the leading one first."""
    found = []
    for row, column in zip(base.matrix, base.columns, strict=True):
        others = [int(k) for k in np.flatnonzero(row) if k != column]
        terms = {names[k]: float(row[k]) for k in (int(column), *others)}
        found.append({"leading": names[int(column)], "terms": terms})
    return found
