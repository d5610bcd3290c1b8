"""Answers of many runs put into one common basis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from steelyard.arrays import Array, checked
from steelyard.audit.cloud import ParameterCloud
from steelyard.audit.cloud_spread import pooled_scales
from steelyard.audit.cloud_stage import CloudStage, apart_from
from steelyard.errors import InputError


def parameter_cloud(
    stages: Mapping[str, Array],
    labels: Sequence[str],
    names: Sequence[str],
    units: Sequence[str],
    *,
    scales: Array | None = None,
    trimmed: bool = True,
) -> ParameterCloud:
    """Put the answers of many runs into one common basis.

    Args:
        stages: answers by stage in their order, each shape (n, b), SI; a row of NaN for a run without one.
        labels: of the n runs, each once.
        names: of the b parameters.
        units: of the b parameters.
        scales: what counts as a typical spread of each parameter, shape (b,), SI; `pooled_scales` when not
            given, ones for the plain numbers as in paper 004.
        trimmed: whether rows that lie apart at their stage have no say in the basis. One wild run would
            otherwise choose the first axis alone.

    Returns:
        The cloud.

    Raises:
        InputError: labels repeat, a row is partly NaN, a scale is not positive, or fewer than two answers.
    """
    n, b = len(labels), len(names)
    rows = {name: checked(name, values, (n, b), finite=False) for name, values in stages.items()}
    _refuse(rows, labels, names, units)
    answers = {name: values[np.isfinite(values).all(axis=1)] for name, values in rows.items()}
    s = pooled_scales(answers, units) if scales is None else checked("scales", scales, (b,))
    if not (s > 0.0).all():
        raise InputError("must be positive.", place="scales")
    found = {name: _distances(values, s) for name, values in rows.items()}
    kept, left_out = [], []
    for name, values in rows.items():
        _, d, threshold = found[name]
        wild = d > threshold if trimmed else np.zeros(n, dtype=bool)
        kept.append(values[np.isfinite(d) & ~wild])
        left_out += [(name, labels[k]) for k in np.flatnonzero(wild).tolist()]
    c, V, explained = _principal(np.concatenate(kept), s)
    made = tuple(
        CloudStage(name, values, ((values - c) / s) @ V.T, *found[name], s) for name, values in rows.items()
    )
    return ParameterCloud(
        tuple(names), tuple(units), tuple(labels), made, c, s, V, explained, tuple(left_out)
    )


def _refuse(
    rows: Mapping[str, Array], labels: Sequence[str], names: Sequence[str], units: Sequence[str]
) -> None:
    if not rows:
        raise InputError("there is no stage.", place="stages")
    if len(set(labels)) != len(labels):
        raise InputError("must name every run once.", place="labels")
    if len(units) != len(names):
        raise InputError(f"{len(units)} units for {len(names)} parameters.", place="units")
    for name, values in rows.items():
        known = np.isfinite(values).sum(axis=1)
        for k in np.flatnonzero((known > 0) & (known < len(names))).tolist():
            raise InputError(
                f"run '{labels[k]}' has {known[k]} of {len(names)} parameters.",
                place=f"stage '{name}'",
                remedy="A run without an answer is a row of NaN.",
            )
    if sum(int(np.isfinite(values).all(axis=1).sum()) for values in rows.values()) < 2:
        raise InputError("hold fewer than two answers.", place="stages")


def _distances(values: Array, s: Array) -> tuple[Array, Array, float]:
    """Centre, distances from it and the distance from which on a run is apart."""
    answered = np.isfinite(values).all(axis=1)
    d = np.full(len(values), np.nan)
    if not answered.any():
        return np.full(len(s), np.nan), d, float("inf")
    centre = np.median(values[answered], axis=0)
    d[answered] = np.linalg.norm((values[answered] - centre) / s, axis=1)
    return centre, d, apart_from(d[answered])


def _principal(values: Array, s: Array) -> tuple[Array, Array, Array]:
    """Mean, principal directions and shares of variance of scaled rows; all b directions are kept."""
    c = values.mean(axis=0)
    # Fewer rows than parameters leave directions without variance, which complete the basis.
    _, singular, V = np.linalg.svd((values - c) / s, full_matrices=len(values) < len(s))
    variance = np.zeros(len(s))
    variance[: len(singular)] = singular**2
    # A direction has no sign of its own; its largest weight is made positive.
    heads = V[np.arange(len(V)), np.abs(V).argmax(axis=1)]
    total = variance.sum()
    return c, V * np.sign(heads)[:, None], variance / total if total > 0.0 else variance
