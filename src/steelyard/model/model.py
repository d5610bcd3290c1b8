"""`Model`: what every part of the house hands on, whoever found the numbers.

A model is judged, compared, written and computed with in the same way whether it was identified a moment ago,
read from a result folder, or is what a description states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, keep_checked
from steelyard.drive import ALL_TERMS
from steelyard.dynamics import inverse_dynamics, rigid_torque, torque_regressor
from steelyard.errors import InputError
from steelyard.files import FilePath, write_bytes
from steelyard.finding import Finding, Severity
from steelyard.formats import ModelText, mjcf_model, urdf_model
from steelyard.inertia import Body
from steelyard.layout import Class, Layout, layout_of
from steelyard.model.comparison import Comparison, TorqueError, compared, torque_error
from steelyard.model.result_folder import LinkSpread, ResultFolder, StoredBase, is_result
from steelyard.model.saving import write_model
from steelyard.robot import Robot
from steelyard.zoo import find_robot

FORMATS: dict[str, Callable[[Robot, Layout, ArrayLike], ModelText]] = {
    ".urdf": urdf_model,
    ".xml": mjcf_model,
}
"""What makes a description, by the ending of its file."""
INERTIA_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""Ixx, Ixy, Iyy, Ixz, Iyz, Izz: the order in which six numbers are an inertia."""
SAME_COMBINATION = 1e-6
"""Difference of two coefficients of a combination that round-off explains, relative to the largest."""
STATES = 2000
"""Random states in which two models are compared."""
FREE_SPEED = 1.0
"""Largest speed drawn for a joint without a limit, rad/s or m/s."""
SAME_PLACE = 1e-6
"""Distance of two joints, m, or of their axes, dimensionless, that rounded text explains."""


@dataclass(frozen=True, eq=False)
class ModelLink:
    """A link of a model.

    Attributes:
        name: its name.
        mass: kg.
        com: centre of mass in the link's frame, shape (3,), m.
        inertia: about the centre of mass, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, shape (6,), kg·m².
        interval95: ends of 95 % intervals by `mass`, `com` and `inertia`, of the shapes above with (lower,
            upper) last, in their units; empty where they are not known.
        decided_by: who decided each of them, in the same way; empty where that is not known.
        described: the body that the description states; None where it states none.
    """

    name: str
    mass: float
    com: Array
    inertia: Array
    interval95: Mapping[str, Array] = field(default_factory=dict, repr=False)
    decided_by: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict, repr=False)
    described: Body | None = field(default=None, repr=False)

    @property
    def body(self) -> Body:
        """The same numbers as a body, its inertia as a matrix."""
        I = np.zeros((3, 3))  # noqa: E741 - the equation's letter
        for value, (i, j) in zip(self.inertia, INERTIA_ENTRIES, strict=True):
            I[i, j] = I[j, i] = value
        return Body(self.mass, self.com, I)

    @property
    def document(self) -> dict[str, Any]:
        """The link as JSON answers state it."""
        entry: dict[str, Any] = {
            "name": self.name,
            "mass": self.mass,
            "com": self.com.tolist(),
            "inertia": self.inertia.tolist(),
        }
        if self.interval95:
            entry["interval95"] = {name: ends.tolist() for name, ends in self.interval95.items()}
        if self.decided_by:
            entry["decided_by"] = {
                name: who if isinstance(who, str) else list(who) for name, who in self.decided_by.items()
            }
        described = None if self.described is None else body_numbers(self.described)
        return {**entry, "described": described}


@dataclass(frozen=True, eq=False)
class ModelJoint:
    """The drive of a joint of a model; a term that the model does not have is None.

    Attributes:
        name: its name.
        viscous: torque per speed, N·m·s/rad or N·s/m.
        coulomb: torque against the direction of motion, N·m or N.
        offset: torque at rest, N·m or N.
        armature: inertia of the rotor at the joint's output, kg·m² or kg.
        stribeck: torque by which friction at rest exceeds Coulomb's, N·m or N.
        asymmetric: torque per speed that keeps its sign, N·m·s/rad or N·s/m.
        load: friction per rigid-body torque, dimensionless.
        interval95: lower and upper end of the 95 % interval of each term, in its unit.
        decided_by: who decided each term.
    """

    name: str
    viscous: float | None = None
    coulomb: float | None = None
    offset: float | None = None
    armature: float | None = None
    stribeck: float | None = None
    asymmetric: float | None = None
    load: float | None = None
    interval95: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    decided_by: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def terms(self) -> dict[str, float]:
        """The terms that the model has, in the order of its layout, by name."""
        named = {name: getattr(self, name) for name in (_word(term.name) for term in ALL_TERMS)}
        return {name: value for name, value in named.items() if value is not None}

    @property
    def document(self) -> dict[str, Any]:
        """The joint as JSON answers state it."""
        spread = {name: list(ends) for name, ends in self.interval95.items()}
        return {"name": self.name, **self.terms, "interval95": spread, "decided_by": dict(self.decided_by)}


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """What moved between two models of one robot.

    Attributes:
        parameters: base parameter by base parameter; those that stand alone are parameters by themselves.
        units: unit of each by name.
        torque: how far their torques are apart, percent of the first one's; None where no states are drawn.
        joints: a name per degree of freedom.
        findings: what was noticed on the way.
    """

    parameters: Comparison
    units: dict[str, str]
    torque: TorqueError | None
    joints: tuple[str, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A robot with numbers for all its parameters.

    Attributes:
        robot: the robot.
        layout: the order of the parameters; `layout.nominal` is what the description stated.
        parameters: phi, shape (p,), SI; possible or not.
        intervals: lower and upper end of each parameter's 95 % interval, infinite where unknown,
            shape (p, 2), SI; None where nobody stated any.
        decided_by: for each parameter who decided it, such as `data` or `prior`; empty for no word.
        spreads: how sure centre of mass and inertia of each link are; empty where only `intervals` are known.
        base: the combinations of parameters that torques determine, with their covariance; None for numbers
            that were not identified.
        nominal: phi of the description before it was identified, shape (p,), SI; None where that is not known
            or the parameters are those.
        recordings: digests of what it was identified from.
        stored: the result folder that it was read from; None for others.
        findings: what was noticed about it.
        classes: what torques can tell of each parameter, None where that is not known; empty for no word.
    """

    robot: Robot
    layout: Layout
    parameters: Array
    intervals: Array | None = None
    decided_by: tuple[str, ...] = ()
    spreads: tuple[LinkSpread, ...] = ()
    base: StoredBase | None = None
    nominal: Array | None = None
    recordings: tuple[str, ...] = ()
    stored: ResultFolder | None = None
    findings: tuple[Finding, ...] = ()
    classes: tuple[Class | None, ...] = ()

    def __post_init__(self) -> None:
        p = self.layout.size
        keep_checked(self, (p,), "parameters")
        keep_checked(self, (p, 2), "intervals", finite=False, optional=True)
        keep_checked(self, (p,), "nominal", optional=True)
        for name, words, count in (
            ("decided_by", self.decided_by, p),
            ("spreads", self.spreads, len(self.layout.links)),
            ("classes", self.classes, p),
        ):
            if words and len(words) != count:
                raise InputError(f"expected {count}, got {len(words)}.", place=name)

    @classmethod
    def load(cls, path: FilePath) -> Model:
        """Read a model: a result folder, a zoo name, or a description that states every link.

        Args:
            path: the folder, the name, or the path of a URDF, xacro or MJCF file.

        Raises:
            InputError: it cannot be read, or a link states no inertial; names it.
        """
        if is_result(path):
            return cls.of_result(ResultFolder.read(path))
        return cls.of_robot(find_robot(path))

    @classmethod
    def of_robot(cls, robot: Robot) -> Model:
        """The numbers that a robot's description states; drive terms that no joint states are absent.

        Raises:
            DescriptionError: a link states no inertial; names it.
        """
        driven = [joint.drive for joint in robot.joints if joint.kind.nv == 1]
        terms = [term.name for term in ALL_TERMS if any(drive.value(term.name) for drive in driven)]
        layout = layout_of(robot, terms)
        return cls(robot, layout, layout.complete_nominal(), findings=robot.findings)

    @classmethod
    def of_result(cls, stored: ResultFolder) -> Model:
        """The model of a result folder.

        Args:
            stored: the folder as it was read.

        Returns:
            The model, with what is known of its uncertainty.
        """
        layout, found = stored.layout, stored.parameters
        known = all(x.nominal is not None for x in layout.parameters[: 10 * len(layout.links)])
        estimate = stored.record.get("estimate", {})
        return cls(
            stored.robot,
            layout,
            found.values,
            found.intervals,
            found.decided_by,
            found.spreads,
            base=stored.base,
            nominal=layout.complete_nominal() if known else None,
            recordings=tuple(estimate.get("recordings", ())) if isinstance(estimate, dict) else (),
            stored=stored,
            findings=stored.findings,
            classes=found.classes,
        )

    def save(self, path: FilePath, *, force: bool = False) -> dict[str, str]:
        """Write the model: as a folder that `load` reads again, or as one description.

        A folder holds the model as URDF and MJCF, `parameters.json` with intervals and covariance, code for
        feedforward, and a record. Each description is read back by another program and compared first.

        Args:
            path: the folder; or a `.urdf` or `.xml` (MJCF) file, which states the numbers alone.
            force: whether an earlier result in that folder may be replaced; a file is replaced anyway.

        Returns:
            The paths of the files by name.

        Raises:
            InputError: the folder is not free, a link cannot exist, or the format cannot state a joint.
        """
        out = Path(path)
        if (make := FORMATS.get(out.suffix.lower())) is not None:
            write_bytes(out, make(self.robot, self.layout, self.parameters).content)
            return {out.name: str(out)}
        estimate: Any = {"recordings": self.recordings} if self.recordings else None
        if self.stored is not None:
            estimate = self.stored.record.get("estimate", estimate)
        written = write_model(out, self, estimate=estimate, force=force)
        return {name: str(out / name) for name in written.files}

    @property
    def covariance(self) -> Array | None:
        """Of the base parameters, variances infinite where unknown, shape (b, b), SI; None without any."""
        return None if self.base is None else self.base.covariance

    def torque(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Torques of a motion, every drive term of the layout included.

        Args:
            q: joint positions, shape (N, nq), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².

        Returns:
            Torques, shape (N, nv), N·m or N.
        """
        return inverse_dynamics(self.robot, self.layout, self.parameters, q, v, a)

    def regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        r"""The matrix Y with $Y \phi = \tau$ for the model's parameters; load friction is taken at its load.

        Args:
            q: joint positions, shape (N, nq), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².

        Returns:
            Y, shape (N, nv, p), SI.
        """
        load = None
        if "load" in self.layout.drive:
            load = rigid_torque(self.robot, self.layout, self.parameters, q, v, a)
        return torque_regressor(self.robot, self.layout, q, v, a, load=load)

    @cached_property
    def links(self) -> Mapping[str, ModelLink]:
        """Every moving link by name, what is bolted to it included."""
        return MappingProxyType({name: self._link(k) for k, name in enumerate(self.layout.links)})

    @cached_property
    def joints(self) -> Mapping[str, ModelJoint]:
        """Every driven joint by name."""
        return MappingProxyType({name: self._joint(name) for name in self.layout.joints})

    @property
    def mass(self) -> float:
        """Of all moving links together, kg."""
        return float(self.parameters[: 10 * len(self.layout.links) : 10].sum())

    def compare(self, other: Model, level: float = 0.95) -> ModelComparison:
        """Say what moved between this model and another one of the same robot, beyond their intervals.

        Args:
            other: the other; one of the two must have been identified.
            level: probability that nothing is named which did not move, dimensionless.

        Returns:
            Parameters that moved, those that need not have, and how far the torques are apart.

        Raises:
            InputError: they are not of one robot, or neither of them was identified.
        """
        return compare_models(self, other, level)

    def summary(self) -> str:
        """Links and joints as a plain table.

        Returns:
            Text for people.
        """
        whole = f"{len(self.layout.links)} moving links of {self.mass:.4g} kg, {self.layout.size} parameters"
        lines = [f"Model of {self.robot.name}: {whole}", ""]
        rows = [["link", "mass (kg)", "95 %", "centre of mass (m)", "decided by"]]
        for link in self.links.values():
            ends = link.interval95.get("mass")
            spread = "" if ends is None else f"{ends[0]:.4g} to {ends[1]:.4g}"
            com = " ".join(f"{x:+.4f}" for x in link.com)
            rows.append([link.name, f"{link.mass:.4g}", spread, com, str(link.decided_by.get("mass", ""))])
        lines += _table(rows)
        if self.layout.drive:
            terms = [_word(term) for term in self.layout.drive]
            values = [[j.name, *(f"{j.terms[t]:.4g}" for t in terms)] for j in self.joints.values()]
            lines += ["", *_table([["joint", *terms], *values])]
        return "\n".join(lines)

    def __repr__(self) -> str:
        origin = "" if self.stored is None else f" from {self.stored.folder}"
        return (
            f"<Model of {self.robot.name}{origin}: {len(self.layout.links)} links, {self.mass:.4g} kg, "
            f"{self.layout.size} parameters; drive {','.join(self.layout.drive) or 'none'}>"
        )

    def __str__(self) -> str:
        return self.summary()

    def _link(self, k: int) -> ModelLink:
        ten = slice(10 * k, 10 * k + 10)
        body = Body.from_parameters(self.parameters[ten])
        nominal = self.layout.nominal[ten]
        described = None if np.isnan(nominal).any() else Body.from_parameters(nominal)
        spread = self.spreads[k] if self.spreads else None
        interval95: dict[str, Array] = {}
        decided_by: dict[str, str | tuple[str, ...]] = {}
        if self.intervals is not None:
            interval95["mass"] = self.intervals[10 * k]
            if spread is not None:
                interval95 |= {"com": spread.com, "inertia": spread.inertia}
        if self.decided_by:
            decided_by["mass"] = self.decided_by[10 * k]
            if spread is not None:
                decided_by |= {"com": spread.com_decided_by, "inertia": spread.inertia_decided_by}
        return ModelLink(
            self.layout.links[k],
            body.mass,
            body.com,
            np.array([body.inertia[i, j] for i, j in INERTIA_ENTRIES]),
            interval95,
            decided_by,
            described,
        )

    def _joint(self, name: str) -> ModelJoint:
        where = range(self.layout.size)[self.layout.of_joint(name)]
        places = {_word(term): k for k, term in zip(where, self.layout.drive, strict=True)}
        spread: dict[str, tuple[float, float]] = {}
        if self.intervals is not None:
            for word, k in places.items():
                low, high = self.intervals[k].tolist()
                spread[word] = (low, high)
        decided = {word: self.decided_by[k] for word, k in places.items()} if self.decided_by else {}
        values = {word: float(self.parameters[k]) for word, k in places.items()}
        return ModelJoint(name, **values, interval95=spread, decided_by=decided)


def compare_models(first: Model, second: Model, level: float = 0.95) -> ModelComparison:
    """Compare two models of one robot, at least one of them identified.

    The numbers of a description count as exact; it is asked about the gravity and the drive terms of the
    other.

    Args:
        first: a model.
        second: the other.
        level: probability that nothing is named which did not move, dimensionless.

    Returns:
        What moved.

    Raises:
        InputError: they are not of one robot, determine other combinations, or neither was identified.
    """
    result = first if first.base is not None else second
    if result.base is None:
        raise InputError(
            "two descriptions have no intervals to compare by.",
            place="A and B",
            remedy="Give the folder of at least one result.",
        )
    base = result.base
    first, second = _asked_alike(first, result), _asked_alike(second, result)
    require_alike(first, second)
    (a, sa), (b, sb) = (_combinations(model, result, base) for model in (first, second))
    findings = [*first.findings, *second.findings, *_shared_data(first, second)]
    bent = _other_shapes(first, second)
    if bent:
        message = (
            f"the shape of Stribeck friction differs at {', '.join(bent)}, so its coefficients mean "
            "different things; only torques are compared there."
        )
        findings.append(Finding(Severity.WARNING, "other-stribeck", message))
        sa = np.where(_owned(result.layout, base, bent), np.inf, sa)
    robot, layout = first.robot, result.layout
    units = {name: layout.parameters[layout.index(name.removesuffix("+"))].unit for name in base.names}
    torque = None
    if robot.nq == robot.nv:
        torque = torque_difference(first, second, np.random.default_rng(0))
    joints = tuple(joint.name for joint in robot.joints for _ in range(joint.nv))
    found = compared(base.names, a, sa, b, sb, level=level)
    return ModelComparison(found, units, torque, joints, tuple(findings))


def _asked_alike(model: Model, result: Model) -> Model:
    """A description with the gravity and the drive terms of the result; what it states beyond is said."""
    if model.base is not None:
        return model
    robot, terms = model.robot.with_gravity(result.robot.gravity), result.layout.drive
    ours = [joint.name for joint in robot.joints if joint.kind.nv == 1]
    known = zip(result.layout.joints, result.layout.stribeck, strict=False)
    shapes = {name: shape for name, shape in known if name in ours}
    layout = layout_of(robot, terms, stribeck=shapes if "stribeck" in terms else None)
    findings = []
    for term in model.layout.drive:
        if term not in terms:
            message = f"states {term}, which the result did not ask for; it is not compared."
            findings.append(Finding(Severity.WARNING, "term-not-compared", message, robot.name))
    return Model(robot, layout, layout.complete_nominal(), findings=tuple(findings))


def _combinations(model: Model, result: Model, asked: StoredBase) -> tuple[Array, Array]:
    """Values and deviations of the result's combinations; a description states them exactly."""
    base, K = model.base, asked.matrix
    if base is None:
        return K @ model.parameters, np.zeros(len(asked.names))
    if not base.names:
        raise InputError("holds no estimate to compare.", place=_place(model))
    scale = np.abs(K).max()
    if base.names != asked.names or np.abs(base.matrix - K).max() > SAME_COMBINATION * scale:
        raise InputError(
            "the two results determine different combinations of parameters.",
            place=f"{_place(result)} and {_place(model)}",
            remedy="Identify both with the same options.",
        )
    return base.values, base.deviations


def _place(model: Model) -> str:
    return f"model of {model.robot.name}" if model.stored is None else str(model.stored.folder)


def _other_shapes(first: Model, second: Model) -> list[str]:
    shapes = zip(first.layout.joints, first.layout.stribeck, second.layout.stribeck, strict=False)
    return [joint for joint, mine, its in shapes if mine != its]


def _owned(layout: Layout, base: StoredBase, joints: list[str]) -> Array:
    """Which combinations hold a parameter of these joints."""
    theirs = [parameter.owner in joints for parameter in layout.parameters]
    return np.asarray((base.matrix[:, theirs] != 0.0).any(axis=1))


def _shared_data(first: Model, second: Model) -> list[Finding]:
    if not set(first.recordings) & set(second.recordings):
        return []
    message = "both were identified from the same data, so they differ by less than independent ones would."
    return [Finding(Severity.INFO, "shared-data", message)]


def require_alike(first: Model, second: Model) -> None:
    """Refuse two models whose parameters do not mean the same.

    Args:
        first: a model.
        second: the other.

    Raises:
        InputError: links, joints, drive terms, gravity or the places of the joints differ; says which.
    """
    one, other = first.robot, second.robot
    for what, mine, its in (
        ("links", one.link_names, other.link_names),
        ("joints", one.joint_names, other.joint_names),
        ("drive terms", first.layout.drive, second.layout.drive),
    ):
        if mine != its:
            differ = [x for x in (*mine, *its) if (x in mine) != (x in its)] or ["their order"]
            raise InputError(
                f"their {what} differ: {', '.join(dict.fromkeys(differ))}.",
                place=f"'{one.name}' and '{other.name}'",
                remedy="Compare results of one robot, identified with the same options.",
            )
    if not np.allclose(one.gravity, other.gravity, rtol=0.0, atol=SAME_PLACE):
        raise InputError(
            f"gravity differs: {one.gravity.tolist()} and {other.gravity.tolist()} m/s².",
            place=f"'{one.name}' and '{other.name}'",
            remedy="Compare results of one mounting.",
        )
    for joint, same in zip(one.joints, other.joints, strict=True):
        off = max(
            float(np.abs(joint.placement.matrix - same.placement.matrix).max()),
            float(np.abs(joint.axis - same.axis).max()),
        )
        if (joint.kind, joint.parent) != (same.kind, same.parent) or off > SAME_PLACE:
            raise InputError(
                f"joint '{joint.name}' is not the same in both: its kind, its parent, or its place differs "
                f"({off:.3g} m or dimensionless).",
                place=f"'{one.name}' and '{other.name}'",
                remedy="Parameters are about a link's own frame; compare results of one description.",
            )


def torque_difference(first: Model, second: Model, rng: np.random.Generator) -> TorqueError:
    """How far the torques of two models are apart in random states within the first one's limits.

    Positions are drawn from the limits, at most half a turn or metre to either side where there are none;
    speeds up to half the limit, accelerations that reach it in a second.

    Args:
        first: a model; the errors are in percent of its torque's rms.
        second: the other, with the same coordinates.
        rng: source of the states.

    Returns:
        Percentages per joint and over all.

    Raises:
        InputError: a joint floats or is spherical: no states of it are drawn.
    """
    robot = first.robot
    if robot.nq != robot.nv:
        raise InputError("states of floating and spherical joints are not drawn.", place=robot.name)
    reach = np.array([np.pi if joint.kind.rotates else 0.5 for joint in robot.joints if joint.nv])
    lower, upper = robot.limit_array("lower"), robot.limit_array("upper")
    centre = np.where(np.isfinite(lower + upper), 0.5 * (lower + upper), 0.0)
    q = rng.uniform(np.maximum(lower, centre - reach), np.minimum(upper, centre + reach), (STATES, robot.nv))
    speed = np.where(np.isfinite(robot.limit_array("velocity")), robot.limit_array("velocity"), FREE_SPEED)
    v = 0.5 * speed * rng.uniform(-1.0, 1.0, q.shape)
    a = speed * rng.uniform(-1.0, 1.0, q.shape)
    return torque_error(first.torque(q, v, a), second.torque(q, v, a))


def body_numbers(body: Body) -> dict[str, Any]:
    """Mass, centre of mass and inertia about it, as JSON answers state them.

    Returns:
        `mass` in kg, `com` in m, and `inertia` as Ixx, Ixy, Iyy, Ixz, Iyz, Izz in kg·m².
    """
    I = body.inertia  # noqa: E741 - the equation's letter
    return {
        "mass": body.mass,
        "com": body.com.tolist(),
        "inertia": [float(I[i, j]) for i, j in INERTIA_ENTRIES],
    }


def _word(term: str) -> str:
    """What answers call a drive term."""
    return "armature" if term == "rotor" else term


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, the first column to the left and the others to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
