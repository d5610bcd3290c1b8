"""What the page of a payload draws and rounds: true to geometry and Pinocchio, never tighter than bounds."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pinocchio
import pytest

from oracles.pinocchio_robot import PinocchioRobot, pinocchio_model
from oracles.stated_bounds import stated_bounds
from payloads.loaded_arm import body, motion_of, run
from report.test_payload_page import bounds, section_of, weighed
from steelyard.arrays import Array
from steelyard.errors import InputError
from steelyard.inertia import Body
from steelyard.payloads import PayloadEstimate, described, mounted_at, payload_of, weigh_with_model
from steelyard.recording import Recording
from steelyard.report.payload.content import PayloadContent, outward, payload_trace
from steelyard.report.payload.page import VIEWS, payload_page
from steelyard.robot import Robot
from steelyard.zoo import zoo_robot


@pytest.fixture(scope="module")
def content() -> PayloadContent:
    return weighed()


@pytest.fixture(scope="module")
def robot() -> Robot:
    return zoo_robot("panda")


@pytest.fixture(scope="module")
def loaded(robot: Robot) -> Recording:
    return run(robot, motion_of(robot, period=5.0), body(1, 1.5), offset=0.3)


@pytest.fixture(scope="module")
def exact(robot: Robot, loaded: Recording) -> PayloadEstimate:
    """From data without noise, so that nothing is left."""
    weighing = weigh_with_model(described(robot, ()), mounted_at(robot), [loaded])
    return payload_of(weighing, np.random.default_rng(0), point="lmi")


class View:
    """One of the drawings, read back in metres by the labels of its grid."""

    def __init__(self, svg: str) -> None:
        self.root = ElementTree.fromstring(svg)
        marks = list(self.root)
        scales = []
        for along in ("middle", "end"):
            ends = []
            for line, text in pairwise(marks):
                if line.get("class") == "grid" and text.get("text-anchor") == along:
                    numbers = re.findall(r"[\d.]+", line.get("d") or "")
                    value = float((text.text or "").replace("\u2212", "-")) / 1e3
                    ends.append((float(numbers[0 if along == "middle" else 1]), value))
            (p0, v0), (p1, v1) = ends[0], ends[-1]
            scales.append(((v1 - v0) / (p1 - p0), v0 - (v1 - v0) / (p1 - p0) * p0))
        (self.right, self.right0), (self.up, self.up0) = scales

    def metres(self, x: float, y: float) -> Array:
        return np.array([self.right * x + self.right0, self.up * y + self.up0])

    def ellipse(self, kind: str) -> tuple[Array, Array]:
        """Centre, and points on the outline."""
        (group,) = [g for g in self.root.iter("g") if g.get("class") == f"ellipsoid {kind}"]
        (shape,) = group.iter("ellipse")
        x, y, angle = map(float, re.findall(r"-?[\d.]+", shape.get("transform") or ""))
        rx, ry, t = float(shape.get("rx") or 0), float(shape.get("ry") or 0), np.linspace(0, 2 * np.pi, 721)
        turn = np.radians(angle)
        u, v = rx * np.cos(t), ry * np.sin(t)
        across, down = np.cos(turn) * u - np.sin(turn) * v, np.sin(turn) * u + np.cos(turn) * v
        outline = zip(x + across, y + down, strict=True)
        return self.metres(x, y), np.array([self.metres(*point) for point in outline])

    def rectangle(self, kind: str) -> Array:
        (box,) = [r for r in self.root.iter("rect") if r.get("class") == kind]
        x, y, w, h = (float(box.get(name) or 0) for name in ("x", "y", "width", "height"))
        return np.array([self.metres(x, y + h), self.metres(x + w, y)])


def views_of(content: PayloadContent) -> list[View]:
    section = section_of(payload_page(content), "payload")
    return [View(svg) for svg in re.findall(r"<svg.*?</svg>", section, re.S)]


def test_ellipsoids_reach_as_far_in_every_direction_as_the_inertia_says(content: PayloadContent) -> None:
    # Of a uniform ellipsoid the half width along n is sqrt(5 n·S n / m), S the central second moments.
    assert content.uniform is not None
    for kind, solid in (("estimated", content.body), ("nominal", content.uniform)):
        S = 0.5 * np.trace(solid.inertia) * np.eye(3) - solid.inertia
        for axes, view in zip(VIEWS, views_of(content), strict=True):
            centre, outline = view.ellipse(kind)
            assert centre == pytest.approx(solid.com[list(axes)], abs=5e-4)
            for angle in np.linspace(0.0, np.pi, 7):
                n = np.zeros(3)
                n[list(axes)] = np.cos(angle), np.sin(angle)
                reach = ((outline - centre) @ n[list(axes)]).max()
                assert reach == pytest.approx(np.sqrt(5.0 * n @ S @ n / solid.mass), abs=5e-4)


def test_intervals_bounds_and_mesh_are_drawn_where_they_are(content: PayloadContent) -> None:
    com = [content.number(f"com_{axis}") for axis in "xyz"]
    interval = np.array([[n.lower for n in com], [n.upper for n in com]])
    assert content.bounds is not None
    assert content.mesh is not None
    extent = np.array([content.mesh.vertices.min(axis=0), content.mesh.vertices.max(axis=0)])
    for axes, view in zip(VIEWS, views_of(content), strict=True):
        assert view.rectangle("chosen") == pytest.approx(interval[:, list(axes)], abs=5e-4)
        assert view.rectangle("limit") == pytest.approx(content.bounds.com_bounds[:, list(axes)], abs=5e-4)
        (hull,) = [p for p in view.root.iter("polygon") if p.get("class") == "shape"]
        corners = [view.metres(*map(float, p.split(","))) for p in (hull.get("points") or "").split()]
        drawn = np.array([np.min(corners, axis=0), np.max(corners, axis=0)])
        assert drawn == pytest.approx(extent[:, list(axes)], abs=5e-4)


@pytest.mark.parametrize("spread", [(0, 0, 0), (0, 0, 1), (0, 1, 1)])
def test_point_rod_and_plate_are_drawn_too(content: PayloadContent, spread: tuple[int, ...]) -> None:
    S = 1e-3 * np.diag(spread)
    thin = Body(2.0, np.array([0.1, 0.0, -0.2]), np.trace(S) * np.eye(3) - S)
    page = payload_page(replace(content, body=thin, mesh=None, uniform=None, bounds=None))
    drawings = re.findall(r"<svg.*?</svg>", section_of(page, "payload"), re.S)
    assert [svg.count('class="centre"') for svg in drawings] == [1, 1, 1]
    assert "nan" not in "".join(drawings)


def test_the_arm_holds_the_payload_where_pinocchio_puts_it(content: PayloadContent, robot: Robot) -> None:
    judge, arm = PinocchioRobot.of(robot), content.arm
    assert arm is not None
    motion = motion_of(robot, period=5.0)
    link = arm.links[-1]
    assert link.estimated is not None
    assert link.estimated.ellipsoid is not None
    for time, frames in list(zip(arm.time, arm.frames, strict=True))[::10]:
        pinocchio.forwardKinematics(judge.model, judge.data, judge.q(motion.sample([time]).q[0]))
        joint = judge.model.getJointId(robot.joint_names[robot.tool_frame.link])
        expected = judge.data.oMi[joint].act(robot.tool_frame.placement.apply(content.body.com))
        centre = frames[-1] @ np.append(link.estimated.ellipsoid.pose.translation, 1.0)
        assert centre[:3] == pytest.approx(expected, abs=1e-9)


def test_torque_beyond_the_arm_is_what_pinocchio_says_the_load_adds(
    robot: Robot, loaded: Recording, exact: PayloadEstimate
) -> None:
    empty = run(robot, motion_of(robot, period=5.0))
    by_run = payload_trace(robot, exact, "run", loaded, empty=empty)
    by_model = payload_trace(robot, exact, "run", loaded, model=described(robot, ()))
    held = robot.with_body("load", body(1, 1.5))
    models = [pinocchio_model(r, np.array([x.body.parameters for x in r.links])) for r in (held, robot)]
    for trace in (by_run, by_model):
        places = np.searchsorted(loaded.time, trace.time)
        for k, place in list(enumerate(places))[::25]:
            state = (loaded.q[place], loaded.channels["v"][place], loaded.channels["a"][place])
            full, bare = (pinocchio.rnea(m, m.createData(), *state) for m in models)
            # The runs differ by an offset of 0.3 N·m too, which belongs to the drives.
            assert trace.measured[k] == pytest.approx(full - bare + 0.3, abs=1e-8)
        assert trace.predicted == pytest.approx(trace.measured, abs=1e-3)


def test_torque_cannot_be_told_from_the_arms_own_without_run_or_model(
    robot: Robot, loaded: Recording, exact: PayloadEstimate
) -> None:
    with pytest.raises(InputError, match="needs an empty run or a model"):
        payload_trace(robot, exact, "run", loaded)


def test_bounds_as_text_are_never_tighter_and_hardly_wider() -> None:
    rng = np.random.default_rng(0)
    for _ in range(2000):
        middle, half = rng.normal() * 10.0 ** rng.uniform(-4, 4), 10.0 ** rng.uniform(-7, 4)
        power = int(rng.integers(0, 4))
        lower, upper = middle - half, middle + half
        low, high = (Decimal(x.replace("\u2212", "-")) for x in outward(lower, upper, power=power))
        exact = [Decimal(lower).scaleb(power), Decimal(upper).scaleb(power)]
        assert low <= exact[0]
        assert high >= exact[1]
        assert float(high - low) <= 1.21 * float(exact[1] - exact[0])
    assert outward(0.0, 0.0) == ("0", "0")
    assert outward(-np.inf, np.inf) == ("\u2212∞", "∞")
    assert outward(1.5, 1.5)[0] == "1.500"


def test_an_interval_that_is_open_at_one_end_is_told_so() -> None:
    assert outward(-np.inf, 2.0)[0] == "\u2212∞"
    assert outward(2.0, np.inf)[1] == "∞"


def test_the_centre_of_every_body_within_bounds_is_within_its_bounds(content: PayloadContent) -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        found = bounds(np.array([1.0, *rng.normal(0, 0.1, 9)]), width=float(rng.uniform(0.01, 0.9)))
        low, high = found.com_bounds
        for pick in rng.integers(0, 2, (8, 4)):
            m, *h = (float((found.lower, found.upper)[p][k]) for k, p in enumerate(pick))
            for axis in range(3):
                c = Fraction(h[axis]) / Fraction(m)
                assert Fraction(float(low[axis])) <= c <= Fraction(float(high[axis]))
    nothing = stated_bounds(lower=np.zeros(10), upper=np.ones(10))
    assert np.isinf(nothing.com_bounds).all()  # type: ignore[arg-type]
