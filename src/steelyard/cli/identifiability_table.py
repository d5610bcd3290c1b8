"""The table of `steelyard identifiability`: parameters down, links across, a symbol in each place."""

from __future__ import annotations

from typing import Any

from rich.markup import escape
from rich.table import Table

from steelyard.cli.identifiability_answer import Answer
from steelyard.cli.output import stdout
from steelyard.identifiability import Class

ORDER = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Iyz", "Ixz", "Ixy")
LONGEST = 12
"""Groupings with more terms than this are cut in the text; the JSON has them whole."""


def print_answer(answer: Answer, document: dict[str, Any]) -> None:
    """Print the count, the table of symbols, the groupings and what should be known about them."""
    count = "an unclear number" if answer.count is None else answer.count
    stdout.print(
        f"[bold]{escape(document['robot'])}[/bold]: {count} of {len(answer.names)} parameters, or "
        f"combinations of them, are identifiable{' (proven in exact arithmetic)' if answer.exact else ''}."
    )
    if document["identifiable_unsnapped"] != document["identifiable"]:
        raw = document["identifiable_unsnapped"]
        stdout.print(
            f"With its rounded angles as written it is {'unclear' if raw is None else raw}: the count above "
            "is that of the mechanism that was meant."
        )
    stdout.print(_table(answer))
    stdout.print("  ".join(f"{kind.symbol} {_LEGEND[kind]}" for kind in Class), style="dim")
    groups = [group for group in answer.groupings if len(group["terms"]) > 1]
    if groups:
        stdout.print("\n[bold]Known only together[/bold]")
        for group in groups:
            stdout.print("  " + escape(_sum(group["terms"])), soft_wrap=True)
    if not answer.exact:
        stdout.print(
            f"\nSmallest direction that counted {answer.kept:.1e}, largest that did not {answer.dropped:.1e}"
            + (": [bold yellow]too close to call[/bold yellow]." if answer.doubtful else "."),
            highlight=False,
        )
    for note in document["notes"]:
        stdout.print(escape(note), soft_wrap=True)


_LEGEND = {
    Class.ALONE: "known alone",
    Class.BASE: "leads a group",
    Class.GROUPED: "in a group",
    Class.UNIDENTIFIABLE: "cannot be known",
}


def _table(answer: Answer) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("", style="bold")
    columns = []
    for body in answer.bodies:
        table.add_column(escape(body["link"]), justify="center", overflow="fold")
        columns.append({_word(name): Class(kind) for name, kind in body["classes"].items()})
    words = dict.fromkeys(word for column in columns for word in column)
    rank = {word: k for k, word in enumerate(ORDER)}
    for word in sorted(words, key=lambda word: rank.get(word.partition("@")[0], len(ORDER))):
        symbols = [column[word].symbol if word in column else "" for column in columns]
        table.add_row(escape(word), *symbols)
    for title, key in (("dim V", "dim_velocity"), ("dim K", "dim_identifiable"), ("dim T", "dim_transfer")):
        if all(body.get(key) is not None for body in answer.bodies):
            table.add_row(title, *(str(body[key]) for body in answer.bodies), style="dim")
    return table


def _word(name: str) -> str:
    """The term of a parameter; a rotor's spin inertia stands with the link that it drives."""
    owner, _, term = name.rpartition(".")
    return "rotor Im" if owner.endswith("/rotor") else term


def _sum(terms: dict[str, Any]) -> str:
    """The terms as a sum; coefficients are numbers or formulas."""
    parts = []
    for name, factor in list(terms.items())[:LONGEST]:
        if isinstance(factor, str):
            parts.append(f"+ {name}" if factor == "1" else f"+ ({factor}) {name}")
        else:
            size = "" if abs(abs(factor) - 1) < 1e-9 else f"{abs(factor):.4g} "
            parts.append(f"{'-' if factor < 0 else '+'} {size}{name}")
    more = f" + … ({len(terms) - LONGEST} more)" if len(terms) > LONGEST else ""
    return " ".join(parts).removeprefix("+ ") + more
