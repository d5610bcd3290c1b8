"""`steelyard excite`: a motion that is proven to keep its limits, in every file a user needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from cli.running import run
from steelyard.archive import read_document
from steelyard.limits import Certificate, MotionLimits, certify
from steelyard.motion import read_motion
from steelyard.recording import read
from steelyard.zoo import zoo_robot

# Pendulums hang below their base, so the floor is somewhere else.
FAST = ("--budget", "30", "--rounds", "2", "--floor", "none")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """A short search for a two-link arm."""
    out = tmp_path_factory.mktemp("excite") / "motion.json"
    done = run("excite", "two_link", "--out", out, *FAST, "--json")
    assert done.code == 0, done.err
    return out, done.document


def test_the_answer_carries_what_the_interface_promises(made: tuple[Path, dict[str, object]]) -> None:
    _, document = made
    keys = {"cond", "cond_normalised", "criterion", "columns", "margins", "clearance", "certified", "seconds"}
    assert keys <= set(document)
    assert document["certified"] is True
    assert document["criterion"] == "cond"


def test_the_written_motion_keeps_every_limit_ten_thousand_times_a_second(
    made: tuple[Path, dict[str, object]],
) -> None:
    out, _ = made
    motion, robot = read_motion(out), zoo_robot("two_link")
    assert motion.robot == robot.digest
    at = motion.sample(np.arange(0.0, motion.duration, 1e-4))
    assert (at.q >= robot.limit_array("lower")).all()
    assert (at.q <= robot.limit_array("upper")).all()
    assert (np.abs(at.v) <= robot.limit_array("velocity")).all()
    for end in (0, -1):
        np.testing.assert_allclose(at.v[end], 0.0, atol=2e-3)


def test_the_certificate_is_of_this_motion_and_can_be_made_again(
    made: tuple[Path, dict[str, object]],
) -> None:
    out, _ = made
    proof = read_document(Certificate, out.with_suffix(".certificate.json"))
    motion, robot = read_motion(out), zoo_robot("two_link")
    assert proof.motion == motion.digest
    again = certify(MotionLimits(robot), motion)
    mine = {margin.name: margin.margin for margin in proof.margins if margin.kind == "velocity"}
    assert mine == {margin.name: margin.margin for margin in again.margins if margin.kind == "velocity"}


def test_the_goal_for_ros_is_the_motion_and_the_answer_says_how_to_send_it(
    made: tuple[Path, dict[str, object]],
) -> None:
    out, document = made
    said, motion = document["goal"], read_motion(out)
    assert isinstance(said, dict)
    assert said["send"].startswith(
        "ros2 action send_goal /joint_trajectory_controller/follow_joint_trajectory "
    )
    assert said["send"].endswith(f'"$(cat {out.with_suffix(".goal.yaml")})"')
    trajectory = yaml.safe_load(out.with_suffix(".goal.yaml").read_text())["trajectory"]
    points = trajectory["points"]
    assert len(points) == said["points"]
    assert trajectory["joint_names"] == list(motion.joints) == list(said["start"])
    time = np.array([p["time_from_start"]["sec"] + 1e-9 * p["time_from_start"]["nanosec"] for p in points])
    np.testing.assert_allclose(
        [p["positions"] for p in points], motion.sample(time - said["lead"]).q, atol=1e-8
    )
    assert said["covered"] is True
    assert said["deviation"]["position"] < 1e-6


def test_an_action_that_is_no_name_of_ros_is_refused(tmp_path: Path) -> None:
    words = ("--budget", "1e9", "--action", "/arm; reboot")
    done = run("excite", "two_link", "--out", tmp_path / "motion.json", *words)
    assert done.code == 2
    assert "--action: '/arm; reboot' is no name of ROS 2" in done.complaint


def test_an_earlier_motion_is_replaced_only_when_told_to(made: tuple[Path, dict[str, object]]) -> None:
    out, _ = made
    before = out.read_bytes()
    refused = run("excite", "two_link", "--out", out, "--budget", "1e9")
    assert refused.code == 2
    assert "--force" in refused.complaint
    assert out.read_bytes() == before
    assert run("excite", "two_link", "--out", out, *FAST, "--force").code == 0
    assert out.read_bytes() == before, "same seed, same bits"


@pytest.mark.parametrize("words", [("--rate", "nan"), ("--rate", "1e300"), ("--slower", "0")])
def test_what_the_files_cannot_be_written_with_is_refused_before_the_search(
    words: tuple[str, str], tmp_path: Path
) -> None:
    done = run("excite", "two_link", "--out", tmp_path / "motion.json", "--budget", "1e9", *words)
    assert done.code == 2
    assert words[0] in done.complaint
    assert not list(tmp_path.iterdir())


def test_terminal_and_page_say_the_same_clearance(tmp_path: Path) -> None:
    scene = tmp_path / "scene.toml"
    scene.write_text(
        '[[obstacle]]\nname = "post"\nshape = "box"\nsize = [0.1, 0.1, 0.1]\nposition = [4, 0, 0]\n'
    )
    out = tmp_path / "motion.json"
    words = ("excite", "panda", "--out", out, "--rounds", "1", "--scene", scene)
    done = run(*words)
    assert done.code == 0, done.err
    proof = read_document(Certificate, out.with_suffix(".certificate.json"))
    least = proof.smallest("clearance")
    assert least is not None
    left, apart = (
        f"{1e3 * x:#.3g}".rstrip(".") for x in (least.margin, proof.assumptions.distance + least.margin)
    )
    said = " ".join(done.out.split())
    assert f"{left} mm beyond 10 mm: {apart} mm" in said
    page = out.with_suffix(".html").read_text()
    assert f"<dt>smallest distance, proven</dt><dd>{apart}\u202fmm</dd>" in page
    assert f">{left}\u202fmm<" in page


def test_samples_and_rehearsal_are_the_same_path(made: tuple[Path, dict[str, object]]) -> None:
    out, _ = made
    motion = read_motion(out)
    log = read(out.with_suffix(".csv"))
    np.testing.assert_allclose(log.q, motion.sample(log.time).q, atol=1e-12)
    slow = read_motion(out.with_suffix(".rehearsal.json"))
    assert slow.duration == pytest.approx(4.0 * motion.duration)
    t = np.linspace(0.0, motion.duration, 50)
    np.testing.assert_allclose(slow.sample(4.0 * t).q, motion.sample(t).q, atol=1e-9)
    assert "joint_names" in out.with_suffix(".trajectory.yaml").read_text()
    assert "two_link" in out.with_suffix(".html").read_text()


def test_the_same_seed_and_rounds_give_the_same_bits(
    made: tuple[Path, dict[str, object]], tmp_path: Path
) -> None:
    out, _ = made
    again = tmp_path / "motion.json"
    done = run("excite", "two_link", "--out", again, *FAST)
    assert done.code == 0, done.err
    assert again.read_bytes() == out.read_bytes()
    other = tmp_path / "other.json"
    assert run("excite", "two_link", "--out", other, *FAST, "--seed", 1).code == 0
    assert other.read_bytes() != out.read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--criterion", "luck"), "--criterion: unknown criterion 'luck'"),
        (("--family", "spirals"), "--family: unknown family 'spirals'"),
        (("--without", "gravity"), "--without: unknown limit 'gravity'"),
        (("--start", "1,2,3"), "--start: expected home, free or 2 positions"),
        (("--tool", "nowhere.stl"), "nowhere.stl: there is no such file"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = run("excite", "two_link", "--out", tmp_path / "m.json", *words)
    assert done.code == 2
    assert message in done.complaint
    assert not list(tmp_path.iterdir())


def test_a_start_outside_the_limits_has_no_solution(tmp_path: Path) -> None:
    done = run("excite", "two_link", "--out", tmp_path / "m.json", "--start", "50,0", *FAST)
    assert done.code == 3, done.err
    assert "joint1" in done.err
    assert not list(tmp_path.iterdir())
