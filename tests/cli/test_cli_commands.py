"""What all commands have in common: output, exit codes, and what is left on disk."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cli.running import run
from steelyard import dynamics
from steelyard.cli import main
from steelyard.cli.kernels import KERNELS
from steelyard.drive import DRIVE_TERMS
from steelyard.inertia import Body
from steelyard.layout import layout_of
from steelyard.motion import random_fourier, read_motion, write_motion
from steelyard.recording import read
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot

STEELYARD = [sys.executable, "-c", "from steelyard.cli import main; main()"]
SECONDS = 4.0


@pytest.fixture(scope="module")
def motion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("motion") / "two_link.motion.json"
    wave = random_fourier(zoo_robot("two_link"), np.random.default_rng(1), period=SECONDS)
    write_motion(wave, file)
    return file


def test_simulate_writes_the_log_of_the_library(motion: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    result = run("simulate", "two_link", motion, "--out", log, "--json")
    assert result.code == 0, result.err
    document = result.document
    assert document["samples"] == 1000 * SECONDS + 1
    assert set(document["tracking"]) == {"joint1", "joint2"}
    assert max(document["tracking"].values()) < 1e-3
    assert read(log).digest == simulate_motion(zoo_robot("two_link"), read_motion(motion)).digest


def test_simulate_takes_a_controller_file(motion: Path, tmp_path: Path) -> None:
    controller = tmp_path / "pd.toml"
    controller.write_text('law = "pd"\nkp = 2000.0\nkd = 80.0\n')
    result = run(
        "simulate", "two_link", motion, "--out", tmp_path / "log.npz", "--controller", controller, "--json"
    )
    assert result.code == 0, result.err
    errors = result.document["tracking"].values()
    # A PD without a model follows worse than computed torque, but it does follow.
    assert 1e-4 < max(errors) < 0.1


def test_robots_lists_the_zoo_with_sources() -> None:
    document = run("robots", "--json").document
    by_name = {robot["name"]: robot for robot in document["robots"]}
    assert {"one_link", "two_link", "panda"} <= set(by_name)
    assert len(by_name["panda"]["joints"]) == 7
    assert all(robot["sources"] for robot in document["robots"])
    text = run("robots").out
    assert "panda" in text
    assert "Gaz" in text


def test_inspect_says_what_a_description_states() -> None:
    result = run("inspect", "panda", "--json")
    assert result.code == 0
    document = result.document
    assert document["tool_frame"] == "panda_link8"
    assert document["problems"] == []
    assert len(document["joints"]) == 7
    assert document["mass"] == pytest.approx(sum(link["mass"] for link in document["links"]))
    assert "panda_joint7" in run("inspect", "panda").out


def test_inspect_ends_with_one_when_the_description_has_an_error(tmp_path: Path) -> None:
    urdf = tmp_path / "bare.urdf"
    urdf.write_text(
        '<robot name="bare">\n<link name="a"/>\n<link name="b"/>\n'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>\n</robot>\n'
    )
    result = run("inspect", urdf, "--json")
    assert result.code == 1
    (problem,) = result.document["problems"]
    assert problem["code"] == "missing-inertial"
    assert problem["place"] == "bare.urdf:3"


def test_gravity_is_an_option_wherever_a_robot_is() -> None:
    assert run("inspect", "panda", "--gravity", "none", "--json").document["gravity"] == [0, 0, 0]
    turned = run("inspect", "panda", "--gravity", "1,2,-3.5", "--json").document
    assert turned["gravity"] == [1, 2, -3.5]


def test_a_joint_can_be_locked_and_a_tool_frame_chosen_wherever_a_robot_is() -> None:
    options = ("--lock", "panda_joint7=0.5", "--lock", "panda_joint1=-1", "--tool-frame", "panda_link7")
    document = run("inspect", "panda", *options, "--json").document
    assert [joint["name"] for joint in document["joints"]] == [f"panda_joint{k}" for k in range(2, 7)]
    held = {item["name"]: (item["link"], item["position"]) for item in document["locked"]}
    assert held == {"panda_joint7": ("panda_link7", [0.5]), "panda_joint1": ("panda_link1", [-1])}
    assert document["links"][0]["fixed"] == ["panda_link1"]
    assert document["links"][-1]["fixed"] == ["panda_link7", "panda_link8"]
    assert document["tool_frame"] == "panda_link7"
    text = run("inspect", "panda", *options).out
    for line in (
        "Base: panda_link0 + panda_link1",
        "Locked: panda_joint7 at 0.5 rad, which holds panda_link7",
    ):
        assert line in text


def test_simulate_holds_the_payload_at_the_tool_frame(motion: Path, tmp_path: Path) -> None:
    payload, log = tmp_path / "payload.json", tmp_path / "log.npz"
    payload.write_text('{"mass": 2, "com": [0.1, 0.02, 0.3], "inertia": [0.04, 0, 0.05, 0.01, 0, 0.06]}')
    options = ("--payload", payload, "--tool-frame", "link1", "--rate", 100, "--out", log)
    result = run("simulate", "two_link", motion, *options)
    assert result.code == 0, result.err
    assert "payload.json is held at link1" in result.out
    recording = read(log)
    assert recording.v is not None
    assert recording.a is not None
    tensor = np.array([[0.04, 0, 0.01], [0, 0.05, 0], [0.01, 0, 0.06]])
    robot = zoo_robot("two_link")
    layout = layout_of(robot, [term.name for term in DRIVE_TERMS])
    phi = layout.complete_nominal()
    state = (recording.q, recording.v, recording.a)
    empty = dynamics.inverse_dynamics(robot, layout, phi, *state)
    # Link 1 turns alone about joint 1: the payload adds its moment there and nothing beyond.
    phi[layout.of_link("link1")] += Body(2.0, np.array([0.1, 0.02, 0.3]), tensor).parameters
    loaded = dynamics.inverse_dynamics(robot, layout, phi, *state)
    assert np.abs(loaded - empty).max() > 0.1
    np.testing.assert_allclose(recording.tau, loaded, atol=1e-9)


def test_names_that_look_like_markup_are_printed_as_they_are(tmp_path: Path) -> None:
    urdf = tmp_path / "odd.urdf"
    urdf.write_text(
        '<robot name="[/bold]"><link name="[red]"/><link name="[/a]"><inertial><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
        '<joint name="[/j]" type="continuous"><parent link="[red]"/><child link="[/a]"/></joint></robot>'
    )
    result = run("inspect", urdf)
    assert result.code == 0, result.err
    for name in ("[/bold]", "[/a]", "[/j]"):
        assert name in result.out


BAD_INPUT = [
    (("inspect", "pandda"), "Did you mean 'panda'"),
    (("inspect", "missing.urdf"), "no such file"),
    (("inspect", "panda", "--gravity", "1,2"), "three numbers"),
    (("inspect", "panda", "--lock", "panda_joint1"), "Write joint=0.5"),
    (("inspect", "panda", "--lock", "panda_joint1=up"), "a joint and its position"),
    (("inspect", "panda", "--lock", "panda_joint9=0"), "Valid: panda_joint1"),
    (("inspect", "panda", "--lock", "panda_joint1=5"), "outside its limits"),
    (("inspect", "panda", "--lock", "panda_joint1=0", "--lock", "panda_joint1=1"), "locked twice"),
    (("inspect", "one_link", "--lock", "joint1=0"), "nothing that moves"),
    (("inspect", "panda", "--tool-frame", "nowhere"), "unknown link 'nowhere'"),
    (("demo", "--robot", "nobody"), "unknown robot"),
    (("demo", "--lock", "nobody=0"), "unknown joint"),
    (("simulate", "panda", "m.json", "--out", "log.csv", "--payload", "missing.json"), "missing.json"),
    (("demo", "--seed", "-1"), "seed"),
    (("simulate", "panda", "missing.json", "--out", "log.csv"), "cannot be read"),
    (("simulate", "panda", "missing.json", "--out", "log.xlsx"), ".parquet"),
    (("simulate", "panda", "missing.json"), "--out"),
    (("nonsense",), "nonsense"),
    (("inspect",), "ROBOT"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_INPUT, ids=[" ".join(a) for a, _ in BAD_INPUT])
def test_bad_input_ends_with_two_one_message_and_nothing_written(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    result = run(*arguments, cwd=tmp_path)
    assert result.code == 2
    assert message in result.complaint
    assert "Traceback" not in result.err
    assert result.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_process_ends_with_the_code_and_the_one_message(tmp_path: Path) -> None:
    command = [*STEELYARD, "inspect", "pandda"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: ")
    assert ended.stderr.count("\n") == 1


def test_a_motion_of_another_robot_is_refused(motion: Path, tmp_path: Path) -> None:
    result = run("simulate", "panda", motion, "--out", tmp_path / "log.csv", cwd=tmp_path)
    assert result.code == 2
    assert "joint1" in result.err
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_that_falls_into_a_destructor_is_not_lost() -> None:
    program = """
from steelyard.cli import app
import signal, time, typer
class Freed:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
def work():
    Freed()
    time.sleep(20)
app.app.command("work")(work)
app.main()
"""
    started = time.monotonic()
    ended = subprocess.run([STEELYARD[0], "-c", program, "work"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 130
    assert "Exception ignored" not in ended.stderr
    assert time.monotonic() - started < 15


def test_asked_to_end_it_takes_back_what_is_half_done() -> None:
    program = """
from steelyard.cli import app, command
import signal, sys
def work():
    try:
        signal.raise_signal(signal.SIGTERM)
    finally:
        print("taken back")
app.app.command("work")(work)
command()
"""
    ended = subprocess.run([STEELYARD[0], "-c", program, "work"], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (143, "taken back\n", "")


def test_a_full_disk_is_told_in_one_sentence_whatever_file_it_meets(tmp_path: Path) -> None:
    program = f"""
from steelyard.cli import app, command
import resource
def work():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4))
    with open({str(tmp_path / "file")!r}, "w") as stream:
        stream.write("longer")
app.app.command("work")(work)
command()
"""
    ended = subprocess.run([STEELYARD[0], "-c", program, "work"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert "cannot be written: File too large. Make room" in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr


def test_compile_makes_every_public_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    document = run("compile", "--json").document
    assert document["kernels"] == list(KERNELS)
    # Every public function of the room that computes something is among the calls.
    called: set[str] = set()
    functions = [name for name in dynamics.__all__ if name[0].islower()]
    for name in functions:
        monkeypatch.setattr(dynamics, name, lambda *_, name=name: called.add(name))
    for call in KERNELS.values():
        call()
    assert called == set(functions)


def test_version_and_help() -> None:
    assert run("--version").out.startswith("steelyard 0.")
    help_text = run("--help").out
    for command in ("demo", "robots", "inspect", "simulate", "compile"):
        assert command in help_text


@pytest.mark.parametrize(("error", "word"), [(MemoryError(), "memory"), (RecursionError(), "depth")])
def test_what_got_past_every_reader_ends_with_a_sentence_too(monkeypatch, capsys, error, word):
    def fail() -> None:
        raise error

    monkeypatch.setattr("steelyard.cli.app.app", fail)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith(f"error: {word}: the input asks for more than")
