"""The page of a robot that learns while it moves: its verdict is judged from the record, its numbers hold."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from oracles.pinocchio_robot import PinocchioRobot
from report.test_report_page import HOSTILE, Reader, data_of
from steelyard.control import Tube
from steelyard.enclosure import Tracking
from steelyard.errors import InputError
from steelyard.finding import Severity
from steelyard.limits import Assumptions, Certificate, Clearance, ProvenMargin, Scene, clearance_of
from steelyard.limits.scene import Obstacle
from steelyard.motion import SplineMotion
from steelyard.pose import Pose
from steelyard.report.online.content import OnlineContent, OnlineHead, tool_tube
from steelyard.report.online.page import live_page, online_page
from steelyard.robot import Box, Robot
from steelyard.safe_learning import BROKEN, DONE, STOPPED, DrivenMove, Event, Known
from steelyard.safe_learning.planning.certificate import PlanCertificate, RobustLaw
from steelyard.safe_learning.run_log import MoveRecord
from steelyard.uncertainty import PayloadBox
from steelyard.zoo import zoo_robot

KR = 5.0
RADIUS = 0.016
EFFORT = np.array([56.7] * 4 + [29.4] * 3)
HOME = np.array([0.0, 0.26, np.pi, -2.2, 0.0, 0.96, np.pi / 2])
TRUTH = np.array([3.2, 0.01, -0.02, -0.31, 0.045, 0.001, 0.046, 0.002, 0.003, 0.006])
HALF = np.array([1.2, 0.1, 0.1, 0.3, 0.05, 0.03, 0.05, 0.03, 0.03, 0.02])
DURATION = 6.0
CYCLE = 2e-3


@cache
def arm() -> Robot:
    return zoo_robot("kinova_gen3")


@cache
def surroundings() -> Clearance:
    posts = [
        Obstacle(f"post {k}", Box(0.08, 0.08, 0.3), Pose(np.eye(3), (0.6 * np.cos(x), 0.6 * np.sin(x), 0.15)))
        for k, x in enumerate((0.9, -0.9, 2.4))
    ]
    table = Obstacle("table", Box(1.4, 1.2, 0.04), Pose(np.eye(3), (0.3, 0.0, -0.05)))
    return clearance_of(arm(), Scene((*posts, table)))


def head() -> OnlineHead:
    return OnlineHead(
        title="an unknown dumbbell",
        robot=arm(),
        start=HOME,
        cycle=1.5,
        control_cycle=CYCLE,
        tube_radius=RADIUS,
        position_bound=RADIUS / KR,
        effort=EFFORT,
        prior=PayloadBox.between(TRUTH - HALF, TRUTH + 0.8 * HALF),
        truth=TRUTH,
        clearance=surroundings(),
        assumptions=("The payload is rigid.", "Measured torques err by 2.5 % and 0.3 N·m at most."),
    )


def certificate(least: tuple[ProvenMargin, ...]) -> PlanCertificate:
    """A proof that leaves 4.31 N·m of the second joint's torque, and more of all others."""
    still, one = np.zeros(7), np.ones((1, 7))
    most = EFFORT - np.where(np.arange(7) == 1, 4.31, 10.0)
    return PlanCertificate(
        Certificate(
            "robot",
            "motion",
            3.0,
            least,
            1,
            Assumptions(Tracking(still, still, still), still[:0], still[:0], (), 0.0, (), ()),
        ),
        edges=np.array([0.0, 3.0]),
        lower=-most * one,
        upper=most * one,
        disturbance=0.0 * one,
        robust=0.0 * one,
        effort=EFFORT,
        joints=arm().joint_names,
        parameters=(),
        nominal=np.zeros(0),
        half_widths=np.zeros(0),
        tube=Tube.of_radius(RADIUS, 0.1, KR),
        law=RobustLaw(),
    )


def noted(refused: int, condition: float | None, least: tuple[ProvenMargin, ...]) -> MoveRecord:
    motion = SplineMotion(arm().joint_names, np.array([0.0, 3.0]), np.tile(HOME[:, None], 6))
    load = PayloadBox.between(TRUTH - HALF, TRUTH + HALF)
    why = ("it could not be proven",) * refused
    return MoveRecord(motion, 1.5, np.zeros(7), load, certificate(least), condition, why)


def moves() -> tuple[DrivenMove, ...]:
    left = (
        ProvenMargin("velocity", arm().joint_names[4], 0.44, "rad/s", 0.0, 3.0),
        ProvenMargin("velocity", arm().joint_names[5], 0.21, "rad/s", 0.0, 3.0),
        ProvenMargin("clearance", "forearm – post 1", 0.0234, "m", 0.0, 3.0),
    )
    n = round(1.5 / CYCLE)
    plans = [DrivenMove(noted(k, 41.0 - 6.0 * k, left), n * k, n) for k in range(3)]
    return (*plans, DrivenMove(plans[-1].move, 3 * n, n, offset=n, stopped=True))


def known(time: float, lower: Any, upper: Any, rows: int = 0) -> Known:
    return Known(time, PayloadBox.between(lower, upper), rows, 0.3, 0.21 + 0.01 * time, 0.5)


def run(rate: float = 500.0) -> OnlineContent:
    """A run that keeps all it promises: smooth references, errors a filter of r."""
    t = np.arange(round(rate * DURATION) + 1) / rate
    w = np.linspace(0.8, 1.7, 7)
    swing = np.sin(np.pi * t / DURATION)[:, None] ** 3
    q_ref = HOME + 0.35 * swing * np.sin(np.outer(t, w))
    v_ref = np.gradient(q_ref, t, axis=0)
    size = 0.05 * RADIUS / KR
    e, de = size * np.sin(np.outer(t, 3.0 * w)), size * 3.0 * w * np.cos(np.outer(t, 3.0 * w))
    tau = 0.7 * EFFORT * np.sin(np.outer(t, w)) * np.linspace(0.5, 1.0, 7)
    grown = [known(1.5 * k, TRUTH - HALF * 0.6**k, TRUTH + 0.8 * HALF * 0.5**k, 150 * k) for k in range(4)]
    return OnlineContent(
        head=head(),
        time=t,
        q=q_ref - e,
        v=v_ref - de,
        q_ref=q_ref,
        v_ref=v_ref,
        tau=tau,
        r_norm=np.linalg.norm(de + KR * e, axis=1),
        knowledge=tuple(grown),
        outcome=DONE,
        sentence="The bounds stopped shrinking.",
        moves=moves(),
        events=(
            Event(1.52, Severity.INFO, "New bounds were certified and taken over."),
            Event(4.5, Severity.WARNING, "No plan was certified in time: the robot brakes."),
        ),
        versions={"steelyard": "0.1"},
        made="2026-11-17",
    )


def unpacked(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f4").astype(np.float64)


def judged(content: OnlineContent) -> tuple[str, str]:
    """Status and words of the verdict on the page, with whatever is listed below it."""
    text = online_page(content).split('<section id="motion">')[0]
    status = re.search(r'<p class="verdict" data-status="([^"]*)"', text)
    assert status is not None
    return status.group(1), " ".join(re.sub("<[^>]+>", " ", text.split('<p class="verdict"')[1]).split())


def test_a_run_that_keeps_everything_passes_and_tells_why_it_ended() -> None:
    status, words = judged(run())
    assert status == "pass"
    assert "nothing touched" in words
    assert "The bounds stopped shrinking." in words


def test_contact_is_not_denied_where_nobody_looked() -> None:
    content = run()
    status, words = judged(replace(content, head=replace(content.head, clearance=None)))
    assert status == "pass"
    assert "touched" not in words


def changed(samples: np.ndarray, j: int, value: float) -> np.ndarray:
    """The same samples but for one, which no regular choice of every n-th would meet."""
    other = samples.copy()
    other[1237, j] = value
    return other


def broken_runs() -> dict[str, OnlineContent]:
    good = run()
    spike = changed(good.r_norm[:, None], 0, 1.0001 * RADIUS)[:, 0]
    box = good.knowledge[2].box
    late = replace(
        good.knowledge[2],
        box=replace(box, upper=np.where(np.arange(10) == 3, TRUTH[3] - 1e-6, box.upper)),
    )
    off = good.q_ref[1237, 2] - 1.001 * RADIUS / KR
    # Through the post that stands at 0.9 rad, slowly enough for its pictures.
    reach = good.q_ref.copy()
    reach[1000:2000] = np.array([1.48, -1.61, -1.84, 1.33, -0.25, 0.2, -0.91])
    return {
        "‖r‖ was 0.01600 at 2.474 s": replace(good, r_norm=spike),
        "the position error was": replace(good, q=changed(good.q, 2, off)),
        "position limit of gen3_joint_4": replace(good, q=changed(good.q, 3, -2.661)),
        "velocity limit of gen3_joint_6": replace(good, v=changed(good.v, 5, -9.0)),
        "torque limit of gen3_joint_7": replace(good, tau=changed(good.tau, 6, -29.401)),
        "From 3.00 s on the bounds of mz do not hold the truth": replace(
            good, knowledge=(*good.knowledge[:2], late, *good.knowledge[3:])
        ),
        "post 0": replace(good, q=reach, q_ref=reach),
        "The watchdog saw a late command.": replace(good, violations=("The watchdog saw a late command.",)),
    }


@pytest.mark.parametrize("words", broken_runs())
def test_what_the_record_shows_to_be_broken_fails_the_run_whatever_it_says_of_itself(words: str) -> None:
    status, told = judged(broken_runs()[words])
    assert status == "fail"
    assert "Do not trust this run" in told
    assert words in told


def test_an_early_stop_warns_and_a_broken_assumption_fails() -> None:
    status, words = judged(replace(run(), outcome=STOPPED, sentence="No plan was certified."))
    assert (status, "No plan was certified." in words) == ("warn", True)
    status, words = judged(replace(run(), outcome=BROKEN, sentence="No payload explains the data."))
    assert (status, "No payload explains the data." in words) == ("fail", True)
    assert "nothing is guaranteed" in words


def test_the_tube_at_the_tool_is_as_wide_as_pinocchio_moves_it_within_the_joints_tube() -> None:
    robot, judge, rng = arm(), PinocchioRobot.of(arm()), np.random.default_rng(3)
    bound, tool = 3.2e-3, arm().tool_frame

    def tip(q: np.ndarray) -> np.ndarray:
        pin.forwardKinematics(judge.model, judge.data, judge.q(q))
        carrier = judge.data.oMi[judge.model.getJointId(robot.joint_names[tool.link])]
        return np.asarray(carrier.act(tool.placement.translation))

    for _ in range(5):
        wanted = rng.uniform(-2.0, 2.0, 7)
        directions = rng.normal(size=(400, 7))
        for _ in range(12):  # towards the worst direction, by the power method on differences
            nudges = [(tip(wanted + 1e-5 * d) - tip(wanted - 1e-5 * d)) / 2e-5 for d in np.eye(7)]
            directions = directions @ np.array(nudges) @ np.array(nudges).T
            directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        worst = wanted + bound * directions[0]
        tube = tool_tube(robot, worst[None], wanted[None], bound)
        assert tube.offset[0] == pytest.approx(tip(worst) - tip(wanted), abs=1e-12)
        assert np.linalg.norm(tube.offset[0]) == pytest.approx(tube.radius[0], rel=0.01)


def bounds_of(data: dict[str, Any], k: int) -> tuple[np.ndarray, np.ndarray]:
    band = data["bounds"][k]["areas"][0]["proven"]
    return unpacked(band["lower"]), unpacked(band["upper"])


def test_bounds_are_never_tighter_on_the_page_than_they_were() -> None:
    rng = np.random.default_rng(8)
    content = run()
    knowledge = tuple(
        known(was.time, TRUTH - HALF * rng.uniform(0.1, 1.0, 10), TRUTH + HALF * rng.uniform(0.1, 1.0, 10))
        for was in content.knowledge
    )
    text = online_page(replace(content, knowledge=knowledge))
    data = data_of(text)
    for k in range(10):
        lower, upper = bounds_of(data, k)
        assert (lower <= [at.box.lower[k] for at in knowledge]).all()
        assert (upper >= [at.box.upper[k] for at in knowledge]).all()
        assert upper - lower == pytest.approx(
            [at.box.upper[k] - at.box.lower[k] for at in knowledge], rel=1e-5
        )
    rows = re.findall(r'<td data-label="after"><span>([^<]*)</span>', text)
    assert len(rows) == 10
    for k, row in enumerate(rows):
        low, high = (Decimal(re.sub(r"[^\d.-]", "", end.replace("−", "-"))) for end in row.split(" … "))
        assert low <= Decimal(float(knowledge[-1].box.lower[k]))
        assert high >= Decimal(float(knowledge[-1].box.upper[k]))


def test_a_peak_of_one_sample_is_drawn_at_its_height() -> None:
    content = run(4000.0)
    r_norm, tau = content.r_norm.copy(), content.tau.copy()
    r_norm[12_345], tau[7_891, 4] = 0.98 * RADIUS, -29.0
    data = data_of(online_page(replace(content, r_norm=r_norm, tau=tau)))
    assert unpacked(data["tracking"]["areas"][0]["values"]).max() == pytest.approx(980.0 * RADIUS, rel=1e-6)
    assert unpacked(data["gauges"][0]["share"]).max() == pytest.approx(0.98, rel=1e-6)
    torque = next(area for area in data["joints"][4]["areas"] if area["name"] == "torque")
    assert unpacked(torque["values"]).min() == pytest.approx(-29.0)
    assert unpacked(data["gauges"][5]["share"]).max() == pytest.approx(29.0 / 29.4, rel=1e-6)


def test_a_joint_without_a_torque_limit_has_no_share_of_it() -> None:
    content = run()
    effort = np.where(np.arange(7) == 2, np.inf, EFFORT)
    data = data_of(online_page(replace(content, head=replace(content.head, effort=effort))))
    assert [gauge["share"] is None for gauge in data["gauges"]] == [False] * 3 + [True] + [False] * 4


def test_every_proven_margin_event_time_and_assumption_is_told_without_scripts() -> None:
    content = run()
    reader = Reader(online_page(content))
    assert len(set(reader.ids)) == len(reader.ids)
    told = "".join(reader.text)
    for sentence in (*content.head.assumptions, *(event.sentence for event in content.events)):
        assert sentence in told
    for words in (
        "torque 4.3\u202fN·m",
        "clearance 23\u202fmm",
        "velocity 0.21\u202frad/s",
        "plan and certify",
        "1040",
        "69\u202f%",
    ):
        assert words in told


def hostile(content: OnlineContent) -> OnlineContent:
    margin = ProvenMargin("velocity", HOSTILE, 1.0, HOSTILE, 0.0, 3.0)
    return replace(
        content,
        head=replace(
            content.head,
            title=HOSTILE,
            robot=replace(content.head.robot, name=HOSTILE),
            assumptions=(HOSTILE,),
        ),
        sentence=HOSTILE,
        violations=(HOSTILE, HOSTILE),
        moves=(replace(content.moves[0], move=noted(0, 41.0, (margin,))), *content.moves[1:]),
        events=(Event(0.1, Severity.ERROR, HOSTILE),),
        versions={HOSTILE: HOSTILE},
        made=HOSTILE,
    )


def test_hostile_names_stay_text() -> None:
    bad = hostile(run())
    for text in (online_page(bad), live_page(bad.head)):
        assert "<img" not in text
        assert "\x1b" not in text
        assert text.count("</script>") == 2


def test_only_a_live_page_may_ask_its_server_and_the_same_content_gives_the_same_text() -> None:
    content = run()
    assert "connect-src" not in online_page(content)
    assert "connect-src 'self'" in live_page(content.head)
    assert online_page(content) == online_page(run())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"time": np.linspace(1.0, 2.0, 3001)}, "start at 0"),
        ({"tau": np.zeros((3001, 6))}, "tau: expected shape"),
        ({"r_norm": np.full(3001, np.nan)}, "r_norm: must be finite"),
        ({"knowledge": ()}, "begin with the prior"),
        ({"knowledge": run().knowledge[::-1]}, "go on in time"),
        ({"outcome": "over"}, "outcome: is none of done, stopped"),
    ],
)
def test_a_record_that_does_not_fit_together_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        replace(run(), **changes)


def test_a_tube_without_a_size_is_refused() -> None:
    for size in (0.0, np.inf):
        with pytest.raises(InputError, match="tube_radius"):
            replace(head(), tube_radius=size)
