"""The page of joint models: one self-contained HTML file that needs no script."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.arrays import Array, ComplexArray, checked, keep_checked
from steelyard.report.html import Typeset, marked_up, numeral, visible_text
from steelyard.report.page import COLOURS, thinned
from steelyard.report.render import markup, render_page

# What the page of joint models shows.


@dataclass(frozen=True)
class Quantity:
    """A number of a joint with its interval.

    Attributes:
        name: what it is called.
        value: the number; None where there is none.
        half_width: of its 95 % interval, infinite where it is not known.
        unit: of both.
    """

    name: str
    value: float | None
    half_width: float
    unit: str


@dataclass(frozen=True, eq=False)
class JointModelEntry:
    """One joint: its numbers, one experiment, and its frequency responses.

    Attributes:
        joint: name of the joint.
        model: numbers of the model.
        controller: numbers of the feedback designed for it.
        experiment: what the experiment was, in a few words.
        time: shape (N,), s.
        command: torque, shape (N,), N·m or N.
        measured: velocity by the encoder, averaged for the eye, shape (N,), rad/s or m/s.
        predicted: velocity by the model, averaged alike, shape (N,), rad/s or m/s.
        velocity_unit: of both velocities.
        torque_unit: of the command.
        frequency: of the responses, shape (n,), Hz.
        responses: by name, from commanded torque to velocity, each shape (n,), velocity_unit per torque_unit.
        remarks: what a reader should know.
    """

    joint: str
    model: tuple[Quantity, ...]
    controller: tuple[Quantity, ...]
    experiment: str
    time: Array
    command: Array
    measured: Array
    predicted: Array
    velocity_unit: str
    torque_unit: str
    frequency: Array
    responses: Mapping[str, ComplexArray]
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n = len(checked("time", self.time, ("N",)))
        keep_checked(self, (n,), "time", "command", "measured", "predicted")
        keep_checked(self, ("n",), "frequency")


@dataclass(frozen=True, eq=False)
class JointModelContent:
    """All joints of a robot.

    Attributes:
        robot: its name.
        source: where the experiments come from, in a sentence.
        delay: from a reading to the arrival of its torque, of all joints.
        cycle: length of a control cycle, s.
        least_margin: phase margin that was asked for, degrees.
        entries: the joints.
    """

    robot: str
    source: str
    delay: Quantity
    cycle: float
    least_margin: float
    entries: tuple[JointModelEntry, ...]


# Pictures of a joint model as SVG: velocity over time, frequency responses (Oaki et al. 2026, Fig. 2 a, b).

_WIDTH, _LEFT, _RIGHT = 930, 72, 16
_POINTS = 900
_DASHES = ("", "7 4", "2 4", "9 3 2 3")
Scale = Callable[[Array], Array]


def response_figure(entry: JointModelEntry) -> str:
    """Draw the command above, and the velocity with the model's below.

    Returns:
        SVG text.
    """
    lines = np.column_stack([entry.command, entry.measured, entry.predicted])
    kept = thinned(lines, _POINTS)
    t = entry.time[kept] - entry.time[0]
    x = _linear(0.0, max(float(t[-1]), 1e-9), _LEFT, _WIDTH - _RIGHT)
    parts = []
    torque, velocity = lines[kept, 0], lines[kept, 1:]
    for values, unit, top, floor in (
        (torque[:, None], entry.torque_unit, 30, 100),
        (velocity, entry.velocity_unit, 130, 330),
    ):
        most = max(float(np.abs(values).max()), 1e-12)
        y = _linear(-1.1 * most, 1.1 * most, floor, top)
        for level in (-most, 0.0, most):
            parts += _rule(float(y(np.array([level]))[0]), numeral(level, digits=2), level == 0.0)
        parts.append(_label(_LEFT - 8, top - 6, unit, "end"))
        names = ("command",) if unit == entry.torque_unit else ("measured", "predicted")
        parts += [_curve(x(t), y(column), name) for column, name in zip(values.T, names, strict=True)]
    for at in _ticks(float(t[-1])):
        parts.append(_label(float(x(np.array([at]))[0]), 350, f"{at:g}", "middle"))
    parts.append(_label(_WIDTH - _RIGHT, 366, "s", "end"))
    return _svg(372, f"{entry.joint}: commanded torque, velocity measured and by the model", parts)


def bode_figure(entry: JointModelEntry) -> str:
    """Draw gain and phase of all models over one logarithmic frequency axis.

    Returns:
        SVG text.
    """
    f = entry.frequency
    x = _linear(math.log10(f[0]), math.log10(f[-1]), _LEFT, _WIDTH - _RIGHT)
    at = x(np.log10(f))
    gains = {name: np.log10(np.maximum(np.abs(G), 1e-12)) for name, G in entry.responses.items()}
    low = math.floor(min(float(g.min()) for g in gains.values()))
    high = max(math.ceil(max(float(g.max()) for g in gains.values())), low + 1)
    y = _linear(low, high, 220, 40)
    parts = _legend(list(gains))
    for exponent in range(low, high + 1):
        parts += _rule(float(y(np.array([exponent]))[0]), _power(exponent), False)
    parts.append(_label(_LEFT - 8, 22, f"{entry.velocity_unit} / ({entry.torque_unit})", "start", left=8))
    parts += [_series(at, y(g), k) for k, g in enumerate(gains.values())]
    phases = _phases(entry.responses)
    deepest = min(-180.0, 90.0 * math.floor(min(float(p.min()) for p in phases.values()) / 90.0))
    turn = _linear(deepest, 0.0, 410, 250)
    for degrees in np.arange(deepest, 1.0, 90.0):
        parts += _rule(float(turn(np.array([degrees]))[0]), f"{degrees:.0f}°".replace("-", "\u2212"), False)
    parts += [_series(at, turn(np.clip(p, deepest, 0.0)), k) for k, p in enumerate(phases.values())]
    for exponent in range(math.ceil(math.log10(f[0])), math.floor(math.log10(f[-1])) + 1):
        place = float(x(np.array([exponent]))[0])
        parts.append(f'<path class="grid" d="M{place:.1f} 40V220M{place:.1f} 250V410"/>')
        parts.append(_label(place, 428, f"{10.0**exponent:g}", "middle"))
    parts.append(_label(_WIDTH - _RIGHT, 428, "Hz", "end"))
    title = f"{entry.joint}: frequency responses from commanded torque to velocity, gain and phase"
    return _svg(436, title, parts)


def _phases(responses: Mapping[str, ComplexArray]) -> dict[str, Array]:
    """Unwrapped phases that begin between -180° and 180°, degrees."""
    return {name: np.degrees(np.unwrap(np.angle(G))) for name, G in responses.items()}


def _linear(low: float, high: float, first: float, last: float) -> Scale:
    slope = (last - first) / (high - low)
    return lambda values: np.asarray(first + slope * (values - low))


def _ticks(duration: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10(duration / 2.0))
    step = next(k * step for k in (1.0, 2.0, 5.0, 10.0) if duration / (k * step) <= 8.0)
    return [round(k * step, 12) for k in range(int(duration / step + 1e-9) + 1)]


def _rule(y: float, text: str, zero: bool) -> list[str]:
    kind = "zero" if zero else "grid"
    return [
        f'<path class="{kind}" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>',
        _label(_LEFT - 8, y + 4, text, "end"),
    ]


def _points(x: Array, y: Array) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))


def _curve(x: Array, y: Array, name: str) -> str:
    kind = "difference" if name == "command" else name
    return f'<polyline class="curve {kind}" points="{_points(x, y)}"/>'


def _series(x: Array, y: Array, k: int) -> str:
    dash = f' stroke-dasharray="{_DASHES[k % len(_DASHES)]}"' if k % len(_DASHES) else ""
    return (
        f'<polyline class="curve" points="{_points(x, y)}" stroke="{_colour(k)}" stroke-width="1.8"{dash}/>'
    )


def _legend(names: Sequence[str]) -> list[str]:
    parts = []
    for k, name in enumerate(names):
        x = _LEFT + 150 + 240 * k
        parts.append(_series(np.array([x, x + 30.0]), np.array([18.0, 18.0]), k))
        parts.append(_label(x + 38, 22, name, "start"))
    return parts


def _colour(k: int) -> str:
    return (COLOURS[2], COLOURS[0], COLOURS[3], COLOURS[4])[k % 4]


def _power(exponent: int) -> str:
    raised = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}"


def _label(x: float, y: float, text: str, anchor: str, *, left: float | None = None) -> str:
    at = x if left is None else left
    return f'<text x="{at:.1f}" y="{y:.1f}" text-anchor="{anchor}">{marked_up(text)}</text>'


def _svg(height: int, title: str, parts: Sequence[str]) -> str:
    name = marked_up(title)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{name}"><title>{name}</title>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


_METHOD = (
    (
        "Dead time",
        "From a reading to the arrival of its torque. That the torque is then held for a cycle is solved "
        "exactly.",
    ),
    (
        "Friction",
        "Dry friction is fitted beside the model. Without it, it passes for viscous friction, and the gain "
        "comes out too small; the model without it is drawn too.",
    ),
    (
        "ARX",
        "Least squares of order four. It has no dry friction either, and so follows the model without it at "
        "low frequencies; at high ones it shows what a lag of first order cannot: play, joints that give "
        "way, and the encoder's steps.",
    ),
    (
        "Gains",
        "Both poles of the error lie at the bandwidth, and the phase margin is computed with dead time, hold "
        "and filter, for the worst inertia of the stated range.",
    ),
)
"""What was done, by topic."""


def joint_model_page(content: JointModelContent, *, version: str = "") -> str:
    """Write the page.

    Args:
        content: what to show.
        version: of the software.

    Returns:
        HTML in UTF-8.
    """
    joints = [_joint(f"joint-{k}", entry) for k, entry in enumerate(content.entries, start=1)]
    headings = {
        "verdict": "Joint models",
        "models": "Models",
        "controller": "Controller",
        **{joint["anchor"]: joint["name"] for joint in joints},
        "method": "How it is done",
    }
    told = {
        "robot": content.robot,
        "figures": _figures(content),
        "source": content.source,
        "models": _table({entry.joint: entry.model for entry in content.entries}),
        "controller": _table({entry.joint: entry.controller for entry in content.entries}),
        "joints": joints,
        "method": _METHOD,
    }
    return render_page(
        "joints.html",
        f"{content.robot}: joint models",
        headings,
        told,
        {},
        styles=("page.css",),
        scripts=(),
        version=version,
    )


def _figures(content: JointModelContent) -> list[tuple[str, str]]:
    margins = [q.value for entry in content.entries for q in entry.controller if q.name == "phase margin"]
    worst = min((m for m in margins if m is not None), default=math.nan)
    return [
        ("joints", str(len(content.entries))),
        ("from a reading to its torque", _told(content.delay)),
        ("control cycle", Typeset(f"{numeral(1e3 * content.cycle, digits=3)}\u202fms")),
        ("least phase margin", f"{numeral(worst, digits=3)}°"),
        ("phase margin asked for", f"{numeral(content.least_margin, digits=3)}°"),
    ]


def _table(rows: Mapping[str, Sequence[Quantity]]) -> dict[str, Any]:
    """Joints below each other, their quantities in columns; a unit that all share stands in the head."""
    names = [*dict.fromkeys(quantity.name for row in rows.values() for quantity in row)]
    columns = {name: [_named(row, name) for row in rows.values()] for name in names}
    shared = {name: len({q.unit for q in column if q is not None}) == 1 for name, column in columns.items()}
    return {
        "heads": [
            {"name": name, "unit": _unit(column) if shared[name] else None}
            for name, column in columns.items()
        ],
        "rows": [
            (joint, [_told(column[k], unit=not shared[name]) for name, column in columns.items()])
            for k, joint in enumerate(rows)
        ],
    }


def _named(row: Sequence[Quantity], name: str) -> Quantity | None:
    return next((quantity for quantity in row if quantity.name == name), None)


def _unit(column: Sequence[Quantity | None]) -> str:
    return next(quantity.unit for quantity in column if quantity is not None)


def _joint(anchor: str, entry: JointModelEntry) -> dict[str, Any]:
    return {
        "anchor": anchor,
        "name": entry.joint,
        "remarks": entry.remarks,
        "response": markup(response_figure(entry)),
        "bode": markup(bode_figure(entry)),
        "experiment": entry.experiment,
    }


def _told(quantity: Quantity | None, *, unit: bool = True) -> Typeset:
    if quantity is None or quantity.value is None:
        return Typeset("–")
    text = numeral(quantity.value, quantity.half_width, digits=3)
    known = math.isfinite(quantity.half_width) and quantity.half_width > 0.0
    spread = f" ± {numeral(quantity.half_width, digits=2)}" if known else ""
    return Typeset(f"{text}{spread}" + (f"\u202f{visible_text(quantity.unit)}" if unit else ""))
