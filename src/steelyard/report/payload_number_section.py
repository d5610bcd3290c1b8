"""The payload on the page: three views of it, and every number people ask for."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.payload import DecidedBy
from steelyard.report.payload_bounds_section import com_bounds
from steelyard.report.payload_content import PayloadContent
from steelyard.report.payload_parts import PayloadNumber
from steelyard.report.payload_table import table
from steelyard.report.payload_views import payload_views
from steelyard.report.payload_words import headed, outward, told_ends, told_numbers
from steelyard.report.safe_text import marked_up
from steelyard.uncertainty import GuaranteedBounds

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
        f"{_table(content)}"
    )


def _prior_words(content: PayloadContent, guessed: int) -> str:
    are = "is" if guessed == 1 else "are"
    return (
        f"{guessed} of {len(content.numbers)} numbers {are} decided by the prior: there the data alone would "
        "spread much wider, or does not settle a principal moment. Such an interval is as wide as what can "
        f"exist. {marked_up(content.prior)}"
    )


def _table(content: PayloadContent) -> str:
    sure = {} if content.bounds is None else _sure(content.bounds)
    heads = ["number", "estimate", "95\u202f% interval", *(["guaranteed"] if sure else []), "decided by"]
    groups = [[n for n in content.numbers if n.name.startswith(start)] for start in _GROUPS]
    note = (
        '<p class="quiet">The column “guaranteed” rests on <a href="#guaranteed">all that is listed '
        "below</a>; inertia is bounded there, about the frame.</p>\n"
        if sure
        else ""
    )
    return table("Numbers of the payload", heads, [_rows(group, sure) for group in groups]) + note


def _rows(numbers: Sequence[PayloadNumber], sure: dict[str, str]) -> list[list[str]]:
    rows = []
    for number, told in zip(numbers, told_numbers(numbers), strict=True):
        bounded = [sure.get(number.name, "–")] if sure else []
        decided = "–" if number.decided is None else number.decided.value
        by = f"<strong>{decided}</strong>" if number.decided is DecidedBy.PRIOR else decided
        rows.append([headed(number), *told, *bounded, by])
    return rows


def _sure(bounds: GuaranteedBounds) -> dict[str, str]:
    """Guaranteed intervals by the name of the number, as text."""
    mass = outward(float(bounds.lower[0]), float(bounds.upper[0]))
    places = [outward(*ends, power=3) for ends in com_bounds(bounds).T.tolist()]
    told = told_ends([low for low, _ in places], [high for _, high in places])
    return {
        "mass": f"{mass[0]} … {mass[1]}",
        **{f"com_{axis}": t for axis, t in zip("xyz", told, strict=True)},
    }
