"""The safety sheet of a weighed payload: one page to print, which says only what was found or stated."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import Check, Status, Verdict
from steelyard.export import COM_DECIMALS, MASS_DECIMALS, ControllerLoad, LoadBounds, rounded_outward
from steelyard.report.content import SYMBOLS, headline
from steelyard.report.html import MINUS, numeral
from steelyard.report.render import render_page

BOUNDS = "guaranteed bounds"
"""Name of the check that the bounds are."""
IS_NOT = (
    "No risk assessment, and no proof of conformity with ISO 10218, ISO/TS 15066 or any other standard.",
    "No check of the robot’s rated payload, of its wrist’s moments, of a gripper’s hold or of stopping.",
    "Not about what was on the arm without the load as well, such as a gripper: add it.",
    "Not about another load, another grasp, or a load that shifts, swings, leaks or is changed.",
    "No substitute for a scale: where a wrong mass can hurt someone, weigh the load.",
)
"""What the sheet is not, in sentences."""


def safety_sheet(
    load: ControllerLoad, verdict: Verdict, *, way: str, caution: str = "", inputs: Mapping[str, str]
) -> str:
    """Write the sheet, by the template `safety_sheet.html`; it prints on one page of A4.

    The same facts give the same text. It is never surer than the bounds: these are rounded outwards, and
    without them it says that nothing is guaranteed.

    Args:
        load: the load in the frame of the controller.
        verdict: the checks.
        way: how it was weighed.
        caution: what the bounds cannot tell, in a sentence; empty for nothing.
        inputs: SHA-256 of each file that was read, by its name.

    Returns:
        HTML in UTF-8.
    """
    bounds, status = load.bounds, verdict.status
    least, most = (None, None) if bounds is None else _outward(bounds.mass, MASS_DECIMALS)
    half = (load.interval95[1] - load.interval95[0]) / 2.0
    told = {
        "robot": load.robot,
        "frame": load.frame,
        "why": load.why,
        "least": least,
        "most": most,
        "centre": [] if bounds is None else _centre(bounds),
        "reach": None if bounds is None else _reach(bounds),
        "by_prior": bounds is not None and bounds.heaviest,
        "contradicted": any(c.name == BOUNDS and c.status is Status.FAIL for c in verdict.checks),
        "estimate": numeral(load.body.mass, half),
        "interval": [numeral(end, half) for end in load.interval95],
        "com": [numeral(1e3 * x, 5.0) for x in load.body.com.tolist()],
        "untested": () if bounds is None else bounds.untested,
        "tested": ()
        if bounds is None
        else [sentence for sentence in bounds.assumptions if sentence not in bounds.untested],
        "caution": caution,
        "checks": [
            {
                "name": check.name,
                "status": check.status.value,
                "symbol": SYMBOLS[check.status],
                "message": _told(check, bounds),
            }
            for check in verdict.checks
        ],
        "status": status.value,
        "symbol": SYMBOLS[status],
        "headline": headline(verdict, "these numbers", "are"),
        "is_not": IS_NOT,
        "way": way,
        "read": [(name, digest[:12]) for name, digest in inputs.items()],
    }
    return render_page(
        "safety_sheet.html",
        f"{load.robot}: safety sheet of a payload",
        {},
        told,
        None,
        styles=("page.css", "safety_sheet.css"),
        scripts=(),
        version=load.version,
    )


def _centre(bounds: LoadBounds) -> list[tuple[str, str, str]]:
    """Axis, lower and upper end in mm; none where nothing bounds the centre."""
    if not np.isfinite(bounds.com).all():
        return []
    ends = [_outward(pair, COM_DECIMALS - 3, power=3) for pair in bounds.com.T]
    return [(axis, low, high) for axis, (low, high) in zip("xyz", ends, strict=True)]


def _reach(bounds: LoadBounds) -> str | None:
    """Largest distance of the centre from the origin, mm."""
    if not np.isfinite(bounds.reach):
        return None
    return _outward(np.array([0.0, bounds.reach]), COM_DECIMALS - 3, power=3)[1]


def _outward(ends: Array, decimals: int, *, power: int = 0) -> tuple[str, str]:
    low, high = rounded_outward(float(ends[0]), float(ends[1]), power=power, decimals=decimals)
    return low.replace("-", MINUS), high.replace("-", MINUS)


def _told(check: Check, bounds: LoadBounds | None) -> str:
    """The first sentence of a check; of the bounds, which stand above, what the data needs."""
    if check.name == BOUNDS and bounds is not None and bounds.needed is not None:
        return f"the data needs {100.0 * bounds.needed:.0f} % of the stated errors."
    return re.split(r"(?<=[.!?])\s", check.message, maxsplit=1)[0]
