"""`steelyard campaign`: many runs as one graph of tasks, here or on a cluster; starting it again resumes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.output import JsonOption, announce_compilation, print_json, stdout
from steelyard.files import require_writable


def campaign(
    spec: Annotated[Path, typer.Argument(help="What to do (TOML).", show_default=False)],
    out: Annotated[
        Path, typer.Option(help="Folder for results; an earlier one is resumed.", show_default=False)
    ],
    workers: Annotated[
        int | None, typer.Option(help="Processes on this machine.", min=1, show_default="one per core")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster instead, tcp://host:8786.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try again what failed for good before.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Run all that a file describes; results of finished tasks are kept and never computed twice."""
    from steelyard.cli.campaign_answer import MODEL, content_for, document_of, summary_of, write_report
    from steelyard.cli.campaign_line import carried_out
    from steelyard.export import require_free

    require_writable(out)
    require_free(out / MODEL, force=True)
    announce_compilation("campaign")
    started = time.perf_counter()
    done = carried_out(spec, out, workers=workers, cluster=cluster, retry_failed=retry_failed)
    content = content_for(done)
    files = write_report(done, content, out)
    document = document_of(done, content, files, time.perf_counter() - started)
    if json:
        print_json(document)
    else:
        stdout.print(summary_of(content, document), highlight=False, markup=False)
    if document["failed"] or document["verdict"] == "fail":
        raise typer.Exit(1)
