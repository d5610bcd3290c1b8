"""Figures of somebody else in a campaign's file: checked, on the page beside its own, in no task's key."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from campaigns.test_identification import SMALL
from cli.running import run
from steelyard.campaigns import ReferenceRun, Spec, campaign_reference, plan
from steelyard.campaigns.identification.robot_case import read_settings
from steelyard.errors import InputError
from steelyard.identifiable import minimal_model
from steelyard.layout import layout_of
from steelyard.zoo import zoo_robot

ROBOT = zoo_robot("two_link")
MODEL = minimal_model(ROBOT, layout_of(ROBOT, ["viscous", "rotor"]))
REFERENCE = """
name = "Doe & Roe (1999)"
noun = "thesis"
differs = ["real arm"]

[notes]
times = "Their <b>computer</b> was slow."
held_out = "They smoothed."

[times]
all_runs = 86400
start_to_end = 12.5

[passed]
40 = [1, 3]

[compared.PA03]
20 = { cond = 123.0, margin = 0.25 }

[held_out]
V01 = { rmse = [0.75, 0.5] }

[parameters]
""" + "".join(f"theta{k} = {k}.125\n" for k in range(MODEL.size))


def inside(text: str) -> str:
    """The same as tables of a campaign's file."""
    return "[reference]" + text.replace("\n[", "\n[reference.")


def spec_file(folder: Path, text: str = "") -> Path:
    path = folder / "small.toml"
    path.write_text(f"{SMALL.format(sensor='industrial', stages='')}\n{text}")
    return path


def test_what_is_stated_is_read_in_si_units(tmp_path: Path) -> None:
    found = campaign_reference(Spec.read(spec_file(tmp_path, inside(REFERENCE))))
    assert found is not None
    assert (found.name, found.noun, found.differs) == ("Doe & Roe (1999)", "thesis", ("real arm",))
    assert found.times == {"all_runs": 86400.0, "start_to_end": 12.5}
    assert found.passed == {0.04: (1, 3)}
    assert found.compared == {("PA03", 0.02): ReferenceRun(123.0, "", 0.25)}
    assert found.held_out == {"V01": {"rmse": (0.75, 0.5)}}
    assert list(found.parameters.items())[:2] == [("theta0", 0.125), ("theta1", 1.125)]
    assert found.digest == ""
    assert campaign_reference(Spec.read(spec_file(tmp_path))) is None
    named = campaign_reference(Spec.read(spec_file(tmp_path, "[reference]\nname = 'A'")))
    assert named is not None
    assert named.noun == "reference"
    assert not named.times


def test_a_file_of_its_own_beside_that_of_the_campaign_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "theirs.toml").write_text(REFERENCE)
    monkeypatch.chdir(tmp_path / "elsewhere")
    apart = campaign_reference(Spec.read(spec_file(tmp_path, '[reference]\nfile = "theirs.toml"')))
    inner = campaign_reference(Spec.read(spec_file(tmp_path, inside(REFERENCE))))
    assert apart is not None
    assert inner is not None
    assert len(apart.digest) == 64
    for name in ("name", "noun", "differs", "notes", "times", "passed", "compared", "held_out", "parameters"):
        assert getattr(apart, name) == getattr(inner, name)


def test_no_reference_is_in_a_key_or_in_the_settings_of_tasks(tmp_path: Path) -> None:
    without = plan(Spec.read(spec_file(tmp_path))).graph.keys()
    spec = Spec.read(spec_file(tmp_path, inside(REFERENCE)))
    assert plan(spec).graph.keys() == without
    assert "thesis" not in str(asdict(read_settings(spec)))


def test_another_reference_writes_the_page_again_and_computes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("campaign", tmp_path / "small.toml", "--out", out, "--workers", 1)
    spec_file(tmp_path)
    assert run(*command).code == 0
    journal, alone = (out / "journal.jsonl").read_text(), (out / "report.html").read_text()
    assert journal
    spec_file(tmp_path, inside(REFERENCE))
    done = run(*command)
    assert done.code == 0, done.err
    assert (out / "journal.jsonl").read_text().rstrip() == journal.rstrip()
    page = (out / "report.html").read_text()
    # The description of the campaign, the last part of the page, holds the file's text.
    page, alone = (text[: text.index('id="record"')] for text in (page, alone))
    words = (
        "Doe &amp; Roe (1999)",
        "thesis over here",
        "Their &lt;b&gt;computer&lt;/b&gt; was slow. Read the ratio as an order of magnitude.",
        "86\u202f400\u202fs (24\u202fh)",
        "12.5\u202fs",
        "OLS passed, thesis",
        "1 of 3",
        "cond, thesis",
        "0.25",
        "refined, thesis",
        "0.7500\u202fN·m",
        "They smoothed.",
        "thesis’s name",
        "theta3",
        "3.125",
    )
    for word in words:
        assert word in page, word
    assert not [word for word in ("thesis", "theta", "Doe", "smoothed", "magnitude") if word in alone]
    for text in (page, alone, done.out):
        assert "paper" not in text.replace("var(--paper)", "").replace("--paper:", "")
        assert "Oaki" not in text
    assert (
        "Doe & Roe (1999): all runs 86400 s, from start to end 12.5 s; not like for like (real arm)"
        in done.out
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "Doe & Roe (1999)"', "", r"reference.name: is missing"),
        ('name = "Doe & Roe (1999)"', "name = 3", r":LINE: reference.name: must be a text"),
        ('noun = "thesis"', 'nuon = "thesis"', r":LINE: reference.nuon: unknown key.*mean 'noun'"),
        ('differs = ["real arm"]', 'differs = "x"', r":LINE: reference.differs: must be a list of texts"),
        ("times = ", "tmies = ", r":LINE: reference.notes.tmies: unknown key.*Valid: held_out, .*times"),
        ("all_runs = 86400", "all_runs = 0", r":LINE: reference.times.all_runs: must be positive"),
        ("all_runs = 86400", "all_runs = 'x'", r":LINE: reference.times.all_runs: must be a number"),
        ("all_runs = 86400", "every_run = 1", r"reference.times.every_run: unknown key.*median_run"),
        ("40 = [1, 3]", "forty = [1, 3]", r":LINE: reference.passed.forty: must be a sampling interval, ms"),
        ("40 = [1, 3]", "-40 = [1, 3]", r"reference.passed.-40: must be a sampling interval"),
        ("40 = [1, 3]", "40 = [4, 3]", r":LINE: reference.passed.40: must be two whole numbers"),
        ("40 = [1, 3]", "40 = [1.5, 3]", r":LINE: reference.passed.40: must be two whole numbers"),
        ("40 = [1, 3]", "40 = 1", r":LINE: reference.passed.40: must be a list of numbers"),
        (
            "[compared.PA03]\n20 = {",
            "[compared]\nPA03 = 3\nx = {",
            r"reference.compared.PA03: must be a table",
        ),
        ("cond = 123.0", "condition = 1.0", r"reference.compared.PA03.20.condition: unknown key"),
        ("margin = 0.25", "margin = -0.25", r"reference.compared.PA03.20.margin: must be at least 0"),
        ("rmse = [0.75, 0.5]", "rmse = [0.75]", r"reference.held_out.V01.rmse: must be two errors"),
        ("rmse = [0.75, 0.5]", "rmes = [0.75, 0.5]", r"reference.held_out.V01.rmes: unknown key.*'rmse'"),
        ("theta0 = 0.125", "theta0 = nan", r":LINE: reference.parameters.theta0: must be finite"),
        ("theta0 = 0.125", "", r"reference.parameters: states \d values; the model has \d: .*viscous"),
        ("[compared.PA03]", "[compared.PA99]", r"reference.compared: unknown motion 'PA99'"),
        ("V01 =", "V99 =", r"reference.held_out: unknown motion 'V99'"),
        ('name = "Doe', 'file = "theirs.toml"\nname = "Doe', r"reference.name: unknown key"),
    ],
)
def test_a_wrong_name_or_type_is_refused_at_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert REFERENCE.count(old) == 1
    path = spec_file(tmp_path, inside(REFERENCE.replace(old, new)))
    lines = [n for n, line in enumerate(path.read_text().splitlines(), start=1) if new and new in line]
    with pytest.raises(InputError, match=said.replace("LINE", str(lines[0] if lines else ""))):
        plan(Spec.read(path))


def test_what_is_wrong_in_a_file_of_its_own_is_said_with_that_file(tmp_path: Path) -> None:
    path = spec_file(tmp_path, '[reference]\nfile = "theirs.toml"')
    with pytest.raises(InputError, match=r"theirs.toml: cannot be read"):
        plan(Spec.read(path))
    (tmp_path / "theirs.toml").write_text(REFERENCE.replace("all_runs = 86400", "all_runs = true"))
    with pytest.raises(InputError, match=r"theirs.toml:11: times.all_runs: must be a number"):
        plan(Spec.read(path))


def test_the_former_place_of_published_parameters_says_the_new_one(tmp_path: Path) -> None:
    path = spec_file(tmp_path, "[report.published]\nZZR1 = 0.01184")
    with pytest.raises(InputError, match=r"small.toml:\d+: report.published: .*\[reference.parameters\]"):
        plan(Spec.read(path))


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "campaigns.md"
    example = page.read_text(encoding="utf-8").split("    [reference]\n")[1].split("\n\nOnly `name`")[0]
    lines = [line.removeprefix("    ") for line in example.splitlines()]
    found = campaign_reference(Spec.read(spec_file(tmp_path, "\n".join(["[reference]", *lines]))))
    assert found is not None
    assert set(found.notes) == {"times", "parameters", "held_out"}
    assert found.passed == {0.01: (6, 40)}
    assert found.compared == {("AP01", 0.01): ReferenceRun(47.1, "O-S-C", 0.005)}
    assert found.held_out["V01"] == {"rmse": (0.16, 0.15), "mne": (0.08, 0.07)}
    assert found.parameters == {"ZZR1": 0.01184}
