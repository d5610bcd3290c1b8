"""The page with the figures of Zhang et al. (2025): one self-contained HTML file that needs no script."""

from __future__ import annotations

import re

from paper_000.figure_bounds import bounds_section
from paper_000.figure_data import StackingResult
from paper_000.figure_mass import mass_section
from paper_000.figure_tables import agreement, condition_table, ratios, spotless, success_table
from paper_000.figure_tracking import FIGURES, tracking_section
from steelyard.report.html import marked_up
from steelyard.report.page import page

TITLE = "Zhang et al. (2025): stacking dumbbells while learning"


def figure_page(result: StackingResult, *, version: str = "") -> str:
    """Write the page.

    The same result gives the same text. Names from the file are escaped.

    Args:
        result: what the study found.
        version: of the software.

    Returns:
        HTML in UTF-8.
    """
    sections = {
        "Study": ("verdict", _opening(result)),
        "Table III": ("table-3", success_table(result)),
        "Table V": ("table-5", condition_table(result)),
        "Fig. 5": ("figure-5", mass_section(result)),
        "Figs. 6 to 10": ("figures-6-to-10", bounds_section(result)),
        **{
            f"Fig. {number}": (f"figure-{number}", tracking_section(result, name))
            for name, number in FIGURES.items()
        },
        "How it was done": ("method", _told(result.description)),
    }
    return page(TITLE, sections, {}, styles=("page.css",), scripts=(), version=version)


def _opening(result: StackingResult) -> str:
    alike, entries = agreement(result)
    whole = spotless(result)
    held = sum(
        int(((ends[0] <= each.truth) & (each.truth <= ends[1])).sum())
        for each in result.bounds
        for ends in each.intervals.values()
    )
    intervals = sum(each.truth.size * len(each.intervals) for each in result.bounds)
    here, printed = ratios(result)
    figures = (
        ("entries of Table III as printed", f"{alike} of {entries}"),
        ("methods without a failure", f"{len(whole)} of {len(result.outcomes)}"),
        ("final intervals that hold the truth", f"{held} of {intervals}"),
        ("condition number of random plans over ours", f"{here:.2f}"),
        ("the same by the paper's Table V", f"{printed:.2f}"),
    )
    listed = "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in figures)
    return (
        '<p class="eyebrow">Tables III and V and Figs. 5 to 12 of Zhang et al. (2025), run again in '
        f"simulation on {marked_up(result.date)}</p>\n<h1>Stacking dumbbells while learning</h1>\n"
        f'<dl class="figures">{listed}</dl>\n'
    )


def _told(description: str) -> str:
    """Paragraphs of the study's own words; its table stands above already."""
    paragraphs = [each for each in description.split("\n\n") if "|" not in each and not each.endswith(":")]
    return "".join(f"<p>{_with_code(marked_up(each))}</p>\n" for each in paragraphs)


def _with_code(markup: str) -> str:
    return re.sub("`([^`]+)`", r"<code>\1</code>", markup)
