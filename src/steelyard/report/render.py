"""Pages from their templates: one Jinja2 environment, in which no text from a file can become markup.

A page is a template of `templates/` that extends `base.html`, the shell: one HTML file that fetches nothing,
and runs nothing but its own script. Python says what is told, as plain data; the template how it is built.

Whatever a template writes by `{{ … }}` is made visible (`html.visible_text`) and escaped, unless it is markup
that a macro or `markup` made. `visible_text` makes any white space one blank and cuts it at both ends: text
of our own whose thin and figure spaces must stay is `html.Typeset`, and a blank between two texts stands in
the template.

Jinja2 is imported when the first page is made, so that commands without a page start without it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from steelyard.report.html import (
    Typeset,
    as_script_data,
    numeral,
    percent,
    typeset_text,
    unit_words,
    visible_text,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def render_page(
    template: str,
    title: str,
    headings: Mapping[str, str],
    content: Mapping[str, object],
    data: object,
    *,
    styles: Sequence[str],
    scripts: Sequence[str],
    version: str = "",
    made: str = "",
    live: bool = False,
) -> str:
    """Write a page: a template's sections in the shell of `base.html`, with style, script and data.

    The same content gives the same text. Everything that comes from files is escaped, and a content security
    policy lets the browser run nothing but the page's own script, known by its hash, and fetch nothing at
    all; a live page only from who served it.

    Args:
        template: name of the page's template.
        title: of the page.
        headings: of the page's sections by their anchors, in order: the links at its top.
        content: what the template tells, by the names it uses.
        data: what the script draws, as values JSON can hold.
        styles: names of the style sheets among the assets.
        scripts: names of the scripts among the assets, in their order.
        version: of the software.
        made: when and by whom the page is made; empty to leave it out.
        live: whether the script may ask the page's own server for more.

    Returns:
        HTML in UTF-8.
    """
    style = "\n".join(_asset(name) for name in styles)
    script = '"use strict";\n(() => {\n' + "\n".join(_asset(name) for name in scripts) + "})();\n"
    shell = {
        "title": title,
        "headings": headings,
        "style": markup(style),
        "style_hash": _hash(style),
        "script": markup(script),
        "script_hash": _hash(script),
        "data": data,
        "version": version,
        "made": made,
        "live": live,
    }
    return page_environment().get_template(template).render(shell | dict(content))


def markup(text: str) -> Markup:
    """Say that a text is markup already: a drawing whose labels are escaped, a style sheet.

    Args:
        text: HTML or SVG.

    Returns:
        The text, which templates write as it is.
    """
    from markupsafe import Markup

    return Markup(text)


@cache
def page_environment() -> Environment:
    """The environment of all templates: what they write is escaped, and what they lack is an error.

    Returns:
        The same each time.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("steelyard.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_written,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "numeral": numeral,
        "percent": percent,
        "unit": unit_words,
        "script_data": lambda value: markup(as_script_data(value)),
    }
    environment.globals["thin"] = Typeset("\u202f")
    return environment


def _written(value: object) -> object:
    """What stands in the page for a value; autoescape alone would let in control signs and turned text."""
    if hasattr(value, "__html__"):
        return value
    text = typeset_text(value) if isinstance(value, Typeset) else visible_text(str(value))
    return markup(escape(text, quote=True))


def _asset(name: str) -> str:
    return files("steelyard.report").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
