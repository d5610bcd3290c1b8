"""Whether the data showed what can be known, and which parameters it leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steelyard.arrays import Array
from steelyard.audit.verdict import Check, Status
from steelyard.finding import Finding
from steelyard.identifiable import ExcitationCertificate
from steelyard.problem import Estimate, Problem
from steelyard.uncertainty import base_intervals

# Excitation: the certificate as a check

ILL = 1000.0
"""Condition number, columns scaled to unit norm, from which on a motion is weak whatever the noise.

Below it the number alone does not judge: a motion of 123 without noise gives every parameter to ten digits,
one of 96 on a noisy arm leaves half of them open. That judgement is `check_intervals`.
"""


def check_excitation(certificate: ExcitationCertificate, condition: float) -> Check:
    """Judge the motion that was identified from, whatever the noise; with it `check_intervals` does.

    Args:
        certificate: what it determines.
        condition: condition number of the base regressor with columns of unit norm, dimensionless.
    """
    count = certificate.base.count
    evidence = {"determined": certificate.determined, "identifiable": count, "condition": condition}
    if not certificate.complete:
        missing = "; ".join(str(x) for x in certificate.missing[:3])
        message = f"the data determines {certificate.determined} of {count} combinations; missing: {missing}."
        return Check("excitation", Status.WARN, message, evidence)
    message = f"the data determines all {count} combinations, condition number {condition:.3g}"
    if condition > ILL:
        weak = "; ".join(str(x) for x in certificate.weakest[:2])
        message += f", above {ILL:g}: the excitation is weak, above all for {weak}."
        return Check("excitation", Status.WARN, message, evidence)
    return Check("excitation", Status.PASS, message + ".", evidence)


# Which parameters the data leaves open, judged by the torque that their intervals are worth.

KNOWN = 0.1
"""Half an interval over the parameter's own size up to which it is called known."""
WORTH = 0.1
"""Share of a joint's torque that half an interval may be worth before the parameter is called open."""
NAMED = 8
"""Open parameters that a message lists, the worst first."""


def check_intervals(problem: Problem, estimate: Estimate, findings: Sequence[Finding] = ()) -> Check:
    r"""Ask which base parameters the data leaves open, and name them.

    A parameter is open when its 95 % interval alone is worth more than a tenth of the torque of some joint:

    $$\max_j \frac{h_k\,\mathrm{rms}(W_{jk})}{\mathrm{rms}(\tau_j)} > 0.1$$

    with h half the interval and $W_{jk}$ the column of parameter k at joint j. So a number that is zero by
    symmetry is not open although its interval is wide against itself: neither end of it would be felt.
    Many open parameters are what weak excitation means; so neither a drift of friction nor errors of torque
    constants are counted, which no richer motion cures.

    Args:
        problem: the question.
        estimate: its answer.
        findings: what was noticed; where one says that intervals do not hold, the check does not pass.

    Returns:
        The check; not run where the method gives no covariance.
    """
    name, names = "intervals", estimate.base.names
    if estimate.covariance is None:
        return Check(name, Status.NOT_RUN, "the method gives no intervals.")
    if estimate.drift is not None:
        # Friction that drifts is no fault of the excitation.
        estimate = replace(estimate, covariance=estimate.covariance - estimate.drift)
    found = base_intervals(estimate)
    half = 0.5 * (found.upper - found.lower)
    worth = np.max(_torque_share(problem), axis=0)
    felt = np.where(worth > 0.0, half * worth, np.where(np.isinf(half), np.inf, 0.0))
    known = int(np.sum(half <= KNOWN * np.abs(estimate.values)))
    open_ones = [int(k) for k in np.argsort(-felt, kind="stable") if felt[k] > WORTH]
    evidence = {"known": known, "open": [names[k] for k in open_ones], "base": len(names)}
    message = f"{known} of {len(names)} base parameters are known to {100 * KNOWN:.0f} % of their value"
    bent = any(finding.code == "biased-motion" for finding in findings)
    if bent:
        message += "; they do not hold, because noise in the motion bends the estimate"
    if not open_ones:
        message += f"; no interval is worth more than {100 * felt.max():.2g} % of a joint's torque."
        return Check(name, Status.WARN if bent else Status.PASS, message, evidence)
    listed = ", ".join(names[k] for k in open_ones[:NAMED])
    more = f" and {len(open_ones) - NAMED} more" if len(open_ones) > NAMED else ""
    message += (
        f"; the excitation is weak for the noise: {len(open_ones)} are open, with intervals worth up to "
        f"{100 * felt[open_ones[0]]:.3g} % of a joint's torque: {listed}{more}."
    )
    return Check(name, Status.WARN, message, evidence)


def _torque_share(problem: Problem) -> Array:
    """rms(W_jk) / rms(tau_j): share of joint j's torque per unit of base parameter k, shape (nv, b)."""
    small, columns = problem.compressed, problem.base.columns
    share = np.zeros((len(small.triangles), problem.layout.size))
    for j, (mine, triangle) in enumerate(zip(small.columns, small.triangles, strict=True)):
        norms = np.linalg.norm(triangle, axis=0)
        if norms[-1] > 0.0:
            share[j, mine] = norms[:-1] / norms[-1]
    return share[:, columns]
