"""The payload beside others: a solid of one density, and another object in the same trials."""

from __future__ import annotations

import math

from steelyard.payload import quantities
from steelyard.report.numerals import aligned, numeral
from steelyard.report.payload_content import PayloadContent
from steelyard.report.payload_parts import PayloadNumber, TrialOutcome
from steelyard.report.payload_table import table
from steelyard.report.payload_words import headed, scale_of, told_numbers
from steelyard.report.safe_text import marked_up
from steelyard.report.verdict_words import SYMBOLS


def density_section(content: PayloadContent) -> str:
    """The measured numbers beside those of the mesh filled with one density.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where it was not asked.
    """
    check, solid = content.density, content.uniform
    if check is None:
        return ""
    said = (
        f'<ul class="checks"><li data-status="{check.status.value}"><span class="mark" aria-hidden="true">'
        f'{SYMBOLS[check.status]}</span><span class="state">{check.status.value}</span>'
        f"<div>{marked_up(check.message)}</div></li></ul>\n"
    )
    if solid is None:
        return said
    solid_numbers = quantities(solid.parameters).tolist()
    rows = []
    for start in ("com", "I", "moment"):
        pairs = [
            (number, value)
            for number, value in zip(content.numbers, solid_numbers, strict=True)
            if number.name.startswith(start)
        ]
        uniform = aligned([_read(value, number) for number, value in pairs])
        told = told_numbers([number for number, _ in pairs])
        for (number, value), texts, own in zip(pairs, told, uniform, strict=True):
            inside = number.lower <= value <= number.upper
            rows.append([headed(number), *texts, own, "inside" if inside else "<strong>outside</strong>"])
    heads = ("number", "measured", "95\u202f% interval", "one density", "of the interval")
    return (
        f"{said}{table('Measured and uniform numbers', heads, [rows])}"
        '<p class="quiet">The mesh is filled with the measured mass. The verdict above weighs all numbers '
        "together; one that is outside its own interval need not contradict it, nor one inside agree.</p>\n"
    )


def _read(value: float, number: PayloadNumber) -> str:
    """A value with the digits that the interval of a number leaves."""
    scale = scale_of(number.unit)
    return numeral(scale * value, scale * number.half_width)


def trials_section(content: PayloadContent) -> str:
    """How far the asset moves from another object in the same trials.

    Args:
        content: what the page says.

    Returns:
        HTML; empty where there was no trial.
    """
    if not content.trials:
        return ""
    heads = ("trial", "beside", "watched", "distance", "angle", "time of a swing")
    return (
        "<p>The asset and another object went through the same trials in MuJoCo; told are the largest "
        "distance and angle between their frames.</p>\n"
        f"{table('Trials', heads, [[_trial(trial) for trial in content.trials]])}"
    )


def _trial(trial: TrialOutcome) -> list[str]:
    swing = "–"
    if trial.periods is not None:
        own, other = (numeral(period) for period in trial.periods)
        swing = f"{own} against {other}\u202fs"
    return [
        f"<bdi>{marked_up(trial.trial)}</bdi>",
        f"<bdi>{marked_up(trial.other)}</bdi>",
        f"{trial.seconds:g}\u202fs",
        f"{numeral(1e3 * trial.distance, digits=2)}\u202fmm",
        f"{numeral(math.degrees(trial.angle), digits=2)}°",
        swing,
    ]
