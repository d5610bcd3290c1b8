"""What `steelyard excite` says: one JSON document, or a table for people."""

from __future__ import annotations

from typing import Any

from rich.markup import escape
from rich.table import Table

from steelyard.cli.excite_proof import Designed
from steelyard.cli.output import stdout
from steelyard.limits import Certificate
from steelyard.simulate import SecondLook

KINDS = ("position", "velocity", "acceleration", "torque", "clearance")


def answer(done: Designed, files: dict[str, str], seconds: float) -> dict[str, Any]:
    """Everything a script may ask for."""
    found, proof = done.design, done.proof
    certified = isinstance(proof, Certificate)
    proven = {}
    if isinstance(proof, Certificate):
        for kind in KINDS:
            least = proof.smallest(kind)
            if least is not None:
                proven[kind] = {"margin": least.margin, "unit": least.unit, "at": least.name}
    return {
        "criterion": found.criterion.value,
        "value": found.value,
        "cond": found.cond,
        "cond_normalised": found.cond_normalised,
        "rms_deviation": found.rms_deviation,
        "columns": list(found.columns),
        "margins": {kind: getattr(found.margins, kind) for kind in KINDS},
        "jerk": done.jerk.document,
        "slowed": done.jerk.slower,
        "proven": proven,
        "clearance": proven.get("clearance", {}).get("margin"),
        "distance": done.limits.distance,
        "certified": certified and not done.uncovered,
        "covers": list(proven),
        "uncovered": [str(finding) for finding in done.uncovered],
        "second_look": look_document(done.look),
        "reason": _reason(done),
        "rounds": found.rounds,
        "interrupted": found.interrupted,
        "name": done.name,
        "compared": dict(done.compared),
        "findings": [str(finding) for finding in done.findings],
        "seconds": seconds,
        "files": files,
    }


def look_document(look: SecondLook | None) -> dict[str, Any] | None:
    """What other code saw: the least margin of each kind beside the one proven of it."""
    if look is None:
        return None
    least = [x for x in map(look.smallest, KINDS) if x is not None]
    return {
        "instants": look.instants,
        "margins": {
            x.kind: {"seen": x.seen, "proven": x.proven, "unit": x.unit, "at": x.name} for x in least
        },
        "unseen": list(look.unseen),
    }


def _reason(done: Designed) -> str:
    """Why the motion is not certified, or not wholly; empty where it is."""
    if not isinstance(done.proof, Certificate):
        return str(done.proof)
    return f"{len(done.uncovered)} things are not part of the proof" if done.uncovered else ""


def print_answer(done: Designed, document: dict[str, Any]) -> None:
    """The figures, what is proven, and where it was written."""
    title = f"The motion {done.name}" if done.name else "A motion"
    table = Table(title=f"{title} of {done.motion.duration:.4g} s for {escape(done.robot.name)}")
    table.add_column("limit")
    table.add_column("least margin, proven at every instant", justify="right")
    table.add_column("at")
    for kind, least in document["proven"].items():
        left = f"{least['margin']:.4g} {least['unit']}"
        if kind == "clearance":
            left = _apart(least["margin"], document["distance"])
        table.add_row(kind, left, escape(least["at"]))
    if document["proven"]:
        stdout.print(table)
    effort = f"{len(done.compared)} motions compared" if done.name else f"{document['rounds']} local searches"
    stdout.print(
        f"cond {document['cond']:.4g}, with columns of unit length {document['cond_normalised']:.4g}; "
        f"{len(document['columns'])} columns; {effort}.",
        highlight=False,
    )
    stdout.print(f"{done.jerk}.", highlight=False, markup=False)
    if document["interrupted"]:
        stdout.print("interrupted: this is the best so far")
    kinds = ", ".join(document["covers"])
    if done.look is not None:
        stdout.print(str(done.look), markup=False, highlight=False, soft_wrap=True)
    if document["certified"]:
        stdout.print(f"[bold green]certified[/bold green]: {kinds}; in {document['seconds']:.1f} s")
    elif document["uncovered"]:
        stdout.print(f"[bold yellow]certified in part[/bold yellow]: {kinds}. Not part of the proof:")
        for words in document["uncovered"]:
            stdout.print(f"  {words}", markup=False, highlight=False, soft_wrap=True)
    else:
        stdout.print(f"[bold red]not certified[/bold red]: {escape(document['reason'])}", soft_wrap=True)
    for name, path in document["files"].items():
        stdout.print(f"{name:>12}  {path}", markup=False, highlight=False)


def _apart(margin: float, required: float) -> str:
    """The margin of a clearance, and the distance it means, as the page says them."""
    words = [f"{1e3 * x:#.3g}".rstrip(".") + " mm" for x in (margin, required + margin)]
    return f"{words[0]} beyond {1e3 * required:g} mm: {words[1]}"
