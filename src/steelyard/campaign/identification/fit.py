"""Stages on one motion at one sampling interval: least squares, and where the refinement starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.campaign.identification.record import measured
from steelyard.campaign.identification.subject import Subject, subject_of
from steelyard.consistency import judge_all_poses, lowest_pose, rescue_by_ladder
from steelyard.dynamics import compress, inverse_dynamics
from steelyard.estimation import Point
from steelyard.recording import Recording
from steelyard.signals import CentralDifferences, differentiated, resampled

Document = Mapping[str, Any]
AUDIT_SEED = 4
"""Of the poses from which an audit searches: the same for every model."""


def samples_of(log: Recording, interval: float) -> Recording:
    """A log on the target grid: anti-aliased, every sample used once, differentiated on that grid (V-B).

    Args:
        log: at the control cycle, with q and tau.
        interval: of the grid, s.

    Returns:
        The log with q, v, a and tau.
    """
    return differentiated(resampled(log, interval), CentralDifferences())


def least_squares(subject: Document, recorded: Document, interval: float) -> dict[str, Any]:
    """OLS of the base parameters on the samples of one run.

    Args:
        subject: document of the subject.
        recorded: the run.
        interval: of the samples, s.

    Returns:
        `factor`, the triangle of the equations; `beta`; `cond` of the regressor as it is and `scaled` with
        columns of unit norm; `rms` of the residual by joint, N·m or N; `samples`.
    """
    about = subject_of(subject)
    model = about.model
    log = samples_of(measured(about, recorded), interval)
    q, v, a, tau = (log.channels[name] for name in ("q", "v", "a", "tau"))
    equations = compress(about.robot, model.layout, [(q, v, a, tau)])
    R = equations.factor()
    reduced = np.column_stack([R[:, :-1] @ model.basis, R[:, -1] - R[:, :-1] @ model.offset])
    factor = np.asarray(np.linalg.qr(reduced, mode="r"))
    W = factor[: model.size, : model.size]
    beta = np.linalg.lstsq(W, factor[: model.size, -1], rcond=None)[0]
    phi = model.standard(beta)
    return {
        "factor": factor,
        "beta": beta,
        "cond": float(np.linalg.cond(W)),
        "scaled": float(np.linalg.cond(W / np.linalg.norm(W, axis=0))),
        "rms": np.sqrt(((tau - inverse_dynamics(about.robot, model.layout, phi, q, v, a)) ** 2).mean(axis=0)),
        "samples": len(q),
    }


def start(subject: Document, fitted: Document) -> dict[str, Any]:
    """Audit the OLS estimate, and find where the refinement starts (Algorithm 1, lines 4 to 15).

    Args:
        subject: document of the subject.
        fitted: result of `least_squares`.

    Returns:
        `audit` of the OLS estimate; `route`; `margin` of the projection, None without; `beta` of the start;
        `phi` behind it where it is possible.
    """
    about = subject_of(subject)
    beta = fitted["beta"]
    audit = audited(about, beta)
    definite = audit["definite"]
    route = "O-C" if definite else "O-S-C"
    if about.settings.start == "possible":
        found = possible_start(about, fitted["factor"])
        return {"audit": audit, "route": route, "margin": None, "beta": found[0], "phi": found[1]}
    if definite:
        return {"audit": audit, "route": route, "margin": None, "beta": beta, "phi": None}
    projected = rescue_by_ladder(about.proof, beta, margins=about.settings.margins)
    return {"audit": audit, "route": route, "margin": projected.margin, "beta": projected.beta, "phi": None}


def possible_start(about: Subject, factor: Array) -> tuple[Array, Array]:
    """The possible links that fit the equations of a run best.

    Args:
        about: the subject.
        factor: triangle of the run's equations, shape (b + 1, b + 1), SI.

    Returns:
        beta, shape (b,), SI; and the full vector behind it, shape (p,), SI.
    """
    b = about.model.size
    W, z = factor[:b, :b], factor[:b, -1]
    middle = np.asarray(np.linalg.lstsq(W, z, rcond=None)[0], dtype=float)
    found = about.links.best(W, z - W @ middle, Point(middle))
    assert found.parameters is not None
    return found.beta, found.parameters


def audited(about: Subject, beta: Array) -> dict[str, Any]:
    """What is known of the mass matrix of base parameters, as plain values.

    Args:
        about: the subject.
        beta: base parameters, shape (b,), SI.

    Returns:
        `proven`, whether it is positive definite at every pose, with the `bound` of its eigenvalues, kg·m² or
        kg; otherwise `smallest`, the lowest eigenvalue met at any pose, and `in_domain`, the lowest met in
        the audited box; `definite`, whether none was found in that box that is not positive.
    """
    rng = np.random.default_rng(AUDIT_SEED)
    verdict = judge_all_poses(about.proof, beta, rng)
    if verdict.proven:
        return {"definite": True, "proven": True, "bound": verdict.bound, "smallest": None, "in_domain": None}
    model = about.model
    low = lowest_pose(model.robot, model.layout, model.standard(beta), about.domain, rng)
    return {
        "definite": not low.refutes,
        "proven": False,
        "bound": None,
        "smallest": None if verdict.low is None else verdict.low.value,
        "in_domain": low.value,
    }
