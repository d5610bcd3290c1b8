"""How a refinement in closed loop went, for scripts and for the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import Check, Status
from steelyard.estimation.closed_loop import RefinementOutcome, within_noise
from steelyard.problem import Estimate


def refinement_of(estimate: Estimate, joints: Sequence[str]) -> dict[str, Any]:
    """How the refinement of an estimate went, for scripts."""
    told = estimate.detail

    def each(values: object) -> dict[str, float] | None:
        return dict(zip(joints, values, strict=True)) if isinstance(values, list) else None

    return {
        "outcome": told["outcome"],
        "reason": told["reason"],
        "iterations": told["iterations"],
        "within_noise": within_noise(told),
        "approach": told["approach"],
        "rms": {"before": each(told["rms_before"]), "after": each(told["rms_after"])},
        "delay": told["delay"],
        "cycle": told["cycle"],
        "block": told["block"],
        "torque_shifts": told["torque_shifts"],
    }


def check_refinement(told: Mapping[str, Any]) -> Check:
    """Whether the search among simulated loops ended at an optimum."""
    name, steps = "closed loop", f"{told['iterations']} step{'' if told['iterations'] == 1 else 's'}"
    evidence = {key: told[key] for key in ("outcome", "iterations", "delay", "block")}
    if told["outcome"] == RefinementOutcome.DIVERGED:
        message = f"no model near the start can be simulated, so nothing was refined: {told['reason']}"
        return Check(name, Status.FAIL, message, evidence)
    before, after = (_overall(told["rms"][when]) for when in ("before", "after"))
    message = (
        f"simulated torques, in blocks of {1e3 * told['block']:g} ms and with a delay of "
        f"{1e3 * told['delay']:g} ms, were off by {before:.4g} and are by {after:.4g} N·m rms after {steps}"
    )
    if told["outcome"] == RefinementOutcome.CONVERGED:
        return Check(name, Status.PASS, f"{message}.", evidence)
    message += f"; {told['outcome']}: {told['reason']}"
    if told["within_noise"]:
        return Check(name, Status.PASS, f"{message} A further step would change less than noise.", evidence)
    return Check(name, Status.WARN, message, evidence)


def _overall(joints: Mapping[str, float] | None) -> float:
    values: Array = np.array(list((joints or {}).values()))
    return float(np.sqrt((values**2).mean())) if values.size else math.nan
