"""`steelyard excite --jerk`: a limit that no description carries, kept by every motion that is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli.running import run
from steelyard.archive import read_document
from steelyard.limits import Certificate
from steelyard.motion import read_motion

FAST = ("--rounds", "1", "--budget", "30", "--json")
FAMILIES = {
    "fourier": ("--harmonics", "3", "--period", "4"),
    "spline": ("--family", "spline", "--pieces", "6", "--period", "4"),
    "primitives": ("--family", "primitives", "--motion-name", "AG02"),
}


def words(family: str) -> tuple[str, ...]:
    search = ("--json",) if family == "primitives" else FAST
    return (*FAMILIES[family], *search, "--floor", "none")


def seen(path: Path) -> np.ndarray:
    """The largest jerk of each joint, by differences of the acceleration at 10 kHz."""
    motion = read_motion(path)
    a = motion.sample(np.arange(0.0, motion.duration, 1e-4)).a
    return np.abs(np.diff(a, axis=0)).max(axis=0) / 1e-4


@pytest.mark.parametrize("family", FAMILIES)
def test_a_motion_keeps_the_jerk_that_is_stated_and_breaks_it_otherwise(family: str, tmp_path: Path) -> None:
    free = run("excite", "two_link", "--out", tmp_path / "free.json", *words(family))
    assert free.code == 0, free.err
    before = seen(tmp_path / "free.json")
    jerks = free.document["jerk"]
    assert [jerk["limit"] for jerk in jerks.values()] == [None, None]
    assert free.document["slowed"] == 1.0
    limit = float(f"{0.2 * before[1]:.3g}")
    out = tmp_path / "kept.json"
    kept = run("excite", "two_link", "--out", out, *words(family), "--jerk", f"joint2={limit}")
    assert kept.code == 0, kept.err
    assert before[1] > limit
    assert seen(out)[1] <= limit
    jerk = kept.document["jerk"]
    assert jerk["joint1"]["limit"] is None
    assert 0.99 * limit <= jerk["joint2"]["most"] <= jerk["joint2"]["limit"] == limit
    assert (seen(out) <= [joint["most"] * (1.0 + 1e-9) for joint in jerk.values()]).all()
    slower = kept.document["slowed"]
    assert slower == pytest.approx(np.cbrt(jerks["joint2"]["most"] / limit), rel=1e-4)
    assert f"slowed by {slower:.3g} to keep the jerk of joint 'joint2' below {limit:g} rad/s³" in kept.err
    assert any("slowed by" in finding for finding in kept.document["findings"])
    # Proof and figures are of the motion that is written.
    motion = read_motion(out)
    assert read_document(Certificate, out.with_suffix(".certificate.json")).motion == motion.digest
    assert kept.document["margins"]["velocity"] > free.document["margins"]["velocity"]
    assert kept.document["cond"] != free.document["cond"]
    assert "no limit is stated" in (tmp_path / "free.html").read_text()
    assert "slowed by" in out.with_suffix(".html").read_text()


def test_a_limit_that_is_kept_anyway_changes_no_bit(tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text("jerk = 1e6\n")
    for name, more in (("a", ()), ("b", ("--limits", tmp_path / "limits.toml"))):
        done = run("excite", "two_link", "--out", tmp_path / f"{name}.json", *words("fourier"), *more)
        assert done.code == 0, done.err
        assert done.document["slowed"] == 1.0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_the_terminal_says_the_jerk_in_one_line(tmp_path: Path) -> None:
    shown = (*FAMILIES["fourier"], "--rounds", "1", "--floor", "none")
    done = run("excite", "two_link", "--out", tmp_path / "m.json", *shown, "--jerk", "5")
    assert done.code == 0, done.err
    assert "jerk at most 5 rad/s³ at joint" in done.out
    assert "limit 5 rad/s³." in done.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-1", "--jerk: expected a positive number, got '-1'."),
        ("inf", "--jerk: expected a positive number, got 'inf'."),
        ("1,2,3", "--jerk: expected one number or 2, got 3."),
        ("elbow=3", "--jerk: unknown joint 'elbow'. Valid: joint1, joint2."),
    ],
)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_no_jerk_is_refused_before_the_search(
    family: str, text: str, said: str, tmp_path: Path
) -> None:
    more = () if family == "primitives" else ("--budget", "1e9")
    out = tmp_path / "m.json"
    done = run("excite", "two_link", "--out", out, *FAMILIES[family], *more, f"--jerk={text}")
    assert done.code == 2
    assert said in done.complaint
    assert list(tmp_path.iterdir()) == []


def test_a_jerk_that_asks_for_standing_still_has_no_solution(tmp_path: Path) -> None:
    done = run("excite", "two_link", "--out", tmp_path / "m.json", *words("fourier"), "--jerk", "1e-9")
    assert done.code == 3
    assert "would have to be slowed by" in done.complaint
    assert list(tmp_path.iterdir()) == []


def test_what_is_planned_is_not_slowed(tmp_path: Path) -> None:
    motion = tmp_path / "m.json"
    assert run("excite", "two_link", "--out", motion, *words("fourier")).code == 0
    planned = ("--for", "payload", "--planned", motion, "--out", tmp_path / "n.json")
    done = run("excite", "two_link", *planned, "--jerk", "5")
    assert done.code == 2
    assert "--planned: keeps no jerk limit" in done.complaint


def test_other_commands_take_a_file_with_jerks(tmp_path: Path) -> None:
    file = tmp_path / "limits.toml"
    file.write_text("jerk = 5\n")
    assert run("inspect", "two_link", "--limits", file, "--json").code == 0
    file.write_text("jerk = -5\n")
    done = run("inspect", "two_link", "--limits", file)
    assert done.code == 2
    assert "jerk: expected a positive number" in done.complaint
