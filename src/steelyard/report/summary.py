"""The report in a few lines of text, for a terminal."""

from __future__ import annotations

from steelyard.audit import Status
from steelyard.finding import Severity
from steelyard.identifiability import Class
from steelyard.report.content import ReportContent
from steelyard.report.numerals import percent
from steelyard.report.safe_text import visible
from steelyard.report.verdict_words import SYMBOLS, headline, torque_errors


def summary_text(content: ReportContent) -> str:
    """Say the essentials of a report in plain text.

    Names from files are shown with their control characters spelled out, so that no file can steer the
    terminal.

    Args:
        content: what the report says.

    Returns:
        Lines of text, the last one ended.
    """
    lines = [f"{visible(content.robot)}: {headline(content.verdict)}", ""]
    lines += _checks(content)
    if content.traces:
        lines += ["", *_torques(content)]
    lines += ["", _knowledge(content)]
    told = [finding for finding in content.findings if finding.severity is not Severity.INFO]
    if told:
        lines += ["", "Findings", *(f"  {visible(str(finding))}" for finding in told)]
    if content.untested:
        lines += ["", "Not tested", *(f"  {visible(sentence)}" for sentence in content.untested)]
    return "\n".join(lines) + "\n"


def _checks(content: ReportContent) -> list[str]:
    width = max((len(visible(check.name)) for check in content.verdict.checks), default=0)
    # The outcome is spelled out beside its symbol: symbols are lost in some terminals and to some eyes.
    return [
        f"  {SYMBOLS[check.status]} {check.status.value:<7}  {visible(check.name):<{width}}  "
        f"{visible(check.message)}".rstrip()
        for check in content.verdict.checks
    ] or [f"  {SYMBOLS[Status.NOT_RUN]} no checks"]


def _torques(content: ReportContent) -> list[str]:
    errors = torque_errors(content)
    names = [visible(joint) for joint in content.joints]
    width = max(len(name) for name in (*names, "all joints", "unfiltered"))
    titles = [f"{visible(trace.name)} ({_seen(trace.held_out)})" for trace, _ in errors]
    lines = ["Torque not explained, percent of its rms", "  " + "  ".join(["".ljust(width), *titles])]
    rows = [(name, [error.joints[j] for _, error in errors]) for j, name in enumerate(names)]
    for name, values in [*rows, ("all joints", [error.overall for _, error in errors])]:
        cells = [percent(value).rjust(len(title)) for value, title in zip(values, titles, strict=True)]
        lines.append("  " + "  ".join([name.ljust(width), *cells]))
    if any(trace.unfiltered is not None for trace, _ in errors):
        plain = ["" if trace.unfiltered is None else percent(trace.unfiltered.overall) for trace, _ in errors]
        cells = [value.rjust(len(title)) for value, title in zip(plain, titles, strict=True)]
        lines.append("  " + "  ".join(["unfiltered".ljust(width), *cells]))
    return lines


def _seen(held_out: bool) -> str:
    return "held out" if held_out else "seen"


def _knowledge(content: ReportContent) -> str:
    counts = {kind: sum(line.kind is kind for line in content.parameters) for kind in Class}
    shares = ", ".join(f"{count} {kind.value}" for kind, count in counts.items() if count)
    return (
        f"{len(content.combinations)} combinations of {len(content.parameters)} parameters are determined"
        f"{f' ({shares})' if shares else ''}; method {visible(content.method)}."
    )
