"""Whether the data showed what can be known."""

from __future__ import annotations

from steelyard.audit.verdict import Check, Status
from steelyard.identifiability import Certificate

ILL = 1000.0
"""Condition number, columns scaled to unit norm, from which on the data is called weak."""


def check_excitation(certificate: Certificate, condition: float) -> Check:
    """Judge the motion that was identified from.

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
        return Check("excitation", Status.WARN, f"{message}: weak, above all {weak}.", evidence)
    return Check("excitation", Status.PASS, message + ".", evidence)
