"""Whether the data showed what can be known."""

from __future__ import annotations

from steelyard.audit.verdict import Check, Status
from steelyard.identifiability import Certificate

ILL = 1000.0
"""Condition number, columns scaled to unit norm, from which on a motion is weak whatever the noise.

Below it the number alone does not judge: a motion of 123 without noise gives every parameter to ten digits,
one of 96 on a noisy arm leaves half of them open. That judgement is `check_intervals`.
"""


def check_excitation(certificate: Certificate, condition: float) -> Check:
    """Judge the motion that was identified from, whatever the noise; with it `check_intervals` does.

    Args:
        certificate: what it determines.
        condition: condition number of the base regressor with columns of unit norm, dimensionless.

    Returns:
        The check.
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
