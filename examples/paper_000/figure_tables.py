"""Tables III and V, what was found here beside what the paper printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paper_000.figure_data import StackingResult
from steelyard.report.safe_text import marked_up

_DIFFERENT = '<span data-status="warn"><span class="mark" title="not as printed">≠</span></span> '
_WORDS = '<td class="words">'


def success_table(result: StackingResult) -> str:
    """Table III with the entries that differ marked, and why dumbbells failed.

    Args:
        result: what the study found.

    Returns:
        Markup.
    """
    names = list(next(iter(result.outcomes.values())))
    heads = "".join(f'<th scope="col">({marked_up(n)}) here</th><th scope="col">printed</th>' for n in names)
    lines = []
    for method, row in result.outcomes.items():
        cells = "".join(_pair(row[name], result.printed[method][name]) for name in names)
        lines.append(f'<tr><th scope="row">{marked_up(method)}</th>{cells}</tr>')
    alike, entries = agreement(result)
    return (
        f"{_table(f'<th scope="col">method</th>{heads}', lines)}"
        f"<p>Seen: {alike} of {entries} entries are as printed; the others bear a ≠. A number in brackets counts "
        "repetitions; without one, all ended alike. The paper prints one entry for five consistent repetitions "
        f"on its real arm, where ours is the only row without a failure; here that is so of "
        f"{marked_up(_listed(spotless(result)))}.</p>\n{_reasons(result)}"
    )


def agreement(result: StackingResult) -> tuple[int, int]:
    """How many entries of Table III are as printed, and how many there are."""
    pairs = [
        (entry, result.printed[method][name])
        for method, row in result.outcomes.items()
        for name, entry in row.items()
    ]
    return sum(here == printed for here, printed in pairs), len(pairs)


def spotless(result: StackingResult) -> list[str]:
    """Methods without a failure."""
    return [method for method, row in result.outcomes.items() if set(row.values()) == {"success"}]


def condition_table(result: StackingResult) -> str:
    """Table V.

    Args:
        result: what the study found.

    Returns:
        Markup.
    """
    methods = result.conditions
    heads = "".join(
        f'<th scope="col">{marked_up(method)} {where}</th>'
        for where in ("here", "printed")
        for method in methods
    )
    lines = []
    for k, pounds in enumerate(result.pounds):
        cells = "".join(
            f"<td>{rows[place, k]:.{digits}f}</td>"
            for place, digits in ((0, 2), (1, 3))
            for rows in methods.values()
        )
        lines.append(f'<tr><th scope="row">{pounds} lb</th>{cells}</tr>')
    here, printed = ratios(result)
    return (
        f"{_table(f'<th scope="col">dumbbell</th>{heads}', lines)}"
        f"<p>Seen: the mean condition number of Y after random plans is {here:.2f} times that after ours; by the "
        f"paper's numbers it is {printed:.2f} times. The numbers themselves depend on the motions that limits "
        "allow and on the windows of Y, so the ratio is what compares.</p>\n"
    )


def ratios(result: StackingResult) -> tuple[float, float]:
    """Mean condition number of random plans over that of ours: here, and as printed."""
    means = {method: rows.mean(axis=1) for method, rows in result.conditions.items()}
    here, printed = np.divide(means["random"], means["ours"]).tolist()
    return here, printed


def _pair(here: str, printed: str) -> str:
    mark = "" if here == printed else _DIFFERENT
    return f"{_WORDS}{mark}{marked_up(here)}</td>{_WORDS}<small>{marked_up(printed)}</small></td>"


def _reasons(result: StackingResult) -> str:
    lines = [
        f'<tr><th scope="row">{marked_up(method)}</th><td>({marked_up(name)})</td>{_WORDS}{marked_up(_counted(each))}'
        "</td></tr>"
        for method, row in result.reasons.items()
        for name, each in row.items()
        if each
    ]
    if not lines:
        return ""
    head = '<th scope="col">method</th><th scope="col">experiment</th><th scope="col" class="words">first failure</th>'
    return f"<h3>Why dumbbells failed here</h3>\n{_table(head, lines)}"


def _counted(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{why} ({times})" for why, times in reasons.items())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _table(head: str, lines: Sequence[str]) -> str:
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>\n'
