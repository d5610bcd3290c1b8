"""Three views of a payload: its frame, its centre of mass, and the ellipsoid its inertia is worth."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.inertia import Body, equivalent_ellipsoid
from steelyard.report.payload_bounds_section import com_bounds
from steelyard.report.payload_content import PayloadContent
from steelyard.report.payload_sheet import Sheet

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
