"""What is printed does nothing to a terminal but appear on it, whatever a file calls its joints."""

from __future__ import annotations

import io
import json

from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from steelyard.cli import output

HOSTILE = "a\x1b[2J\x1b]0;owned\x07\x9b31m\x08\x00\u202eb"
SHOWN = r"a\x1b[2J\x1b]0;owned\x07\x9b31m\x08\x00\u202eb"


@given(st.text())
def test_a_visible_text_has_no_control_characters_and_stays_visible(text: str) -> None:
    shown = output.visible(text)
    assert not any(ord(letter) < 32 and letter not in "\n\t" for letter in shown)
    assert not any(0x7F <= ord(letter) <= 0x9F or 0xD800 <= ord(letter) <= 0xDFFF for letter in shown)
    assert output.visible(shown) == shown
    assert text.isprintable() <= (shown == text)


def test_tables_titles_messages_and_progress_pass_the_same_door(monkeypatch) -> None:
    sink = io.StringIO()
    for console in (output.stdout, output.stderr):
        monkeypatch.setattr(console, "_file", sink)
    table = Table(title=HOSTILE)
    table.add_column(HOSTILE)
    table.add_row(HOSTILE)
    output.stdout.print(table)
    output.stdout.print(HOSTILE, markup=False)
    output.complain(HOSTILE)
    output.print_progress(HOSTILE)
    assert sink.getvalue().count(SHOWN) == 6
    assert "\x1b" not in sink.getvalue()


def test_json_carries_the_characters_as_escapes_of_its_own(capsys) -> None:
    output.print_json({"name": HOSTILE + "\x7f\u2028"})
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert json.loads(text)["name"] == HOSTILE + "\x7f\u2028"
