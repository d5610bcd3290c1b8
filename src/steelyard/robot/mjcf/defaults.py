"""`<default>` classes of an MJCF file: what an element says without saying it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from steelyard.errors import DescriptionError, UnknownNameError
from steelyard.robot.xml import Element

MAIN = "main"
ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
# Shortcuts write one actuator underneath; only what decides its largest force is followed.
_AFFINE = {"gaintype": "fixed", "biastype": "affine", "dyntype": "none"}
ACTUATORS: Mapping[str, Mapping[str, str]] = {
    "general": {},
    "motor": {"gaintype": "fixed", "gainprm": "1", "biastype": "none", "dyntype": "none"},
    "position": _AFFINE,
    "velocity": _AFFINE,
    "intvelocity": {**_AFFINE, "dyntype": "integrator"},
    "orientation": _AFFINE,
    "pid": _AFFINE,
    "damper": {"gaintype": "affine", "biastype": "none", "dyntype": "none"},
    "cylinder": {"gaintype": "fixed", "biastype": "affine", "dyntype": "filter"},
    "muscle": {"gaintype": "muscle", "biastype": "muscle", "dyntype": "muscle"},
    "adhesion": {"gaintype": "fixed", "biastype": "none", "dyntype": "none"},
    "dcmotor": {"gaintype": "dcmotor", "biastype": "dcmotor", "dyntype": "dcmotor"},
    "plugin": {"gaintype": "plugin", "biastype": "plugin", "dyntype": "plugin"},
}
_Settings = dict[str, dict[str, str]]


class Defaults:
    """The default classes of one file."""

    def __init__(self, root: Element) -> None:
        """Read every `<default>`.

        A class starts as a copy of the one around it, as that stands after its own elements.

        Args:
            root: the `<mujoco>` element, includes expanded.

        Raises:
            DescriptionError: a class has no name, or its name is used twice.
        """
        self._classes: dict[str, _Settings] = {MAIN: {}}
        tasks = [(element, self._classes[MAIN]) for element in reversed(list(root.all("default")))]
        for element, _ in tasks:
            if element.attributes.get("class", MAIN) != MAIN:
                raise DescriptionError("the outermost default class is 'main'.", place=element.place)
        while tasks:
            element, settings = tasks.pop()
            for child in element.children:
                if child.tag != "default":
                    key = _key(child)
                    settings[key] = _merged(settings.get(key, {}), child)
            inner = []
            for child in element.all("default"):
                name = child.text("class")
                if name in self._classes:
                    raise DescriptionError(f"the default class '{name}' is used twice.", place=child.place)
                self._classes[name] = {key: dict(values) for key, values in settings.items()}
                inner.append((child, self._classes[name]))
            tasks += reversed(inner)

    def resolve(self, element: Element, around: str = MAIN) -> Element:
        """An element with the attributes its class gives it.

        Args:
            element: as the file states it.
            around: the class that holds around it, of the nearest `childclass`.

        Returns:
            The element at the same line; what it states itself wins.

        Raises:
            UnknownNameError: no such class; lists those that exist.
        """
        name = self.known(element.attributes.get("class", around), element)
        settings = self._classes[name].get(_key(element), {})
        return replace(element, attributes=_merged(settings, element))

    def known(self, name: str, element: Element) -> str:
        """The name of a class, which must exist.

        Args:
            name: the class.
            element: the element that names it.

        Returns:
            The name.

        Raises:
            UnknownNameError: no such class; lists those that exist.
        """
        if name not in self._classes:
            raise UnknownNameError("default class", name, self._classes, place=element.place)
        return name


def _key(element: Element) -> str:
    return "actuator" if element.tag in ACTUATORS else element.tag


def _merged(settings: Mapping[str, str], element: Element) -> dict[str, str]:
    inherited = dict(settings)
    if any(key in element.attributes for key in ORIENTATIONS):
        inherited = {key: value for key, value in inherited.items() if key not in ORIENTATIONS}
    return inherited | element.attributes | dict(ACTUATORS.get(element.tag, {}))
