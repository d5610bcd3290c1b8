"""A user's own description with the numbers that were identified, and nothing else changed.

The ten numbers of a moving link are those of everything bolted to it. The links bolted to it keep what the
file states of them and the moving link gets the rest, as in every model that is written; so do the links of
joints that were locked, which stay joints. Numbers of drives that were not identified stay, and are named.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.archive import digest
from steelyard.arrays import Array
from steelyard.drive import ALL_TERMS, Drive, StribeckShape, drive_term
from steelyard.errors import DescriptionError, InputError
from steelyard.files import FilePath, require_possible, write_files
from steelyard.finding import Finding, Severity
from steelyard.formats import (
    USD_ENDINGS,
    ReadBack,
    ReadBackError,
    check_patched_mjcf,
    check_urdf,
    patched_usd,
    robot_with_parameters,
)
from steelyard.inertia import Body, same_body
from steelyard.layout import Layout, layout_of
from steelyard.model import Model, is_result
from steelyard.robot import DescriptionSource, FixedLink, Joint, Link, PatchedNumber, Robot, declared_encoding
from steelyard.workflows.destination import make_folder, require_files
from steelyard.workflows.given import given_result, xacro_arguments
from steelyard.workflows.options import PackagePathGiven, folders_of, path_of
from steelyard.zoo import ZOO

if TYPE_CHECKING:
    from steelyard.workflows.identification import Identification

SAME_PLACE = 1e-6
"""Distance of two joints, m, or of their axes, dimensionless, that rounded text explains."""
SAME_NUMBER = 1e-9
"""Relative difference of a link's ten numbers, read back, that round-off explains."""
NAMED = 5
"""Names listed in a message."""
ASSET_WORDS = (b"<mesh", b"<hfield", b"<texture", b"<skin", b"load_yaml")
"""What names files beside a description, which are not copied with it."""


@dataclass(frozen=True)
class KeptNumber:
    """A number that was identified and has no word in the file, or that stands there and was not identified.

    Attributes:
        kind: `link` or `joint`.
        name: of the link or joint.
        field: what it is: `mass`, or a term of the drive.
        value: in its unit.
        unit: SI unit.
        reason: why it is not written, or stays.
    """

    kind: str
    name: str
    field: str
    value: float
    unit: str
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class PatchedDescription:
    """A description with the numbers that were identified.

    Attributes:
        description: the file that is patched; it is not touched before `save`.
        before: content of its files as they are, by path; the description itself comes first.
        after: the same with the numbers changed.
        changed: every number that changes, in the order of files and lines.
        not_carried: numbers that were identified and have no word in the file.
        untouched: numbers that the file states and that were not identified by themselves.
        judges: the programs that read the outcome and agree.
        read_back: largest relative difference of what was read back from what was to be written.
        findings: what was noticed on the way.
        shown: the texts before and after by path, where files are not text themselves.
        seconds: what it took.
        files: what was written, by name.
    """

    description: Path
    before: Mapping[Path, bytes]
    after: Mapping[Path, bytes]
    changed: tuple[PatchedNumber, ...]
    not_carried: tuple[KeptNumber, ...]
    untouched: tuple[KeptNumber, ...]
    judges: tuple[str, ...]
    read_back: float
    findings: tuple[Finding, ...]
    shown: Mapping[Path, tuple[str, str]] = field(default_factory=dict)
    seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> bytes:
        """The description itself with its numbers changed, in the encoding it was in."""
        return self.after[self.description.resolve()]

    @property
    def difference(self) -> str:
        """What changes, as a unified difference of all files; empty where nothing does."""
        return "".join(
            line
            for path, content in self.before.items()
            if content != self.after[path]
            for line in _difference(self._name(path), *self._texts(path))
        )

    def _texts(self, path: Path) -> tuple[str, str]:
        encoding = declared_encoding(self.before[path])
        decoded = (x[path].decode(encoding, errors="replace") for x in (self.before, self.after))
        return self.shown[path] if path in self.shown else (next(decoded), next(decoded))

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        return {
            "changed": [vars(number) for number in self.changed],
            "not_carried": [vars(number) for number in self.not_carried],
            "untouched": [vars(number) for number in self.untouched],
            "difference": self.difference,
            "judges": self.judges,
            "read_back": self.read_back,
            "findings": [
                {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place}
                for f in self.findings
            ],
            "files": dict(self.files),
            "seconds": self.seconds,
        }

    def save(self, file: FilePath, *, force: bool = False) -> dict[str, str]:
        """Write the description, and the files it includes beside it, under the paths it names them by.

        In the folder of the description only included files that changed are written; elsewhere all of them.
        Meshes and other assets are not copied.

        Args:
            file: where to; the description itself, to change it in place.
            force: whether files that exist may be replaced; files that hold the same already are left.

        Returns:
            What was written, by name.

        Raises:
            InputError: a file exists and is to be kept, or cannot be written; nothing is changed then.
        """
        out = Path(file)
        main = self.description.resolve()
        planned = {out: self.text}
        for path, content in self.after.items():
            if path == main:
                continue
            name = Path(relpath(path, main.parent))
            place = out.parent / name
            if place.resolve() == path and content == self.before[path]:
                continue
            if ".." in name.parts and place.resolve() != path:
                raise InputError(
                    f"includes '{name.as_posix()}' from outside its folder, which has no place elsewhere.",
                    place=str(self.description),
                    remedy="Write it into its own folder.",
                )
            planned[place] = content
        missing = {path: content for path, content in planned.items() if not _holds(path, content)}
        require_files(missing, force=force)
        for path in missing:
            _require_not_protected(path)
        for path in missing:
            make_folder(path.parent)
        write_files(missing.items())
        return {relpath(path, out.parent): str(path) for path in planned}

    def _name(self, path: Path) -> str:
        return Path(relpath(path, self.description.resolve().parent)).as_posix()

    @property
    def sentence(self) -> str:
        """How much changes."""
        names = {(number.kind, number.name) for number in self.changed}
        links = sum(kind == "link" for kind, _ in names)
        changed = sum(content != self.after[path] for path, content in self.before.items())
        if not names:
            return f"{self.description.name} says it already: nothing changes"
        return (
            f"{_count(len(self.changed), 'number')} of {_count(links, 'link')} and "
            f"{_count(len(names) - links, 'joint')} change in {_count(changed, 'file')}; read back by "
            f"{', '.join(('steelyard', *self.judges))}, differing by at most {self.read_back:.1g}"
        )

    def __repr__(self) -> str:
        return (
            f"<PatchedDescription of {self.description.name}: {len(self.changed)} numbers change, "
            f"{len(self.not_carried)} not carried>"
        )

    def __str__(self) -> str:
        return "\n".join([self.sentence, *self.notes])

    @property
    def notes(self) -> list[str]:
        """What is not in the file, what stays in it, and what was noticed, a line each."""
        lines = []
        for title, numbers in (("not carried", self.not_carried), ("untouched", self.untouched)):
            reasons: dict[tuple[str, str], list[str]] = {}
            for x in numbers:
                said = f"{x.name} {x.value:.6g}{'' if x.unit == 'dimensionless' else f' {x.unit}'}"
                reasons.setdefault((x.field, x.reason), []).append(said)
            lines += [
                f"{title}: {quantity} ({', '.join(told)}): {reason}"
                for (quantity, reason), told in reasons.items()
            ]
        return [*lines, *(str(finding) for finding in self.findings)]


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _require_not_protected(path: Path) -> None:
    """Refuse a file that nobody may write to: replacing it would step over that."""
    if path.exists() and not path.stat().st_mode & 0o222:
        raise InputError("is read-only.", place=str(path), remedy="Choose another name, or make it writable.")


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.is_file() and path.read_bytes() == content
    except OSError:
        return False


def _difference(name: str, before: str, after: str) -> Iterator[str]:
    """The difference of two texts as `diff -u` writes it; line ends stay what they are."""
    for line in unified_diff(_lines(before), _lines(after), f"a/{name}", f"b/{name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])


# The patch


def patched_description(
    description: FilePath,
    result: Identification | Model | FilePath,
    out: FilePath | None,
    *,
    argument: Sequence[str] | Mapping[str, str] | None = None,
    package_path: PackagePathGiven = None,
    force: bool = False,
) -> PatchedDescription:
    """Change the numbers of a description, by the arguments of `patch`.

    Args:
        description: the path of a URDF, xacro or MJCF file.
        result: where the numbers come from: an identification, a model, or a result folder.
        out: where to write it; None to write nothing.
        argument: values of xacro arguments, by name.
        package_path: folders in which packages of meshes and xacro files are looked for.
        force: whether files that exist may be replaced.

    Returns:
        The patched description.

    Raises:
        InputError: links, joints or kinematics differ, a number has no place of its own, or the file to write
            exists.
        ReadBackError: what was to be written is not what is read back.
    """
    started = time.perf_counter()
    target = None if out is None else Path(out)
    if target is not None:
        require_possible(target)
        target = target / Path(description).name if target.is_dir() else target
        require_files([target], force=force)
    path = _described(description)
    model = given_result(result)
    if path.suffix.lower() in USD_ENDINGS:
        patched = _stage(path, model)
    else:
        patched = _Match.of(path, model, xacro_arguments(argument), folders_of(package_path)).patch()
    if target is not None:
        patched = replace(patched, files=patched.save(target, force=force))
        patched = replace(patched, findings=(*patched.findings, *_left_behind(patched, target)))
    return replace(patched, seconds=time.perf_counter() - started)


def _described(description: FilePath) -> Path:
    path = Path(description)
    if path_of(description) in ZOO and not path.is_file():
        raise InputError(
            "is a robot of the zoo, which has no file to patch.",
            place=str(description),
            remedy="Give the path of a URDF, xacro or MJCF file.",
        )
    if is_result(path):
        raise InputError(
            "is the folder of a result; the description to patch comes first, the result second.",
            place=str(description),
        )
    return path


def _stage(path: Path, model: Model) -> PatchedDescription:
    """A USD stage, which has no reader here: OpenUSD finds the prims, and reads them back."""
    done = patched_usd(path, model.robot, model.layout, model.parameters)
    place = path.resolve()
    not_carried = [
        KeptNumber(
            "joint", joint.name, term, value, _unit(joint, term), "the physics schema has no word for it"
        )
        for joint in model.robot.joints
        if joint.name in model.joints
        for term in model.layout.drive
        if (value := float(model.parameters[model.layout.index(f"{joint.name}.{term}")]))
    ]
    untouched = [
        KeptNumber("link", name, "mass", mass, "kg", "it is bolted to a link that carries the rest")
        for name, mass in done.bolted.items()
    ]
    return PatchedDescription(
        path,
        {place: path.read_bytes()},
        {place: done.content},
        done.changed,
        tuple(not_carried),
        tuple(untouched),
        ("OpenUSD",),
        done.difference,
        done.findings,
        {place: (done.before, done.after)},
    )


def _left_behind(patched: PatchedDescription, out: Path) -> list[Finding]:
    here = patched.description.resolve().parent
    if out.resolve().parent == here:
        return []
    if not any(word in content for content in patched.after.values() for word in ASSET_WORDS):
        return []
    message = "names meshes or other files by paths that are seen from its own folder; they were not copied."
    return [Finding(Severity.WARNING, "assets-not-copied", message, str(out))]


@dataclass(frozen=True, eq=False)
class _Match:
    """A description and the model that it gets its numbers from, one robot by names and kinematics.

    Attributes:
        source: the description. What is bolted to a link is taken off it where the file has it, not where its
            rounded angles mean it, so that whoever reads the file finds the sum that was identified.
        robot: what it describes, the joints held that the model holds.
        layout: the model's parameters in the order of that robot.
        parameters: their values, shape (p,), SI.
        options: how the description was opened.
    """

    source: DescriptionSource
    robot: Robot
    layout: Layout
    parameters: Array
    options: Mapping[str, Any]

    @classmethod
    def of(
        cls, path: Path, model: Model, arguments: Mapping[str, str], package_path: Sequence[str]
    ) -> _Match:
        """Read a description as the model's was read, and refuse another robot."""
        source, options = _opened(path, model, {"arguments": arguments, "package_path": package_path})
        robot = _locked_like(source.robot, model)
        _require_same_names(robot, model, str(path))
        # Commands read rounded angles as what they mean; a robot given as an object may be as it is written.
        meant = _locked_like(DescriptionSource.open(path, **{**options, "snap": True}).robot, model)
        _require_same_kinematics(min((meant, robot), key=lambda x: _farthest(x, model)), model, str(path))
        layout = layout_of(robot, model.layout.drive, stribeck=_shapes(model))
        phi = np.array([model.parameters[model.layout.index(name)] for name in layout.names])
        for link, same in zip(robot.links, meant.links, strict=True):
            ten = layout.of_link(link.name)
            stated = None if same.body is None else same.body.parameters
            # Where the file says it already, but for its roundings, its text stays.
            if link.body is not None and stated is not None and np.array_equal(stated, phi[ten]):
                phi[ten] = link.body.parameters
        return cls(source, robot, layout, phi, options)

    def patch(self) -> PatchedDescription:
        source, robot = self.source, self.robot
        try:
            carrying = robot_with_parameters(robot, self.layout, self.parameters)
        except InputError as error:
            error.remedy = "Patch with a consistent estimate; every simulator would refuse this one."
            raise
        before = robot.own_bodies
        bodies = {
            name: body for name, body in carrying.own_bodies.items() if not same_body(body, before[name])
        }
        self._refuse_unknown(bodies)
        carried, not_carried = self._drives(carrying)
        outcome = source.patched(bodies, carried)
        worst, judged = 0.0, ReadBack((), 0.0)
        if outcome.files != source.texts.contents:
            after = DescriptionSource.open(source.path, replaced=outcome.files, **self.options)
            worst = _require_read(after, _with_numbers(source.robot, bodies, carried))
            judged = _judged(source, after, self.options)
        return PatchedDescription(
            source.path,
            dict(source.texts.contents),
            outcome.files,
            outcome.changed,
            tuple(not_carried),
            tuple(self._untouched()),
            judged.judges,
            max(worst, judged.difference),
            (*carrying.findings[len(robot.findings) :], *outcome.findings, *judged.findings),
        )

    def _refuse_unknown(self, bodies: Mapping[str, Body | None]) -> None:
        """Refuse to change a link whose rest is not known: what is bolted to it would count twice."""
        unknown = self.source.unknown_inertias
        for link in self.robot.links:
            for part in link.fixed:
                if link.name in bodies and part.name in unknown:
                    raise InputError(
                        f"{unknown[part.name]} It is bolted to '{link.name}', of which only the sum was "
                        "identified.",
                        place=str(self.source.path),
                        remedy="Put its meshes where the file names them, or state its inertial.",
                    )

    def _drives(self, carrying: Robot) -> tuple[dict[str, dict[str, float]], list[KeptNumber]]:
        """What was identified of the drives: what the file can hold, and what it cannot."""
        carried: dict[str, dict[str, float]] = {}
        others: list[KeptNumber] = []
        for joint in carrying.joints:
            if joint.kind.nv != 1:
                continue
            for term in self.layout.drive:
                value = float(joint.drive.value(term) or 0.0)
                if not (reason := self.source.unworded(joint.name, term)):
                    carried.setdefault(joint.name, {})[term] = value
                elif value:
                    others.append(KeptNumber("joint", joint.name, term, value, _unit(joint, term), reason))
        return carried, others

    def _untouched(self) -> Iterator[KeptNumber]:
        for joint in self.robot.joints:
            for term in ALL_TERMS:
                value = joint.drive.value(term.name)
                if value and term.name not in self.layout.drive:
                    reason = "the result took it as zero, the file states it; it stays"
                    yield KeptNumber("joint", joint.name, term.name, value, _unit(joint, term.name), reason)
        for link in self.robot.links:
            for part in link.fixed:
                if part.body is not None and part.body.mass:
                    reason = f"it is bolted to '{link.name}', which carries the rest of what was identified"
                    yield KeptNumber("link", part.name, "mass", part.body.mass, "kg", reason)


def _unit(joint: Joint, term: str) -> str:
    found = drive_term(term)
    return found.unit_revolute if joint.kind.rotates else found.unit_prismatic


# One robot: the same names, the same kinematics.


def _opened(path: Path, model: Model, options: dict[str, Any]) -> tuple[DescriptionSource, dict[str, Any]]:
    """The description, its base free where only the model's is, and the options it was read with."""
    if "floating_base" in model.robot.joint_names:
        try:
            return DescriptionSource.open(path, floating=True, **options), {**options, "floating": True}
        except DescriptionError as error:
            if "floats already" not in error.message:
                raise
    return DescriptionSource.open(path, **options), options


def _locked_like(robot: Robot, model: Model) -> Robot:
    """The robot with the joints held that the model was identified with."""
    locks: dict[str, Array] = {} if model.stored is None else dict(model.stored.locks)
    locks |= {held.name: held.position for held in model.robot.locks}
    positions: dict[str, ArrayLike] = {
        name: q if q.size > 1 else float(q[0])
        for name, q in locks.items()
        if name in robot.joint_names and name not in model.robot.joint_names
    }
    return robot.locked(positions) if positions else robot


def _require_same_names(robot: Robot, model: Model, place: str) -> None:
    for what, mine, its in (
        ("joints", robot.joint_names, model.robot.joint_names),
        ("links", robot.link_names, model.robot.link_names),
        ("links bolted to moving ones", *_bolted_names(robot, model)),
    ):
        lacks = [name for name in its if name not in mine]
        more = [name for name in mine if name not in its]
        told = [
            f"{who} {', '.join(map(repr, names[:NAMED]))}{' …' if len(names) > NAMED else ''}"
            for who, names in (("only the result has", lacks), ("only the description has", more))
            if names
        ]
        if told:
            raise InputError(
                f"its {what} are not those of the result: {'; '.join(told)}.",
                place=place,
                remedy="Patch the description that was identified, or one with the same names.",
                evidence={"only_result": lacks, "only_description": more},
            )


def _bolted_names(robot: Robot, model: Model) -> tuple[list[str], list[str]]:
    """Links that weigh something and are bolted to moving ones, of the description and of the model.

    A link that weighs nothing in one of them may be absent in the other. A model read from an MJCF alone
    knows no bolted links, which its writer merges.
    """
    theirs = {part.name: part for link in model.robot.links for part in link.fixed}
    ours = {part.name: part for link in robot.links for part in link.fixed}
    if model.stored is not None and model.stored.model.suffix == ".xml":
        return [], []

    def heavy(parts: Mapping[str, FixedLink], others: Mapping[str, FixedLink]) -> list[str]:
        return [
            name
            for name, part in parts.items()
            if name in others or (part.body is not None and part.body.mass)
        ]

    return heavy(ours, theirs), heavy(theirs, ours)


def _distance(robot: Robot, model: Model, joint: Joint) -> float:
    """How far a joint is from where the model has it: m, or dimensionless; infinite for another kind."""
    other = model.robot.joints[model.robot.joint_names.index(joint.name)]
    if (joint.kind.nv, joint.kind.rotates, joint.pitch) != (other.kind.nv, other.kind.rotates, other.pitch):
        return float("inf")
    if _carrier(robot, joint) != _carrier(model.robot, other) or (joint.mimic is None) != (
        other.mimic is None
    ):
        return float("inf")
    off = [float(np.abs(joint.placement.matrix - other.placement.matrix).max())]
    if joint.kind.nv == 1:
        off.append(float(np.abs(joint.axis - other.axis).max()))
    if joint.mimic is not None and other.mimic is not None:
        if joint.mimic.joint != other.mimic.joint:
            return float("inf")
        off.append(abs(joint.mimic.multiplier - other.mimic.multiplier))
    return max(off)


def _carrier(robot: Robot, joint: Joint) -> str:
    """The moving link that carries a joint; whatever the base is called, it is the base."""
    return "" if joint.parent < 0 else robot.links[joint.parent].name


def _require_same_kinematics(robot: Robot, model: Model, place: str) -> None:
    off = {joint.name: _distance(robot, model, joint) for joint in robot.joints}
    apart = {name: far for name, far in off.items() if far > SAME_PLACE}
    if not apart:
        return
    told = [
        f"'{name}'" + (f" by {far:.3g}" if np.isfinite(far) else " in its kind, its parent or its tie")
        for name, far in list(apart.items())[:NAMED]
    ]
    raise InputError(
        f"its kinematics are not those of the result: joint {', '.join(told)}"
        f"{' …' if len(apart) > NAMED else ''} (m, or dimensionless for directions).",
        place=place,
        remedy="Numbers of a link are about its own frame; patch the description that was identified.",
        evidence={"distances": apart},
    )


def _farthest(robot: Robot, model: Model) -> float:
    return max(_distance(robot, model, joint) for joint in robot.joints)


def _shapes(model: Model) -> dict[str, StribeckShape] | None:
    return dict(zip(model.layout.joints, model.layout.stribeck, strict=False)) or None


# Read back


def _with_numbers(
    robot: Robot, bodies: Mapping[str, Body | None], drives: Mapping[str, Mapping[str, float]]
) -> Robot:
    """What the patched file should describe."""

    def own(link: Link) -> Link:
        parts = tuple(
            replace(part, body=bodies[part.name]) if part.name in bodies else part for part in link.fixed
        )
        return replace(link, own=bodies.get(link.name, link.own), fixed=parts)

    def driven(joint: Joint) -> Joint:
        terms: Mapping[str, Any] = drives.get(joint.name, {})
        return replace(joint, drive=replace(joint.drive, **terms)) if terms else joint

    return replace(
        robot,
        base=own(robot.base),
        links=tuple(own(link) for link in robot.links),
        joints=tuple(driven(joint) for joint in robot.joints),
    )


def _require_read(after: DescriptionSource, expected: Robot) -> float:
    """Refuse a file that our own reader reads otherwise; the largest relative difference."""
    read, place = after.robot, after.path.name
    if _bare(read) != _bare(expected):
        raise ReadBackError("read back, it differs in more than its numbers.", place=place)
    worst = 0.0
    found = read.own_bodies
    for name, body in expected.own_bodies.items():
        mine, its = (np.zeros(10) if x is None else x.parameters for x in (body, found[name]))
        off, scale = float(np.abs(mine - its).max()), float(np.abs(mine).max())
        if off > SAME_NUMBER * scale + 2e-14:
            raise ReadBackError(
                f"read back, link '{name}' differs by {off:.3g} of {scale:.3g} SI; a setting of the file may "
                "change it (boundmass, boundinertia, balanceinertia).",
                place=place,
            )
        worst = max(worst, off / scale if scale > 0.0 else 0.0)
    for joint, other in zip(expected.joints, read.joints, strict=True):
        for term in ALL_TERMS:
            wanted, got = (x.drive.value(term.name) or 0.0 for x in (joint, other))
            if abs(wanted - got) > SAME_NUMBER * abs(wanted):
                raise ReadBackError(
                    f"read back, the {term.name} term of joint '{joint.name}' is {got!r}, not {wanted!r}.",
                    place=place,
                )
            worst = max(worst, abs(wanted - got) / abs(wanted) if wanted else 0.0)
    return worst


def _bare(robot: Robot) -> str:
    """Digest of all that moves and limits, without inertias and drives."""
    links = [
        replace(link, own=None, fixed=tuple(replace(part, body=None) for part in link.fixed))
        for link in (robot.base, *robot.links)
    ]
    joints = tuple(replace(joint, drive=Drive()) for joint in robot.joints)
    bare = replace(robot, base=links[0], links=tuple(links[1:]), joints=joints)
    return digest(replace(bare, findings=(), source="", locks=(), tool=None))


def _judged(before: DescriptionSource, after: DescriptionSource, options: Mapping[str, Any]) -> ReadBack:
    """Have other programs read the outcome: MuJoCo an MJCF, Pinocchio and MuJoCo a URDF."""
    if after.mjcf is not None:
        return check_patched_mjcf(before, after)
    plain = {**options, "floating": False}
    try:
        outcome = DescriptionSource.open(after.path, replaced=after.texts.contents, **plain)
    except DescriptionError as error:
        # A lone body moves only where its base is free, which no file says.
        return ReadBack((), 0.0, (Finding(Severity.INFO, "not-read-back", error.message, error.place),))
    try:
        return _read_by_others(outcome)
    except ReadBackError as error:
        try:
            _read_by_others(DescriptionSource.open(before.path, **plain))
        except ReadBackError:
            message = f"other programs do not read it as it was, so they could not judge: {error.message}"
            return ReadBack((), 0.0, (Finding(Severity.INFO, "not-read-back", message, after.path.name),))
        raise


def _read_by_others(source: DescriptionSource) -> ReadBack:
    robot = source.robot
    if any(link.virtual for link in robot.links):
        message = "other programs know other axes of a planar joint, so they could not judge."
        return ReadBack((), 0.0, (Finding(Severity.INFO, "not-read-back", message, source.path.name),))
    layout = layout_of(robot)
    return check_urdf(source.expanded, robot, layout, np.nan_to_num(layout.nominal))
