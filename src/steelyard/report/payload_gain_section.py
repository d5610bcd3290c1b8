"""The payload under other drive gains: how far apart the answers are, and whether that limits them."""

from __future__ import annotations

from steelyard.report.numerals import aligned, numeral
from steelyard.report.payload_content import PayloadContent
from steelyard.report.payload_table import table
from steelyard.report.payload_words import label, read_unit, scale_of
from steelyard.report.safe_text import marked_up

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
        columns.append(aligned(texts))
    names = [here, *(f"<bdi>{marked_up(answer.name)}</bdi>" for answer in content.others)]
    heads = ("gains", "mass, kg", "centre x, mm", "centre y, mm", "centre z, mm")
    rows = [[name, *texts] for name, *texts in zip(names, *columns, strict=True)]
    return f"<p>{gain_words(content)}</p>\n{table('Answers under other drive gains', heads, [rows])}"


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
