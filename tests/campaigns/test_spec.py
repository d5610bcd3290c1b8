"""The file that describes a campaign: what is wrong with it is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns.sample_tasks import HERE
from steelyard.campaigns import Spec, plan, run_campaign, spec
from steelyard.errors import InputError

GOOD = """
[campaign]
kind = "lattice"
name = "study"
seed = 7

[lattice]  # a comment
width = 3
"""


@pytest.fixture(autouse=True)
def _kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lattice", "loop"):
        monkeypatch.setitem(spec.KINDS, name, f"{HERE}:build_{name}")


def spec_of(tmp_path: Path, text: str) -> Spec:
    path = tmp_path / "spec.toml"
    path.write_text(text)
    return Spec.read(path)


def test_a_description_becomes_tasks_and_an_answer(tmp_path: Path) -> None:
    found = spec_of(tmp_path, GOOD)
    assert (found.kind, found.name, found.seed) == ("lattice", "study", 7)
    made = plan(found)
    assert len(made.graph) == 7
    assert made.finish == "sum"
    assert run_campaign(made.graph, tmp_path / "out", workers=1).result(made.finish)["failed"] == {}


def test_name_and_seed_need_not_be_given(tmp_path: Path) -> None:
    found = spec_of(tmp_path, '[campaign]\nkind = "lattice"')
    assert (found.name, found.seed) == ("spec", 0)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[campaign\n", r"is not TOML: .*line 1"),
        ("[campaign]\nkind = 1\nkind = 2", r"is not TOML: Cannot overwrite a value"),
        ("", r"has no \[campaign\] table"),
        ("campaign = 3", r"spec.toml:1: campaign: must be a table"),
        ("[campaign]\nname = 'x'", r"spec.toml:1: campaign.kind: is missing"),
        ("[campaign]\nname = 'x'\nkind = 3", r"spec.toml:3: campaign.kind: must be a text"),
        ("[campaign]\nkind = ''", r"spec.toml:2: campaign.kind: must not be empty"),
        ("[campaign]\nkind = 'latice'", r"spec.toml:2: campaign.kind: unknown kind.*mean 'lattice'"),
        ("[campaign]\nkind = 'os:system'", "unknown kind"),
        ("[campaign]\nkind = '../../x'", "unknown kind"),
        ("[campaign]\nkind = 'lattice'\nseed = -1", r"spec.toml:3: campaign.seed: must be at least 0"),
        ("[campaign]\nkind = 'lattice'\nseed = 1.5", r"spec.toml:3: .*must be a whole number"),
        ("[campaign]\nkind = 'lattice'\nseed = true", r"spec.toml:3: .*must be a whole number"),
        (GOOD + "widht = 2", r"spec.toml:9: lattice.widht: unknown key 'widht'.*Did you mean 'width'"),
        (GOOD + "[extra]\nx = 1", r"spec.toml:9: extra: unknown key"),
        (GOOD.replace("seed = 7", "seeds = 7"), r"spec.toml:5: campaign.seeds: unknown key"),
        (GOOD.replace("width = 3", "width = 0"), r"spec.toml:8: lattice.width: must be at least 1"),
        (GOOD + "factor = inf", r"spec.toml:9: lattice.factor: must be finite"),
        (GOOD + "factor = '1'", r"spec.toml:9: lattice.factor: must be a number"),
        ("[campaign]\nkind = 'loop'", r"wait for each other: (hen → egg → hen|egg → hen → egg)"),
        ("x = " + "[" * 5000 + "]" * 5000, "nested too deeply|is not TOML"),
        ("x = " + "9" * 5000, "too large"),
    ],
)
def test_a_bad_description_is_refused_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        plan(spec_of(tmp_path, text))


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read|is a directory"):
        Spec.read(tmp_path / "absent.toml")
    with pytest.raises(InputError, match=r"cannot be read|is a directory"):
        Spec.read(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        Spec.read(tmp_path / "binary")
    (tmp_path / "huge").write_bytes(b"#" * (2 << 20))
    with pytest.raises(InputError, match="larger than 1 MiB"):
        Spec.read(tmp_path / "huge")


def test_lists_choices_and_flags_are_read_with_their_types(tmp_path: Path) -> None:
    lines = (
        "[campaign]\nkind = 'x'",
        "[s]\nn = [1, 2.5]\nw = ['a', 'b']\non = true\nmode = 'fast'\nbad = [1, 'a']",
        "rows = [[1, 2], [3.5, 4]]\nragged = [[1], [2, 3]]\ngains = {p = 1}",
    )
    section = spec_of(tmp_path, "\n".join(lines)).content.section("s")
    assert section.numbers("n") == (1.0, 2.5)
    assert section.texts("w") == ("a", "b")
    assert section.flag("on") is True
    assert section.choice("mode", ("fast", "paper")) == "fast"
    assert section.numbers("absent", [1]) == (1.0,)
    assert section.rows("rows") == ((1.0, 2.0), (3.5, 4.0))
    assert section.table("gains") == {"p": 1}
    with pytest.raises(InputError, match=r"spec.toml:10: s.ragged: its rows differ in length"):
        section.rows("ragged")
    for read in (section.numbers, section.texts, section.rows):
        with pytest.raises(InputError, match=r"spec.toml:8: s.bad: must be a"):
            read("bad")
    with pytest.raises(InputError, match="Valid: slow"):
        section.choice("mode", ("slow",))
