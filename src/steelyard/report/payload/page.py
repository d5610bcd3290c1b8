"""The page of a weighed payload: one self-contained HTML file, readable with scripts off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from steelyard.arrays import Array
from steelyard.audit import Status, Verdict
from steelyard.errors import InputError
from steelyard.inertia import Body, equivalent_ellipsoid
from steelyard.payloads import DecidedBy, quantities
from steelyard.report.content import SYMBOLS, ReportContent
from steelyard.report.html import MINUS, aligned_numerals, html_table, marked_up, numeral
from steelyard.report.identification import (
    SCRIPTS,
    checks_section,
    findings_section,
    plot_data,
    record_section,
    torque_section,
)
from steelyard.report.page import page
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
    theorem13_table,
    told_ends,
    told_numbers,
)
from steelyard.uncertainty import GuaranteedBounds

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

    def grid(self) -> list[str]:
        """Lines at round numbers of millimetres, with their labels."""
        step = _round_step(2.2 * self.reach / LINES)
        marks = []
        for axis, upright in zip(self.axes, (True, False), strict=True):
            low, high = self.middle[axis] - 1.1 * self.reach, self.middle[axis] + 1.1 * self.reach
            for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1):
                point = self.middle.copy()
                point[axis] = k * step
                x, y = self.place(point)
                line = f"M{x:.1f} {EDGE}V{SIZE - BOTTOM}" if upright else f"M{LEFT} {y:.1f}H{SIZE - EDGE}"
                at = f'x="{x:.1f}" y="{SIZE - BOTTOM + 16}"' if upright else f'x="{LEFT - 5}" y="{y + 4:.1f}"'
                anchor = "middle" if upright else "end"
                told = f"{1e3 * k * step:.6g}".replace("-", MINUS)
                marks.append(f'<path class="grid" d="{line}"/>')
                marks.append(f'<text {at} text-anchor="{anchor}">{told}</text>')
        return marks

    def frame(self) -> list[str]:
        """The frame's origin and its two axes in this view."""
        marks = []
        x, y = self.place(np.zeros(3))
        for axis in self.axes:
            tip = np.zeros(3)
            tip[axis] = 0.45 * self.reach
            u, v = self.place(tip)
            marks.append(f'<path class="bone" d="M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}"/>')
            marks.append(f'<text x="{u + 5:.1f}" y="{v - 5:.1f}">{"xyz"[axis]}</text>')
        marks.append(f'<circle class="joint" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
        return marks

    def rectangle(self, corners: Array, kind: str) -> str:
        """A box, cut where it leaves the sheet.

        Args:
            corners: its lower and upper corner in rows, shape (2, 3), m; may be infinite.
            kind: class of the element.

        Returns:
            SVG.
        """
        far = 2.0 * self.reach
        (x, bottom), (right, y) = (
            self.place(np.clip(corner, self.middle - far, self.middle + far)) for corner in corners
        )
        return (
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{right - x:.1f}" '
            f'height="{bottom - y:.1f}"/>'
        )

    def svg(self, marks: Sequence[str], told: str) -> str:
        """The drawing.

        Args:
            marks: SVG elements, those behind first.
            told: what it shows, as plain text without markup.

        Returns:
            SVG.
        """
        return f'<svg role="img" aria-label="{told}" viewBox="0 0 {SIZE:g} {SIZE:g}">{"".join(marks)}</svg>'


def _round_step(raw: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(raw))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= 0.999 * raw))


# Guaranteed bounds on the page: the ten numbers between them, and everything they assume.


def payload_bounds_section(content: PayloadContent) -> str:
    """The bounds beside estimates and intervals, after the list of what they rest on.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no bounds were asked for.
    """
    bounds = content.bounds
    if bounds is None:
        return ""
    tested = [sentence for sentence in bounds.assumptions if sentence not in bounds.untested]
    open_ends = int(bounds.prior_decides.sum())
    told = ""
    if open_ends:
        number = "one of the numbers" if open_ends == 1 else f"{open_ends} of the numbers"
        told = f" Of {number} an end is the prior’s own: there the data excludes nothing."
    return (
        "<p>No payload outside these bounds explains the data, if all of the following holds. Where one "
        "sentence is wrong, nothing is guaranteed.</p>\n"
        f"{_listed('The data cannot show whether these hold, unless they are far off:', bounds.untested)}"
        f"{_listed('The data was held against these and does not contradict them:', tested)}"
        "<h3>The ten numbers about the frame</h3>\n"
        f"<p>Moments and inertia are about the origin of the frame, in its axes.{told} Bounds are rounded "
        "outwards.</p>\n"
        f"{_bounds_table(content, bounds)}"
        f"{theorem13_table(np.array([bounds.lower, bounds.upper]), content.published)}"
    )


def _listed(head: str, sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    items = "".join(f"<li>{marked_up(sentence)}</li>" for sentence in sentences)
    return f'<p>{head}</p>\n<ul class="untested">{items}</ul>\n'


def com_bounds(bounds: GuaranteedBounds) -> Array:
    """Bounds of the centre of mass, c = h / m over the box of first moments and mass.

    Args:
        bounds: of the ten numbers.

    Returns:
        Lower and upper ends in rows, shape (2, 3), m; infinite where the mass may be zero.
    """
    masses = np.array([bounds.lower[0], bounds.upper[0]])
    if not masses[0] > 0.0:
        return np.array([[-np.inf] * 3, [np.inf] * 3])
    corners = np.array([h[1:4] / m for h in (bounds.lower, bounds.upper) for m in masses])
    # A division is rounded to nearest: one step outwards holds what it stands for.
    return np.array([np.nextafter(corners.min(axis=0), -np.inf), np.nextafter(corners.max(axis=0), np.inf)])


def _bounds_table(content: PayloadContent, bounds: GuaranteedBounds) -> str:
    ends = [outward(*pair) for pair in zip(bounds.lower.tolist(), bounds.upper.tolist(), strict=True)]
    by = ["prior’s end" if is_open else "data" for is_open in bounds.prior_decides]
    groups = []
    for part in (slice(0, 1), slice(1, 4), slice(4, 10)):
        bounded = told_ends([low for low, _ in ends[part]], [high for _, high in ends[part]])
        rows = zip(content.ten[part], told_numbers(content.ten[part]), bounded, by[part], strict=True)
        groups.append([[headed(n), *told, between, who] for n, told, between, who in rows])
    heads = ("number", "estimate", "95\u202f% interval", "guaranteed", "bounded by")
    return html_table("Bounds of the ten numbers", heads, groups)


# Three views of a payload: its frame, its centre of mass, and the ellipsoid its inertia is worth.

VIEWS = ((0, 2), (1, 2), (0, 1))
"""Axes that point to the right and up in each view."""


def payload_views(content: PayloadContent) -> str:
    """Draw the payload from three sides, to one scale.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    corners = [np.zeros((1, 3)), _box(content.body)]
    corners += [] if content.mesh is None else [content.mesh.vertices]
    corners += [] if content.uniform is None else [_box(content.uniform)]
    points = np.concatenate(corners)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    reach = 0.5 * float(np.ptp(points, axis=0).max()) or 0.1
    figures = "".join(_view(content, Sheet(pair, middle, reach)) for pair in VIEWS)
    return f'<div class="facts">{figures}</div>\n{_key(content)}'


def _view(content: PayloadContent, sheet: Sheet) -> str:
    right, up = ("xyz"[axis] for axis in sheet.axes)
    marks = [*sheet.grid()]
    if content.mesh is not None:
        marks.append(_outline(sheet, content.mesh.vertices))
    marks += sheet.frame()
    if content.uniform is not None:
        marks.append(_solid(sheet, content.uniform, "nominal"))
    marks.append(_solid(sheet, content.body, "estimated"))
    if content.bounds is not None:
        marks.append(sheet.rectangle(com_bounds(content.bounds), "limit"))
    com = [content.number(f"com_{axis}") for axis in "xyz"]
    ends = np.array([[number.lower for number in com], [number.upper for number in com]])
    marks.append(sheet.rectangle(ends, "chosen"))
    told = f"The payload with {right} to the right and {up} up"
    return (
        f"<figure><figcaption><span><strong>{right}</strong> to the right, <strong>{up}</strong> up</span>"
        f"<output>mm</output></figcaption>{sheet.svg(marks, told)}</figure>"
    )


def _key(content: PayloadContent) -> str:
    """What the lines of the drawings mean."""
    words = [
        "The solid outline is the ellipsoid of one density that has the payload’s mass, centre of mass and "
        "inertia; the dot is the centre of mass, and the shaded rectangle its 95\u202f% interval, which may "
        "be smaller than the dot."
    ]
    if content.uniform is not None:
        words.append("Dashed: the same for the mesh filled with one density.")
    if content.mesh is not None:
        words.append("Grey: the convex outline of the mesh.")
    if content.bounds is not None:
        words.append(
            'The empty rectangle bounds the centre of mass, guaranteed if <a href="#guaranteed">all that is '
            "listed</a> holds; it may be larger than the drawing."
        )
    return f'<p class="quiet">{" ".join(words)}</p>\n'


def _solid(sheet: Sheet, body: Body, kind: str) -> str:
    """The outline of the equivalent ellipsoid, which is an ellipse, and its centre."""
    x, y = sheet.place(body.com)
    dot = f'<circle class="centre" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>'
    try:
        M = _shape(body)[list(sheet.axes)]
    except InputError:
        return f'<g class="ellipsoid {kind}">{dot}</g>'
    squares, axes = np.linalg.eigh(M @ M.T)
    ry, rx = sheet.scale * np.sqrt(np.maximum(squares, 0.0))
    # Up is against the second axis of the screen, so that an angle turns the other way.
    angle = -np.degrees(np.arctan2(axes[1, 1], axes[0, 1]))
    return (
        f'<g class="ellipsoid {kind}"><ellipse class="body" rx="{rx:.1f}" ry="{ry:.1f}" '
        f'transform="translate({x:.1f} {y:.1f}) rotate({angle:.2f})"/>{dot}</g>'
    )


def _outline(sheet: Sheet, vertices: Array) -> str:
    """The convex outline of points; a line where they project to one."""
    flat = vertices[:, list(sheet.axes)]
    try:
        corners = vertices[ConvexHull(flat).vertices]
    except (QhullError, ValueError):
        corners = vertices[[int(flat.sum(axis=1).argmin()), int(flat.sum(axis=1).argmax())]]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (sheet.place(corner) for corner in corners))
    return f'<polygon class="shape" points="{path}"/>'


def _shape(body: Body) -> Array:
    """The matrix that makes the equivalent ellipsoid of the unit ball, shape (3, 3), m."""
    ellipsoid = equivalent_ellipsoid(body)
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


def number_section(content: PayloadContent) -> str:
    """The drawing and the table.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    guessed = sum(number.decided is DecidedBy.PRIOR for number in content.numbers)
    meaning = "The data decided every number." if not guessed else _prior_words(content, guessed)
    return (
        f"{payload_views(content)}"
        "<h3>Mass, centre of mass, inertia</h3>\n"
        f"<p>Inertia is about the centre of mass, along the axes of the frame. {meaning}</p>\n"
        f"{_number_table(content)}"
    )


def _prior_words(content: PayloadContent, guessed: int) -> str:
    are = "is" if guessed == 1 else "are"
    return (
        f"{guessed} of {len(content.numbers)} numbers {are} decided by the prior: there the data alone would "
        "spread much wider, or does not settle a principal moment. Such an interval is as wide as what can "
        f"exist. {marked_up(content.prior)}"
    )


def _number_table(content: PayloadContent) -> str:
    sure = {} if content.bounds is None else _guaranteed_words(content.bounds)
    heads = ["number", "estimate", "95\u202f% interval", *(["guaranteed"] if sure else []), "decided by"]
    groups = [[n for n in content.numbers if n.name.startswith(start)] for start in _GROUPS]
    note = (
        '<p class="quiet">The column “guaranteed” rests on <a href="#guaranteed">all that is listed '
        "below</a>; inertia is bounded there, about the frame.</p>\n"
        if sure
        else ""
    )
    return html_table("Numbers of the payload", heads, [_rows(group, sure) for group in groups]) + note


def _rows(numbers: Sequence[PayloadNumber], sure: dict[str, str]) -> list[list[str]]:
    rows = []
    for number, told in zip(numbers, told_numbers(numbers), strict=True):
        bounded = [sure.get(number.name, "–")] if sure else []
        decided = "–" if number.decided is None else number.decided.value
        by = f"<strong>{decided}</strong>" if number.decided is DecidedBy.PRIOR else decided
        rows.append([headed(number), *told, *bounded, by])
    return rows


def _guaranteed_words(bounds: GuaranteedBounds) -> dict[str, str]:
    """Guaranteed intervals by the name of the number, as text."""
    mass = outward(float(bounds.lower[0]), float(bounds.upper[0]))
    places = [outward(*ends, power=3) for ends in com_bounds(bounds).T.tolist()]
    told = told_ends([low for low, _ in places], [high for _, high in places])
    return {
        "mass": f"{mass[0]} … {mass[1]}",
        **{f"com_{axis}": t for axis, t in zip("xyz", told, strict=True)},
    }


# The payload under other drive gains: how far apart the answers are, and whether that limits them.

_ASKED = ("mass", "com_x", "com_y", "com_z")


def gains_section(content: PayloadContent) -> str:
    """Mass and centre of mass under other drive gains, and whether these limit the answer.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where there is no other answer.
    """
    if not content.others:
        return ""
    answers = [tuple(content.number(name).value for name in _ASKED)]
    answers += [(answer.mass, *answer.com.tolist()) for answer in content.others]
    here = f"<bdi>{marked_up(content.gains)}</bdi>, as used here" if content.gains else "as used here"
    columns = []
    for k, name in enumerate(_ASKED):
        number = content.number(name)
        scale = scale_of(number.unit)
        texts = [numeral(scale * values[k], scale * number.half_width) for values in answers]
        columns.append(aligned_numerals(texts))
    names = [here, *(f"<bdi>{marked_up(answer.name)}</bdi>" for answer in content.others)]
    heads = ("gains", "mass, kg", "centre x, mm", "centre y, mm", "centre z, mm")
    rows = [[name, *texts] for name, *texts in zip(names, *columns, strict=True)]
    return f"<p>{gain_words(content)}</p>\n{html_table('Answers under other drive gains', heads, [rows])}"


def gain_words(content: PayloadContent) -> str:
    """Whether drive gains or noise limit the answer.

    The gains do where the answers under all gains lie farther apart than a 95 % interval is wide.

    Args:
        content: what the page says; there is another answer.

    Returns:
        HTML.
    """
    told, limited = [], []
    for k, name in enumerate(_ASKED):
        number = content.number(name)
        scale, unit = scale_of(number.unit), read_unit(number.unit)
        values = [number.value, *(answer.com[k - 1] if k else answer.mass for answer in content.others)]
        apart, wide = float(max(values) - min(values)), 2.0 * number.half_width
        if apart > wide:
            limited.append(label(name))
        if name == "mass" or apart > wide:
            told.append(
                f"{label(name)} by {numeral(scale * apart, digits=2)}\u202f{unit}, where the interval is "
                f"{numeral(scale * wide, digits=2)}\u202f{unit} wide"
            )
    differ = f"The answers differ in {'; '.join(told)}."
    if not limited:
        return f"{differ} The intervals, which tell of noise alone, hold that much."
    return (
        f"<strong>The drive gains limit this answer, not noise.</strong> {differ} The intervals tell of "
        "noise alone: whoever does not know the gains better does not know the payload better."
    )


# The payload beside others: a solid of one density, and another object in the same trials.


def density_section(content: PayloadContent) -> str:
    """The measured numbers beside those of the mesh filled with one density.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where it was not asked.
    """
    check, solid = content.density, content.uniform
    if check is None:
        return ""
    said = (
        f'<ul class="checks"><li data-status="{check.status.value}"><span class="mark" aria-hidden="true">'
        f'{SYMBOLS[check.status]}</span><span class="state">{check.status.value}</span>'
        f"<div>{marked_up(check.message)}</div></li></ul>\n"
    )
    if solid is None:
        return said
    solid_numbers = quantities(solid.parameters).tolist()
    rows = []
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
            rows.append([headed(number), *texts, own, "inside" if inside else "<strong>outside</strong>"])
    heads = ("number", "measured", "95\u202f% interval", "one density", "of the interval")
    return (
        f"{said}{html_table('Measured and uniform numbers', heads, [rows])}"
        '<p class="quiet">The mesh is filled with the measured mass. The verdict above weighs all numbers '
        "together; one that is outside its own interval need not contradict it, nor one inside agree.</p>\n"
    )


def _read(value: float, number: PayloadNumber) -> str:
    """A value with the digits that the interval of a number leaves."""
    scale = scale_of(number.unit)
    return numeral(scale * value, scale * number.half_width)


def trials_section(content: PayloadContent) -> str:
    """How far the asset moves from another object in the same trials.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where there was no trial.
    """
    if not content.trials:
        return ""
    heads = ("trial", "beside", "watched", "distance", "angle", "time of a swing")
    return (
        "<p>The asset and another object went through the same trials in MuJoCo; told are the largest "
        "distance and angle between their frames.</p>\n"
        f"{html_table('Trials', heads, [[_trial(trial) for trial in content.trials]])}"
    )


def _trial(trial: TrialOutcome) -> list[str]:
    swing = "–"
    if trial.periods is not None:
        own, other = (numeral(period) for period in trial.periods)
        swing = f"{own} against {other}\u202fs"
    return [
        f"<bdi>{marked_up(trial.trial)}</bdi>",
        f"<bdi>{marked_up(trial.other)}</bdi>",
        f"{trial.seconds:g}\u202fs",
        f"{numeral(1e3 * trial.distance, digits=2)}\u202fmm",
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


def loading_section(content: PayloadContent) -> str:
    """The snippets of the models that are there, and the other files.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no model is written.
    """
    parts = [
        f'<h3>{title}</h3>\n<div class="scroll" tabindex="0" role="region" aria-label="{title}">'
        f"<pre><code>{escape(text)}</code></pre></div>\n"
        for file, (title, text) in SNIPPETS.items()
        if file in content.files
    ]
    if not parts:
        return ""
    listed = ", ".join(f"<code>{marked_up(file)}</code>" for file in content.files)
    return (
        "<p>The models stand beside this page, in the payload’s frame. A mesh is found by its name, so keep "
        f"the files together: {listed}.</p>\n{''.join(parts)}"
    )


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


def payload_torque_section(content: PayloadContent) -> str:
    """The torque the payload adds, measured and explained.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no run is shown.
    """
    if not content.traces:
        return ""
    return (
        "<p>Measured is the torque of the loaded run beyond what the arm itself needs. Predicted is what the "
        "payload found here adds to it, with the change of friction and offset that fits best. The "
        "difference is what is left: noise, and whatever is not a payload.</p>\n"
        f"{torque_section(payload_as_report(content))}"
    )


def payload_arm_section(content: PayloadContent) -> str:
    """The place of the drawing of the arm with its payload.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no arm is drawn.
    """
    arm = content.arm
    if arm is None:
        return ""
    slider = ""
    if len(arm.time) > 1:
        slider = (
            f'<label class="pose">Pose along <bdi>{marked_up(arm.motion)}</bdi> '
            f'<input id="pose" type="range" min="0" max="{len(arm.time) - 1}" value="0">'
            '<output id="pose-time" for="pose"></output></label>'
        )
    layers = (("shapes", "shapes"), ("nominal", "arm, as described"), ("estimated", "payload"))
    boxes = "".join(
        f'<label><input type="checkbox" data-layer="{name}" checked>'
        f'<span class="swatch {name}"></span>{told}</label>'
        for name, told in layers
    )
    return (
        "<p>Each ellipsoid is the uniform solid that has its body’s mass, centre of mass and inertia. Drag "
        "to turn, or focus the drawing and use the arrow keys; + and − change the size.</p>\n"
        f'<div class="controls" id="arm-controls" hidden>{boxes}'
        f'<button type="button" id="arm-reset">Reset view</button>{slider}</div>\n'
        '<div id="arm-view" tabindex="0" role="group" aria-label="Drawing of the arm with its payload. '
        'Arrow keys turn it, plus and minus change its size, Home resets it."></div>\n'
        "<noscript><p>The drawing needs scripts, which are off.</p></noscript>\n"
    )


def payload_record_section(content: PayloadContent) -> str:
    """Digests of what was read, the steps of every run, settings and versions.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    named = {"robot description": content.digest, **content.inputs}
    listed = "".join(
        f"<div><dt><bdi>{marked_up(name)}</bdi></dt><dd><code>{marked_up(digest)}</code></dd></div>"
        for name, digest in named.items()
        if digest
    )
    read = f'<h3>What was read</h3>\n<dl class="facts">{listed}</dl>\n' if listed else ""
    return f"{read}{record_section(payload_as_report(content))}"


# The head of a payload's page: what it weighs, where its centre is, and whether to believe it.


def payload_opening(content: PayloadContent) -> str:
    """Mass, verdict, centre of mass, and the way they were found.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    mass = content.number("mass")
    value, lower, upper = interval_numerals(mass)
    decided = " The prior decided it, not the data." if mass.decided is DecidedBy.PRIOR else ""
    status = content.verdict.status
    untested = content.verdict.untested
    were = "was" if len(untested) == 1 else "were"
    missing = f" {len(untested)} of {len(content.verdict.checks)} checks {were} not run." if untested else ""
    listed = "".join(f"<div><dt>{told}</dt><dd>{figure}</dd></div>" for figure, told in _figures(content))
    return (
        f'<p class="eyebrow"><bdi>{marked_up(content.robot)}</bdi> holds</p>\n<h1>{value}\u202fkg</h1>\n'
        f"<p>95\u202f% interval: {lower} to {upper}\u202fkg.{decided}{_guaranteed_mass(content)}</p>\n"
        f'<p class="verdict" data-status="{status.value}"><span class="mark" aria-hidden="true">'
        f"{SYMBOLS[status]}</span><span><strong>{payload_headline(content.verdict)}</strong>{missing}</span>"
        f'</p>\n<dl class="figures">{listed}</dl>\n'
        f"<p>Weighed by <strong>{marked_up(content.way)}</strong>: {marked_up(content.why)}. "
        f"Centre of mass and inertia are stated in the frame <bdi>{marked_up(content.frame)}</bdi>, carried "
        f"by the link <bdi>{marked_up(content.link)}</bdi>.</p>\n"
    )


def payload_headline(verdict: Verdict) -> str:
    """What is to be thought of a weighed payload, in a sentence.

    Args:
        verdict: the checks.

    Returns:
        The sentence.
    """
    count = {status: sum(check.status is status for check in verdict.checks) for status in Status}
    if verdict.status is Status.FAIL:
        failed = "one check" if count[Status.FAIL] == 1 else f"{count[Status.FAIL]} checks"
        return f"Do not rely on these numbers: {failed} failed."
    if verdict.status is Status.WARN:
        warned = "one check warns" if count[Status.WARN] == 1 else f"{count[Status.WARN]} checks warn"
        return f"Use these numbers with care: {warned}."
    if verdict.status is Status.PASS:
        ran = count[Status.PASS]
        return "The one check that was run passed." if ran == 1 else f"All {ran} checks that were run passed."
    return "Nothing is known about how good these numbers are: no check was run."


def _guaranteed_mass(content: PayloadContent) -> str:
    """The bounds of the mass, tied to what they assume."""
    if content.bounds is None:
        return ""
    lower, upper = outward(float(content.bounds.lower[0]), float(content.bounds.upper[0]))
    count = len(content.bounds.assumptions)
    rests = "this assumption holds" if count == 1 else f"these {count} assumptions hold"
    untested = len(content.bounds.untested)
    told = f"; {untested} of them the data cannot test" if untested else ""
    return f' Guaranteed between {lower} and {upper}\u202fkg if <a href="#guaranteed">{rests}</a>{told}.'


def _figures(content: PayloadContent) -> list[tuple[str, str]]:
    figures = []
    for axis in "xyz":
        number = content.number(f"com_{axis}")
        value, lower, upper = interval_numerals(number)
        by = ", by the prior" if number.decided is DecidedBy.PRIOR else ""
        figures.append((f"{value}\u202fmm", f"centre of mass, {axis}<br>{lower} to {upper}{by}"))
    samples, condition = (content.facts.get(name) for name in ("samples", "condition number"))
    if isinstance(samples, int):
        figures.append((f"{samples:,}".replace(",", "\u202f"), "samples"))
    if isinstance(condition, int | float):
        figures.append((f"{condition:.3g}".replace("inf", "∞"), "condition number"))
    return figures


STYLES = ("page.css", "motion_page.css")


def payload_page(content: PayloadContent) -> str:
    """Write the page of one payload.

    The same content gives the same text. Everything that comes from files is escaped; see `shell.page` for
    what else keeps a hostile name from doing anything.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    common = payload_as_report(content)
    sections = {
        "Verdict": ("verdict", payload_opening(content)),
        "Payload": ("payload", number_section(content)),
        "Guaranteed bounds": ("guaranteed", payload_bounds_section(content)),
        "Drive gains": ("gains", gains_section(content)),
        "One density?": ("density", density_section(content)),
        "Trials": ("trials", trials_section(content)),
        "Checks": ("checks", checks_section(common)),
        "Torque": ("torque", payload_torque_section(content)),
        "Arm": ("arm", payload_arm_section(content)),
        "Load it": ("load", loading_section(content)),
        "Findings": ("findings", findings_section(common)),
        "Record": ("record", payload_record_section(content)),
    }
    return page(
        f"{content.robot}: what it holds",
        sections,
        plot_data(common),
        styles=STYLES,
        scripts=SCRIPTS,
        version=content.versions.get("steelyard", ""),
        made=content.made,
    )
