"""Checks of a campaign: whether its cloud contracts, and whether the accepted model predicts as well."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from steelyard.audit.cloud import ParameterCloud
from steelyard.audit.cloud_contraction import Contraction, Trend
from steelyard.audit.cloud_prediction import PredictionError
from steelyard.audit.verdict import Check, Status
from steelyard.errors import InputError

KEPT = 0.01
"""Relative growth of the held-out RMSE that counts as none."""


def check_cloud(cloud: ParameterCloud) -> Check:
    """Ask whether the answers of different motions come together from stage to stage.

    Args:
        cloud: the answers.

    Returns:
        A failure where dispersion grows at a stage or does not shrink over all; a warning where a few wild
        runs say otherwise than the most; not run where fewer than two stages can be compared.
    """
    steps = cloud.contractions
    trends = {step.trend for step in steps}
    if not steps or Trend.UNKNOWN in trends:
        return Check("parameter cloud", Status.NOT_RUN, "there are no two stages whose spread compares.")
    told = "; ".join(_told(step) for step in steps) + "."
    evidence = {f"{step.before} to {step.after}": step.ratio for step in steps}
    if Trend.GROWS in trends or not trends & {Trend.SHRINKS, Trend.MIXED}:
        return Check("parameter cloud", Status.FAIL, told, evidence)
    return Check("parameter cloud", Status.WARN if Trend.MIXED in trends else Status.PASS, told, evidence)


def check_prediction_kept(
    refined: Mapping[str, PredictionError], final: Mapping[str, PredictionError], *, limit: float = KEPT
) -> Check:
    """Ask whether the accepted model predicts held-out torques as well as the refined one.

    Args:
        refined: errors of the refined model by motion.
        final: errors of the accepted model by motion.
        limit: relative growth of the mean RMSE that is allowed, dimensionless.

    Returns:
        A failure where the mean RMSE over the motions grows beyond the limit.

    Raises:
        InputError: the motions differ.
    """
    if set(refined) != set(final):
        raise InputError("the motions differ.", place="refined, final")
    if not refined:
        return Check("held-out torque kept", Status.NOT_RUN, "there is no held-out motion.")
    first, second = (float(np.mean([e.rmse for e in errors.values()])) for errors in (refined, final))
    kept = second <= first * (1.0 + limit)
    grown = 100.0 * (second / first - 1.0) if first > 0.0 else (0.0 if kept else float("inf"))
    message = (
        f"mean RMSE over {len(refined)} held-out motions is {first:.5g} N·m refined and {second:.5g} N·m "
        f"accepted, {grown:+.2g} %; at most {100.0 * limit:+.2g} % is allowed."
    )
    evidence = {"refined": first, "accepted": second, "limit": limit}
    return Check("held-out torque kept", Status.PASS if kept else Status.FAIL, message, evidence)


def _told(step: Contraction) -> str:
    return (
        f"from {step.before} to {step.after} dispersion {step.trend.value} to {step.ratio:.3g} times "
        f"({step.robust_ratio:.3g} times without trust in outliers) over {step.runs} runs"
    )
