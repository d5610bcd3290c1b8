"""What a campaign rests on: assumptions, digests, versions, and the text that described it."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.report.campaign_content import CampaignContent
from steelyard.report.safe_text import marked_up


def campaign_record_section(content: CampaignContent) -> str:
    """Assumptions, digests, versions and the description of the campaign.

    Args:
        content: what the page says.

    Returns:
        HTML.
    """
    assumed = "".join(f"<li>{marked_up(sentence)}</li>" for sentence in content.assumptions)
    read = {"robot description": content.digest, **content.digests}
    return (
        (f'<h3>What was assumed</h3>\n<ul class="untested">{assumed}</ul>\n' if assumed else "")
        + f"<h3>Digests, SHA-256</h3>\n{_definitions(read, code=True)}"
        + (f"<h3>Versions</h3>\n{_definitions(content.versions)}" if content.versions else "")
        + _spec(content.spec)
    )


def _definitions(values: Mapping[str, str], *, code: bool = False) -> str:
    opened, closed = ("<code>", "</code>") if code else ("", "")
    listed = "".join(
        f"<div><dt><bdi>{marked_up(name)}</bdi></dt><dd>{opened}{marked_up(value)}{closed}</dd></div>"
        for name, value in values.items()
        if value
    )
    return f'<dl class="facts">{listed}</dl>\n'


def _spec(spec: str) -> str:
    """The description line by line: white space at the head of a line is kept, nothing else needs to be."""
    if not spec:
        return ""
    lines = "<br>".join(
        "\u00a0" * (len(line) - len(line.lstrip())) + marked_up(line) for line in spec.rstrip().splitlines()
    )
    return (
        "<h3>Description</h3>\n<details><summary>the text the campaign was read from</summary>"
        f"<p><code>{lines}</code></p></details>\n"
    )
