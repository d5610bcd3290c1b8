"""A campaign in a few lines of text, for a terminal."""

from __future__ import annotations

import math

import numpy as np

from steelyard.audit import ParameterCloud, Status, routing_table
from steelyard.report.campaign_content import CampaignContent
from steelyard.report.campaign_paper import MEDIAN_SECONDS, TOTAL_SECONDS
from steelyard.report.campaign_words import counted
from steelyard.report.safe_text import visible
from steelyard.report.verdict_words import SYMBOLS, headline

MOST_FAILURES = 10
"""Failures told with their reasons; the page has all."""


def campaign_summary(content: CampaignContent) -> str:
    """Say the essentials of a campaign in plain text.

    Names from files are shown with their control characters spelled out, so that no file can steer the
    terminal.

    Args:
        content: what the page says.

    Returns:
        Lines of text, the last one ended.
    """
    lines = [f"{visible(content.robot)}, {visible(content.name)}: {headline(content.verdict)}", ""]
    lines += [*_checks(content), "", *_counts(content), *_times(content)]
    if content.runs:
        lines += ["", *_routing(content)]
    if content.cloud is not None:
        lines += ["", *_cloud(content.cloud)]
    lines += [*_model(content), *_held_out(content), *_failures(content)]
    return "\n".join(lines) + "\n"


def _checks(content: CampaignContent) -> list[str]:
    width = max((len(visible(check.name)) for check in content.verdict.checks), default=0)
    return [
        f"  {SYMBOLS[check.status]} {check.status.value:<7}  {visible(check.name):<{width}}  "
        f"{visible(check.message)}".rstrip()
        for check in content.verdict.checks
    ] or [f"  {SYMBOLS[Status.NOT_RUN]} no checks"]


def _counts(content: CampaignContent) -> list[str]:
    total, failed = len(content.runs), len(content.failures)
    steps = ", ".join(f"{1e3 * interval:g}" for interval in content.intervals)
    return [
        f"{counted(len(content.motions), 'motion')} at {steps} ms, setting: {visible(content.setting)}",
        f"{counted(total, 'run')}: {total - failed} with a result, {failed} failed, {content.proven} proven "
        "positive definite at every pose",
    ]


def _times(content: CampaignContent) -> list[str]:
    spent = math.fsum(run.seconds for run in content.runs if math.isfinite(run.seconds))
    line = (
        f"{content.wall_seconds:.1f} s from start to end on {counted(content.cores, 'core')}; "
        f"median run {content.median_seconds:.3g} s, all runs {spent:.1f} s"
    )
    if not content.beside_paper:
        return [line]
    return [
        line,
        f"paper 004: median run {MEDIAN_SECONDS:.0f} s, all runs {TOTAL_SECONDS:.0f} s; not like for like "
        f"({'simulated arm, ' if content.simulated else ''}other computer, far narrower search)",
    ]


def _routing(content: CampaignContent) -> list[str]:
    rows = routing_table([run.interval for run in content.runs], [run.passed for run in content.runs])
    told = ", ".join(f"{row.passed} of {row.total} at {1e3 * row.interval:g} ms" for row in rows)
    return [f"Least squares positive definite: {told}"]


def _cloud(cloud: ParameterCloud) -> list[str]:
    width = max(len(visible(stage.name)) for stage in cloud.stages)
    lines = ["Cloud: dispersion in scales (robust), mean deviation in SI, answers, apart"]
    for stage in cloud.stages:
        lines.append(
            f"  {visible(stage.name):<{width}}  {stage.dispersion:8.3g} ({stage.robust_dispersion:.3g})  "
            f"{stage.mean_deviation:8.3g}  {int(stage.answered.sum()):5d}  {int(stage.apart.sum()):5d}"
        )
    return lines


def _model(content: CampaignContent) -> list[str]:
    if not content.representative:
        return []
    lines = ["", f"Representative: {visible(content.representative)}"]
    words = {True: "yes", False: "no", None: "not asked"}
    lines += [
        f"  {visible(stage.stage)}: proven positive definite at every pose {words[stage.proven]}, "
        f"physically possible {words[stage.possible]}"
        for stage in content.stages
    ]
    return lines


def _held_out(content: CampaignContent) -> list[str]:
    if not content.held_out:
        return []
    refined, final = (
        float(np.mean([getattr(motion, which).rmse for motion in content.held_out]))
        for which in ("refined", "final")
    )
    names = ", ".join(visible(motion.motion) for motion in content.held_out)
    return ["", f"Held out ({names}): mean RMSE {refined:.4g} N·m refined, {final:.4g} N·m accepted"]


def _failures(content: CampaignContent) -> list[str]:
    failed = content.failures
    if not failed:
        return []
    lines = [f"  {visible(run.label)}: {visible(run.reason)}" for run in failed[:MOST_FAILURES]]
    more = [f"  and {len(failed) - MOST_FAILURES} more"] if len(failed) > MOST_FAILURES else []
    return ["", "Failed", *lines, *more]
