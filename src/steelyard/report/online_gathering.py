"""What the page of a run says, gathered from the run itself."""

from __future__ import annotations

import datetime

from steelyard import __version__
from steelyard.arrays import Array
from steelyard.export import versions
from steelyard.limits import bounds_of
from steelyard.online import OnlineRun, Setting
from steelyard.report.online_content import OnlineContent, OnlineHead
from steelyard.uncertainty import Theorem13

ASSUMED = (
    "The robot's own brakes stop it when they are asked to.",
    "What stands around the robot is where the scene says, and does not move.",
    "The law is proven in continuous time with exact states; between cycles and with the stated errors of "
    "sensors, the tube is checked in every cycle and was kept in all simulated runs.",
)


def online_head_of(setting: Setting, start: Array, truth: Array | None = None) -> OnlineHead:
    """What can be said before the robot moves.

    Args:
        setting: what the loop is told.
        start: where the robot stands, shape (nv,), rad or m.
        truth: the ten numbers of what it holds, shape (10,), SI; None where nobody knows.

    Returns:
        The head of its page.
    """
    robot, tube = setting.arm.robot, setting.tube
    return OnlineHead(
        title=f"{robot.name} learns what it holds",
        robot=robot,
        start=start,
        cycle=setting.switch,
        control_cycle=setting.cycle,
        tube_radius=tube.radius,
        position_bound=tube.position,
        effort=bounds_of(robot).effort,
        prior=setting.prior,
        truth=truth,
        clearance=setting.clearance,
        distance=setting.distance,
        frame=setting.arm.held.frame,
        assumptions=(*setting.errors.assumptions, setting.prior.meaning, *ASSUMED),
    )


def online_content_of(
    run: OnlineRun,
    head: OnlineHead,
    *,
    sentence: str,
    published: Theorem13 | None = None,
    violations: tuple[str, ...] = (),
    uncovered: tuple[str, ...] = (),
) -> OnlineContent:
    """What the page of a finished run says.

    Args:
        run: the run.
        head: what could be said before it.
        sentence: how it ended.
        published: what Theorem 13 says beside the last bounds; None to say nothing of it.
        violations: what was broken, in sentences.
        uncovered: what could hit and is not part of the proofs, in sentences.

    Returns:
        The content, made today by this version.
    """
    record, log = run.record, run.cycles
    driven = slice(len(log.commands))
    return OnlineContent(
        head=head,
        time=log.time[driven] - log.time[0],
        q=log.q[driven],
        v=log.v[driven],
        q_ref=log.q_ref,
        v_ref=log.v_ref,
        tau=log.commands,
        r_norm=run.errors[0],
        knowledge=record.knowledge,
        outcome=record.outcome,
        sentence=sentence,
        moves=record.moves,
        proofs=record.proofs,
        events=record.events,
        published=published,
        violations=violations,
        uncovered=uncovered,
        versions=versions(),
        made=f"steelyard {__version__}, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
    )
