"""The page of a motion: one self-contained HTML file with plots, a moving skeleton and the clearance."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from steelyard.report.motion_content import MotionContent
from steelyard.report.motion_data import motion_data
from steelyard.report.motion_joint_section import joint_section
from steelyard.report.motion_opening import motion_opening
from steelyard.report.motion_record_sections import noticed_section, proof_section, source_section
from steelyard.report.motion_search_section import search_section
from steelyard.report.motion_view_section import view_section
from steelyard.report.safe_text import as_script_data, marked_up

STYLES = ("page.css", "motion_page.css")
SCRIPTS = (
    *("reading.js", "torque_plots.js", "arm_view.js"),
    *("motion_plots.js", "motion_view.js", "motion_player.js", "motion_start.js"),
)


def motion_page(content: MotionContent) -> str:
    """Write the page of one motion.

    The same content gives the same text. Everything that comes from files is escaped, and besides, a content
    security policy lets the browser run nothing but the page's own script, known by its hash, and fetch
    nothing at all.

    Args:
        content: what the page says.

    Returns:
        HTML in UTF-8.
    """
    style = "\n".join(_asset(name) for name in STYLES)
    script = '"use strict";\n(() => {\n' + "\n".join(_asset(name) for name in SCRIPTS) + "})();\n"
    sections = {
        "Verdict": ("verdict", motion_opening(content)),
        "The motion": ("motion", view_section(content)),
        "Joints": ("joints", joint_section(content)),
        "Proof": ("proof", proof_section(content)),
        "Search": ("search", search_section(content)),
        "Findings": ("findings", noticed_section(content)),
        "Record": ("record", source_section(content)),
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
    made = f" {marked_up(content.made)}" if content.made else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{marked_up(content.robot)}: motion</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#verdict">Skip to the verdict</a>
<nav aria-label="Sections">{links}</nav>
<main>
{bodies}
</main>
<footer>Steelyard {marked_up(content.versions.get("steelyard", ""))}.{made}</footer>
<script type="application/json" id="data">{as_script_data(motion_data(content))}</script>
<script>{script}</script>
</body>
</html>
"""


def _asset(name: str) -> str:
    return files("steelyard.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
