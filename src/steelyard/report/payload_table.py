"""A table of the page: wide where there is room, one card for each row where there is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(told: str, heads: Sequence[str], groups: Iterable[Iterable[Sequence[str]]]) -> str:
    """Write a table.

    Args:
        told: what it shows, as plain text without markup.
        heads: a heading for each column; the first is that of the rows' own headings.
        groups: rows that belong together, each with as many cells as there are heads, as HTML.

    Returns:
        HTML.
    """
    titles = "".join(f'<th scope="col">{head}</th>' for head in heads)
    bodies = "\n".join(f"<tbody>{''.join(_row(heads, row) for row in rows)}</tbody>" for rows in groups)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{told}"><table class="margins stack">'
        f"<thead><tr>{titles}</tr></thead>\n{bodies}</table></div>\n"
    )


def _row(heads: Sequence[str], cells: Sequence[str]) -> str:
    named = zip(heads[1:], cells[1:], strict=True)
    # The contents are one element each: a card sets label and contents apart.
    rest = "".join(f'<td data-label="{head}"><span>{cell}</span></td>' for head, cell in named)
    return f'<tr><th scope="row"><span>{cells[0]}</span></th>{rest}</tr>'
