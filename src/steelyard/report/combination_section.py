"""Base parameters on the page: what torques determine, as formulas."""

from __future__ import annotations

import math

from steelyard.report.content import Combination, ReportContent
from steelyard.report.numerals import MINUS, numeral
from steelyard.report.safe_text import marked_up, unit_text


def combination_section(content: ReportContent) -> str:
    """The base parameters as formulas.

    Args:
        content: what the report says.

    Returns:
        HTML; empty where there are none.
    """
    if not content.combinations:
        return ""
    items = "\n".join(
        f'<li><p class="formula">{_formula(line)}</p><p class="result">= '
        f"{numeral(line.value, line.half_width)}{_spread(line)} {unit_text(line.unit)}"
        f"{_described(line)}</p></li>"
        for line in content.combinations
    )
    return (
        "<p>What joint torques determine, whatever the motion. Change the parameters of a sum so that "
        "the sum stays, and no torque changes.</p>\n"
        f"<details><summary>Show all {len(content.combinations)} combinations</summary>\n"
        f'<ol class="combinations">\n{items}\n</ol></details>\n'
    )


def _formula(line: Combination) -> str:
    parts = []
    for k, (name, factor) in enumerate(line.terms):
        sign = MINUS if factor < 0 else "+" if k else ""
        size = abs(factor)
        number = "" if math.isclose(size, 1.0, rel_tol=1e-9) else f"{numeral(size)}\u202f"
        sum_sign = f"{sign} " if k else sign
        parts.append(
            f'<span class="term">{sum_sign}<i>{number}</i><var><bdi>{marked_up(name)}</bdi></var></span>'
        )
    return " ".join(parts)


def _spread(line: Combination) -> str:
    half = line.half_width
    if not math.isfinite(half):
        return " (no interval)"
    if line.random is None:
        return f" ± {numeral(half, half)}"
    return f" ± {numeral(half, half)} (± {numeral(line.random, line.random)} by the same torque constants)"


def _described(line: Combination) -> str:
    if line.nominal is None:
        return ""
    return f'<span class="quiet">, described as {numeral(line.nominal, line.half_width)}</span>'
