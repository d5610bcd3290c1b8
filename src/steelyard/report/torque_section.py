"""Torques on the page: the errors of every joint, and the place of the curves."""

from __future__ import annotations

import numpy as np

from steelyard.report.content import ReportContent
from steelyard.report.numerals import aligned, numeral, percent
from steelyard.report.safe_text import marked_up
from steelyard.report.verdict_words import torque_errors

UNFILTERED = '<th scope="col"><small>unfiltered</small></th>'


def torque_section(content: ReportContent) -> str:
    """Errors by joint, and the place of the plots.

    Args:
        content: what the report says.

    Returns:
        HTML; empty where no motion is shown.
    """
    errors = torque_errors(content)
    if not errors:
        return ""
    heads = "".join(
        f'<th scope="col"><bdi>{marked_up(trace.name)}</bdi><br>'
        f"<small>{'held out' if trace.held_out else 'seen in training'}</small></th>"
        f"{'' if trace.unfiltered is None else UNFILTERED}"
        for trace, _ in errors
    )
    columns = []
    for trace, error in errors:
        rms = np.sqrt(((trace.measured - trace.predicted) ** 2).mean(axis=0))
        shares = aligned([percent(share) for share in (*error.joints, error.overall)])
        sizes = aligned([numeral(float(size), digits=3) for size in rms])
        own = [f"{size}\u202f{marked_up(unit)}" for size, unit in zip(sizes, content.units, strict=True)]
        columns.append(
            [
                f'{share}\u202f%<span class="rms">{size}</span>'
                for share, size in zip(shares, [*own, ""], strict=True)
            ]
        )
        if (plain := trace.unfiltered) is not None:
            shares = aligned([percent(share) for share in (*plain.joints, plain.overall)])
            columns.append([f"{share}\u202f%" for share in shares])
    names = [f"<bdi>{marked_up(joint)}</bdi>" for joint in content.joints]
    rows = "\n".join(
        f'<tr><th scope="row">{name}</th>' + "".join(f"<td>{column[k]}</td>" for column in columns) + "</tr>"
        for k, name in enumerate([*names, "all joints"])
    )
    return (
        "<p>Torque the model does not explain, in percent of the measured rms, and its own rms; in the band "
        "of the motion, and unfiltered where a column says so. The curves "
        "below keep every extreme of the data; between extremes, long motions are thinned.</p>\n"
        f'<div class="scroll" tabindex="0" role="region" aria-label="Torque error by joint">'
        f'<table class="errors"><thead><tr><th scope="col">joint</th>{heads}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>\n"
        f"{_motion_choice(content)}"
        '<div id="plots"></div>\n<noscript><p>The curves need scripts, which are off.</p></noscript>\n'
    )


def _motion_choice(content: ReportContent) -> str:
    choices = "".join(
        f'<label><input type="radio" name="motion" value="{k}"{" checked" if k == 0 else ""}>'
        f"<bdi>{marked_up(trace.name)}</bdi> <small>{'held out' if trace.held_out else 'seen'}</small>"
        "</label>"
        for k, trace in enumerate(content.traces)
    )
    buttons = "".join(
        f'<button type="button" data-zoom="{action}">{label}</button>'
        for action, label in (
            ("in", "Zoom in"),
            ("out", "Zoom out"),
            ("earlier", "Earlier"),
            ("later", "Later"),
            ("whole", "Whole motion"),
        )
    )
    return (
        f'<div class="controls sticky" id="plot-controls" hidden><fieldset><legend>Motion</legend>{choices}'
        f'</fieldset><div class="buttons">{buttons}</div><output id="plot-range"></output>'
        '<p class="key"><span class="line measured"></span>measured '
        '<span class="line predicted"></span>predicted '
        '<span class="line difference"></span>difference</p></div>\n'
    )
