"""What an identification campaign is asked to do, read from its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steelyard.campaign.spec import Spec
from steelyard.errors import InputError

SETTINGS = ("shared", "independent")
"""Whether the sampling intervals of a motion share start and Jacobian, or each run stands alone."""
STARTS = ("possible", "projected")
"""Start of the refinement: the possible links that fit best, or the least change of OLS (paper 004, (8))."""
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
        published: what a paper states for the same parameters, by its names for them, in the model's order.
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
    published: dict[str, float]
    seed: int


def read_settings(spec: Spec) -> Settings:
    """Read what the campaign is asked to do.

    Args:
        spec: the file.

    Returns:
        The settings.

    Raises:
        InputError: something is missing, out of range or misspelt; the message says the line.
    """
    top = spec.content
    robot, model, plant, loop = (top.section(x) for x in ("robot", "model", "plant", "loop"))
    motions, sampling, stages, audit = (top.section(x) for x in ("motions", "sampling", "stages", "audit"))
    report = top.section("report")
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
        published=report.table("published"),
        seed=spec.seed,
    )
