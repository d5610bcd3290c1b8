"""Tables III and V, what was found here beside what the paper printed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paper_000.figure_data import StackingResult
from steelyard.report.html import marked_up

_DIFFERENT = '<span data-status="warn"><span class="mark" title="not as printed">≠</span></span> '


def success_table(result: StackingResult) -> str:
    """Table III with the entries that differ marked, and why dumbbells failed.

    Args:
        result: what the study found.

    Returns:
        Markup.
    """
    names = list(next(iter(result.outcomes.values())))
    head = ["method", *(f"({name}) {where}" for name in names for where in ("here", "printed"))]
    rows = {
        method: "".join(_pair(row[name], result.printed[method][name]) for name in names)
        for method, row in result.outcomes.items()
    }
    alike, entries = agreement(result)
    whole = ", ".join(spotless(result)) or "none"
    return (
        f"{_table(head, list(rows.items()))}"
        f"<p>Seen: {alike} of {entries} entries are as printed; the others bear a ≠. A number in brackets "
        "counts repetitions; without one, all ended alike. The paper prints one entry for five consistent "
        "repetitions on its real arm, where ours is the only row without a failure; rows without a failure "
        f"here: {marked_up(whole)}.</p>\n{_reasons(result)}"
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
    head = [
        "dumbbell",
        *(f"{method} {where}" for where in ("here", "printed") for method in result.conditions),
    ]
    rows = []
    for k, pounds in enumerate(result.pounds):
        here, printed = zip(*(each[:, k] for each in result.conditions.values()), strict=True)
        cells = [*(f"{x:.2f}" for x in here), *(f"{x:.3f}" for x in printed)]
        rows.append((f"{pounds} lb", "".join(f"<td>{each}</td>" for each in cells)))
    ratio, printed_ratio = ratios(result)
    return (
        f"{_table(head, rows)}"
        f"<p>Seen: the mean condition number of Y after random plans is {ratio:.2f} times that after ours; "
        f"by the paper's numbers it is {printed_ratio:.2f} times. The numbers themselves depend on the "
        "motions that limits allow and on the windows of Y, so the ratio is what compares.</p>\n"
    )


def ratios(result: StackingResult) -> tuple[float, float]:
    """Mean condition number of random plans over that of ours: here, and as printed."""
    means = {method: rows.mean(axis=1) for method, rows in result.conditions.items()}
    here, printed = np.divide(means["random"], means["ours"]).tolist()
    return here, printed


def _pair(here: str, printed: str) -> str:
    mark = "" if here == printed else _DIFFERENT
    return f"<td>{mark}{marked_up(here)}</td><td><small>{marked_up(printed)}</small></td>"


def _reasons(result: StackingResult) -> str:
    rows = []
    for method, row in result.reasons.items():
        for name, each in row.items():
            if each:
                told = marked_up(", ".join(f"{why} ({times})" for why, times in each.items()))
                rows.append((f"{method}, ({name})", f'<td class="words">{told}</td>'))
    if not rows:
        return ""
    head = ["method, experiment", "first failure (how often)"]
    return f"<h3>Why dumbbells failed here</h3>\n{_table(head, rows, kind='words')}"


def _table(head: Sequence[str], rows: Sequence[tuple[str, str]], kind: str = "numbers") -> str:
    """Names of columns, then a name and the cells of each row."""
    heads = "".join(f'<th scope="col" class="{kind}">{marked_up(each)}</th>' for each in head)
    lines = "".join(f'<tr><th scope="row">{marked_up(name)}</th>{cells}</tr>' for name, cells in rows)
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>\n'
