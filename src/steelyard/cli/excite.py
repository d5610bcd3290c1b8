"""`steelyard excite`: a motion that shows the parameters, inside every limit and clear of everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from steelyard.cli.output import stdout
from steelyard.cli.workflow_command import workflow_command
from steelyard.workflows.excite import excite as workflow

if TYPE_CHECKING:
    from steelyard.workflows.excitation import DesignedMotion, Excitation, SupplementedMotion


def _show(done: Excitation) -> None:
    from steelyard.workflows.excitation import DesignedMotion, SupplementedMotion

    if isinstance(done, SupplementedMotion):
        _show_supplemented(done)
    elif isinstance(done, DesignedMotion):
        _show_designed(done)


def _show_designed(done: DesignedMotion) -> None:
    """The verdict first, the figures, what is proven, and where it was written."""
    _show_verdict(done)
    title = f"The motion {done.name}" if done.name else "A motion"
    table = Table(title=f"{title} of {done.motion.duration:.4g} s for {escape(done.robot.name)}")
    table.add_column("limit")
    table.add_column("least margin, proven at every instant", justify="right")
    table.add_column("at")
    for kind, least in done.proven.items():
        left = f"{least['margin']:.4g} {least['unit']}"
        if kind == "clearance":
            left = _apart(least["margin"], done.limits.distance)
        table.add_row(kind, left, escape(least["at"]))
    if done.proven:
        stdout.print(table)
    stdout.print(
        f"cond {done.cond:.4g}, with columns of unit length {done.design.cond_normalised:.4g}; "
        f"{len(done.design.columns)} columns; {done.effort}.",
        highlight=False,
    )
    stdout.print(f"{done.jerk}.", highlight=False, markup=False)
    if done.design.interrupted:
        stdout.print("interrupted: this is the best so far")
    if done.look is not None:
        stdout.print(str(done.look), markup=False, highlight=False, soft_wrap=True)
    for name, path in done.files.items():
        stdout.print(f"{name:>12}  {path}", markup=False, highlight=False)
    _show_goal(done)


def _show_goal(done: Excitation) -> None:
    """How ROS 2 runs it, as lines to copy."""
    approach, send, controller = done.to_robot
    for line in (
        "",
        "To the start, which is not part of the proof:",
        f"  {approach}",
        "The motion:",
        f"  {send}",
    ):
        stdout.print(line, markup=False, highlight=False, soft_wrap=True)
    stdout.print(controller, markup=False, highlight=False, soft_wrap=True)


def _show_verdict(done: Excitation) -> None:
    """What is proven and what is not, before any figure."""
    kinds = ", ".join(done.proven)
    if done.certified:
        stdout.print(f"[bold green]certified[/bold green]: {kinds}; in {done.seconds:.1f} s")
    elif done.uncovered:
        accepted = f", {len(done.accepted)} accepted" if done.accepted else ""
        stdout.print(
            f"[bold yellow]certified in part[/bold yellow]: {kinds}. Not part of the proof{accepted}:"
        )
        for finding in done.uncovered:
            stdout.print(f"  {finding}", markup=False, highlight=False, soft_wrap=True)
    else:
        stdout.print(f"[bold red]not certified[/bold red]: {escape(done.reason)}", soft_wrap=True)


def _show_supplemented(done: SupplementedMotion) -> None:
    """The verdict first, what is shown before and after, and what to add."""
    _show_verdict(done)
    table = Table(title=f"What the motion shows of a payload, in {escape(done.added.before.frame)}")
    for heading in ("", "planned", "with the addition", "unit", "planned motion"):
        table.add_column(heading, justify="right" if heading in ("planned", "with the addition") else "left")
    for row in done.shown:
        table.add_row(*row)
    stdout.print(table)
    stdout.print(str(done.added), highlight=False, markup=False, soft_wrap=True)
    stdout.print(f"Written to {done.files['motion']}", highlight=False, markup=False, soft_wrap=True)
    _show_goal(done)


def _apart(margin: float, required: float) -> str:
    """The margin of a clearance, and the distance it means, as the page says them."""
    words = [f"{1e3 * x:#.3g}".rstrip(".") + " mm" for x in (margin, required + margin)]
    return f"{words[0]} beyond {1e3 * required:g} mm: {words[1]}"


excite = workflow_command(workflow, _show, lambda done: 0 if done.settled else 3)
