"""The numbers of a description changed where they stand; every other byte of its files stays.

A URDF may state the inertia of a link in other axes than the link's (`<origin rpy>` of its `<inertial>`). A
link whose numbers change gets its own axes there, since numbers that were not turned read back to the last
bit. MJCF keeps its form: `fullinertia` stays one, and moments stay about the axes stated, unless the new
tensor has others; then the orientation becomes a quaternion.

In a xacro file a number is changed where it stands literally and for one link or joint alone. Numbers that
come out of properties, expressions or macros used several times are refused all at once, by name and line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import relpath
from pathlib import Path

import numpy as np

from steelyard.drive import Drive
from steelyard.errors import DescriptionError
from steelyard.files import FilePath
from steelyard.finding import Finding, Severity
from steelyard.inertia import MUJOCO_LEAST, Body, MujocoPrincipal
from steelyard.pose import Pose
from steelyard.robot.descriptions.meshes import mesh_source
from steelyard.robot.descriptions.mjcf.conventions import ORIENTATIONS, Placements
from steelyard.robot.descriptions.mjcf.reader import BodySource, JointSource, MjcfContent, read_mjcf
from steelyard.robot.descriptions.source_edits import (
    Node,
    SourceTexts,
    TextEdits,
    element_text,
    numbers_text,
)
from steelyard.robot.descriptions.urdf import (
    TENSOR_ENTRIES,
    inertial_element,
    origin_element,
    origin_pose,
    robot_from_urdf_element,
)
from steelyard.robot.descriptions.xacro.expansion import ExpandedElement, read_xacro
from steelyard.robot.descriptions.xml import Element
from steelyard.robot.model import Robot

Stated = float | tuple[float, ...] | None
"""A number, or several, as a description states them; None where it states none."""

FileContents = Mapping[Path, bytes]
"""What files hold, by their paths without symbolic links."""
URDF_WORDS = {"viscous": "damping", "coulomb": "friction"}
"""Attributes of `<dynamics>` by the drive's term."""
MJCF_WORDS = {"viscous": "damping", "coulomb": "frictionloss", "rotor": "armature"}
"""Attributes of a MJCF `<joint>` by the drive's term."""
_SIX = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
_MASSLESS = Body(0.0, np.zeros(3), np.zeros((3, 3)))
_NAME = re.compile(r"[A-Za-z_]\w*")
_EXPRESSION = re.compile(r"\$[{(]([^})]*)[})]")
_SHOWN = 6
"""Obstacles named in a message; all are in its evidence."""
_ROUND_OFF = 4e-15
"""Difference, relative to the largest of the numbers that belong together, that is none: their text stays."""
_SAFE = 1e-9
"""Margin of the triangle inequality, relative to the largest moment, that MuJoCo's own turning leaves."""


@dataclass(frozen=True)
class PatchedNumber:
    """One identified number in a file, or several that belong together.

    Attributes:
        file: the file, as seen from the description's folder.
        line: where it stood or, where nothing did, the line of what it was put into; 0 where a file
            has no lines.
        kind: `link` or `joint`.
        name: of the link or joint.
        field: `mass` in kg, `com` in m, `inertia` about it (Ixx, Ixy, Iyy, Ixz, Iyz, Izz) in kg·m², all in
            the link's frame; or a term of the drive: `viscous`, `coulomb`, `rotor`, in its unit.
        before: as the description stated it; None where it stated nothing.
        after: as it states it now.
    """

    file: str
    line: int
    kind: str
    name: str
    field: str
    before: Stated
    after: Stated


@dataclass(frozen=True, eq=False)
class PatchedFiles:
    """The files of a description with other numbers.

    Attributes:
        files: the content of every file by its path, changed or not; the description itself comes first.
        changed: every number that was changed, in the order of files and lines.
        findings: what a format could not take as it is.
    """

    files: FileContents
    changed: tuple[PatchedNumber, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, eq=False)
class DescriptionSource:
    """A description whose numbers can be changed where they stand.

    Attributes:
        path: the file.
        kind: `URDF`, `xacro` or `MJCF`.
        robot: what it describes.
        texts: its files.
        root: the `<robot>`, expanded; None for MJCF.
        mjcf: the MJCF with its places; None for the others.
    """

    path: Path
    kind: str
    robot: Robot
    texts: SourceTexts
    root: Element | None = None
    mjcf: MjcfContent | None = None

    def unworded(self, joint: str, term: str) -> str:
        """Why the file cannot hold a number of a drive.

        Args:
            joint: name of a joint.
            term: name of a drive's term.

        Returns:
            The reason; empty where it can.
        """
        format_name = "MJCF" if self.mjcf is not None else "URDF"
        words = MJCF_WORDS if self.mjcf is not None else URDF_WORDS
        if term not in words:
            return f"{format_name} has no word for it"
        if self.mjcf is not None:
            found = self.mjcf.joints.get(joint)
            if found is not None and term == "viscous" and "springdamper" in found.resolved.attributes:
                return "'springdamper' sets the damping of this joint"
            return "" if found is not None else "the file states no such joint"
        assert self.root is not None
        if all(element.text("name") != joint for element in self.root.all("joint")):
            return "the axes of a planar joint share one <dynamics>"
        return ""

    @property
    def unknown_inertias(self) -> dict[str, str]:
        """The bodies of an MJCF that weigh something nobody can tell, and why, by name."""
        bodies = {} if self.mjcf is None else self.mjcf.bodies
        return {name: place.unknown for name, place in bodies.items() if place.unknown}

    @property
    def mujoco_bodies(self) -> dict[str, Body]:
        """What an MJCF states of each body with a name, in the body's own frame; none for other formats."""
        if self.mjcf is None:
            return {}
        own = self.robot.own_bodies
        return {
            name: body.moved(place.origin.inverse())
            for name, place in self.mjcf.bodies.items()
            if place.body.attributes.get("name", "").strip() and (body := own.get(name)) is not None
        }

    @property
    def mujoco_drives(self) -> dict[str, Drive]:
        """What an MJCF states at each joint with a name and one axis, without its actuators."""
        if self.mjcf is None:
            return {}
        single = {joint.name for joint in self.robot.joints if joint.kind.nv == 1}
        return {
            name: place.drive
            for name, place in self.mjcf.joints.items()
            if name in single and place.stated.attributes.get("name", "").strip()
        }

    @property
    def expanded(self) -> bytes:
        """A URDF as text in UTF-8; a xacro file written out; empty for MJCF."""
        if self.root is None:
            return b""
        text = self.texts.texts[self.path.resolve()]
        plain = self.kind == "URDF" and text == self.texts.contents[self.path.resolve()]
        return text if plain else element_text(self.root)

    def patched(
        self,
        bodies: Mapping[str, Body | None],
        drives: Mapping[str, Mapping[str, float]],
        *,
        held: Mapping[str, Pose] | None = None,
        own_lines: bool = True,
    ) -> PatchedFiles:
        """The files with other numbers; numbers that they state already keep their text.

        Args:
            bodies: inertia of links by themselves, in their own frames, by name; None for none.
            drives: numbers of the joints' drives by joint and term, each one that `unworded` has no reason
                against, in its unit.
            held: joints of a URDF that become fixed, with how far they have moved, by name.
            own_lines: whether an element that is put in gets a line of its own.

        Returns:
            The files, and what was changed.

        Raises:
            DescriptionError: a number has no place of its own in the files, or a setting of the file would
                change it; says which.
        """
        editor: _MjcfEditor | _UrdfEditor
        if self.mjcf is not None:
            editor = _MjcfEditor(self, self.mjcf, own_lines)
        else:
            assert self.root is not None
            editor = _UrdfEditor(self, self.root, own_lines)
            for name, motion in (held or {}).items():
                editor.hold(name, motion)
        for name, body in bodies.items():
            editor.set_body(name, body)
        for name, terms in drives.items():
            editor.set_drive(name, terms)
        editor.refuse_obstacles()
        changed = sorted(editor.changed, key=lambda x: (x.file, x.line))
        return PatchedFiles(self.texts.edited(editor.edits), tuple(changed), tuple(editor.findings))

    @classmethod
    def open(
        cls,
        path: FilePath,
        *,
        snap: bool = False,
        floating: bool = False,
        arguments: Mapping[str, str] | None = None,
        package_path: Sequence[FilePath] = (),
        replaced: FileContents | None = None,
    ) -> DescriptionSource:
        """Read a description with the places of its numbers.

        Args:
            path: a URDF, xacro or MJCF file.
            snap: whether rounded angles, offsets and axes of joints are read as what they mean.
            floating: whether the base is free to move.
            arguments: values of the `<xacro:arg>`s of a xacro file, by name.
            package_path: folders in which packages of meshes and xacro files are looked for.
            replaced: what to take for the content of its files in place of what the disk holds.

        Returns:
            The description.

        Raises:
            DescriptionError: it does not exist, is of an unknown kind, or cannot be understood.
        """
        path = Path(path)
        if not path.exists():
            raise DescriptionError("there is no such file.", place=str(path))
        texts = SourceTexts(replaced)
        root = texts.read(path)
        if path.suffix.lower() == ".xacro" or root.uses_xacro:
            expanded, robot = read_xacro(
                path,
                arguments=arguments,
                snap=snap,
                floating=floating,
                package_path=package_path,
                sources=texts,
            )
            return cls(path, "xacro", robot, texts, root=expanded)
        if arguments:
            raise DescriptionError("takes no arguments.", place=str(path), remedy="Only xacro files do.")
        if root.tag == "mujoco":
            content = read_mjcf(
                path, snap=snap, floating=floating, package_path=package_path, read=texts.read
            )
            return cls(path, "MJCF", content.robot, texts, mjcf=content)
        meshes = mesh_source(path.parent, package_path)
        robot = robot_from_urdf_element(root, path.name, meshes, snap=snap, floating=floating)
        return cls(path, "URDF", robot, texts, root=root)

    @classmethod
    def of_urdf(cls, text: bytes, name: str = "URDF") -> DescriptionSource:
        """A URDF given as text, with the places of its numbers; meshes are not looked for.

        Args:
            text: the XML.
            name: what to call it in messages.

        Returns:
            The description.

        Raises:
            DescriptionError: it cannot be understood.
        """
        texts = SourceTexts()
        root = texts.parse(Path(name), text, name)
        robot = robot_from_urdf_element(root, name, None, snap=False)
        return cls(Path(name), "URDF", robot, texts, root=root)


_QUANTITIES: dict[str, Callable[[Body], float | tuple[float, ...]]] = {
    "mass": lambda body: body.mass,
    "com": lambda body: tuple(body.com.tolist()),
    "inertia": lambda body: tuple(float(body.inertia[at]) for at in _SIX),
}
"""What is identified of a link."""


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split()]
    except ValueError:
        return []


def _alike(stated: Sequence[float], wanted: Sequence[float], scale: float) -> bool:
    """Whether numbers are the same but for round-off."""
    if len(stated) != len(wanted):
        return False
    scale = max([scale, *(abs(x) for x in wanted)])
    return all(abs(x - y) <= _ROUND_OFF * scale for x, y in zip(stated, wanted, strict=True))


@dataclass
class _Editor:
    """What both formats share: edits by file, and the list of what was changed."""

    source: DescriptionSource
    own_lines: bool
    edits: dict[Path, TextEdits] = field(default_factory=dict)
    changed: list[PatchedNumber] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    obstacles: list[str] = field(default_factory=list)

    def text_of(self, node: Node) -> TextEdits:
        assert node.path is not None
        if node.path not in self.edits:
            self.edits[node.path] = TextEdits(self.source.texts.texts[node.path])
        return self.edits[node.path]

    def differing(
        self, element: Element, values: Mapping[str, Sequence[float]], scale: float = 0.0
    ) -> dict[str, str]:
        """The attributes whose numbers differ from what is stated, as text; `scale` is of others beside."""
        return {
            name: numbers_text(wanted)
            for name, wanted in values.items()
            if not _alike(_numbers(element.attributes.get(name, "")), wanted, scale)
        }

    def note_body(self, name: str, after: Body, places: Mapping[str, Element]) -> None:
        """List quantities of a link that were changed, each with the element that states it."""
        before = self.source.robot.own_bodies[name]
        for quantity, read in _QUANTITIES.items():
            if quantity in places:
                old = None if before is None else read(before)
                self.note(places[quantity], "link", name, quantity, old, read(after))

    def note(self, place: Element, kind: str, name: str, quantity: str, old: Stated, new: Stated) -> None:
        """List one number that was changed."""
        node = _node(place)
        assert node.path is not None
        file = Path(relpath(node.path, self.source.path.resolve().parent)).as_posix()
        self.changed.append(PatchedNumber(file, node.line, kind, name, quantity, old, new))

    def refuse_obstacles(self) -> None:
        """Nothing is changed by halves."""


# URDF and xacro


class _UrdfEditor(_Editor):
    def __init__(self, source: DescriptionSource, root: Element, own_lines: bool) -> None:
        super().__init__(source, own_lines)
        self.links = {x.text("name"): x for x in root.all("link")}
        self.joints = {x.text("name"): x for x in root.all("joint")}
        self._literals = _Literals(source.texts, root) if source.kind == "xacro" else None

    def set_body(self, name: str, body: Body | None) -> None:
        link = self.links[name]
        inertial = link.first("inertial")
        if inertial is None:
            if body is not None:
                self.insert(link, inertial_element(body), f"the inertial of link '{name}'")
                self.note_body(name, body, dict.fromkeys(_QUANTITIES, link))
            return
        body = _MASSLESS if body is None else body
        mass, tensor, origin = inertial.need("mass"), inertial.need("inertia"), inertial.first("origin")
        what, com = f"link '{name}'", origin or inertial
        tensors = {key: [body.inertia[at]] for key, at in TENSOR_ENTRIES.items()}
        places = {}
        if self.set(mass, {"value": [body.mass]}, what):
            places["mass"] = mass
        if self.set(tensor, tensors, what):
            places["inertia"] = tensor
        if origin is None and body.com.any():
            self.insert(inertial, f'<origin xyz="{numbers_text(body.com)}" rpy="0 0 0"/>', what)
            places["com"] = com
        if origin is not None:
            if "rpy" in origin.attributes:
                self.set(origin, {"rpy": [0.0, 0.0, 0.0]}, what)
            if self.set(origin, {"xyz": body.com.tolist()}, what):
                places["com"] = com
        self.note_body(name, body, places)

    def set_drive(self, name: str, terms: Mapping[str, float]) -> None:
        joint = self.joints[name]
        dynamics = joint.first("dynamics")
        drive = next(x.drive for x in self.source.robot.joints if x.name == name)
        wanted = {term: value for term, value in terms.items() if value != (drive.value(term) or 0.0)}
        if not wanted:
            return
        values = {URDF_WORDS[term]: [value] for term, value in wanted.items()}
        if dynamics is None:
            stated = " ".join(f'{word}="{numbers_text(value)}"' for word, value in values.items())
            self.insert(joint, f"<dynamics {stated}/>", f"the friction of joint '{name}'")
        else:
            self.set(dynamics, values, f"joint '{name}'")
        place = dynamics or joint
        for term, value in wanted.items():
            self.note(place, "joint", name, term, drive.value(term), value)

    def hold(self, name: str, motion: Pose) -> None:
        """Make a joint a fixed one, where its motion has taken it."""
        joint = self.joints[name]
        origin = joint.first("origin")
        at = origin_pose(origin) @ motion
        node = _node(joint)
        self.text_of(node).assign(node, {"type": "fixed"})
        if origin is None:
            self.insert(joint, origin_element(at), f"joint '{name}'")
        else:
            place = _node(origin)
            values = {"xyz": numbers_text(at.translation), "rpy": numbers_text(at.rpy)}
            self.text_of(place).assign(place, values)

    def set(self, element: Element, values: Mapping[str, Sequence[float]], what: str) -> bool:
        """Give an element's attributes other numbers; whether any differed from what it states."""
        scale = max(abs(float(x)) for wanted in values.values() for x in wanted)
        differing = self.differing(element, values, scale)
        if not differing:
            return False
        node = _node(element)
        if self._literals is not None:
            self.obstacles += self._literals.obstacles(element, node, differing, what)
        self.text_of(node).assign(node, differing)
        return True

    def insert(self, element: Element, child: str, what: str) -> None:
        node = _node(element)
        if self._literals is not None:
            self.obstacles += self._literals.obstacles(element, node, {}, what)
        self.text_of(node).insert(node, child, own_line=self.own_lines)

    def refuse_obstacles(self) -> None:
        obstacles = list(dict.fromkeys(self.obstacles))
        if not obstacles:
            return
        more = f"; and {len(obstacles) - _SHOWN} more" if len(obstacles) > _SHOWN else ""
        file = self.source.path.name
        stem = self.source.path.stem.removesuffix(".urdf")
        raise DescriptionError(
            "numbers to change have no place of their own, so nothing is changed: "
            f"{'; '.join(obstacles[:_SHOWN])}{more}.",
            place=file,
            remedy=f"Expand it first (xacro {file} > {stem}.urdf, or steelyard inspect {file} --repair "
            f"{stem}.urdf) and patch that; or state the numbers where they are used.",
            evidence={"obstacles": tuple(obstacles)},
        )


class _Literals:
    """Which numbers of a xacro file stand there literally, and for one element alone."""

    def __init__(self, texts: SourceTexts, root: Element) -> None:
        self._used = Counter(_key(x.stated) for x in root.descendants() if isinstance(x, ExpandedElement))
        self._macro: dict[tuple[object, int], Node] = {}
        self._properties: dict[str, Node] = {}
        for file in texts.roots.values():
            self._note(file)

    def _note(self, root: Node) -> None:
        waiting: list[tuple[Node, Node | None]] = [(root, None)]
        while waiting:
            node, macro = waiting.pop()
            if node.tag == "xacro:macro":
                macro = node
            elif node.tag == "xacro:property":
                self._properties.setdefault(node.attributes.get("name", ""), node)
            if macro is not None:
                self._macro[_key(node)] = macro
            waiting += [(child, macro) for child in node.children if isinstance(child, Node)]

    def obstacles(
        self, element: Element, node: Node, attributes: Mapping[str, str], what: str
    ) -> Iterator[str]:
        """Why attributes of an element, or its children, cannot be changed for it alone."""
        macro = self._macro.get(_key(node))
        named = "" if macro is None else f" of macro '{macro.attributes.get('name', '')}' ({macro.place})"
        if (uses := self._used[_key(node)]) > 1:
            yield f"{what}: <{node.tag}> at {node.place}{named} serves {uses} places"
            return
        for name in attributes:
            stated = node.attributes.get(name)
            if stated is None and name in element.attributes:
                yield f"{what}: '{name}' of <{node.tag}> at {node.place} is set by <xacro:attribute>"
            elif stated is not None and "$" in stated:
                origin = self._origin(stated, macro)
                yield f"{what}: '{name}' of <{node.tag}> at {node.place} is {stated}{origin}"

    def _origin(self, stated: str, macro: Node | None) -> str:
        words = [name for part in _EXPRESSION.findall(stated) for name in _NAME.findall(part)]
        found = []
        for name in dict.fromkeys(words):
            if macro is not None and re.search(rf"(?<!\w){name}(?!\w)", macro.attributes.get("params", "")):
                found.append(f"parameter '{name}' of macro '{macro.attributes['name']}' ({macro.place})")
            elif name in self._properties:
                found.append(f"property '{name}' ({self._properties[name].place})")
        return f", {', '.join(found)}" if found else ""


def _key(element: Element) -> tuple[object, int]:
    assert isinstance(element, Node)
    return element.path, element.start


# MJCF


class _MjcfEditor(_Editor):
    def __init__(self, source: DescriptionSource, content: MjcfContent, own_lines: bool) -> None:
        super().__init__(source, own_lines)
        self._content = content
        self._placements = Placements(content.compiler, [], [])

    def set_body(self, name: str, body: Body | None) -> None:
        place = self._content.bodies.get(name)
        if place is None:
            raise DescriptionError(f"link '{name}' is no body of the file.", place=self.source.path.name)
        wanted = _MASSLESS if body is None else body
        self._refuse_settings(name, place, wanted)
        inside = wanted.moved(place.frame.inverse())
        inertial = place.inertial
        if inertial is None:
            node = _node(place.body)
            stated = self._about_principal_axes(inside, name)
            text = " ".join(f'{key}="{numbers_text(value)}"' for key, value in stated.items())
            self.text_of(node).insert(node, f"<inertial {text}/>", own_line=self.own_lines)
            self.note_body(name, wanted, dict.fromkeys(_QUANTITIES, place.body))
            return
        values, orientation = self._tensor(inertial, inside, name)
        values = {"mass": values.pop("mass", [inside.mass]), "pos": inside.com.tolist(), **values}
        node = _node(inertial)
        differing = self.differing(inertial, values)
        self.text_of(node).assign(node, differing, renamed=orientation)
        kinds = {"mass": "mass", "pos": "com"}
        self.note_body(name, wanted, {kinds.get(key, "inertia"): inertial for key in differing})

    def _tensor(
        self, inertial: Element, body: Body, name: str
    ) -> tuple[dict[str, Sequence[float]], dict[str, str]]:
        """The inertia in the form that the file has, and the attributes that take the place of others."""
        I_C, stated = body.inertia, inertial.attributes
        low, middle, high = np.linalg.eigvalsh(I_C)
        safe = low > 2 * MUJOCO_LEAST and low + middle - high > _SAFE * high and body.mass > MUJOCO_LEAST
        if "fullinertia" in stated:
            if safe:
                order = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
                return {"fullinertia": [float(I_C[at]) for at in order]}, {}
            return self._about_principal_axes(body, name), {"diaginertia": "fullinertia"}
        R = self._placements.plain(inertial).rotation
        about = R.T @ I_C @ R
        if safe and float(np.abs(about - np.diag(about.diagonal())).max()) <= _ROUND_OFF * high:
            return {"diaginertia": about.diagonal().tolist()}, {}
        values = self._about_principal_axes(body, name)
        turned = next((key for key in ORIENTATIONS if key in stated), None)
        return values, {} if turned in (None, "quat") else {"quat": turned}

    def _about_principal_axes(self, body: Body, name: str) -> dict[str, Sequence[float]]:
        if not body.mass and not body.inertia.any():
            return {"pos": [0.0] * 3, "mass": [0.0], "diaginertia": [0.0] * 3}
        principal = MujocoPrincipal.from_body(body)
        taken = principal.loadable
        if taken.mass > body.mass or (principal.diaginertia < MUJOCO_LEAST).any():
            low = f"below {MUJOCO_LEAST:g} SI"
            message = f"its mass or a principal moment is {low}, which MuJoCo refuses; raised to it."
            self.findings.append(Finding(Severity.INFO, "raised-for-mujoco", message, f"link '{name}'"))
        return {
            "pos": body.com.tolist(),
            "quat": principal.iquat.tolist(),
            "mass": [taken.mass],
            "diaginertia": taken.diaginertia.tolist(),
        }

    def _refuse_settings(self, name: str, place: BodySource, body: Body) -> None:
        settings = self._content.compiler
        compiler = self._content.root.first("compiler") or self._content.root
        if place.weighed:
            raise DescriptionError(
                f"body '{name}' weighs what its geoms weigh, whatever its inertial says "
                '(inertiafromgeom="true").',
                place=compiler.place,
                remedy='Set inertiafromgeom="auto", so that a stated inertial counts.',
            )
        if settings.total_mass is not None:
            raise DescriptionError(
                f"every mass is scaled to a total of {settings.total_mass:g} kg ('settotalmass'), so no mass "
                "of a link can be stated.",
                place=compiler.place,
                remedy="Remove 'settotalmass'.",
            )
        low, middle, high = np.linalg.eigvalsh(body.inertia)
        for setting, changes in (
            ("boundmass", 0.0 < settings.bound_mass > body.mass),
            ("boundinertia", 0.0 < settings.bound_inertia > low),
            ("balanceinertia", settings.balance and high > (low + middle) * (1.0 + _ROUND_OFF)),
        ):
            if changes:
                raise DescriptionError(
                    f"'{setting}' would change the numbers of body '{name}': {body.mass:.6g} kg, principal "
                    f"moments {low:.6g} {middle:.6g} {high:.6g} kg m².",
                    place=compiler.place,
                    remedy=f"Remove '{setting}', or lower it.",
                )

    def set_drive(self, name: str, terms: Mapping[str, float]) -> None:
        source = self._content.joints[name]
        whole = next(x.drive for x in self.source.robot.joints if x.name == name)
        values: dict[str, Sequence[float]] = {}
        for term, value in terms.items():
            before = whole.value(term)
            if value == (before or 0.0):
                continue
            values[MJCF_WORDS[term]] = self._own_part(name, source, term, value, before)
            self.note(source.stated, "joint", name, term, before, value)
        node = _node(source.stated)
        self.text_of(node).assign(node, self.differing(source.stated, values))

    def _own_part(
        self, name: str, source: JointSource, term: str, value: float, before: float | None
    ) -> list[float]:
        """What the joint itself must state: what its actuators add through their gears is theirs."""
        geared = (before or 0.0) - (source.drive.value(term) or 0.0)
        own = value - geared
        if own < 0.0:
            raise DescriptionError(
                f"the actuators of joint '{name}' alone add {geared:.6g} to its {term} term, more than the "
                f"{value:.6g} to be stated.",
                place=source.stated.place,
                remedy=f"Lower the '{MJCF_WORDS[term]}' of its actuators.",
            )
        # Damping may be a polynomial of the speed; its linear part is what was identified.
        beyond = source.resolved.words("damping", "")[1:] if term == "viscous" else []
        return [own, *(float(word) for word in beyond)]


def _node(element: Element) -> Node:
    """The element of a file behind one that was read, which may have been expanded."""
    stated = element.stated if isinstance(element, ExpandedElement) else element
    assert isinstance(stated, Node)
    return stated
