"""How every method is drawn: laws by colour, what they know or were shown by dashes."""

from __future__ import annotations

from paper_000.figure_picture import Stroke
from steelyard.errors import UnknownNameError

TRUTH = Stroke("currentColor", "2 3", 1.3)
STROKES = {
    "ours": Stroke("#d55e00", width=2.6),
    "wrong": Stroke("#7b8794"),
    "conservative": Stroke("#56b4e9"),
    "random": Stroke("#2f7fc1", "6 4"),
    "adap-1": Stroke("#009e73"),
    "adap-1-excit": Stroke("#009e73", "6 3"),
    "adap-2": Stroke("#cc79a7"),
    "adap-2-excit": Stroke("#cc79a7", "6 3"),
    "grav-pid": Stroke("#c99700"),
    "grav-pid-ours": Stroke("#c99700", "6 3"),
    "grav-pid-excit": Stroke("#c99700", "1.5 3"),
}
"""By method, in the order of Table II."""
DRAWN_LAST = ("ours", "random")
"""On top of the others, the dashed one over the thick one, since they often coincide."""


def stroke_of(method: str) -> Stroke:
    """How a method is drawn; a method that Table II does not have is refused."""
    if method not in STROKES:
        raise UnknownNameError("method", method, STROKES)
    return STROKES[method]


def in_drawing_order(methods: list[str]) -> list[str]:
    """Methods as they are drawn over each other."""
    return sorted(methods, key=lambda name: DRAWN_LAST.index(name) if name in DRAWN_LAST else -1)
