"""Templates: what they write is shown and never obeyed, what they lack is an error, nothing loads early."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import TemplateRuntimeError, UndefinedError

import steelyard.report
from steelyard.report.html import Typeset, marked_up, typeset_text, visible_text
from steelyard.report.render import page_environment, render_page

HOSTILE = "</dd><script>alert(1)</script>\"'&\x1b[2J\u202e  x\n"
TEMPLATES = sorted(path.name for path in (Path(steelyard.report.__file__).parent / "templates").iterdir())


class Texts(HTMLParser):
    """Names of elements, and the text between them as a browser reads it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, text: str) -> None:
        self.text += text


def part(template: str, macro: str, *content: object) -> str:
    return str(getattr(page_environment().get_template(template).module, macro)(*content))


def facts(term: object, value: object) -> str:
    return part("components.html", "facts", [(term, value)])


@given(st.text())
def test_any_text_is_read_as_itself_made_visible(text: str) -> None:
    reader = Texts(facts(text, "value").rstrip("\n"))
    assert reader.tags == ["dl", "div", "dt", "dd"]
    assert reader.text == visible_text(text) + "value"


@given(st.text())
def test_typeset_text_keeps_its_spaces_and_is_escaped_alike(text: str) -> None:
    reader = Texts(facts(Typeset(text), "value").rstrip("\n"))
    assert reader.tags == ["dl", "div", "dt", "dd"]
    assert reader.text == typeset_text(text) + "value"


def test_a_template_escapes_like_text_in_drawings() -> None:
    assert f"<dt>{marked_up(HOSTILE)}</dt>" in facts(HOSTILE, 1)


def test_thin_and_figure_spaces_stay_in_typeset_text_alone() -> None:
    assert "<dd>1\u202fkg\u2007</dd>" in facts("mass", Typeset("1\u202fkg\u2007"))
    assert "<dd>1 kg</dd>" in facts("mass", "1\u202fkg\u2007")


def test_what_a_template_lacks_is_an_error_and_no_gap() -> None:
    with pytest.raises(UndefinedError, match="motions"):
        part("identification_parts.html", "torque", {})
    with pytest.raises(UndefinedError, match="sections"):
        render_page("sections.html", "title", {}, {}, {}, styles=(), scripts=())
    with pytest.raises(TemplateRuntimeError, match="main"):
        render_page("base.html", "title", {}, {}, {}, styles=(), scripts=())


def test_a_table_with_more_cells_than_heads_is_refused() -> None:
    with pytest.raises(UndefinedError):
        part("components.html", "table", "told", ("a",), [[("1", "2")]])


@pytest.mark.parametrize("template", TEMPLATES)
def test_no_template_turns_escaping_off(template: str) -> None:
    text = (Path(steelyard.report.__file__).parent / "templates" / template).read_text(encoding="utf-8")
    assert "autoescape" not in text
    assert "|safe" not in text.replace(" ", "")


def test_jinja_is_loaded_by_the_first_page_and_not_before() -> None:
    program = (
        "import sys, steelyard.report\n"
        "assert not {'jinja2', 'markupsafe'} & set(sys.modules)\n"
        "from steelyard.report.render import page_environment\n"
        "page_environment()\n"
        "assert 'jinja2' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
