"""`steelyard replay`: make a result again from its record, and compare it bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.markup import escape

from steelyard.cli.destination import ForceOption
from steelyard.cli.output import JsonOption, announce_compilation, listening, print_json, stdout
from steelyard.document import kind_of
from steelyard.errors import InputError
from steelyard.files import file_digest
from steelyard.progress import heard_by
from steelyard.workflows.record import LARGEST, RecordedRequest

RECORD = "record.json"


def replay(
    record: Annotated[
        Path,
        typer.Argument(
            metavar="RECORD",
            help="A record.json, or the folder of a result or of a run of `steelyard online`.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder to keep the new result in.", show_default="none is kept")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Make a result again from its record and compare every file; exit code 1 if one differs.

    Paths are those that were given then: run it from the same folder. Inputs that changed are refused.
    """
    from steelyard.cli.online_replay import holds_run, replay_online
    from steelyard.export import read_record, versions

    if holds_run(record):
        if out is not None:
            raise InputError(
                "a run of `steelyard online` is compared in place; nothing is written.", place="--out"
            )
        replay_online(record, json=json)
        return
    path = record / RECORD if record.is_dir() else record
    before = read_record(path)
    asked = before.get("request")
    if not isinstance(asked, dict):
        raise InputError(
            "does not say what was asked for.", place=f"{path}: request", remedy="Identify anew."
        )
    then = before.get("versions", {})
    if not isinstance(then, dict):
        raise InputError(f"expected a table, got {kind_of(then)}.", place=f"{path}: versions")
    again = _carrier(asked, path)
    announce_compilation("replay")
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "result" if out is None else out
        with listening() as progress, heard_by(progress):
            again(folder, force)
        files = _difference(path, before, folder)
    now = versions()
    other = {name: [was, now.get(name)] for name, was in then.items() if now.get(name) != was}
    same = all(state == "same" for state in files.values())
    document = {"verdict": "pass" if same else "fail", "files": files, "versions": other}
    if json:
        print_json(document)
    else:
        _print(document)
    if not same:
        raise typer.Exit(1)


def _carrier(asked: Mapping[str, Any], path: Path) -> Callable[[Path, bool], object]:
    """What carries a recorded request out again into a folder, once its inputs are seen to be the same."""
    from steelyard.cli import identify_request, payload_request, sensitivity_request
    from steelyard.workflows import joints as joints_workflow

    place = f"{path}: request"
    again: Callable[[Path, bool], object]
    request: RecordedRequest
    match asked.get("command"):
        case payload_request.PayloadRequest.command:
            request = weigh = payload_request.PayloadRequest.of(asked, place)
            again = lambda folder, force: payload_request.carry_out(weigh, folder, force=force)  # noqa: E731
        case sensitivity_request.SensitivityRequest.command:
            request = study = sensitivity_request.SensitivityRequest.of(asked, place)
            again = lambda folder, force: sensitivity_request.carry_out(study, folder, force=force)  # noqa: E731
        case joints_workflow.JointsRequest.command:
            request = joints = joints_workflow.JointsRequest.of(asked, place)
            again = lambda folder, force: joints_workflow.carried_out(joints, folder, force=force)  # noqa: E731
        case _:
            request = identify = identify_request.Request.of(asked, place)
            again = lambda folder, force: identify_request.carry_out(identify, folder, force=force)  # noqa: E731
    request.require_unchanged(asked.get("inputs", {}), path, f"{place}.inputs")
    return again


def _difference(path: Path, before: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """How each file of the new result stands to the one recorded: same, differs, missing or new."""
    files = {str(file.relative_to(folder).as_posix()): file for file in folder.rglob("*") if file.is_file()}
    digests = {name: file_digest(file, most=LARGEST) for name, file in files.items()}
    recorded: dict[str, Any] = {**before["files"], RECORD: file_digest(path, most=LARGEST)}
    states = {}
    for name in sorted({*recorded, *digests}):
        if name not in digests:
            states[name] = "missing"
        elif name not in recorded:
            states[name] = "new"
        else:
            states[name] = "same" if digests[name] == recorded[name] else "differs"
    return states


def _print(document: Mapping[str, Any]) -> None:
    for name, state in document["files"].items():
        stdout.print(f"{state:>8}  {name}", markup=False)
    for name, (then, now) in document["versions"].items():
        stdout.print(f"{name} was {then} and is {now}", markup=False)
    if document["verdict"] == "pass":
        stdout.print("[bold green]pass[/bold green]: the same result, bit by bit")
        return
    if document["versions"]:
        why = "the versions above differ"
    else:
        why = "no version differs; another processor or number of threads rounds differently"
    stdout.print(f"[bold red]fail[/bold red]: not the same bits: {escape(why)}", soft_wrap=True)
