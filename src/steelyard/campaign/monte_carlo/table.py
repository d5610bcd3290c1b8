"""The answer of a Monte Carlo study: what the trials of every combination came to."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from steelyard.campaign.failure import Failure

FIGURES = ("error", "held_out", "cond")
"""What a trial is judged by."""
_QUARTILES = {"lower_quartile": 25, "median": 50, "upper_quartile": 75}


def table(tried: Mapping[str, Mapping[str, Any] | Failure], axes: Mapping[str, Any]) -> dict[str, Any]:
    """Medians and quartiles of every combination.

    Args:
        tried: all trials, by task.
        axes: values by axis.

    Returns:
        `rows`, one for each combination: its values, how many `trials` gave a result, and of each figure the
        median and the quartiles, None where no trial gave one; `trials`, all that gave a result; `failed`,
        reasons by task.
    """
    done = [dict(result) for result in tried.values() if not isinstance(result, Failure)]
    alike: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for one in done:
        alike.setdefault(tuple(one[axis] for axis in axes), []).append(one)
    rows = []
    for values in product(*axes.values()):
        mine = alike.get(values, [])
        rows.append(
            dict(zip(axes, values, strict=True))
            | {"trials": len(mine)}
            | {figure: _spread([one[figure] for one in mine]) for figure in FIGURES}
        )
    failed = {name: result.reason for name, result in tried.items() if isinstance(result, Failure)}
    return {"rows": rows, "trials": done, "failed": failed}


def _spread(values: list[float]) -> dict[str, float] | None:
    if not values:
        return None
    with np.errstate(invalid="ignore"):
        found = np.percentile(values, list(_QUARTILES.values()))
    # Between two infinities, as of the condition number of blind data, interpolation knows no value.
    return {name: float(np.inf if np.isnan(x) else x) for name, x in zip(_QUARTILES, found, strict=True)}
