"""The page of a motion: true to Pinocchio and Coal, silent in a browser, and one instant everywhere on it."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from oracles.coal_shapes import coal_distance
from oracles.pinocchio_robot import PinocchioRobot
from report.motion_surroundings import AROUND, START, TOOL
from report.test_report_page import HOSTILE, Reader, data_of
from steelyard.enclosure import Tracking
from steelyard.errors import InputError
from steelyard.finding import Finding, Severity
from steelyard.layout import layout_of
from steelyard.limits import (
    Assumptions,
    Certificate,
    MotionLimits,
    NotCertifiedError,
    ProvenMargin,
    Scene,
    clearance_of,
)
from steelyard.limits.scene import Obstacle
from steelyard.motion import FourierMotion, random_fourier
from steelyard.pose import Pose
from steelyard.report.motion import Measure, SearchRecord, motion_content_of, motion_page
from steelyard.report.motion.content import MotionContent
from steelyard.robot import Geometry, Robot, Sphere
from steelyard.zoo import ZOO, zoo_robot


def unpacked(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


@pytest.mark.parametrize("name", [name for name in ZOO if name != "cheetah3"])
def test_links_are_drawn_where_pinocchio_puts_them(name: str) -> None:
    robot = zoo_robot(name)
    motion = random_fourier(robot, np.random.default_rng(0), period=1.0)
    content = motion_content_of(robot, motion)
    assert content.skeleton is not None
    judge = PinocchioRobot.of(robot)
    for time, frames in list(zip(content.skeleton.time, content.skeleton.frames, strict=True))[::5]:
        pin.forwardKinematics(judge.model, judge.data, judge.q(motion.sample([time]).q[0]))
        for link, joint in enumerate(robot.joint_names, start=1):
            X = judge.data.oMi[judge.model.getJointId(joint)].homogeneous
            assert frames[link] == pytest.approx(X, abs=1e-12)
        assert frames[0] == pytest.approx(np.eye(4), abs=0)
        tool = robot.tool_frame
        judged = judge.data.oMi[judge.model.getJointId(robot.joint_names[tool.link])]
        tip = frames[content.skeleton.tip] @ np.append(content.skeleton.tip_point, 1.0)
        assert tip[:3] == pytest.approx(judged.act(tool.placement.translation), abs=1e-12)


def test_tool_and_scene_are_outlined_where_they_are(content: MotionContent, robot: Robot) -> None:
    assert content.skeleton is not None
    outlines = {outline.title: outline for outline in content.skeleton.outlines}
    table, tool = outlines["box 'table'"], outlines["tool"]
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = AROUND.obstacles[0].pose.apply(signs * [0.7, 0.5, 0.025])
    assert sorted(map(tuple, table.points.round(9))) == sorted(map(tuple, corners.round(9)))
    assert (table.kind, table.link, table.radius) == ("scene", 0, 0.0)
    ends = (robot.tool_frame.placement @ TOOL.pose).apply([[0, 0, -0.05], [0, 0, 0.05]])
    assert sorted(map(tuple, tool.points.round(9))) == sorted(map(tuple, ends.round(9)))
    assert (tool.kind, tool.link, tool.radius) == ("tool", robot.tool_frame.link + 1, 0.03)
    assert outlines[robot.link_names[3]].link == 4


def test_every_extreme_of_a_long_motion_reaches_the_page(robot: Robot, limits: MotionLimits) -> None:
    motion = random_fourier(robot, np.random.default_rng(4), start=START, fraction=0.3, period=60.0)
    content = motion_content_of(robot, motion, limits=limits)
    data: Any = data_of(motion_page(content))
    assert content.clearance is not None
    shown = unpacked(data["clearance"]["areas"][0]["values"])
    assert len(shown) < len(content.time)
    assert shown.min() == pytest.approx(1e3 * content.clearance.smallest.min(), rel=1e-6)
    for j, joint in enumerate(data["joints"]):
        for area, curves in zip(joint["areas"], content.curves, strict=True):
            values = unpacked(area["values"])
            assert len(values) == len(unpacked(joint["time"])) < len(content.time)
            assert values.min() == pytest.approx(curves.values[:, j].min(), rel=1e-6)
            assert values.max() == pytest.approx(curves.values[:, j].max(), rel=1e-6)


def test_pictures_and_samples_cover_the_whole_motion(content: MotionContent, motion: FourierMotion) -> None:
    assert content.skeleton is not None
    for time in (content.time, content.skeleton.time):
        assert (time[0], time[-1]) == (0.0, motion.duration)
    assert 20 <= 1 / np.diff(content.skeleton.time).max() <= 30


def test_curves_are_the_motion_and_pinocchios_torques(
    content: MotionContent, robot: Robot, motion: FourierMotion
) -> None:
    curves = {curve.name: curve.values for curve in content.curves}
    judge = PinocchioRobot.of(robot, np.array([link.body.parameters for link in robot.links if link.body]))
    for n in range(0, len(content.time), 97):
        at = motion.sample(content.time[n : n + 1])
        for name, values in (("position", at.q), ("velocity", at.v), ("acceleration", at.a)):
            assert curves[name][n] == pytest.approx(values[0], abs=1e-12)
        assert curves["torque"][n] == pytest.approx(judge.torques(at.q[0], at.v[0], at.a[0]), abs=1e-9)


def test_the_clearance_curve_is_coals_smallest_distance(
    content: MotionContent, robot: Robot, motion: FourierMotion, limits: MotionLimits
) -> None:
    assert content.clearance is not None
    assert limits.clearance is not None
    shapes = {link.name: (k, link.collision[0]) for k, link in enumerate((robot.base, *robot.links))}
    tool = robot.tool_frame
    shapes["tool"] = (tool.link + 1, Geometry(TOOL.shape, tool.placement @ TOOL.pose))
    for obstacle in AROUND.obstacles:
        pose = obstacle.pose if obstacle.name != "rock" else Pose.from_rpy([0, 0, 0], [-0.6, 0.5, 0.1])
        shapes[obstacle.title] = (0, Geometry(obstacle.shape, pose))  # type: ignore[arg-type]
    judge = PinocchioRobot.of(robot)
    for n in range(0, len(content.time), 101):
        pin.forwardKinematics(judge.model, judge.data, judge.q(motion.sample(content.time[n : n + 1]).q[0]))

        def placed(title: str) -> tuple[Any, Pose]:
            link, item = shapes[title]
            X = judge.data.oMi[0 if link == 0 else judge.model.getJointId(robot.joint_names[link - 1])]
            return item.shape, Pose(X.rotation, X.translation) @ item.pose

        judged = {
            name: coal_distance(*placed(name.split(" – ")[0]), *placed(name.split(" – ")[1]))
            for name in content.clearance.pairs
        }
        assert content.clearance.smallest[n] == pytest.approx(min(judged.values()), abs=1e-9)
        nearest = content.clearance.pairs[int(content.clearance.nearest[n])]
        assert judged[nearest] == pytest.approx(min(judged.values()), abs=1e-9)
    assert content.clearance.closest.min() == content.clearance.smallest.min()
    assert content.clearance.required == 0.01


def test_proven_bounds_hold_between_samples_even_as_the_page_rounds_them(
    content: MotionContent, motion: FourierMotion
) -> None:
    fine = np.linspace(0.0, motion.duration, 60_001)
    at = motion.sample(fine)
    data: Any = data_of(motion_page(content))
    for j, joint in enumerate(data["joints"]):
        for area, values in zip(joint["areas"], (at.q, at.v, at.a), strict=False):
            edges, lower, upper = (unpacked(area["proven"][name]) for name in ("edges", "lower", "upper"))
            own = np.linspace(0.0, motion.duration, len(edges))
            assert edges == pytest.approx(own, rel=1e-6)
            k = np.clip(np.searchsorted(own, fine, side="right") - 1, 0, len(lower) - 1)
            assert (lower[k] <= values[:, j]).all()
            assert (values[:, j] <= upper[k]).all()
            assert (upper - lower).max() < np.ptp(values[:, j])


def test_a_proven_torque_is_the_limit_less_its_margin(robot: Robot, motion: FourierMotion) -> None:
    layout = layout_of(robot)
    limits = MotionLimits(robot, None, layout, layout.complete_nominal())
    phi = layout.complete_nominal()
    margins = tuple(ProvenMargin("torque", name, 10.0, "N·m", 0.0, 1.0) for name in robot.joint_names)
    rests_on = Assumptions(Tracking.perfect(7), phi, phi, layout.names, 0.0, (), ())
    proof = Certificate(robot.digest, motion.digest, 6.0, margins, 1, rests_on)
    torque = motion_content_of(robot, motion, limits=limits, proof=proof).curves[3]
    assert torque.proven is not None
    assert torque.counted
    assert torque.proven.upper[0] == pytest.approx(robot.limit_array("effort") - 10.0)
    assert torque.proven.lower[0] == pytest.approx(10.0 - robot.limit_array("effort"))


def verdict(content: MotionContent) -> tuple[str, str]:
    found = re.search(
        r'class="verdict" data-status="([^"]*)".*?<strong>(.*?)</p>', motion_page(content), re.S
    )
    assert found
    return found.group(1), re.sub("<[^>]*>", "", found.group(2))


def test_only_a_proof_passes_and_a_broken_limit_fails_whatever_is_proven(content: MotionContent) -> None:
    assert verdict(content)[0] == "pass"
    assert "torque limits" in verdict(content)[1]
    assert verdict(replace(content, proof=None))[0] == "warn"
    broken = Finding(Severity.ERROR, "velocity-limit", "too fast at t = 1 s.", "joint 'A1'")
    status, words = verdict(replace(content, broken=(broken,)))
    assert status == "fail"
    assert "breaks a limit" in words
    assert "too fast at t = 1 s." in words


def test_a_refused_certificate_is_said_and_warns(
    robot: Robot, motion: FourierMotion, limits: MotionLimits
) -> None:
    refusal = NotCertifiedError(
        "not proven near t = 2 s.",
        kind="torque",
        name="A2",
        instant=2.0,
        margin=-1.0,
        broken=False,
        remedy="",
    )
    status, words = verdict(motion_content_of(robot, motion, limits=limits, proof=refusal))
    assert status == "warn"
    assert "not proven near t = 2 s." in words


def test_the_deepest_overlap_is_told_first(robot: Robot, motion: FourierMotion) -> None:
    balls = [
        Obstacle(name, Sphere(radius), Pose.from_rpy([0, 0, 0], [0.3, 0, 0.6]))
        for name, radius in (("small", 0.2), ("large", 0.5), ("middle", 0.3))
    ]
    limits = MotionLimits(robot, clearance_of(robot, Scene(tuple(balls))), distance=0.01)
    content = motion_content_of(robot, motion, limits=limits)
    assert content.clearance is not None
    deepest = content.clearance.pairs[int(content.clearance.closest.argmin())]
    assert deepest == f"{content.broken[0].place} – sphere 'large'"
    assert "sphere 'large'" in content.broken[0].message
    told = " ".join(finding.message for finding in content.broken)
    depths = [float(depth) for depth in re.findall(r"overlaps .*? by ([\d.]+) mm", told)]
    assert depths == sorted(depths, reverse=True)
    assert len(depths) > 3


def test_a_lifted_limit_is_drawn_and_reported_but_does_not_count(robot: Robot, motion: FourierMotion) -> None:
    def limited(acceleration: float) -> Robot:
        joints = [replace(j, limits=replace(j.limits, acceleration=acceleration)) for j in robot.joints]
        return replace(robot, joints=tuple(joints))

    stated, lifted = limited(1e-3), limited(np.inf)
    assert motion_content_of(stated, motion).broken
    content = motion_content_of(stated, motion, limits=MotionLimits(lifted))
    assert content.broken == ()
    acceleration = content.curves[2]
    assert not acceleration.counted
    assert (acceleration.upper == 1e-3).all()
    assert [f.severity for f in content.findings if f.code == "lifted-acceleration-limit"] == [
        Severity.WARNING
    ] * 7


def test_a_certificate_of_something_else_is_refused(
    robot: Robot, motion: FourierMotion, limits: MotionLimits, certificate: Certificate
) -> None:
    other = random_fourier(robot, np.random.default_rng(9), period=6.0)
    with pytest.raises(InputError, match="another motion"):
        motion_content_of(robot, other, limits=limits, proof=certificate)
    for wrong in (
        replace(certificate, robot="0"),
        replace(certificate, margins=certificate.margins[1:]),
        replace(certificate, assumptions=replace(certificate.assumptions, distance=0.0)),
    ):
        with pytest.raises(InputError, match="other limits"):
            motion_content_of(robot, motion, limits=limits, proof=wrong)
    with pytest.raises(InputError, match="joints"):
        motion_content_of(zoo_robot("panda"), motion)


def test_the_page_is_well_formed_light_and_says_everything(content: MotionContent) -> None:
    page = motion_page(content)
    assert page == motion_page(content)
    assert len(page.encode()) < 1e6
    reader = Reader(page)
    ids = [a["id"] for _, a in reader.elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert {(a["href"] or "")[1:] for tag, a in reader.elements if tag == "a"} <= set(ids)
    text = " ".join(" ".join(reader.text).split())
    assert content.clearance is not None
    words = [content.robot, content.digest, content.motion, *content.joints, *content.clearance.pairs]
    words += ["512.0", "42.5", "lbr_A7.viscous", "0.125 rad/s", "20.0 mm", "2.00 … 2.50 s", "2026-11-16"]
    words += ["64 stretches", "follows the motion without error", "At least 10 mm is required"]
    assert [word for word in words if word not in text.replace("\u202f", " ")] == []


def test_the_least_margin_of_each_kind_and_every_margin_are_listed(content: MotionContent) -> None:
    assert content.proof is not None
    margins = content.proof.margins
    page = motion_page(content)
    every = page[page.index(f"All {len(margins)} margins") :]
    rows = every[: every.index("</details>")].count('<tr><th scope="row">')
    assert rows == len(margins)


def test_the_page_asks_nobody_for_anything_and_admits_its_own_script_only(content: MotionContent) -> None:
    page = motion_page(content)
    assert set(re.findall(r"https?://[^\s\"'<>)]+", page)) <= {"http://www.w3.org/2000/svg"}
    for _, attributes in Reader(page).elements:
        assert not {"src", "srcset", "action", "style", "ping"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    assert not re.search(r"@import|url\((?!#)|innerHTML|eval\(", page)
    for tag in ("script", "style"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in page


def hostile(content: MotionContent) -> MotionContent:
    """The same motion where every name is hostile or endless."""
    endless = "ein_sehr_langer_gelenkname_" * 6
    assert content.clearance is not None
    assert content.skeleton is not None
    assert content.proof is not None
    pairs = (HOSTILE, endless, *content.clearance.pairs[2:])
    return replace(
        content,
        robot=HOSTILE,
        digest=HOSTILE,
        motion=HOSTILE,
        joints=(HOSTILE, endless, *content.joints[2:]),
        clearance=replace(content.clearance, pairs=pairs),
        skeleton=replace(content.skeleton, links=(HOSTILE, *content.skeleton.links[1:])),
        proof=replace(content.proof, message=HOSTILE, assumptions=(HOSTILE, endless)),
        search=SearchRecord(
            HOSTILE,
            np.array([0.0, 1.0]),
            np.array([2.0, 1.0]),
            (Measure(HOSTILE, 1.0, unit=HOSTILE),),
            HOSTILE,
            (endless,),
            {HOSTILE: HOSTILE},
        ),
        findings=(Finding(Severity.WARNING, HOSTILE, HOSTILE, endless),),
        broken=(Finding(Severity.ERROR, HOSTILE, HOSTILE, HOSTILE),),
        torque_model=HOSTILE,
        versions={HOSTILE: HOSTILE},
        made=HOSTILE,
    )


def test_hostile_names_are_shown_and_never_obeyed(content: MotionContent) -> None:
    page = motion_page(hostile(content))
    reader = Reader(page)
    tags = [tag for tag, _ in reader.elements]
    assert "img" not in tags
    assert tags.count("script") == 2
    assert "\x1b" not in page
    assert "".join(reader.text).count("<script>alert(1)</script>") >= 25
    assert data_of(page)["joints"][0]["title"].startswith("</script><script>alert(1)")
