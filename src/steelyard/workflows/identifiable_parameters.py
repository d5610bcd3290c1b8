"""Which parameters of a robot its torques can ever tell: alone, in groups, or not at all."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steelyard.drive import ALL_TERMS
from steelyard.errors import InputError, NoSolutionError, UnknownNameError
from steelyard.identifiable import (
    BaseParameters,
    Class,
    ExactIdentifiability,
    Identifiability,
    RestrictedIdentifiability,
    exact_identifiability,
    partial_identifiability,
    restricted,
    structural_identifiability,
    symbolic_identifiability,
)
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import Layout, layout_of
from steelyard.link_frames import modified_dh_frames, urdf_frames
from steelyard.reduction import Reduction, symmetric_links
from steelyard.robot import Robot, Rotor
from steelyard.workflows.given import given_robot
from steelyard.workflows.identifiability import ROTORS
from steelyard.workflows.options import (
    ArgumentsGiven,
    GravityGiven,
    LockGiven,
    PackagePathGiven,
    RobotGiven,
)

FRAMES = {"urdf": urdf_frames, "mdh": modified_dh_frames}
GENERIC_RATIO = 5.0
"""Gear ratio of a rotor whose own is not known: the count is the same for any but 0 and 1."""
ORDER = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Iyz", "Ixz", "Ixy")
"""Parameters of a link down a table."""
LONGEST = 12
"""Groupings with more terms than this are cut in the text; the document has them whole."""
LEGEND = {
    Class.ALONE: "known alone",
    Class.BASE: "leads a group",
    Class.GROUPED: "in a group",
    Class.UNIDENTIFIABLE: "cannot be known",
}
"""What the symbols of a table mean."""


@dataclass(frozen=True, eq=False, repr=False)
class IdentifiableParameters:
    """Which parameters of a robot can be known from its torques.

    Attributes:
        robot: the robot, with its rotors where they were asked about.
        parameters: names of the parameters that were asked about.
        classes: class of each.
        count: number of identifiable combinations; None where the rank is ambiguous.
        count_unsnapped: the same with rounded angles of the description as they are written.
        bodies: per link, its dimensions and the classes of its parameters.
        groupings: per identifiable combination, its leading parameter and its terms.
        exact: whether the count is a proof.
        kept: smallest size that counted, dimensionless; infinite in exact arithmetic.
        dropped: largest size that did not, dimensionless.
        doubtful: whether one of the two is too close to call.
        notes: what else should be said.
        frames: name of the frames in which products of inertia are zero; None where they are not.
        seconds: what it took.
    """

    robot: Robot
    parameters: tuple[str, ...]
    classes: tuple[Class, ...]
    count: int | None
    count_unsnapped: int | None = None
    bodies: tuple[Mapping[str, Any], ...] = ()
    groupings: tuple[Mapping[str, Any], ...] = ()
    exact: bool = False
    kept: float = float("inf")
    dropped: float = 0.0
    doubtful: bool = False
    notes: tuple[str, ...] = ()
    frames: str | None = None
    seconds: float = 0.0

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        return {
            "robot": self.robot.name,
            "nv": self.robot.nv,
            "parameters": len(self.parameters),
            "identifiable": self.count,
            "identifiable_unsnapped": self.count_unsnapped,
            "bodies": [dict(body) for body in self.bodies],
            "groupings": [dict(group) for group in self.groupings],
            "exact": self.exact,
            "gap": {"kept": self.kept, "dropped": self.dropped},
            "doubtful": self.doubtful,
            "frames": self.frames,
            "gravity": bool(np.any(self.robot.gravity)),
            "notes": list(self.notes),
        }

    @property
    def headline(self) -> str:
        """How many can be known, in a sentence that goes on from the robot's name."""
        count = "an unclear number" if self.count is None else self.count
        proven = " (proven in exact arithmetic)" if self.exact else ""
        asked = len(self.parameters)
        return f"{count} of {asked} parameters, or combinations of them, are identifiable{proven}."

    @property
    def unsnapped(self) -> str:
        """What rounded angles change, in a sentence; empty where they change nothing."""
        if self.count_unsnapped == self.count:
            return ""
        raw = "unclear" if self.count_unsnapped is None else self.count_unsnapped
        return (
            f"With its rounded angles as written it is {raw}: the count above is that of the mechanism that "
            "was meant."
        )

    @property
    def table(self) -> list[tuple[str, ...]]:
        """Rows of symbols: links across in the first, parameters down, dimensions at the end."""
        columns = [
            {_word(name): Class(kind) for name, kind in body["classes"].items()} for body in self.bodies
        ]
        words = dict.fromkeys(word for column in columns for word in column)
        rank = {word: k for k, word in enumerate(ORDER)}
        rows = [("", *(body["link"] for body in self.bodies))]
        for word in sorted(words, key=lambda word: rank.get(word.partition("@")[0], len(ORDER))):
            rows.append((word, *(column[word].symbol if word in column else "" for column in columns)))
        rows += [
            (title, *(str(body[key]) for body in self.bodies))
            for title, key in DIMENSIONS.items()
            if all(body.get(key) is not None for body in self.bodies)
        ]
        return rows

    @property
    def known_together(self) -> list[str]:
        """Groups of parameters of which only a combination can be known, as sums."""
        return [_sum(group["terms"]) for group in self.groupings if len(group["terms"]) > 1]

    def __repr__(self) -> str:
        return f"<IdentifiableParameters of {self.robot.name}: {self.count} of {len(self.parameters)}>"

    def __str__(self) -> str:
        rows = self.table
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = [f"{self.robot.name}: {self.headline}", *([self.unsnapped] if self.unsnapped else [])]
        lines += [
            "  ".join(
                [f"{row[0]:<{widths[0]}}", *(f"{x:^{w}}" for x, w in zip(row[1:], widths[1:], strict=True))]
            )
            for row in rows
        ]
        lines.append("  ".join(f"{kind.symbol} {LEGEND[kind]}" for kind in Class))
        if self.known_together:
            lines += ["Known only together:", *(f"  {line}" for line in self.known_together)]
        return "\n".join([*(line.rstrip() for line in lines), *self.notes])


DIMENSIONS = {"dim V": "dim_velocity", "dim K": "dim_identifiable", "dim T": "dim_transfer"}
"""Rows of a table below the parameters, and what bodies call them."""


def _word(name: str) -> str:
    """The term of a parameter; a rotor's spin inertia stands with the link that it drives."""
    owner, _, term = name.rpartition(".")
    return "rotor Im" if owner.endswith("/rotor") else term


def _sum(terms: Mapping[str, Any]) -> str:
    """The terms as a sum; coefficients are numbers or formulas."""
    parts = []
    for name, factor in list(terms.items())[:LONGEST]:
        if isinstance(factor, str):
            parts.append(f"+ {name}" if factor == "1" else f"+ ({factor}) {name}")
        else:
            size = "" if abs(abs(factor) - 1) < 1e-9 else f"{abs(factor):.4g} "
            parts.append(f"{'-' if factor < 0 else '+'} {size}{name}")
    more = f" + … ({len(terms) - LONGEST} more)" if len(terms) > LONGEST else ""
    return " ".join(parts).removeprefix("+ ") + more


def identifiable_parameters(
    robot: RobotGiven,
    *,
    floating: bool,
    drive: str | Sequence[str],
    rotors: str | None,
    measured: str | Sequence[str] | None,
    static: bool,
    reduce: str | None,
    frames: str,
    exact: bool,
    symbolic: bool,
    gravity: GravityGiven,
    lock: LockGiven,
    argument: ArgumentsGiven,
    package_path: PackagePathGiven,
) -> IdentifiableParameters:
    """Say which can be known, by the arguments of `identifiability`."""
    if exact and symbolic:
        raise InputError("goes without --symbolic, which is exact already.", place="--exact")
    if reduce not in (None, "products"):
        raise UnknownNameError("reduction", str(reduce), ["products"], place="--reduce")
    if frames not in FRAMES:
        raise UnknownNameError("kind of frames", frames, FRAMES, place="--frames")
    if rotors not in (None, *ROTORS):
        raise UnknownNameError("kind of rotors", str(rotors), ROTORS, place="--rotors")
    started = time.perf_counter()
    answers = []
    for snap in (True, False):
        described = given_robot(
            robot,
            gravity,
            lock,
            arguments=argument,
            snap=snap,
            floating=floating,
            package_path=package_path,
        )
        asked, layout = _question(described, _words(drive), rotors)
        plain = structural_identifiability(described, layout_of(described), static=static)
        reduction = symmetric_links(layout, FRAMES[frames](asked)) if reduce else None
        if measured is not None:
            _refuse_together("--measured", exact=exact, symbolic=symbolic, reduce=reduce)
            chosen = "base" if measured == "base" else _words(measured)
            answers.append(_partial(asked, layout, plain, chosen, static, forgiving=not snap))
        elif not snap:
            answers.append(_numeric(asked, layout, plain, static, reduction, forgiving=True))
        elif exact or symbolic:
            answers.append(_exact(asked, layout, plain, static, reduction, symbolic=symbolic))
        else:
            answers.append(_numeric(asked, layout, plain, static, reduction))
    return replace(
        answers[0],
        robot=asked,
        count_unsnapped=answers[1].count,
        notes=(*answers[0].notes, *_rotor_notes(asked)),
        frames=None if reduction is None else reduction.frames.name,
        seconds=time.perf_counter() - started,
    )


def _words(given: str | Sequence[str]) -> list[str]:
    """Names between commas, or in a list."""
    words = given.split(",") if isinstance(given, str) else given
    return [word.strip() for word in words if word.strip()]


def _question(robot: Robot, terms: list[str], rotors: str | None) -> tuple[Robot, Layout]:
    """The robot and the parameters that are asked about."""
    names = [term.name for term in ALL_TERMS]
    for term in terms:
        if term not in names:
            raise UnknownNameError("drive term", term, names, place="--drive")
    if rotors == "armature" and "rotor" not in terms:
        terms.append("rotor")
    if rotors != "gyroscopic":
        return robot, layout_of(robot, terms)
    if "rotor" in terms:
        raise InputError(
            "a rotor is either a body of its own or an armature.",
            place="--drive",
            remedy="Leave out 'rotor', or write --rotors armature.",
        )
    driven = [joint.name for joint in robot.joints if joint.nv == 1]
    geared = robot.with_rotors({name: Rotor(GENERIC_RATIO) for name in driven})
    layout = layout_of(geared, terms)
    friction = {f"{Rotor.name_at(name)}.{term}": 0.0 for name in driven for term in terms}
    return geared, layout.fixing(Rotor.spin_only(driven) | friction)


def _rotor_notes(robot: Robot) -> list[str]:
    if not any(link.endswith("/rotor") for link in robot.link_names):
        return []
    return [
        f"Gear ratios are taken as {GENERIC_RATIO:g} and rotors as parallel to their joints: the count is "
        "that of any ratio but 0 and 1, the coefficients of rotors are not."
    ]


def _refuse_together(option: str, **others: object) -> None:
    for name, value in others.items():
        if value:
            raise InputError(f"does not go with {option}.", place=f"--{name}")


def _numeric(
    robot: Robot,
    layout: Layout,
    plain: Identifiability,
    static: bool,
    reduction: Reduction | None,
    *,
    forgiving: bool = False,
) -> IdentifiableParameters:
    """By floating point; an ambiguous rank is an answer without a count when that is forgiven."""
    structure = structural_identifiability(robot, layout, static=static)
    try:
        found = restricted(structure, reduction) if reduction or not layout.free.all() else structure
    except NoSolutionError:
        if not forgiving:
            raise
        return IdentifiableParameters(robot, layout.names, structure.classes, None, doubtful=True)
    names = found.names if isinstance(found, RestrictedIdentifiability) else layout.names
    return IdentifiableParameters(
        robot,
        names,
        found.classes,
        found.count,
        bodies=_bodies(structure, plain, names, found.classes),
        groupings=() if forgiving else _groupings(found.base, names),
        kept=min(structure.kept, found.kept),
        dropped=max(structure.dropped, found.dropped),
        doubtful=structure.doubtful,
        notes=_coupling_notes(structure),
    )


def _exact(
    robot: Robot,
    layout: Layout,
    plain: Identifiability,
    static: bool,
    reduction: Reduction | None,
    *,
    symbolic: bool,
) -> IdentifiableParameters:
    """In exact arithmetic; with formulas in the lengths where asked for."""
    if reduction is not None:
        raise InputError(
            "goes in floating point only: frames of a reduction are no rational numbers.",
            place="--reduce",
            remedy="Leave out --exact and --symbolic.",
        )
    structure = structural_identifiability(robot, layout, static=static)
    names: Sequence[str] = layout.names
    classes: Sequence[Class]
    rows: list[tuple[str, Mapping[str, object]]]
    notes: tuple[str, ...] = ()
    if symbolic:
        if not layout.free.all():
            raise InputError(
                "goes with armatures only.", place="--symbolic", remedy="Write --rotors armature."
            )
        formulas = symbolic_identifiability(robot, layout, static=static)
        classes = formulas.classes
        rows = [(head, {name: str(x) for name, x in row.items()}) for head, row in formulas.groupings.items()]
        lengths = ", ".join(f"{name} = {float(x):g}" for name, x in formulas.symbols.items())
        if lengths:
            notes = (f"True for all lengths but special ones. Here: {lengths}.",)
    else:
        exact = exact_identifiability(robot, layout, static=static)
        rest = exact if layout.free.all() else exact.rest()
        if not isinstance(rest, ExactIdentifiability):
            names = rest.names
        classes = rest.classes
        rows = [(head, {name: float(x) for name, x in row.items()}) for head, row in rest.groupings.items()]
    return IdentifiableParameters(
        robot,
        tuple(names),
        tuple(classes),
        len(rows),
        bodies=_bodies(structure, plain, names, classes),
        groupings=tuple({"leading": head, "terms": dict(row)} for head, row in rows),
        exact=True,
        notes=notes,
    )


def _partial(
    robot: Robot,
    layout: Layout,
    plain: Identifiability,
    measured: Sequence[str],
    static: bool,
    *,
    forgiving: bool = False,
) -> IdentifiableParameters:
    """When some torques are measured only; by the rank of their regressor over random states."""
    rng = np.random.default_rng(0)
    try:
        found = partial_identifiability(robot, layout, measured, rng=rng, static=static)
    except NoSolutionError:
        if not forgiving:
            raise
        return IdentifiableParameters(robot, (), (), None, doubtful=True)
    return IdentifiableParameters(
        robot,
        found.names,
        found.classes,
        found.count,
        bodies=_bodies(found.structure, plain, found.names, found.classes),
        groupings=_groupings(found.base, found.names),
        kept=found.kept,
        dropped=found.dropped,
        notes=(
            f"Measured: {', '.join(found.measured)}; all torques would tell {found.possible}.",
            *_coupling_notes(found.structure),
        ),
    )


def _coupling_notes(structure: Identifiability) -> tuple[str, ...]:
    """That the recursion could not be used, where it could not."""
    if not structure.coupled:
        return ()
    named = ", ".join(f"'{name}'" for name in structure.coupled[:3])
    more = f" and {len(structure.coupled) - 3} more" if len(structure.coupled) > 3 else ""
    return (
        f"Joints that follow one on another link ({named}{more}) have no recursion: the count is the rank of "
        "the torques at random states.",
    )


def _bodies(
    structure: Identifiability, plain: Identifiability, names: Sequence[str], classes: Sequence[Class]
) -> tuple[Mapping[str, Any], ...]:
    """Dimensions and classes by link; drive terms and rotors stand with the link that their joint moves.

    Dimensions are those of the links alone, without rotors.
    """
    layout = structure.layout
    owners = {link: link for link in layout.links}
    for joint, body in zip(layout.joints, structure.joint_bodies, strict=True):
        owners.setdefault(joint, layout.links[body])
    rotors = {Rotor.name_at(joint): joint for joint in layout.joints}
    owners |= {rotor: owners[joint] for rotor, joint in rotors.items() if rotor in layout.links}
    by_link: dict[str, dict[str, str]] = {link: {} for link in layout.links if link not in rotors}
    for name, kind in zip(names, classes, strict=True):
        owner, _, term = name.rpartition(".")
        # A joint may be called like a link; its terms are told apart by their words.
        link = owner if owner in by_link and term.partition("@")[0] in PARAMETER_NAMES else owners[owner]
        by_link[link][name] = kind.value
    return tuple(
        {
            "link": body.link,
            "dim_velocity": body.dim_velocity,
            "dim_identifiable": body.dim_identifiable,
            "dim_transfer": body.dim_transfer,
            "classes": by_link[body.link],
        }
        for body in plain.bodies
    )


def _groupings(base: BaseParameters, names: Sequence[str]) -> tuple[Mapping[str, Any], ...]:
    """Each identifiable combination with its terms, the leading one first."""
    found = []
    for row, column in zip(base.matrix, base.columns, strict=True):
        others = [int(k) for k in np.flatnonzero(row) if k != column]
        terms = {names[k]: float(row[k]) for k in (int(column), *others)}
        found.append({"leading": names[int(column)], "terms": terms})
    return tuple(found)
