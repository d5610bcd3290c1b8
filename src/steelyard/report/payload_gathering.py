"""A payload's page from the objects of the line: robot, estimate, verdict, runs, and what else was asked."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import Check, Verdict
from steelyard.errors import InputError
from steelyard.finding import Finding
from steelyard.inertia import PARAMETER_NAMES, PARAMETER_UNITS, Mesh, equivalent_ellipsoid, mesh_properties
from steelyard.layout import layout_of
from steelyard.payload import QUANTITIES, UNITS, Held, PayloadEstimate, PayloadPrior
from steelyard.recording import Recording
from steelyard.report.arm_drawing import ArmDrawing, LinkDrawing, MassDrawing, draw_arm
from steelyard.report.content import History, TorqueTrace
from steelyard.report.payload_content import PayloadContent
from steelyard.report.payload_parts import GainAnswer, PayloadNumber, TrialOutcome
from steelyard.robot import Robot
from steelyard.uncertainty import GuaranteedBounds, Theorem13

POSES = 60
"""Poses of a run the arm is drawn in."""


def payload_content_of(
    robot: Robot,
    estimate: PayloadEstimate,
    verdict: Verdict,
    runs: Mapping[str, Recording],
    *,
    why: str,
    traces: Sequence[TorqueTrace] = (),
    bounds: GuaranteedBounds | None = None,
    published: Theorem13 | None = None,
    gains: str = "",
    others: Sequence[GainAnswer] = (),
    mesh: Mesh | None = None,
    density: Check | None = None,
    trials: Sequence[TrialOutcome] = (),
    findings: Sequence[Finding] = (),
    inputs: Mapping[str, str] | None = None,
    files: Sequence[str] = (),
    read_back: Mapping[str, Sequence[str]] | None = None,
    seed: int | None = None,
    untested: Sequence[str] = (),
    made: str = "",
) -> PayloadContent:
    """Gather what the page says.

    Args:
        robot: the robot.
        estimate: what it holds.
        verdict: what is to be thought of that.
        runs: the runs by name, the loaded ones first; the arm is drawn along the first.
        why: why the way of weighing was taken, in a clause.
        traces: torques of the runs, see `payload_trace`.
        bounds: guaranteed bounds; None where none were asked for.
        published: what Theorem 13 says beside them; None to say nothing of it.
        gains: whose drive gains the answer rests on.
        others: the answers under other drive gains.
        mesh: the payload's surface in its frame.
        density: whether one density explains the estimate.
        trials: how the asset moves beside another object.
        findings: everything that was noticed, those of the estimate included.
        inputs: SHA-256 of each file that was read, by its name.
        files: names of the files beside the page.
        read_back: for each model, the programs that read it back and agree, by name.
        seed: of the draws behind the intervals; None to say nothing of it.
        untested: what was not tested, in sentences, besides the checks that were not run.
        made: when and by whom the page is made.

    Returns:
        The content.
    """
    weighing, held = estimate.weighing, estimate.weighing.held
    joints = [joint for joint in robot.joints for _ in range(joint.nv)]
    settings = {} if seed is None else {"seed": seed}
    uniform = None
    if mesh is not None:
        try:
            uniform = mesh_properties(mesh, mass=estimate.body.mass).body
        except InputError:  # a surface that encloses nothing is drawn, and its check says that it is open
            uniform = None
    return PayloadContent(
        robot=robot.name,
        digest=robot.digest,
        frame=held.frame,
        link=held.link,
        way=weighing.way,
        why=why,
        prior=_prior_words(estimate.prior),
        body=estimate.body,
        numbers=_numbers(estimate),
        ten=_ten(estimate),
        verdict=verdict,
        joints=tuple(joint.name for joint in joints),
        units=tuple(joint.effort_unit for joint in joints),
        traces=tuple(traces),
        bounds=bounds,
        published=published,
        gains=gains,
        others=tuple(others),
        mesh=mesh,
        uniform=uniform,
        density=density,
        trials=tuple(trials),
        arm=_arm(robot, estimate, held, runs),
        findings=tuple(findings),
        histories=tuple(History(name, run.digest, run.provenance) for name, run in runs.items()),
        inputs=inputs or {},
        files=tuple(files),
        read_back=read_back or {},
        facts={"samples": weighing.samples, "condition number": weighing.condition, **settings},
        versions={
            "steelyard": version("steelyard"),
            "numpy": version("numpy"),
            "scipy": version("scipy"),
            "python": platform.python_version(),
        },
        untested=tuple(untested),
        made=made,
    )


def _prior_words(prior: PayloadPrior) -> str:
    place = ", ".join(f"{x:g}" for x in prior.centre.tolist())
    return (
        f"The prior: a body that can exist, of at most {prior.heaviest:g} kg, within {prior.extent:g} m of "
        f"({place}) m of its frame."
    )


def _numbers(estimate: PayloadEstimate) -> tuple[PayloadNumber, ...]:
    columns = (estimate.values.tolist(), estimate.lower.tolist(), estimate.upper.tolist())
    rows = zip(QUANTITIES, UNITS, *columns, strict=True)
    return tuple(PayloadNumber(*row, decided=estimate.decided[row[0]]) for row in rows)


def _ten(estimate: PayloadEstimate) -> tuple[PayloadNumber, ...]:
    ends: Array = np.quantile(estimate.draws, (0.025, 0.975), axis=0)
    rows = zip(PARAMETER_NAMES, PARAMETER_UNITS, estimate.ten.tolist(), *ends.tolist(), strict=True)
    return tuple(PayloadNumber(*row) for row in rows)


def _arm(
    robot: Robot, estimate: PayloadEstimate, held: Held, runs: Mapping[str, Recording]
) -> ArmDrawing | None:
    """The arm along the first run, with the payload as a further link."""
    if not runs:
        return None
    name, run = next(iter(runs.items()))
    shown = np.unique(np.linspace(0, run.n - 1, POSES).astype(int))
    bare = draw_arm(robot, layout_of(robot), run.q[shown], time=run.time[shown], motion=name)
    carrier = robot.link_names.index(held.link) + 1
    drawn = MassDrawing(estimate.body.mass, equivalent_ellipsoid(estimate.body))
    payload = LinkDrawing("payload", carrier, estimated=drawn)
    frames = np.concatenate([bare.frames, bare.frames[:, carrier, None] @ held.placement.matrix], axis=1)
    return ArmDrawing((*bare.links, payload), frames, bare.time, bare.motion)
