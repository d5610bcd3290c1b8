"""What a body of an MJCF file holds, out of its frames, and the names given in the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from steelyard.errors import UnknownNameError
from steelyard.finding import Finding
from steelyard.pose import Pose
from steelyard.robot.mjcf.defaults import Defaults
from steelyard.robot.mjcf.mesh import MeshAssets
from steelyard.robot.mjcf.placement import Placements
from steelyard.robot.mjcf.settings import Compiler
from steelyard.robot.xml import Element

_IGNORED = ("site", "camera", "light", "plugin")
_ELEMENTS = ("body", "frame", "geom", "inertial", "joint", "freejoint", *_IGNORED)


@dataclass(frozen=True, eq=False)
class Item:
    """An element inside a body.

    Attributes:
        element: the element.
        frame: X_BF, the innermost frame around it in the body's frame.
        around: the default class that holds there.
    """

    element: Element
    frame: Pose
    around: str


@dataclass(frozen=True, eq=False)
class Context:
    """What every element of one file is read with.

    Attributes:
        compiler: how numbers are stated.
        defaults: the default classes.
        placements: reads poses.
        meshes: the meshes.
        findings: where to report.
        names: of all bodies and joints so far.
    """

    compiler: Compiler
    defaults: Defaults
    placements: Placements
    meshes: MeshAssets
    findings: list[Finding]
    names: set[str] = field(default_factory=set)

    def note_names(self, world: Element) -> None:
        """Note the names the file gives, so that those made up are others.

        Args:
            world: holds all bodies.
        """
        waiting = [world]
        while waiting:
            element = waiting.pop()
            self.names.add(element.attributes.get("name", "").strip())
            waiting += [child for child in element.children if child.tag in _ELEMENTS]

    def fresh(self, name: str) -> str:
        """A name that nothing has.

        Args:
            name: the name wished for.

        Returns:
            The name, with underscores appended until it is new.
        """
        while name in self.names:
            name += "_"
        self.names.add(name)
        return name

    def content(self, body: Element, around: str) -> Iterator[Item]:
        """What a body holds, in the order of the file, its frames dissolved.

        Args:
            body: a `<body>` or the world.
            around: the default class that holds inside it.

        Yields:
            The elements.

        Raises:
            UnknownNameError: an element or a default class does not exist; lists those that do.
        """
        waiting = [Item(child, Pose.identity(), around) for child in reversed(body.children)]
        while waiting:
            item = waiting.pop()
            element = item.element
            if element.tag not in _ELEMENTS:
                raise UnknownNameError(
                    f"element of <{body.tag}>", element.tag, _ELEMENTS, place=element.place
                )
            if element.tag != "frame":
                yield item
                continue
            inner = self.defaults.known(element.attributes.get("childclass", item.around), element)
            frame = item.frame @ self.placements.pose(element, element.attributes.get("name", "frame"))
            waiting += [Item(child, frame, inner) for child in reversed(element.children)]

    def resolve(self, item: Item) -> Element:
        """An element with the attributes its class gives it.

        Args:
            item: the element at its place.

        Returns:
            The element at the same line.
        """
        return self.defaults.resolve(item.element, item.around)
