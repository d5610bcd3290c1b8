"""A campaign: its tasks run as one graph, and what follows from their results."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from steelyard.campaigns import (
    CampaignEvent,
    CampaignOutcome,
    CampaignPlan,
    Happening,
    Spec,
    TaskGraph,
    TaskStatus,
    links_behind,
    plan,
    require_cluster,
    robot_case_of,
    run_campaign,
    table_path,
    write_table,
)
from steelyard.errors import InputError
from steelyard.files import FilePath, require_writable, write_text
from steelyard.formats import require_free
from steelyard.model import Model, write_model
from steelyard.progress import advance, say
from steelyard.recording import Step
from steelyard.report.campaign import CampaignContent, campaign_content_of, campaign_page, campaign_summary

_IDENTIFICATION = "identification"
MODEL = "model"
"""Folder of the accepted model, inside that of the campaign."""
ENDS = (Happening.DONE, Happening.FROM_STORE, Happening.FAILED, Happening.SKIPPED)
"""What ends a task."""
_TROUBLE = (Happening.FAILED, Happening.RETRIED, Happening.LOST_WORKER, Happening.NOTE)
_FIGURES = {"error": ("off the truth", "%"), "held_out": ("off the held-out log", "%"), "cond": ("cond", "1")}
"""What a figure of a Monte Carlo study is called, and its unit."""
_LEGEND = (
    "Median (lower to upper quartile) of the trials. Torques of the estimate are off those of the true",
    "parameters along the planned motion, and off those measured on a motion held out, in % of their rms.",
)


class CampaignObserver(Protocol):
    """Is told all that happens in a campaign, in the thread that runs it."""

    def planned(self, graph: TaskGraph) -> None:
        """The tasks are known.

        Args:
            graph: of all tasks.
        """
        ...

    def happened(self, event: CampaignEvent) -> None:
        """Something happened."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class CampaignResult:
    """A campaign that has ended.

    Attributes:
        spec: what was asked.
        plan: its tasks.
        outcome: how each ended, and its result.
        answer: result of the last task; None where it failed.
        content: what the page of an identification campaign says; None for another kind, or where no answer
            was found.
        seconds: what it took now, s.
        files: what was written, by name.
    """

    spec: Spec
    plan: CampaignPlan
    outcome: CampaignOutcome
    answer: dict[str, Any] | None
    content: CampaignContent | None
    seconds: float
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """`fail` where a task failed, otherwise what the checks of an identification say, or `pass`."""
        if self.content is not None:
            return self.content.verdict.status.value
        return "fail" if self._lost else "pass"

    @property
    def failed(self) -> int:
        """How many tasks, or runs of an identification, have no result."""
        return int(self.document["failed"])

    @property
    def _lost(self) -> int:
        counts = self.outcome.counts
        return counts[TaskStatus.FAILED] + counts[TaskStatus.SKIPPED]

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        document: dict[str, Any] = {
            "campaign": self.spec.name,
            "tasks": len(self.outcome.ends),
            "runs": len(self.outcome.ends),
            "done": self.outcome.counts[TaskStatus.DONE],
            "failed": self._lost,
            "failures": {
                name: end.reason for name, end in self.outcome.ends.items() if end.failure is not None
            },
            "representative": None,
            "validation": {},
            "seconds": self.seconds,
            "files": dict(self.files),
            "verdict": self.verdict,
        }
        if self.answer is None:
            return document
        if self.content is None:
            return document | {"rows": self.answer["rows"]}
        return document | _identified(self.answer, document)

    def __repr__(self) -> str:
        done = f"{self.outcome.counts[TaskStatus.DONE]} of {len(self.outcome.ends)} tasks done"
        return f"<CampaignResult {self.spec.name}: {self.verdict}, {done}>"

    def __str__(self) -> str:
        return _trials_summary(self.document) if self.content is None else campaign_summary(self.content)


def campaign_of_spec(
    spec: Spec | FilePath,
    *,
    out: FilePath,
    workers: int | None,
    cluster: str | None,
    retry_failed: bool,
    observer: CampaignObserver | None,
) -> CampaignResult:
    """Run a campaign, by the arguments of `campaign`."""
    folder = Path(out)
    require_writable(folder)
    require_free(folder / MODEL, force=True)
    started = time.perf_counter()
    if workers is not None and cluster is not None:
        raise InputError("choose processes here, or a cluster.", place="--workers, --cluster")
    if cluster is not None:
        require_cluster()
    asked = spec if isinstance(spec, Spec) else Spec.read(spec)
    planned = plan(asked)
    say(f"{asked.name}: {len(planned.graph.tasks)} tasks")
    if observer is not None:
        observer.planned(planned.graph)
    outcome = run_campaign(
        planned.graph,
        folder,
        name=asked.name,
        workers=workers,
        cluster=cluster,
        retry_failed=retry_failed,
        tell=_Teller(planned.graph, observer).tell,
    )
    done = outcome.ends[planned.finish].status is TaskStatus.DONE
    answer = outcome.result(planned.finish) if done else None
    content = None
    if answer is not None and asked.kind == _IDENTIFICATION:
        content = campaign_content_of(asked, outcome, answer)
    files = _written(asked, outcome, answer, content, folder)
    seconds = time.perf_counter() - started
    return CampaignResult(asked, planned, outcome, answer, content, seconds, files)


class _Teller:
    """Tells an observer all that happens, and whoever hears progress the share that is done and trouble."""

    def __init__(self, graph: TaskGraph, observer: CampaignObserver | None) -> None:
        self._total, self._ended, self._observer = len(graph), 0, observer

    def tell(self, event: CampaignEvent) -> None:
        """Pass on one event."""
        if self._observer is not None:
            self._observer.happened(event)
        if event.what in ENDS:
            self._ended += 1
            advance(f"{self._ended} of {self._total} tasks", self._ended / self._total)
        if event.what in _TROUBLE:
            task = f"{event.task}: " if event.task else ""
            what = "" if event.what is Happening.NOTE else f"{event.what.value}: "
            say(f"   {task}{what}{event.word}".rstrip(": "))


def _written(
    spec: Spec,
    outcome: CampaignOutcome,
    answer: Mapping[str, Any] | None,
    content: CampaignContent | None,
    out: Path,
) -> dict[str, str]:
    """Write tables, page and model; returns their paths by name."""
    files = {name: str(out / name) for name in ("campaign.json", table_path(out, "runs").name)}
    if answer is None:
        return files
    if content is None:
        return files | _write_trials(answer, out)
    cloud = answer["cloud"]
    record, points, page = table_path(out, "record"), table_path(out, "cloud"), out / "report.html"
    write_table(record, _columns([_flat_run(row) for row in cloud["runs"]]))
    write_table(points, *_cloud_columns(cloud))
    write_text(page, campaign_page(content))
    files |= {path.name: str(path) for path in (record, points, page)}
    return files | _write_model(spec, outcome, answer, content, out / MODEL)


def _write_model(
    spec: Spec, outcome: CampaignOutcome, answer: Mapping[str, Any], content: CampaignContent, folder: Path
) -> dict[str, str]:
    """Write the accepted model as `steelyard identify` writes one; returns the paths by name.

    Base parameters have many links behind them; those nearest to the description's are written. Where none
    that can exist have the accepted torques, those that change them least are, and that is said.
    """
    about = robot_case_of(outcome.result("subject"))
    links = links_behind(about, np.asarray(answer["final"]["final"]))
    if not links.same:
        say(f"{MODEL}: {links.reason}")
    described = Path(about.settings.robot)
    urdf = described.suffix.lower() == ".urdf" and described.is_file()
    step = Step(
        "campaign",
        {"spec": spec.name, "run": answer["final"]["run"], "torque_change": links.change},
    )
    written = write_model(
        folder,
        Model(about.robot, about.model.layout, links.parameters),
        description=described.read_bytes() if urdf else None,
        steps=[step],
        verdict={
            "status": content.verdict.status,
            "checks": [
                {"name": check.name, "status": check.status, "message": check.message}
                for check in content.verdict.checks
            ],
        },
        force=True,
    )
    return {f"{MODEL}/{name}": str(folder / name) for name in written.files}


def _identified(answer: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """What an identification adds to the document, and what it counts otherwise: runs, not tasks."""
    cloud, final = answer["cloud"], answer["final"]
    refined = [row for row in cloud["runs"] if row.get("rms_clie") is not None]
    unrefined = [row for row in cloud["runs"] if row.get("rms_clie") is None]
    return {
        "runs": len(cloud["runs"]),
        "done": len(refined),
        "failed": len(unrefined) + document["failed"],
        "failures": document["failures"]
        | {row["run"]: row.get("failed") or row.get("reason", "") for row in unrefined},
        "certified": sum(bool(row["clie"]["proven"]) for row in refined),
        "possible": sum(bool(row["possible"]) for row in refined),
        "not_definite": {row["run"]: row["clie"]["smallest"] for row in refined if not row["clie"]["proven"]},
        "dispersion": cloud["dispersion"],
        "robust_dispersion": cloud["robust_dispersion"],
        "representative": final["run"],
        "rescued": final["rescued"],
        "final": {
            "parameters": dict(zip(cloud["names"], np.asarray(final["final"]).tolist(), strict=True)),
            "units": cloud["units"],
            "proven": final["judged"]["final"]["audit"]["proven"],
            "bound": final["judged"]["final"]["audit"]["bound"],
            "possible": final["judged"]["final"]["possible"],
        },
        "validation": {
            part["motion"]: {way: _figures(part[way]) for way in ("inverse", "loop")}
            for part in answer["validated"].values()
            if "failed" not in part
        },
    }


def _figures(part: Mapping[str, Any]) -> dict[str, Any]:
    return {
        model: {key: found[key] for key in ("rmse", "mne", "failed") if key in found}
        for model, found in part.items()
    }


def _flat_run(row: Mapping[str, Any]) -> dict[str, Any]:
    """A run as one row of a table: what is known of its mass matrix gets columns of its own."""
    flat = {key: value for key, value in row.items() if not isinstance(value, Mapping)}
    for stage in ("ols", "clie"):
        flat |= {f"{stage}_{key}": value for key, value in row.get(stage, {}).items()}
    return flat


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _cloud_columns(cloud: Mapping[str, Any]) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """Base parameters of every run at every stage, and their units."""
    columns: dict[str, list[Any]] = {"run": [], "stage": []}
    values = np.concatenate([np.asarray(rows) for rows in cloud["stages"].values()])
    for stage in cloud["stages"]:
        columns["run"] += [row["run"] for row in cloud["runs"]]
        columns["stage"] += [stage] * len(cloud["runs"])
    columns |= {name: values[:, k].tolist() for k, name in enumerate(cloud["names"])}
    return columns, dict(zip(cloud["names"], cloud["units"], strict=True))


def _write_trials(answer: Mapping[str, Any], out: Path) -> dict[str, str]:
    """Write every trial and the table; returns their paths by name."""
    units = {figure: unit for figure, (_, unit) in _FIGURES.items() if unit == "%"}
    trials = table_path(out, "trials")
    write_table(trials, _columns(answer["trials"]), units)
    rows = [_flat_row(row) for row in answer["rows"]]
    flat_units = {
        name: unit
        for row in rows
        for name in row
        for figure, unit in units.items()
        if name.startswith(figure)
    }
    table = table_path(out, "table")
    write_table(table, _columns(rows), flat_units)
    return {path.name: str(path) for path in (trials, table)}


def _trials_summary(document: Mapping[str, Any]) -> str:
    """How the tasks ended, the table of a study where there is one, and what failed."""
    lines = [f"{document['done']} of {document['tasks']} tasks done, {document['failed']} failed."]
    rows = document.get("rows", ())
    if rows:
        lines += ["", *_aligned(rows), "", *_LEGEND]
    if document["failures"]:
        lines += ["", *(f"   {name}: {reason}" for name, reason in document["failures"].items())]
    return "\n".join(lines)


def _aligned(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each row, below a heading with units; text to the left, numbers to the right."""
    told = [name for name in rows[0] if name not in _FIGURES]
    heading = [*told, *(f"{words}, %" if unit == "%" else words for words, unit in _FIGURES.values())]
    cells = [
        [*(_said(row[name]) for name in told), *(_spread(row[name]) for name in _FIGURES)] for row in rows
    ]
    widths = [max(len(line[k]) for line in (heading, *cells)) for k in range(len(heading))]
    left = [k for k, name in enumerate(told) if isinstance(rows[0][name], str)]
    return [
        "   ".join(
            cell.ljust(width) if k in left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in (heading, *cells)
    ]


def _said(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _spread(found: Mapping[str, float] | None) -> str:
    if found is None:
        return "no result"
    low, middle, high = (_number(found[key]) for key in ("lower_quartile", "median", "upper_quartile"))
    return f"{middle} ({low} to {high})"


def _number(value: float) -> str:
    """Three digits, in plain notation wherever that is short."""
    return f"{value:#.3g}".rstrip(".") if 1e-3 <= abs(value) < 1e3 else f"{value:.2e}" if value else "0"


def _flat_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with a column for each number of a figure."""
    flat = {name: value for name, value in row.items() if name not in _FIGURES}
    for figure in _FIGURES:
        for key in ("lower_quartile", "median", "upper_quartile"):
            flat[f"{figure}_{key}"] = None if row[figure] is None else row[figure][key]
    return flat
