"""`steelyard replay` of a run of `steelyard online`: the same readings and answers, the same torques."""

from __future__ import annotations

from pathlib import Path

import typer

from steelyard.cli.output import announce_compilation, print_json, stdout


def holds_run(folder: Path) -> bool:
    """Whether a folder is that of a run.

    Args:
        folder: what was named.

    Returns:
        Whether the run's record is in it.
    """
    return (folder / "run.json").is_file()


def replay_online(folder: Path, *, json: bool) -> None:
    """Repeat a run and compare every torque; exit code 1 if one differs.

    Args:
        folder: of the run.
        json: whether to print one document.
    """
    from steelyard.online import read_run, replay_run

    announce_compilation("replay")
    again = replay_run(read_run(folder))
    if json:
        verdict = "pass" if again.same else "fail"
        print_json({"verdict": verdict, "sentence": again.sentence, "cycles": len(again.run.cycles.commands)})
    else:
        stdout.print(again.sentence, highlight=False, markup=False, soft_wrap=True)
    if not again.same:
        raise typer.Exit(1)
