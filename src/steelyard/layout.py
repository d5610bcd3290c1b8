"""Which parameters exist, in what order, with unit, owner, nominal value and bounds; name ⇄ slice.

The standard parameter vector is

    phi = [ten of link 1, …, ten of link n, drive terms of joint 1, …, drive terms of joint n]

and this file is the only place that knows it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from steelyard.arrays import Array, BoolArray, IntArray
from steelyard.drive import ALL_TERMS, DRIVE_TERMS, FRICTION_TERMS, DriveTerm, StribeckShape, drive_term
from steelyard.errors import DescriptionError, InputError, UnknownNameError
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS
from steelyard.robot import Joint, Robot


@dataclass(frozen=True)
class Parameter:
    """One entry of phi.

    Attributes:
        name: `<owner>.<term>`, such as `link3.mx` or `joint2.viscous`.
        owner: name of the link or joint it belongs to.
        term: one of the ten inertial names, or a drive term.
        unit: SI unit.
        nominal: value the description states, or `None`.
        lower: smallest physically possible value on its own, in its unit.
        fixed: whether its value is known to be the nominal one, as the zeros of a virtual link are.
    """

    name: str
    owner: str
    term: str
    unit: str
    nominal: float | None
    lower: float = -math.inf
    fixed: bool = False


class Class(StrEnum):
    """What torques say about a parameter.

    The values are those of the command's JSON; `symbol` is the one of Wensing et al. (2024), Table 3.
    """

    ALONE = "alone"
    BASE = "base"
    GROUPED = "grouped"
    UNIDENTIFIABLE = "unidentifiable"

    @property
    def symbol(self) -> str:
        """A star, a filled and an open circle, a cross."""
        return {"alone": "★", "base": "●", "grouped": "○", "unidentifiable": "×"}[self.value]


@dataclass(frozen=True)
class Layout:
    """The order of the standard parameter vector of one robot.

    Attributes:
        parameters: every entry, in order.
        links: names of the moving links, ten entries each, first.
        joints: names of the driven joints (all but floating ones), `len(drive)` entries each, after links.
        drive: names of the drive terms present, in the order of `ALL_TERMS`.
        dofs: for each degree of freedom of the untied robot, its driven joint's index in `joints`, or -1.
        stribeck: shape of the Stribeck column of each of `joints`; empty where the term is absent.
    """

    parameters: tuple[Parameter, ...]
    links: tuple[str, ...]
    joints: tuple[str, ...]
    drive: tuple[str, ...]
    dofs: tuple[int, ...]
    stribeck: tuple[StribeckShape, ...] = ()

    @property
    def size(self) -> int:
        """Number of parameters p."""
        return len(self.parameters)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all parameters, in order."""
        return tuple(parameter.name for parameter in self.parameters)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {parameter.name: k for k, parameter in enumerate(self.parameters)}

    def index(self, name: str) -> int:
        """Where a parameter stands in phi.

        Args:
            name: such as `link3.mx`.

        Raises:
            UnknownNameError: no such parameter.
        """
        if name not in self._index:
            raise UnknownNameError("parameter", name, self.names)
        return self._index[name]

    def of_link(self, link: str) -> slice:
        """Where the ten parameters of a link stand.

        Args:
            link: name of a moving link.

        Returns:
            A slice of length 10.

        Raises:
            UnknownNameError: no such link.
        """
        if link not in self.links:
            raise UnknownNameError("moving link", link, self.links)
        start = 10 * self.links.index(link)
        return slice(start, start + 10)

    def of_joint(self, joint: str) -> slice:
        """Where the drive terms of a joint stand.

        Args:
            joint: name of a joint.

        Returns:
            A slice of length `len(drive)`.

        Raises:
            UnknownNameError: no such joint.
        """
        if joint not in self.joints:
            raise UnknownNameError("joint", joint, self.joints)
        start = 10 * len(self.links) + len(self.drive) * self.joints.index(joint)
        return slice(start, start + len(self.drive))

    @cached_property
    def drive_columns(self) -> IntArray:
        """Columns of the `DRIVE_TERMS` by degree of freedom, shape (nv, 4); -1 where a term is absent."""
        return self._columns(DRIVE_TERMS)

    @cached_property
    def friction_columns(self) -> IntArray:
        """Columns of the `FRICTION_TERMS` by degree of freedom, shape (nv, 3); -1 where a term is absent."""
        return self._columns(FRICTION_TERMS)

    def _columns(self, terms: Sequence[DriveTerm]) -> IntArray:
        columns = np.full((len(self.dofs), len(terms)), -1, dtype=np.int64)
        for dof, joint in enumerate(self.dofs):
            for k, term in enumerate(terms):
                if joint >= 0 and term.name in self.drive:
                    columns[dof, k] = self.of_joint(self.joints[joint]).start + self.drive.index(term.name)
        columns.flags.writeable = False
        return columns

    @property
    def friction(self) -> tuple[str, ...]:
        """Names of the `FRICTION_TERMS` present."""
        return tuple(term.name for term in FRICTION_TERMS if term.name in self.drive)

    @cached_property
    def stribeck_shapes(self) -> Array:
        """v_s and δ by degree of freedom, shape (nv, 2), rad/s or m/s and dimensionless; 1 where absent."""
        shapes = np.ones((len(self.dofs), 2))
        for dof, joint in enumerate(self.dofs):
            if joint >= 0 and self.stribeck:
                shapes[dof] = self.stribeck[joint].velocity, self.stribeck[joint].exponent
        shapes.flags.writeable = False
        return shapes

    def with_stribeck(self, shapes: Sequence[StribeckShape]) -> Layout:
        """The same layout with other shapes of the Stribeck columns, for estimators that search over them.

        Args:
            shapes: one for each of `joints`.

        Returns:
            A new layout.

        Raises:
            InputError: their number is wrong, or the layout has no Stribeck term.
        """
        if len(shapes) != len(self.stribeck):
            raise InputError(
                f"got {len(shapes)} shapes for {len(self.stribeck)} joints with Stribeck friction.",
                place="shapes",
            )
        return replace(self, stribeck=tuple(shapes))

    def fixing(self, values: Mapping[str, float]) -> Layout:
        """The same layout with some parameters known.

        Args:
            values: the known values by parameter name, in their units.

        Returns:
            A new layout in which they are fixed.

        Raises:
            UnknownNameError: no such parameter.
        """
        parameters = list(self.parameters)
        for name, value in values.items():
            k = self.index(name)
            parameters[k] = replace(parameters[k], nominal=float(value), fixed=True)
        return replace(self, parameters=tuple(parameters))

    @cached_property
    def free(self) -> BoolArray:
        """Which parameters are not fixed, shape (p,), dimensionless."""
        free = np.array([not parameter.fixed for parameter in self.parameters])
        free.flags.writeable = False
        return free

    @property
    def nominal(self) -> Array:
        """What the description states, shape (p,), SI; NaN where it states nothing."""
        return np.array([math.nan if x.nominal is None else x.nominal for x in self.parameters])

    def complete_nominal(self) -> Array:
        """The nominal vector where every link is known; unstated drive terms count as absent, that is zero.

        Returns:
            phi, shape (p,), SI.

        Raises:
            DescriptionError: a link states no inertial; names it.
        """
        links = 10 * len(self.links)
        phi = self.nominal
        blind = [self.links[k] for k in range(len(self.links)) if np.isnan(phi[10 * k])]
        if blind:
            raise DescriptionError(
                f"no inertial is stated for {', '.join(blind)}.",
                place="description",
                remedy="Add an <inertial> to these links; no number is invented here.",
            )
        phi[links:] = np.nan_to_num(phi[links:], nan=0.0)
        return phi


def layout_of(
    robot: Robot, drive: Sequence[str] = (), *, stribeck: Mapping[str, StribeckShape] | None = None
) -> Layout:
    """The layout of a robot with the chosen drive terms at every joint.

    Args:
        robot: the robot.
        drive: names of drive terms, in any order, each once.
        stribeck: shapes of Stribeck friction by joint, where that term is chosen; joints that are not named
            have the shape their drive states.

    Raises:
        InputError: a term is named twice or does not exist, or a joint's Stribeck shape is not known.
    """
    chosen = {drive_term(name).name for name in drive}
    if len(chosen) != len(drive):
        raise InputError(f"a term is named twice in {list(drive)}.", place="drive")
    terms = [term for term in ALL_TERMS if term.name in chosen]
    parameters = []
    for link in robot.links:
        values = [None] * 10 if link.body is None else [float(x) for x in link.body.parameters]
        for term, unit, value in zip(PARAMETER_NAMES, PARAMETER_UNITS, values, strict=True):
            lower = 0.0 if term in ("m", "Ixx", "Iyy", "Izz") else -math.inf
            name = f"{link.name}.{term}"
            parameters.append(Parameter(name, link.name, term, unit, value, lower, link.virtual))
    driven = [joint for joint in robot.joints if joint.kind.nv == 1]
    for joint in driven:
        for drive_part in terms:
            unit = drive_part.unit_revolute if joint.kind.rotates else drive_part.unit_prismatic
            lower = -math.inf if drive_part.signed else 0.0
            name = f"{joint.name}.{drive_part.name}"
            value = joint.drive.value(drive_part.name)
            parameters.append(Parameter(name, joint.name, drive_part.name, unit, value, lower))
    names = [joint.name for joint in driven]
    dofs = [
        names.index(joint.name) if joint.kind.nv == 1 else -1
        for joint in robot.joints
        for _ in range(joint.kind.nv)
    ]
    shapes = _stribeck_shapes(driven, stribeck or {}, needed="stribeck" in chosen)
    present = tuple(term.name for term in terms)
    return Layout(tuple(parameters), robot.link_names, tuple(names), present, tuple(dofs), shapes)


def _stribeck_shapes(
    driven: Sequence[Joint], given: Mapping[str, StribeckShape], *, needed: bool
) -> tuple[StribeckShape, ...]:
    names = [joint.name for joint in driven]
    for name in given:
        if name not in names:
            raise UnknownNameError("joint", name, names, place="stribeck")
    if given and not needed:
        raise InputError("shapes are given, but the term is not chosen.", place="stribeck")
    shapes = []
    for joint in driven if needed else ():
        shape = given.get(joint.name, joint.drive.stribeck_shape)
        if shape is None:
            raise InputError(
                f"its shape at joint '{joint.name}' is not known.",
                place="stribeck",
                remedy="Leave 'stribeck' out, or state the shape with the joint's drive; "
                "torque is not linear in it, so it cannot be a parameter.",
            )
        shapes.append(shape)
    return tuple(shapes)
