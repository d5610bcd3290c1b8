"""Prediction of held-out motions on the page of a campaign: errors, torque curves, reference commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from steelyard.audit import MNE_DEFINITION, PredictionError
from steelyard.report.campaign_command_figure import command_figure
from steelyard.report.campaign_content import CampaignContent
from steelyard.report.campaign_paper import HELD_OUT
from steelyard.report.campaign_words import number
from steelyard.report.content import ReportContent
from steelyard.report.payload_table import table
from steelyard.report.safe_text import marked_up
from steelyard.report.torque_section import torque_section

Pair = tuple[float, float]
"""A figure of the refined and of the accepted model."""
_MEASURES: tuple[tuple[str, str, Callable[[PredictionError], float]], ...] = (
    ("RMSE", "N·m", lambda error: error.rmse),
    ("MNE", "", lambda error: error.mne),
)


def held_out_section(content: CampaignContent) -> str:
    """Errors on motions not used for identification (paper 004, Table VII).

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no motion was held out.
    """
    if not content.held_out:
        return ""
    heads = ["motion", "refined", "accepted", "change"]
    if content.beside_paper:
        heads += ["refined, paper", "accepted, paper"]
    groups = []
    for k, (name, unit, measure) in enumerate(_MEASURES):
        figures = {
            motion.motion: (measure(motion.refined), measure(motion.final)) for motion in content.held_out
        }
        paper = {motion: HELD_OUT[motion][k] for motion in figures if motion in HELD_OUT}
        rows = [
            _row(f"{name} <bdi>{marked_up(motion)}</bdi>", unit, both, paper.get(motion))
            for motion, both in figures.items()
        ]
        rows.append(_row(f"<strong>{name}, mean</strong>", unit, _mean(figures), _mean(paper)))
        groups.append([row[: len(heads)] for row in rows])
    return (
        "<p>RMSE: root mean square of the torque error over all samples and joints. The paper does not "
        f"define its mean normalised error (MNE). Here it is dimensionless: {MNE_DEFINITION}.</p>\n"
        f"{table('Errors on held-out motions', heads, groups)}{_joints(content)}"
    )


def _row(name: str, unit: str, here: Pair | None, paper: Pair | None) -> list[str]:
    nothing = (float("nan"), float("nan"))
    refined, final = here or nothing
    change = 100.0 * (final / refined - 1.0) if refined > 0.0 else float("nan")
    told = [number(value, unit, digits=4) for value in (refined, final)]
    return [
        name,
        *told,
        number(change, "%", digits=2),
        *(number(value, unit, digits=4) for value in paper or nothing),
    ]


def _mean(figures: Mapping[str, Pair]) -> Pair | None:
    if not figures:
        return None
    first, second = np.mean(list(figures.values()), axis=0)
    return float(first), float(second)


def torque_curves(content: CampaignContent) -> str:
    """Measured and predicted torque along held-out motions (paper 004, Fig. 8).

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no torque is shown.
    """
    return torque_section(as_report(content))


def command_section(content: CampaignContent) -> str:
    """What the joints were told to do (paper 004, Figs. 5 and 6).

    Args:
        content: what the page says.

    Returns:
        HTML; empty where no command is shown.
    """
    parts = []
    for curves in content.commands:
        panels = "\n".join(
            command_figure(curves.time, curves.values[:, j], joint, unit)
            for j, (joint, unit) in enumerate(zip(curves.joints, curves.units, strict=True))
        )
        told = f", {marked_up(curves.told)}" if curves.told else ""
        lasts = number(float(curves.time[-1] - curves.time[0]), "s", digits=4)
        parts.append(
            f"<h3><bdi>{marked_up(curves.motion)}</bdi>{told}, {lasts}</h3>\n"
            f'<div class="facts">\n{panels}\n</div>\n'
        )
    return "".join(parts)


def as_report(content: CampaignContent) -> ReportContent:
    """What the page of a campaign has in common with that of an identified robot.

    Args:
        content: what the page says.

    Returns:
        The same robot, checks and torques.
    """
    return ReportContent(
        robot=content.robot,
        digest=content.digest,
        method=content.setting,
        verdict=content.verdict,
        joints=content.joints,
        units=content.units,
        traces=content.traces,
        versions=content.versions,
        untested=content.untested,
        made=content.made,
    )


def _joints(content: CampaignContent) -> str:
    """Errors of every joint by motion, folded away."""
    count = max(len(motion.final.joint_rmse) for motion in content.held_out)
    heads = ["joint", *(f"RMSE {marked_up(motion.motion)}" for motion in content.held_out)]
    rows = [[str(j + 1), *(_at(motion.final, j) for motion in content.held_out)] for j in range(count)]
    return (
        "<details><summary>accepted model, RMSE of every joint</summary>"
        f"{table('Errors by joint', heads, [rows])}</details>\n"
    )


def _at(error: PredictionError, joint: int) -> str:
    if joint >= len(error.joint_rmse):
        return "–"
    return number(float(error.joint_rmse[joint]), "N·m")
