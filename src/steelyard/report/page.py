"""The report as one self-contained HTML page: no request to anywhere, readable with scripts off."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from steelyard.report.arm_section import arm_section
from steelyard.report.combination_section import combination_section
from steelyard.report.content import ReportContent
from steelyard.report.parameter_section import parameter_section
from steelyard.report.plot_data import plot_data
from steelyard.report.record_sections import findings_section, record_section
from steelyard.report.safe_text import as_script_data, marked_up
from steelyard.report.torque_section import torque_section
from steelyard.report.verdict_sections import checks_section, opening

STYLE = "page.css"
SCRIPTS = ("reading.js", "torque_plots.js", "arm_view.js", "parameter_table.js", "start.js")


def report_page(content: ReportContent) -> str:
    """Write the page of one run.

    The same content gives the same text. Everything that comes from files is escaped, and besides, a content
    security policy lets the browser run nothing but the page's own script, known by its hash, and fetch
    nothing at all.

    Args:
        content: what the report says.

    Returns:
        HTML in UTF-8.
    """
    style = _asset(STYLE)
    script = '"use strict";\n(() => {\n' + "\n".join(_asset(name) for name in SCRIPTS) + "})();\n"
    sections = {
        "Verdict": ("verdict", opening(content)),
        "Checks": ("checks", checks_section(content)),
        "Torque": ("torque", torque_section(content)),
        "The arm": ("arm", arm_section(content)),
        "Parameters": ("parameters", parameter_section(content)),
        "Combinations": ("combinations", combination_section(content)),
        "Findings": ("findings", findings_section(content)),
        "Record": ("record", record_section(content)),
    }
    present = {title: (name, body) for title, (name, body) in sections.items() if body}
    links = "".join(f'<a href="#{name}">{title}</a>' for title, (name, _) in present.items())
    bodies = "\n".join(
        f'<section id="{name}">{f"<h2>{title}</h2>" if name != "verdict" else ""}\n{body}</section>'
        for title, (name, body) in present.items()
    )
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{marked_up(content.robot)}: identification report</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#verdict">Skip to the verdict</a>
<nav aria-label="Sections">{links}</nav>
<main>
{bodies}
</main>
<footer>{_footer(content)}</footer>
<script type="application/json" id="data">{as_script_data(plot_data(content))}</script>
<script>{script}</script>
</body>
</html>
"""


def _footer(content: ReportContent) -> str:
    made = f" {marked_up(content.made)}" if content.made else ""
    return f"Steelyard {marked_up(content.versions.get('steelyard', ''))}.{made}"


def _asset(name: str) -> str:
    return files("steelyard.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
