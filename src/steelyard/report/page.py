"""The shell of every page, one HTML file that fetches nothing; and numbers packed for its script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import pairwise

import numpy as np

from steelyard.arrays import Array, IntArray, checked
from steelyard.errors import InputError
from steelyard.report.html import as_script_data, marked_up

# The shell of every page: one HTML file that fetches nothing, and runs nothing but its own script.


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
    """Put sections, style, script and data into one file.

    The same content gives the same text. A content security policy lets the browser run nothing but the
    page's own script, known by its hash, and fetch nothing at all; a live page only from who served it.

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
    style = "\n".join(_asset(name) for name in styles)
    script = '"use strict";\n(() => {\n' + "\n".join(_asset(name) for name in scripts) + "})();\n"
    present = {heading: (name, body) for heading, (name, body) in sections.items() if body}
    links = "".join(f'<a href="#{name}">{heading}</a>' for heading, (name, _) in present.items())
    bodies = "\n".join(
        f'<section id="{name}">{f"<h2>{heading}</h2>" if name != "verdict" else ""}\n{body}</section>'
        for heading, (name, body) in present.items()
    )
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'" + ("; connect-src 'self'" if live else "")
    )
    footer = f"Steelyard {marked_up(version)}." + (f" {marked_up(made)}" if made else "")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{marked_up(title)}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#verdict">Skip to the verdict</a>
<nav aria-label="Sections">{links}</nav>
<main>
{bodies}
</main>
<footer>{footer}</footer>
<script type="application/json" id="data">{as_script_data(data)}</script>
<script>{script}</script>
</body>
</html>
"""


def _asset(name: str) -> str:
    return files("steelyard.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


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
