"""What an identification campaign is about: its settings, and robot, model, loop and audit made from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from steelyard.campaigns.spec import Spec, robot_of
from steelyard.consistency import AllPoseProof, PoseDomain
from steelyard.control import LoopSettings
from steelyard.errors import InputError, UnknownNameError
from steelyard.estimation.closed_loop import FeasibleLinks, feasible_links
from steelyard.identifiable import MinimalModel, minimal_model
from steelyard.inertia import PARAMETER_NAMES
from steelyard.layout import layout_of
from steelyard.limits import MotionLimits, clearance_of
from steelyard.link_frames import modified_dh_frames, urdf_frames
from steelyard.reduction import SYMMETRIC, LinkRule, Reduction, fixed
from steelyard.robot import Robot
from steelyard.rollout import ClosedLoop

# Settings, read from the file of the campaign

SETTINGS = ("shared", "independent")
"""Whether the sampling intervals of a motion share start and Jacobian, or each run stands alone."""
STARTS = ("possible", "projected")
"""Start of the refinement: consistent links that fit best, or nearest to OLS (Oaki et al. 2026, eq. (8))."""
STEPS = ("possible", "free")
"""Whether every step of the refinement keeps the links possible."""


@dataclass(frozen=True)
class Settings:
    """An identification campaign.

    Attributes:
        robot: zoo name or path of the description.
        drive: drive terms of the model.
        reduce: `products` or `none`.
        frames: frames in which products vanish, `mdh` or `urdf`.
        lumped: links that count as part of the one before them.
        sensor: preset of the simulated robot.
        backlash: play of every encoder, rad or m.
        controller: tables of the controller file.
        scheme: how the refinement integrates.
        steps_per_cycle: its steps in a control cycle.
        postures: of the structured motions, deg or m; empty for those made from the limits.
        wrist: number of the joint that the variants turn, from 1; 0 to choose by the axes.
        identify: names of the motions to identify on; empty for all.
        validate: names of the motions held out; empty for all.
        trials: repeated runs of every motion.
        intervals: sampling intervals, s.
        sharing: one of `SETTINGS`.
        start: one of `STARTS`.
        steps: one of `STEPS`.
        least_rotor: smallest rotor inertia a possible start may have, kg·m² or kg.
        margins: ladder of the projection, kg·m² or kg.
        domain: lower and upper ends of the poses of the audit, deg or m; empty for all poses.
        representative: sampling interval whose runs may represent the cloud, s.
        traced: numbers of the joints whose torques the report draws, from 1.
        compared: motions that the report sets beside each other.
        seed: of all that is random.
    """

    robot: str
    drive: tuple[str, ...]
    reduce: str
    frames: str
    lumped: tuple[str, ...]
    sensor: str
    backlash: float
    controller: dict[str, Any]
    scheme: str
    steps_per_cycle: int
    postures: tuple[tuple[float, ...], ...]
    wrist: int
    identify: tuple[str, ...]
    validate: tuple[str, ...]
    trials: int
    intervals: tuple[float, ...]
    sharing: str
    start: str
    steps: str
    least_rotor: float
    margins: tuple[float, ...]
    domain: tuple[tuple[float, ...], ...]
    representative: float
    traced: tuple[int, ...]
    compared: tuple[str, ...]
    seed: int


def read_settings(spec: Spec) -> Settings:
    """Read what the campaign is asked to do.

    Args:
        spec: the file.

    Raises:
        InputError: something is missing, out of range or misspelt; the message says the line.
    """
    top = spec.content
    robot, model, plant, loop = (top.section(x) for x in ("robot", "model", "plant", "loop"))
    motions, sampling, stages, audit = (top.section(x) for x in ("motions", "sampling", "stages", "audit"))
    report = top.section("report")
    if "published" in report.content:
        raise InputError(
            "is stated elsewhere.",
            place=report.place("published"),
            remedy='Move it to [reference.parameters], and say in [reference] whose it is: name = "…".',
        )
    intervals = tuple(1e-3 * x for x in sampling.numbers("intervals_ms"))
    if not intervals or min(intervals) <= 0.0 or len(set(intervals)) < len(intervals):
        raise InputError("must be positive and different.", place=sampling.place("intervals_ms"))
    chosen = 1e-3 * sampling.number("representative_ms", 1e3 * intervals[len(intervals) // 2])
    if chosen not in intervals:
        raise InputError("is none of the intervals.", place=sampling.place("representative_ms"))
    return Settings(
        robot=robot.text("name"),
        drive=model.texts("drive", ("viscous", "rotor")),
        reduce=model.choice("reduce", ("products", "none"), "none"),
        frames=model.choice("frames", ("mdh", "urdf"), "mdh"),
        lumped=model.texts("lumped", ()),
        sensor=plant.text("sensor", "low-cost"),
        backlash=plant.number("backlash", 0.0, least=0.0),
        controller=top.table("controller"),
        scheme=loop.choice("scheme", ("heun", "rk4", "euler-trapezoid"), "heun"),
        steps_per_cycle=loop.integer("steps_per_cycle", 1, least=1),
        postures=motions.rows("postures", ()),
        wrist=motions.integer("wrist", 0, least=0),
        identify=motions.texts("identify", ()),
        validate=motions.texts("validate", ()),
        trials=motions.integer("trials", 1, least=1),
        intervals=intervals,
        sharing=stages.choice("sharing", SETTINGS, "shared"),
        start=stages.choice("start", STARTS, "possible"),
        steps=stages.choice("steps", STEPS, "possible"),
        least_rotor=stages.number("least_rotor", 3e-4, least=0.0),
        margins=stages.numbers("margins", (0.001, 0.002, 0.005, 0.01)),
        domain=audit.rows("domain", ()),
        representative=chosen,
        traced=tuple(int(x) for x in report.numbers("joints", ())),
        compared=report.texts("compared", ()),
        seed=spec.seed,
    )


# What a campaign is about, made again in every worker from one document: robot, model, loop, audit.

_LUMPED = fixed(dict.fromkeys(PARAMETER_NAMES, 0.0))


@dataclass(frozen=True, eq=False)
class RobotCase:
    """A robot with the model, the controller and the questions of a campaign.

    Attributes:
        settings: what was asked.
        robot: as described.
    """

    settings: Settings
    robot: Robot

    @cached_property
    def model(self) -> MinimalModel:
        """The model whose parameters are sought."""
        layout = layout_of(self.robot, list(self.settings.drive))
        if self.settings.reduce == "none" and not self.settings.lumped:
            return minimal_model(self.robot, layout)
        for link in self.settings.lumped:
            if link not in layout.links:
                raise UnknownNameError("moving link", link, layout.links, place="model.lumped")
        frames = (modified_dh_frames if self.settings.frames == "mdh" else urdf_frames)(self.robot)
        usual = SYMMETRIC if self.settings.reduce == "products" else LinkRule()
        rules = dict.fromkeys(layout.links, usual) | dict.fromkeys(self.settings.lumped, _LUMPED)
        return minimal_model(self.robot, layout, Reduction(layout, frames, rules))

    @cached_property
    def control(self) -> LoopSettings:
        """The law that follows the motions, and its delay."""
        return LoopSettings.of(self.settings.controller, self.robot)

    @cached_property
    def loop(self) -> ClosedLoop:
        """The closed loop as the refinement simulates it."""
        law, cycle = self.control.controller, self.control.cycle
        if cycle is None:
            raise InputError("is missing.", place="controller.cycle", remedy="State the control cycle, s.")
        settings = self.settings
        return ClosedLoop(law, cycle, self.control.delay, settings.scheme, settings.steps_per_cycle)

    @cached_property
    def limits(self) -> MotionLimits:
        """What motions must respect."""
        layout = layout_of(self.robot)
        clearance = clearance_of(self.robot)
        return MotionLimits(self.robot, clearance, layout, layout.complete_nominal(), 0.0)

    @cached_property
    def links(self) -> FeasibleLinks:
        """Base parameters of links that can exist, rotors of at least the stated inertia."""
        return feasible_links(self.model, rotor_floor=self.settings.least_rotor)

    @cached_property
    def proof(self) -> AllPoseProof:
        """What certificates of all models of the campaign share."""
        return AllPoseProof.prepare(self.model)

    @cached_property
    def domain(self) -> PoseDomain:
        """The poses that are audited beside all poses."""
        if not self.settings.domain:
            return PoseDomain.every(self.robot)
        turns = np.array([joint.kind.rotates for joint in self.robot.joints])
        lower, upper = np.where(turns, np.radians(self.settings.domain), self.settings.domain)
        return PoseDomain(lower, upper)


def robot_case_document(settings: Settings, robot: Mapping[str, Any]) -> dict[str, Any]:
    """What workers need: what was asked, and the robot's whole description, so that they need no file.

    Args:
        settings: what was asked.
        robot: document of the robot.

    Returns:
        A document that `robot_case_of` reads.
    """
    return {"settings": asdict(settings), "robot": robot}


def robot_case_of(document: Mapping[str, Any]) -> RobotCase:
    """The robot case of a document; a worker makes each only once.

    Args:
        document: of `robot_case_document`.
    """
    return _robot_case(json.dumps(document, sort_keys=True))


@lru_cache(maxsize=4)
def _robot_case(text: str) -> RobotCase:
    document = json.loads(text)
    given = {k: _frozen(v) for k, v in document["settings"].items()}
    return RobotCase(Settings(**given), robot_of(document["robot"]))


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
