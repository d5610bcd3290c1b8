"""The page of a sensitivity study: one self-contained HTML file that needs no script."""

from __future__ import annotations

from steelyard.payload import SensitivityTable
from steelyard.report.numerals import numeral
from steelyard.report.safe_text import marked_up
from steelyard.report.sensitivity_sections import error_section, motion_section, running_section
from steelyard.report.shell import page

_BESIDE = (
    (
        "Object",
        "The default object is that of Table 5.4. Like for like; the prose of 5.1.2 states another inertia, "
        "which breaks the triangle inequality.",
    ),
    (
        "Runs",
        "The paper simulates a controlled Panda in Drake. Here torques come from inverse dynamics along the "
        "exact motion: no controller, no plant, no friction. Loaded and empty run coincide in both.",
    ),
    (
        "Estimator",
        "Residual torques, ten numbers, plain least squares, as in the paper. Only weighted and momentum, "
        "which are ours, weigh the joints by their noise.",
    ),
    (
        "Fig. 5-3",
        "Like for like: σ = 0.01 on q and v, 18 trials, accelerations from noisy against smooth states "
        "(none against clean). Not stated in the paper, and chosen here: the motion, its length, and the "
        "rate of sampling, with which the noise of differences grows: at 1 kHz it is five times that at "
        "200 Hz.",
    ),
    (
        "Figs. 5-4, 5-5",
        "Like for like: σ = 0.01 and 0.1 on torques, none on states; the paper makes 10 trials. Noise is "
        "drawn for the loaded and for the empty run; whether the paper does so is not said, and changes "
        "errors by √2. The paper's mass at 0.1 settles on a wrong value. Noise of torques alone leaves least "
        "squares without bias, so the curves here close in on the truth.",
    ),
    (
        "Fig. 5-8",
        "Like for like: 0.3 rad, 1 to 5 rad/s, boxes of 0.3 × 0.6 × 0.3 m in front of and behind the robot, "
        "cubic in joint space. Chosen here: the boxes' places, a tool that points down at both ends, the "
        "pace, and the noise. The paper's condition numbers are about 8 for sinusoids and of the order of "
        "10³ for pick-and-place.",
    ),
    (
        "Filter of 4.4.3",
        "Second order, 10 Hz, on torques and accelerations, at 200 Hz as in the paper; here it runs forwards "
        "and backwards, so that nothing is delayed, and what it cannot know at both ends is cut.",
    ),
    (
        "Values",
        "The paper shows its errors as pictures without numbers, so orders and shapes can be compared, "
        "values cannot.",
    ),
)


def sensitivity_page(table: SensitivityTable, *, robot: str, seed: int, version: str = "") -> str:
    """Write the page of a study.

    The same study gives the same text. Names are escaped; see `shell.page` for what else keeps a hostile one
    from doing anything.

    Args:
        table: what was found.
        robot: name of the robot.
        seed: of motions and noise.
        version: of the software.

    Returns:
        HTML in UTF-8.
    """
    sections = {
        "Study": ("verdict", _opening(table, robot, seed)),
        **{
            f"Noise and filters, {marked_up(kind)}": (f"errors-{k}", error_section(table, kind))
            for k, kind in enumerate(table.motions)
        },
        "Mass against samples": ("running", running_section(table)),
        "Motions": ("motions", motion_section(table)),
        "Beside paper 001": ("paper", _beside()),
    }
    return page(
        f"{robot}: sensitivity of the payload",
        sections,
        {},
        styles=("page.css",),
        scripts=(),
        version=version,
    )


def _opening(table: SensitivityTable, robot: str, seed: int) -> str:
    figures = [
        ("mass of the payload", f"{numeral(float(table.truth[0]), digits=3)}\u202fkg"),
        ("trials of each case", str(table.trials)),
        ("samples per second", f"{table.rate:g}"),
        *(
            (f"mean condition number, {spread.motion}", numeral(float(spread.conditions.mean()), digits=3))
            for spread in table.spreads
        ),
    ]
    listed = "".join(f"<div><dt>{marked_up(label)}</dt><dd>{value}</dd></div>" for label, value in figures)
    return (
        '<p class="eyebrow">How noise, filters and motions change what a payload weighs</p>\n'
        f"<h1><bdi>{marked_up(robot)}</bdi></h1>\n"
        f'<dl class="figures">{listed}</dl>\n'
        "<p>Torques with and without the payload come from inverse dynamics along the exact motion. White "
        "noise is added to positions, velocities and torques of the logs, and the ten numbers are estimated "
        f"from what is left, in the frame <bdi>{marked_up(table.frame)}</bdi>. No plant, controller or "
        f"friction takes part. Seed {seed}.</p>\n"
    )


def _beside() -> str:
    facts = "".join(
        f'<tr><th scope="row">{topic}</th><td class="words">{marked_up(text)}</td></tr>'
        for topic, text in _BESIDE
    )
    return f'<div class="scroll"><table><tbody>{facts}</tbody></table></div>\n'
