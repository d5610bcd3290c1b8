"""What `steelyard campaign` writes and prints when all tasks have ended."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.campaign import Status, links_behind, subject_of, table_path, write_table
from steelyard.cli.campaign_content import content_of
from steelyard.cli.campaign_line import Carried
from steelyard.cli.campaign_trials_answer import trials_summary, write_trials
from steelyard.cli.output import say
from steelyard.export import write_result
from steelyard.files import write_text
from steelyard.recording import Step
from steelyard.report import CampaignContent, campaign_page, campaign_summary

_IDENTIFICATION = "identification"
MODEL = "model"
"""Folder of the accepted model, inside that of the campaign."""


def content_for(done: Carried) -> CampaignContent | None:
    """What the page of an identification campaign says; None for another kind, or without an answer."""
    if done.answer is None or done.spec.kind != _IDENTIFICATION:
        return None
    return content_of(done, done.answer)


def write_report(done: Carried, content: CampaignContent | None, out: Path) -> dict[str, str]:
    """Write tables and page; returns their paths by name."""
    files = {name: str(out / name) for name in ("campaign.json", table_path(out, "runs").name)}
    if done.answer is None:
        return files
    if content is None:
        return files | write_trials(done.answer, out)
    cloud = done.answer["cloud"]
    record, points, page = table_path(out, "record"), table_path(out, "cloud"), out / "report.html"
    write_table(record, _columns([_flat(row) for row in cloud["runs"]]))
    write_table(points, *_cloud_columns(cloud))
    write_text(page, campaign_page(content))
    files |= {path.name: str(path) for path in (record, points, page)}
    return files | _write_model(done, content, out / MODEL)


def _write_model(done: Carried, content: CampaignContent, folder: Path) -> dict[str, str]:
    """Write the accepted model as `steelyard identify` writes one; returns the paths by name.

    Base parameters have many links behind them; those nearest to the description's are written. Where none
    that can exist have the accepted torques, those that change them least are, and that is said.
    """
    assert done.answer is not None
    about = subject_of(done.outcome.result("subject"))
    links = links_behind(about, np.asarray(done.answer["final"]["final"]))
    if not links.same:
        say(f"{MODEL}: {links.reason}")
    described = Path(about.settings.robot)
    urdf = described.suffix.lower() == ".urdf" and described.is_file()
    step = Step(
        "campaign",
        {"spec": done.spec.name, "run": done.answer["final"]["run"], "torque_change": links.change},
    )
    written = write_result(
        folder,
        about.robot,
        about.model.layout,
        links.parameters,
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


def document_of(
    done: Carried, content: CampaignContent | None, files: Mapping[str, str], seconds: float
) -> dict[str, Any]:
    """The answer as a JSON document."""
    counts = done.outcome.counts
    document: dict[str, Any] = {
        "campaign": done.spec.name,
        "tasks": len(done.outcome.ends),
        "runs": len(done.outcome.ends),
        "done": counts[Status.DONE],
        "failed": counts[Status.FAILED] + counts[Status.SKIPPED],
        "failures": {name: end.reason for name, end in done.outcome.ends.items() if end.failure is not None},
        "representative": None,
        "validation": {},
        "seconds": seconds,
        "files": dict(files),
    }
    document["verdict"] = "fail" if document["failed"] else "pass"
    if done.answer is None or content is None:
        return document | ({} if done.answer is None else {"rows": done.answer["rows"]})
    cloud, final = done.answer["cloud"], done.answer["final"]
    refined = [row for row in cloud["runs"] if row.get("rms_clie") is not None]
    unrefined = [row for row in cloud["runs"] if row.get("rms_clie") is None]
    return document | {
        "runs": len(cloud["runs"]),
        "done": len(refined),
        "failed": len(unrefined) + document["failed"],
        "failures": document["failures"]
        | {row["run"]: row.get("failed") or row.get("reason", "") for row in unrefined},
        "verdict": content.verdict.status.value,
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
            for part in done.answer["validated"].values()
            if "failed" not in part
        },
    }


def summary_of(content: CampaignContent | None, document: Mapping[str, Any]) -> str:
    """The answer in words."""
    return trials_summary(document) if content is None else campaign_summary(content)


def _figures(part: Mapping[str, Any]) -> dict[str, Any]:
    return {
        model: {key: found[key] for key in ("rmse", "mne", "failed") if key in found}
        for model, found in part.items()
    }


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A run as one row of a table: what is known of its mass matrix gets columns of its own."""
    flat = {key: value for key, value in row.items() if not isinstance(value, Mapping)}
    for stage in ("ols", "clie"):
        flat |= {f"{stage}_{key}": value for key, value in row.get(stage, {}).items()}
    return flat


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
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
