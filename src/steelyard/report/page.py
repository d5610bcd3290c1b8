"""A page whose sections come as markup; signals thinned for the eye; numbers packed for a page's script."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from steelyard.arrays import Array, IntArray, checked
from steelyard.errors import InputError
from steelyard.report.render import markup, render_page

COLOURS = ("#d55e00", "#7b8794", "#0072b2", "#009e73", "#cc79a7", "#e69f00")
"""Of series, told apart also by their marks and readable on light and dark paper."""

# A page of one's own, in the shell that all pages have.


def page(
    title: str,
    sections: Mapping[str, tuple[str, str]],
    data: object,
    *,
    styles: Sequence[str],
    scripts: Sequence[str],
    version: str = "",
    made: str = "",
    live: bool = False,
) -> str:
    """Put sections, style, script and data into one file; see `render.render_page`.

    Nothing in a section is escaped here: who writes markup escapes the names in it (`html.marked_up`).

    Args:
        title: of the page, as plain text.
        sections: anchor and markup of each section by its heading; empty ones are left out, and the first,
            the verdict, has no heading.
        data: what the script draws, as values JSON can hold.
        styles: names of the style sheets among the assets.
        scripts: names of the scripts among the assets, in their order.
        version: of the software.
        made: when and by whom the page is made; empty to leave it out.
        live: whether the script may ask the page's own server for more.

    Returns:
        HTML in UTF-8.
    """
    present = {name: (heading, body) for heading, (name, body) in sections.items() if body}
    return render_page(
        "sections.html",
        title,
        {name: markup(heading) for name, (heading, _) in present.items()},
        {"sections": {name: markup(body) for name, (_, body) in present.items()}},
        data,
        styles=styles,
        scripts=scripts,
        version=version,
        made=made,
        live=live,
    )


# Numbers for the page's script, as text: 32 bits each, in base 64.


def packed(values: Array) -> str:
    """Pack an array; the script's `unpacked` is the inverse.

    Args:
        values: any shape, any unit; packed row by row.

    Returns:
        Text of ASCII letters.
    """
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


# Fewer samples of a signal for the eye, with every extreme kept.


def thinned(signals: Array, most: int) -> IntArray:
    """Choose samples so that the drawn lines reach as far as the signals do.

    The samples are cut into stretches of equal length; of each stretch, those where a signal is smallest or
    largest are kept, and the very first and last. A spike of one sample therefore stays, which taking every
    n-th sample would lose.

    Args:
        signals: the lines to be drawn, shape (N, k), any unit: natural unit of each.
        most: number of samples to keep at most, at least 4 k + 2.

    Returns:
        Increasing indices of the samples to keep, shape (n,), dimensionless; all of them where N ≤ most.

    Raises:
        InputError: `most` is too small to keep the extremes.
    """
    x = checked("signals", signals, ("N", "k"))
    n, k = x.shape
    if n <= most:
        return np.arange(n)
    if most < 4 * k + 2:
        raise InputError(f"{most} samples cannot hold the extremes of {k} lines.", place="most")
    edges = np.linspace(0, n, (most - 2) // (2 * k) + 1).astype(np.int64)
    kept = [np.array([0, n - 1])]
    for low, high in pairwise(edges):
        kept += [low + x[low:high].argmin(axis=0), low + x[low:high].argmax(axis=0)]
    return np.unique(np.concatenate(kept))
