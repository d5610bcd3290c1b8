"""The verdict in plain words, and the errors it rests on."""

from __future__ import annotations

from steelyard.audit import Status, TorqueError, Verdict, torque_error
from steelyard.report.content import ReportContent, TorqueTrace

SYMBOLS = {Status.PASS: "✓", Status.WARN: "!", Status.FAIL: "✗", Status.NOT_RUN: "–"}


def headline(verdict: Verdict) -> str:
    """What is to be thought of a model, in a sentence.

    Args:
        verdict: the checks.

    Returns:
        The sentence.
    """
    count = {status: sum(check.status is status for check in verdict.checks) for status in Status}
    if verdict.status is Status.FAIL:
        return f"Do not rely on this model: {_checks(count[Status.FAIL])} failed."
    if verdict.status is Status.WARN:
        warned = count[Status.WARN]
        return f"Use this model with care: {_checks(warned)} {'warns' if warned == 1 else 'warn'}."
    if verdict.status is Status.PASS:
        ran = count[Status.PASS]
        return "The one check that was run passed." if ran == 1 else f"All {ran} checks that were run passed."
    return "Nothing is known about how good this model is: no check was run."


def torque_errors(content: ReportContent) -> list[tuple[TorqueTrace, TorqueError]]:
    """How far predictions are off, motion by motion.

    Args:
        content: what the report says.

    Returns:
        Each motion with its errors in percent.
    """
    return [(trace, torque_error(trace.measured, trace.predicted)) for trace in content.traces]


def _checks(count: int) -> str:
    return "one check" if count == 1 else f"{count} checks"
