"""The page of a weighed payload: one self-contained HTML file, readable with scripts off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.inertia import Body
from steelyard.payloads import DecidedBy, quantities
from steelyard.report.arm import ArmDrawing
from steelyard.report.content import SYMBOLS, ReportContent, headline
from steelyard.report.html import MINUS, Typeset, aligned_numerals, numeral
from steelyard.report.identification import (
    SCRIPTS,
    checks_of,
    findings_of,
    plot_data,
    record_of,
    torque_errors_of,
    untested_of,
)
from steelyard.report.payload.content import (
    PayloadContent,
    PayloadNumber,
    TrialOutcome,
    headed,
    interval_numerals,
    label,
    outward,
    read_unit,
    scale_of,
    told_ends,
    told_numbers,
)
from steelyard.report.render import markup, render_page
from steelyard.uncertainty import GuaranteedBounds

_INTERVAL = Typeset("95\u202f% interval")
"""Heading of the columns that tell intervals."""

# A sheet to draw one view on: a square with a grid in millimetres, seen along an axis of a frame.

SIZE, LEFT, BOTTOM, EDGE = 320.0, 34.0, 30.0, 6.0
"""Side of the drawing, and the margins for the labels at its left, below and around it, px."""
LINES = 5
"""About how many lines of the grid there are in each direction."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """One view in parallel projection.

    Attributes:
        axes: which axis of the frame points to the right, and which up.
        middle: what is in the middle, shape (3,), m.
        reach: half the side of the cube that is shown, m.
    """

    axes: tuple[int, int]
    middle: Array
    reach: float

    @property
    def scale(self) -> float:
        """Pixels per metre; a tenth is left free at the border."""
        return (SIZE - LEFT - BOTTOM - 2 * EDGE) / (2.2 * self.reach)

    def place(self, point: Array) -> tuple[float, float]:
        """Where a point is drawn.

        Args:
            point: in the frame, shape (3,), m.

        Returns:
            To the right and down, px.
        """
        right, up = (point - self.middle)[list(self.axes)].tolist()
        return (
            (SIZE + LEFT - EDGE) / 2 + self.scale * right,
            (SIZE - BOTTOM + EDGE) / 2 - self.scale * up,
        )

    def grid(self) -> list[dict[str, object]]:
        """Lines at round numbers of millimetres, with their labels: a path, and where which text stands."""
        step = _round_step(2.2 * self.reach / LINES)
        marks: list[dict[str, object]] = []
        for axis, upright in zip(self.axes, (True, False), strict=True):
            low, high = self.middle[axis] - 1.1 * self.reach, self.middle[axis] + 1.1 * self.reach
            for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1):
                point = self.middle.copy()
                point[axis] = k * step
                x, y = self.place(point)
                text = f"{1e3 * k * step:.6g}".replace("-", MINUS)
                if upright:
                    path = f"M{x:.1f} {EDGE}V{SIZE - BOTTOM}"
                    at = {"x": f"{x:.1f}", "y": SIZE - BOTTOM + 16, "anchor": "middle"}
                else:
                    path = f"M{LEFT} {y:.1f}H{SIZE - EDGE}"
                    at = {"x": LEFT - 5, "y": f"{y + 4:.1f}", "anchor": "end"}
                marks.append({"path": path, "text": text, **at})
        return marks

    def frame(self) -> list[dict[str, str]]:
        """The frame's two axes in this view: a path from its origin, and where the name stands."""
        marks = []
        x, y = self.place(np.zeros(3))
        for axis in self.axes:
            tip = np.zeros(3)
            tip[axis] = 0.45 * self.reach
            u, v = self.place(tip)
            path = f"M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}"
            marks.append({"path": path, "x": f"{u + 5:.1f}", "y": f"{v - 5:.1f}", "text": "xyz"[axis]})
        return marks

    def rectangle(self, corners: Array, kind: str) -> dict[str, str]:
        """A box, cut where it leaves the sheet.

        Args:
            corners: its lower and upper corner in rows, shape (2, 3), m; may be infinite.
            kind: class of the element.

        Returns:
            Class, place and size.
        """
        far = 2.0 * self.reach
        (x, bottom), (right, y) = (
            self.place(np.clip(corner, self.middle - far, self.middle + far)) for corner in corners
        )
        return {
            "kind": kind,
            "x": f"{x:.1f}",
            "y": f"{y:.1f}",
            "width": f"{right - x:.1f}",
            "height": f"{bottom - y:.1f}",
        }


def _round_step(raw: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(raw))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= 0.999 * raw))


# Guaranteed bounds on the page: the ten numbers between them, and everything they assume.


def _bounds(content: PayloadContent) -> dict[str, object]:
    """The bounds beside estimates and intervals, with what they rest on; empty where none were asked for."""
    bounds = content.bounds
    if bounds is None:
        return {}
    open_ends = int(bounds.prior_decides.sum())
    return {
        "untested": bounds.untested,
        "tested": [sentence for sentence in bounds.assumptions if sentence not in bounds.untested],
        "open_ends": "one of the numbers" if open_ends == 1 else f"{open_ends} of the numbers",
        "by_prior": open_ends > 0,
        "heads": ("number", "estimate", _INTERVAL, "guaranteed", "bounded by"),
        "groups": _bounded_groups(content, bounds),
    }


def _bounded_groups(content: PayloadContent, bounds: GuaranteedBounds) -> list[list[list[object]]]:
    ends = [outward(*pair) for pair in zip(bounds.lower.tolist(), bounds.upper.tolist(), strict=True)]
    by = ["prior’s end" if is_open else "data" for is_open in bounds.prior_decides]
    groups: list[list[list[object]]] = []
    for part in (slice(0, 1), slice(1, 4), slice(4, 10)):
        bounded = told_ends([low for low, _ in ends[part]], [high for _, high in ends[part]])
        rows = zip(content.ten[part], told_numbers(content.ten[part]), bounded, by[part], strict=True)
        groups.append([[headed(n), *told, between, who] for n, told, between, who in rows])
    return groups


# Three views of a payload: its frame, its centre of mass, and the ellipsoid its inertia is worth.

VIEWS = ((0, 2), (1, 2), (0, 1))
"""Axes that point to the right and up in each view."""


def _views(content: PayloadContent) -> list[dict[str, object]]:
    """The payload from three sides, to one scale, as `view` of `payload_parts.html` draws it."""
    corners = [np.zeros((1, 3)), _box(content.body)]
    corners += [] if content.mesh is None else [content.mesh.vertices]
    corners += [] if content.uniform is None else [_box(content.uniform)]
    points = np.concatenate(corners)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    reach = 0.5 * float(np.ptp(points, axis=0).max()) or 0.1
    return [_view(content, Sheet(pair, middle, reach)) for pair in VIEWS]


def _view(content: PayloadContent, sheet: Sheet) -> dict[str, object]:
    right, up = ("xyz"[axis] for axis in sheet.axes)
    solids = [] if content.uniform is None else [_solid(sheet, content.uniform, "nominal")]
    boxes = [] if content.bounds is None else [sheet.rectangle(content.bounds.com_bounds, "limit")]
    com = [content.number(f"com_{axis}") for axis in "xyz"]
    ends = np.array([[number.lower for number in com], [number.upper for number in com]])
    x, y = sheet.place(np.zeros(3))
    return {
        "right": right,
        "up": up,
        "size": f"{SIZE:g}",
        "grid": sheet.grid(),
        "outline": None if content.mesh is None else _outline(sheet, content.mesh.vertices),
        "axes": sheet.frame(),
        "origin": {"x": f"{x:.1f}", "y": f"{y:.1f}"},
        "solids": [*solids, _solid(sheet, content.body, "estimated")],
        "boxes": [*boxes, sheet.rectangle(ends, "chosen")],
    }


def _solid(sheet: Sheet, body: Body, kind: str) -> dict[str, object]:
    """The outline of the equivalent ellipsoid, which is an ellipse, and its centre."""
    x, y = sheet.place(body.com)
    centre = {"kind": kind, "x": f"{x:.1f}", "y": f"{y:.1f}"}
    try:
        M = _shape(body)[list(sheet.axes)]
    except InputError:
        return {**centre, "ellipse": None}
    squares, axes = np.linalg.eigh(M @ M.T)
    ry, rx = sheet.scale * np.sqrt(np.maximum(squares, 0.0))
    # Up is against the second axis of the screen, so that an angle turns the other way.
    angle = -np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
    return {**centre, "ellipse": {"rx": f"{rx:.1f}", "ry": f"{ry:.1f}", "angle": f"{angle:.2f}"}}


def _outline(sheet: Sheet, vertices: Array) -> str:
    """Corners of the convex outline of points; of a line where they project to one."""
    flat = vertices[:, list(sheet.axes)]
    try:
        corners = vertices[ConvexHull(flat).vertices]
    except (QhullError, ValueError):
        corners = vertices[[int(flat.sum(axis=1).argmin()), int(flat.sum(axis=1).argmax())]]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in (sheet.place(corner) for corner in corners))


def _shape(body: Body) -> Array:
    """The matrix that makes the equivalent ellipsoid of the unit ball, shape (3, 3), m."""
    ellipsoid = body.equivalent_ellipsoid()
    return np.asarray(ellipsoid.pose.rotation * ellipsoid.semi_axes)


def _box(body: Body) -> Array:
    """Two corners of the box around the equivalent ellipsoid, shape (2, 3), m."""
    try:
        half = np.linalg.norm(_shape(body), axis=1)
    except InputError:
        half = np.zeros(3)
    return np.array([body.com - half, body.com + half])


# The payload on the page: three views of it, and every number people ask for.

_GROUPS = ("mass", "com", "I", "moment")


def _payload(content: PayloadContent) -> dict[str, object]:
    """The drawings and the table of numbers."""
    sure = {} if content.bounds is None else _guaranteed_words(content.bounds)
    groups = [[n for n in content.numbers if n.name.startswith(start)] for start in _GROUPS]
    return {
        "views": _views(content),
        "uniform": content.uniform is not None,
        "mesh": content.mesh is not None,
        "bounded": bool(sure),
        "meaning": _meaning(content),
        "heads": ("number", "estimate", _INTERVAL, *(["guaranteed"] if sure else []), "decided by"),
        "groups": [_rows(group, sure) for group in groups],
    }


def _meaning(content: PayloadContent) -> str:
    """What it means that data or prior decided."""
    guessed = sum(number.decided is DecidedBy.PRIOR for number in content.numbers)
    if not guessed:
        return "The data decided every number."
    are = "is" if guessed == 1 else "are"
    return (
        f"{guessed} of {len(content.numbers)} numbers {are} decided by the prior: there the data alone would "
        "spread much wider, or does not settle a principal moment. Such an interval is as wide as what can "
        f"exist. {content.prior}"
    )


def _rows(numbers: Sequence[PayloadNumber], sure: dict[str, str]) -> list[list[object]]:
    rows: list[list[object]] = []
    for number, told in zip(numbers, told_numbers(numbers), strict=True):
        bounded = [sure.get(number.name, "–")] if sure else []
        decided = "–" if number.decided is None else number.decided.value
        by = {"strong": decided} if number.decided is DecidedBy.PRIOR else decided
        rows.append([headed(number), *told, *bounded, by])
    return rows


def _guaranteed_words(bounds: GuaranteedBounds) -> dict[str, str]:
    """Guaranteed intervals by the name of the number, as text."""
    mass = outward(float(bounds.lower[0]), float(bounds.upper[0]))
    places = [outward(*ends, power=3) for ends in bounds.com_bounds.T.tolist()]
    told = told_ends([low for low, _ in places], [high for _, high in places])
    return {
        "mass": f"{mass[0]} … {mass[1]}",
        **{f"com_{axis}": t for axis, t in zip("xyz", told, strict=True)},
    }


# The payload under other drive gains: how far apart the answers are, and whether that limits them.

_ASKED = ("mass", "com_x", "com_y", "com_z")


def _gains(content: PayloadContent) -> dict[str, object]:
    """Mass and centre of mass under other drive gains, and whether these limit the answer; or empty.

    The gains do where the answers under all gains lie farther apart than a 95 % interval is wide.
    """
    if not content.others:
        return {}
    answers = [tuple(content.number(name).value for name in _ASKED)]
    answers += [(answer.mass, *answer.com.tolist()) for answer in content.others]
    columns, told, limited = [], [], False
    for k, name in enumerate(_ASKED):
        number = content.number(name)
        scale, unit = scale_of(number.unit), read_unit(number.unit)
        values = [answer[k] for answer in answers]
        columns.append(
            aligned_numerals([numeral(scale * value, scale * number.half_width) for value in values])
        )
        apart, wide = max(values) - min(values), 2.0 * number.half_width
        limited = limited or apart > wide
        if name == "mass" or apart > wide:
            told.append(
                f"{label(name)[0]} by {numeral(scale * apart, digits=2)}\u202f{unit}, where the interval is "
                f"{numeral(scale * wide, digits=2)}\u202f{unit} wide"
            )
    here = {"name": content.gains, "more": ", as used here"} if content.gains else "as used here"
    names = [here, *({"name": answer.name, "more": ""} for answer in content.others)]
    return {
        "limited": limited,
        "differ": Typeset(f"The answers differ in {'; '.join(told)}."),
        "heads": ("gains", "mass, kg", "centre x, mm", "centre y, mm", "centre z, mm"),
        "rows": [[name, *texts] for name, *texts in zip(names, *columns, strict=True)],
    }


# The payload beside others: a solid of one density, and another object in the same trials.


def _density(content: PayloadContent) -> dict[str, object]:
    """The measured numbers beside those of the mesh filled with one density; empty where it was not asked."""
    check, solid = content.density, content.uniform
    if check is None:
        return {}
    return {
        "status": check.status.value,
        "symbol": SYMBOLS[check.status],
        "message": check.message,
        "heads": ("number", "measured", _INTERVAL, "one density", "of the interval"),
        "rows": [] if solid is None else _beside_uniform(content, solid),
    }


def _beside_uniform(content: PayloadContent, solid: Body) -> list[list[object]]:
    solid_numbers = quantities(solid.parameters).tolist()
    rows: list[list[object]] = []
    for start in ("com", "I", "moment"):
        pairs = [
            (number, value)
            for number, value in zip(content.numbers, solid_numbers, strict=True)
            if number.name.startswith(start)
        ]
        uniform = aligned_numerals([_read(value, number) for number, value in pairs])
        told = told_numbers([number for number, _ in pairs])
        for (number, value), texts, own in zip(pairs, told, uniform, strict=True):
            inside = number.lower <= value <= number.upper
            rows.append([headed(number), *texts, own, "inside" if inside else {"strong": "outside"}])
    return rows


def _read(value: float, number: PayloadNumber) -> str:
    """A value with the digits that the interval of a number leaves."""
    scale = scale_of(number.unit)
    return numeral(scale * value, scale * number.half_width)


_TRIAL_HEADS = ("trial", "beside", "watched", "distance", "angle", "time of a swing")


def _trial(trial: TrialOutcome) -> list[object]:
    swing = "–"
    if trial.periods is not None:
        own, other = (numeral(period) for period in trial.periods)
        swing = Typeset(f"{own} against {other}\u202fs")
    return [
        {"name": trial.trial, "more": ""},
        {"name": trial.other, "more": ""},
        Typeset(f"{trial.seconds:g}\u202fs"),
        Typeset(f"{numeral(1e3 * trial.distance, digits=2)}\u202fmm"),
        f"{numeral(math.degrees(trial.angle), digits=2)}°",
        swing,
    ]


# How to load the asset beside the page: a few lines for each simulator.

MUJOCO = """\
import mujoco

scene = mujoco.MjSpec()  # or mujoco.MjSpec.from_file("scene.xml")
place = scene.worldbody.add_frame(pos=[0, 0, 1])
scene.attach(mujoco.MjSpec.from_file("object.xml"), frame=place, prefix="held_")
model = scene.compile()
"""
PINOCCHIO = """\
import pinocchio

model = pinocchio.buildModelFromUrdf("object.urdf")
body = model.inertias[1]  # in the payload's frame
# on an arm: arm.inertias[joint] += placement.act(body)
"""
GAZEBO = """\
<!-- in a world; or, with ROS: ros2 run ros_gz_sim create -file object.sdf -z 1 -->
<include>
  <uri>file:///path/to/object.sdf</uri>
  <pose>0 0 1 0 0 0</pose>
</include>
"""
SNIPPETS = {
    "object.xml": ("MuJoCo", MUJOCO),
    "object.urdf": ("Pinocchio, and whatever else reads URDF", PINOCCHIO),
    "object.sdf": ("Gazebo", GAZEBO),
}
"""Title and text by the file that is loaded."""


def _snippets(content: PayloadContent) -> list[tuple[str, str]]:
    """Title and text for the models that are there."""
    return [
        # Escaped here: what templates escape is one line.
        (title, markup(escape(text, quote=True)))
        for file, (title, text) in SNIPPETS.items()
        if file in content.files
    ]


# The runs behind a payload on the page: its torque, the arm that carries it, and the record.


def payload_as_report(content: PayloadContent) -> ReportContent:
    """What the page of a payload has in common with that of an identified robot.

    Args:
        content: what the page says.

    Returns:
        The same robot, checks, torques, findings and record.
    """
    return ReportContent(
        robot=content.robot,
        digest=content.digest,
        method=content.way,
        verdict=content.verdict,
        joints=content.joints,
        units=content.units,
        traces=content.traces,
        arm=content.arm,
        findings=content.findings,
        histories=content.histories,
        facts=content.facts,
        versions=content.versions,
        read_back=content.read_back,
        untested=content.untested,
        made=content.made,
    )


def _arm(arm: ArmDrawing) -> dict[str, object]:
    """What stands beside the drawing of the arm with its payload."""
    return {
        "layers": (("shapes", "shapes"), ("nominal", "arm, as described"), ("estimated", "payload")),
        "motion": arm.motion,
        "last_pose": len(arm.time) - 1,
    }


# The head of a payload's page: what it weighs, where its centre is, and whether to believe it.


def _opening(content: PayloadContent) -> dict[str, object]:
    """Mass, verdict, centre of mass, and the way they were found."""
    mass = content.number("mass")
    value, lower, upper = interval_numerals(mass)
    status, untested = content.verdict.status, content.verdict.untested
    were = "was" if len(untested) == 1 else "were"
    missing = f"{len(untested)} of {len(content.verdict.checks)} checks {were} not run." if untested else ""
    return {
        "robot": content.robot,
        "mass": value,
        "lower": lower,
        "upper": upper,
        "by_prior": mass.decided is DecidedBy.PRIOR,
        "guaranteed": _guaranteed_mass(content),
        "status": status.value,
        "symbol": SYMBOLS[status],
        "headline": headline(content.verdict, "these numbers", "are"),
        "missing": missing,
        "figures": _figures(content),
        "way": content.way,
        "why": content.why,
        "frame": content.frame,
        "link": content.link,
    }


def _guaranteed_mass(content: PayloadContent) -> dict[str, str]:
    """The bounds of the mass, tied to what they assume; empty where none were asked for."""
    if content.bounds is None:
        return {}
    lower, upper = outward(float(content.bounds.lower[0]), float(content.bounds.upper[0]))
    count, untested = len(content.bounds.assumptions), len(content.bounds.untested)
    return {
        "lower": lower,
        "upper": upper,
        "rests": "this assumption holds" if count == 1 else f"these {count} assumptions hold",
        "untested": f"{untested} of them the data cannot test" if untested else "",
    }


def _figures(content: PayloadContent) -> list[tuple[dict[str, str], str]]:
    """Labels, some with an interval, and figures."""
    figures: list[tuple[dict[str, str], str]] = []
    for axis in "xyz":
        number = content.number(f"com_{axis}")
        value, lower, upper = interval_numerals(number)
        by = ", by the prior" if number.decided is DecidedBy.PRIOR else ""
        words = {"words": f"centre of mass, {axis}", "interval": f"{lower} to {upper}{by}"}
        figures.append((words, Typeset(f"{value}\u202fmm")))
    samples, condition = (content.facts.get(name) for name in ("samples", "condition number"))
    if isinstance(samples, int):
        counted = Typeset(f"{samples:,}".replace(",", "\u202f"))
        figures.append(({"words": "samples", "interval": ""}, counted))
    if isinstance(condition, int | float):
        told = f"{condition:.3g}".replace("inf", "∞")
        figures.append(({"words": "condition number", "interval": ""}, told))
    return figures


STYLES = ("page.css", "motion_page.css")


_HEADINGS = {
    "verdict": "Verdict",
    "payload": "Payload",
    "guaranteed": "Guaranteed bounds",
    "gains": "Drive gains",
    "density": "One density?",
    "trials": "Trials",
    "checks": "Checks",
    "torque": "Torque",
    "arm": "Arm",
    "load": "Load it",
    "findings": "Findings",
    "record": "Record",
}


def payload_page(content: PayloadContent) -> str:
    """Write the page of one payload, by the template `payload.html`.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    common = payload_as_report(content)
    read = {"robot description": content.digest, **content.inputs}
    told = {
        "opening": _opening(content),
        "payload": _payload(content),
        "guaranteed": _bounds(content),
        "gains": _gains(content),
        "density": _density(content),
        "trials": [_trial(trial) for trial in content.trials],
        "trial_heads": _TRIAL_HEADS,
        "checks": checks_of(common),
        "untested": untested_of(common),
        "torque": torque_errors_of(common),
        "wrench": content.wrench,
        "arm": None if content.arm is None else _arm(content.arm),
        "load": _snippets(content),
        "files": content.files,
        "findings": findings_of(common),
        "read": [(name, digest) for name, digest in read.items() if digest],
        "record": record_of(common),
    }
    optional = ("guaranteed", "gains", "density", "trials", "torque", "arm", "load")
    left_out = {anchor for anchor in optional if not told[anchor]}
    headings = _HEADINGS | ({"torque": "Wrench"} if content.wrench else {})
    return render_page(
        "payload.html",
        f"{content.robot}: what it holds",
        {anchor: heading for anchor, heading in headings.items() if anchor not in left_out},
        told,
        plot_data(common),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )
