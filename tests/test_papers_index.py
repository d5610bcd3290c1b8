"""docs/papers.md lists every item of the five papers with a status that is true, and its errata hold."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.linalg import null_space

from cli.running import run
from steelyard.inertia import PARAMETER_NAMES
from steelyard.inertia.cholesky import LOG_CHOLESKY_NAMES

ROOT = Path(__file__).resolve().parents[1]
PAPERS = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII")


def _numbered(kind: str, *numbers: object) -> set[str]:
    return {f"{kind} {number}" for number in numbers}


EXPECTED = {
    "000": _numbered("Algorithm", 1, 2)
    | _numbered("Theorem", 5, 7, 8, 11, 13, 16, 18)
    | _numbered("Definition", 1, 2, 9, 15)
    | _numbered("Corollary", 10, 17)
    | {"Lemma 14", "(3)-(6)", "(14)-(16)", "(28)-(29)", "(30)", "(38)-(46)", "Section VI-D3", "Appendix D"}
    | _numbered("Experiment", "(a)", "(b)", "(c)")
    | _numbered("Table", *ROMAN[:5])
    | _numbered("Fig.", *range(1, 13)),
    "001": {"Algorithm 1", "Section 4.4.3", "Dumbbell as three cylinders", "Real2Sim asset"}
    | {"(2.1)-(2.4)", "(2.5)-(2.8)", "(2.9)-(2.10)", "(2.12)", "(2.13)-(2.27)", "(2.28)-(2.29)", "(2.30)"}
    | {"(4.3)-(4.4)", "(4.5)-(4.8)", "(4.6)", "(4.9)-(4.13)", "(4.14)-(4.15)", "(4.16)", "(4.17)-(4.20)"}
    | {"(4.21)", "(4.22)", "(4.23)-(4.24)", "(4.25)"}
    | _numbered("Experiment", "5.1.1 1-link", "5.1.1 2-link", "5.1.2 2-link", "5.1.2 Panda")
    | _numbered("Experiment", "5.2.1", "5.2.2", "5.3.1", "5.3.2", "5.4")
    | _numbered("Table", 4.1, 5.1, 5.2, 5.3, 5.4, 5.5, 5.6)
    | _numbered(
        "Fig.", "1-1", "2-1", "3-1", *(f"4-{k}" for k in range(1, 5)), *(f"5-{k}" for k in range(1, 9))
    ),
    "002": _numbered("Algorithm", 1, 2, 3)
    | _numbered("Theorem", 1, 2, 3)
    | _numbered("Lemma", 1, 2)
    | _numbered("Proposition", 1, 2)
    | _numbered("Remark", 8, 9, 10, 11, 12)
    | _numbered("Example", "3.3", "4.5.1", "4.5.2")
    | _numbered("Appendix", "F", "G", "I")
    | {"(1)-(3)", "(9), (14)-(15)", "(24)-(32)", "(35)-(47)", "Section 6.5", "Section 8", "Note 1"}
    | _numbered("Experiment", "9.1 PUMA", "9.1 RX90", "9.2 SCARA", "9.3 Cheetah leg")
    | _numbered("Table", *range(1, 7))
    | _numbered("Fig.", *range(1, 12)),
    "003": {"Theorem 1", "Section IV-A", "(1)", "(2)-(3)", "(4)-(5)"}
    | {"(9a)-(9g)", "(10)", "(11a)-(11c)", "(12a)-(12b)", "(13a)-(13b)", "Table I"}
    | _numbered("Experiment", "V-B", "V-C drift", "V-C docking")
    | _numbered("Fig.", *range(1, 7)),
    "004": {"Algorithm 1", "(1)", "(2)", "(3)", "(4)-(5)", "(6)-(7)", "(8)", "(9)", "(10)-(11)", "(12)"}
    | _numbered("Section", "III-C", "V-A", "V-B", "VII-A")
    | _numbered("Experiment", "VI-A", "VI-B", "VI-C")
    | {"Appendix A record", "Appendix A parameters", "Appendix B"}
    | _numbered("Table", *ROMAN)
    | _numbered("Fig.", *range(1, 9)),
}


def _section(paper: str) -> str:
    return PAPERS.split(f"\n## Paper {paper}:")[1].split("\n## ")[0]


def _rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def _items(paper: str) -> list[list[str]]:
    return [row for row in _rows(_section(paper)) if row[0] not in ("item", "---")]


ALL_ITEMS = [(paper, row) for paper in EXPECTED for row in _items(paper)]
TOPICS = {row[0] for row in _rows(PAPERS.split("\n## ")[0]) if row[0] not in ("topic", "---")}


@pytest.mark.parametrize("paper", EXPECTED)
def test_every_numbered_item_of_the_paper_has_exactly_one_row(paper: str) -> None:
    names = [row[0] for row in _items(paper)]
    assert EXPECTED[paper] - set(names) == set()
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    ("paper", "row"), ALL_ITEMS, ids=lambda value: value if isinstance(value, str) else value[0]
)
def test_every_row_has_four_cells_and_one_honest_status(paper: str, row: list[str]) -> None:
    assert len(row) == 4, f"paper {paper}: {row}"
    assert all(row), f"paper {paper}: empty cell in {row}"
    status = row[3]
    assert not re.search(r"#\d|\bissue\b", status), "name the topic, not the tracker"
    if command := re.fullmatch(r"`([^`]+)`", status):
        _check_command(command[1])
    elif planned := re.fullmatch(r"not yet \(([^;)]+)(; [^)]+)?\)", status):
        assert planned[1] in TOPICS
    else:
        assert re.fullmatch(r"not reproduced: \S.+", status), f"paper {paper}, {row[0]}: {status}"


def test_the_figures_of_paper_000_are_drawn_by_the_command_they_name(tmp_path: Path) -> None:
    drawn = {row[0]: row[3].strip("`") for row in _items("000") if "figures.py" in row[3]}
    assert set(drawn) == {f"Fig. {k}" for k in range(5, 13)}
    assert len(set(drawn.values())) == 1
    words = shlex.split(next(iter(drawn.values())))[1:]
    page = tmp_path / "page.html"
    subprocess.run([sys.executable, *words, "--out", page], cwd=ROOT, check=True, capture_output=True)
    text = page.read_text(encoding="utf-8")
    assert [name for name in drawn if not re.search(rf"{re.escape(name)}\b", text)] == []


LONG = {
    "bench/acceptance.py": "a study of minutes to hours, whose result is kept",
    "make bench": "every benchmark, several minutes",
    "steelyard campaign": "160 refinements; tests/campaigns runs small ones",
    "steelyard demo": "seconds; tests/cli/test_demo.py runs it and looks at its numbers",
    "steelyard excite": "20 s of search; tests/cli/test_cli_excite.py runs shorter ones",
    "steelyard joints": "a minute; tests/cli/test_cli_joints.py runs it on fewer joints",
    "steelyard sensitivity": "two minutes; tests/cli/test_cli_sensitivity.py runs fewer trials",
    "examples/lumped_parameters.py": "tests/test_examples.py runs it",
    "papers/paper_000/figures.py": "the test above runs it",
    "papers/paper_000/theorem13_comparison.py": "half a minute; tests/papers runs it with fewer plans",
    "papers/paper_001_figures.py": "tests/test_examples.py runs it and looks for the figures",
    "papers/paper_003_figures.py": "tests/test_examples.py runs it and looks for the figure",
}
"""Commands of the page that are not run below, and why."""
SAID = {
    "identifiability one_link": ["3 of 10", "mx +★", "mz +★", "Iyy +★"],
    "identifiability two_link": ["6 of 20", "link1.Iyy [+] link2.m"],
    "identifiability rr_parallel --gravity none": ["4 of 20"],
    "identifiability rr_perpendicular --gravity none": ["8 of 20"],
    "identifiability puma560": ["36 of 60", "dim V +2 +5 +6 +6 +6 +6"],
    "identifiability puma560 --exact": ["36 of 60", "proven in exact arithmetic"],
    "identifiability puma560 --static": ["10 of 60"],
    "identifiability puma560 --symbolic": ["36 of 60", "Known only together"],
    "identifiability puma560 --gravity none": ["34 of 60", "dim V +1 +3 +6 +6 +6 +6", "dim K +1 +6 +10"],
    "identifiability puma560 --rotors": ["40 of 66", "dim T +9 +3 +3 +3 +3 +3", "known alone", "in a group"],
    "identifiability scara --rotors": ["11 of 44", "dim V +2 +4 +4 +4", "dim T +9 +7 +9 +7"],
    "identifiability cheetah3_leg --rotors": ["18 of 33", "dim T +7 +3 +3"],
    "identifiability cheetah3_leg --floating": ["31 of 40", "dim K +10 +10 +10 +10"],
    "identifiability cheetah3_leg --floating --gravity none": ["31 of 40"],
    "identifiability cheetah3_leg --floating --measured base": ["31 of 40"],
    "identifiability crane_x7 --reduce products --frames mdh": ["25 of 49"],
    "online kinova_gen3_2f85 --payload examples/load.json --out learned": [
        "m in \\[",
        "plans",
        "0 violations",
    ],
}
"""What a short command prints of the items that name it."""
COMMANDS = sorted({row[3].strip("`") for _, row in ALL_ITEMS if row[3].startswith("`")})
OURS = [command for command in COMMANDS if command.startswith("steelyard ")]


def _long(command: str) -> bool:
    return any(name in command for name in LONG)


def test_every_command_is_a_test_or_long_with_a_reason_or_short_and_run_here() -> None:
    left = [command for command in COMMANDS if " -m pytest " not in command and not _long(command)]
    assert sorted(left) == sorted(f"steelyard {words}" for words in SAID)
    assert [name for name in LONG if not any(name in command for command in COMMANDS)] == []


@pytest.mark.parametrize("words", SAID)
def test_a_short_command_prints_its_item(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    # A busy machine may find no plan in the time that is usual; the first plan prints what all print.
    patience = ("--budget", "2", "--plans", "1") if words.startswith("online") else ()
    done = run(*shlex.split(words), *patience)
    assert done.code == 0, done.err
    assert [said for said in SAID[words] if not re.search(said, done.out)] == []


@pytest.mark.parametrize("command", [command for command in OURS if _long(command)])
def test_a_long_command_has_the_options_that_the_page_names(command: str) -> None:
    name, *rest = shlex.split(command)[1:]
    told = run(name, "--help")
    assert told.code == 0
    assert [word for word in rest if word.startswith("--") and word not in told.out] == []
    for word in rest:
        if "/" in word:
            assert (ROOT / word).is_file()


def test_every_study_that_the_page_names_has_left_a_result() -> None:
    named = {word for command in COMMANDS if "acceptance.py" in command for word in command.split()[2:]}
    kept = [path.name for path in (ROOT / "docs" / "results").glob("*.md")]
    assert [study for study in sorted(named) if not any(name.startswith(f"{study}-") for name in kept)] == []


def _holds_tests(path: Path) -> bool:
    """Whether pytest would collect something from a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return path.name.startswith("test_") and any(
        isinstance(node, ast.FunctionDef) and node.name.startswith("test_") for node in ast.walk(tree)
    )


def _check_command(command: str) -> None:
    words = [word.removeprefix(".venv/bin/") for word in shlex.split(command)]
    if words[0] == "make":
        assert re.search(rf"^{re.escape(words[1])}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    elif words[:3] == ["python", "-m", "pytest"]:
        paths = [ROOT / word.split("::")[0] for word in words[3:] if word.startswith("tests")]
        assert paths, f"`{command}` names no test"
        for path in paths:
            files = [path] if path.is_file() else sorted(path.rglob("test_*.py"))
            assert any(map(_holds_tests, files)), f"`{command}`: no tests at {path}"
    elif words[0] == "python":
        script = ROOT / words[1]
        assert script.is_file(), f"`{command}`: no such file"
        text = script.read_text(encoding="utf-8")
        for word in words[2:]:
            if word.startswith("--"):
                assert f'"{word}"' in text, f"`{command}`: no such option"
            elif script.name == "acceptance.py":
                assert re.search(rf'^    "{word}": ', text, re.M), f"`{command}`: no such study"
            else:
                assert (ROOT / word).is_file(), f"`{command}`: no such file as {word}"
    else:
        assert words[0] == "steelyard", f"`{command}` is neither make, python nor steelyard"
        source = ROOT / "src" / "steelyard"
        files = [*source.glob("cli*.py"), *source.glob("cli*/**/*.py")]
        text = "".join(file.read_text(encoding="utf-8") for file in files)
        assert re.search(rf"\b{re.escape(words[1])}\b", text), f"`{command}`: no such command"


def test_notation_prints_the_orders_the_code_uses() -> None:
    text = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    assert f"    {', '.join(PARAMETER_NAMES)}\n" in text
    assert f"`[{', '.join(LOG_CHOLESKY_NAMES)}]`" in text


# The errata that docs/papers.md calls "checked here", in the order of its sections.


def _pseudo_inertia(theta: np.ndarray) -> np.ndarray:
    """Eq. (31) of Zhang et al. (2025) from its order (3): m, first moments, XX, YY, ZZ, XY, YZ, XZ."""
    m, *h, xx, yy, zz, xy, yz, xz = theta
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    second = np.trace(inertia) / 2 * np.eye(3) - inertia
    return np.block([[second, np.array(h)[:, None]], [np.array(h)[None], np.array([[m]])]])


def test_000_the_map_16_is_the_factor_34_transposed_times_itself() -> None:
    alpha, d1, d2, d3, s12, s13, s23, s14, s24, s34 = np.random.default_rng(0).normal(size=10)
    e1, e2, e3 = np.exp([d1, d2, d3])
    M = np.exp(alpha) * np.array([[e1, s12, s13, s14], [0, e2, s23, s24], [0, 0, e3, s34], [0, 0, 0, 1]])
    first = [s14 * e1, s14 * s12 + s24 * e2, s14 * s13 + s24 * s23 + s34 * e3]
    moments = [
        s12**2 + s13**2 + s23**2 + e2**2 + e3**2,
        s13**2 + s23**2 + e1**2 + e3**2,
        s12**2 + e1**2 + e2**2,
    ]
    products = [-s12 * e1, -s12 * s13 - s23 * e2, -s13 * e1]
    printed = np.exp(2 * alpha) * np.array([s14**2 + s24**2 + s34**2 + 1, *first, *moments, *products])
    np.testing.assert_allclose(_pseudo_inertia(printed), M.T @ M, rtol=1e-12)
    assert not np.allclose(_pseudo_inertia(printed), M @ M.T, rtol=0.1)


def test_000_the_nominal_body_of_table_1_is_impossible() -> None:
    assert np.linalg.eigvalsh(_pseudo_inertia(np.array([3.2, 0, 0, -0.5, *[0.0] * 6])))[0] < -1e-3


def test_001_the_gravity_torque_of_2_27_is_that_of_the_first_moments() -> None:
    m, cx, cz, q, a = 0.7, 0.3, -0.4, 0.6, 1.9
    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -9.81])
    joint = model.addJoint(0, pin.JointModelRevoluteUnaligned(0, -1, 0), pin.SE3.Identity(), "lifts x to z")
    central = np.diag([0.02, 0.03, 0.04])
    model.appendBodyToJoint(joint, pin.Inertia(m, np.array([cx, 0.1, cz]), central), pin.SE3.Identity())
    torque = pin.rnea(model, model.createData(), np.array([q]), np.zeros(1), np.array([a]))[0]
    inertial = (central[1, 1] + m * (cx**2 + cz**2)) * a
    assert torque == pytest.approx(inertial + 9.81 * (m * cx * np.cos(q) - m * cz * np.sin(q)), rel=1e-12)
    assert torque != pytest.approx(inertial + m * (cx**2 + cz**2) * 9.81 * np.cos(q), rel=0.01)


@pytest.mark.parametrize("swapped", [False, True], ids=["corrected", "as printed"])
def test_003_rest_at_the_start_is_9c_with_a_and_b_exchanged(swapped: bool) -> None:
    order, omega, step = np.arange(1, 6), 2 * np.pi / 10, 1e-3
    zero = np.zeros(5)
    rows = np.array([[*zero, *1 / order], [*np.ones(5), *zero], [*zero, *order]])  # on (a, b)
    constraints = np.roll(rows, 5, axis=1) if swapped else rows
    N = null_space(constraints)
    a, b = np.split(N @ np.random.default_rng(2).normal(size=N.shape[1]), 2)

    def q(t: float) -> float:
        phase = omega * order * t
        return float(np.sum((a * np.sin(phase) - b * np.cos(phase)) / (omega * order)))

    state = [q(0.0), (q(step) - q(-step)) / (2 * step), (q(step) - 2 * q(0.0) + q(-step)) / step**2]
    assert np.allclose(state, 0, atol=1e-4) is not swapped


def test_003_r_c_bounds_cond_but_changes_with_scale() -> None:
    Y = np.random.default_rng(3).normal(size=(40, 6))

    def r_c(matrix: np.ndarray) -> float:
        gram = matrix.T @ matrix
        return float(np.linalg.norm(gram) + np.linalg.norm(np.linalg.inv(gram))) / 2

    for scale in (0.1, 1.0, 10.0):
        assert r_c(scale * Y) >= np.linalg.cond(scale * Y) == pytest.approx(np.linalg.cond(Y))
    assert r_c(10 * Y) > 50 * r_c(Y)
    s = (np.linalg.norm(np.linalg.inv(Y.T @ Y)) / np.linalg.norm(Y.T @ Y)) ** 0.25
    product = np.linalg.norm(Y.T @ Y) * np.linalg.norm(np.linalg.inv(Y.T @ Y))
    assert r_c(s * Y) == pytest.approx(np.sqrt(product))
