"""Stages that make data: the motions, and their runs on the simulated robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from steelyard.archive import from_document, to_document
from steelyard.arrays import Array
from steelyard.campaigns.identification.robot_case import RobotCase, robot_case_of
from steelyard.errors import UnknownNameError
from steelyard.motion import SplineMotion, structured_motions
from steelyard.recording import Recording, Step
from steelyard.simulation import (
    encoder_steps,
    sensor_preset,
    simulate_motion,
    torque_per_ampere,
    torque_steps,
)

Document = Mapping[str, Any]


def make_motions(subject: Document) -> dict[str, Any]:
    """The structured motions of the robot, by name.

    Args:
        subject: document of the robot case.

    Returns:
        `motions`, documents by name; `held_out`, names of those for validation; `findings`.
    """
    about = robot_case_of(subject)
    settings, robot = about.settings, about.robot
    turns = np.array([joint.kind.rotates for joint in robot.joints])
    postures = np.array(settings.postures)
    made = structured_motions(
        about.limits,
        postures=np.where(turns, np.radians(postures), postures) if postures.size else None,
        wrist=settings.wrist - 1 if settings.wrist else None,
    )
    return {
        "motions": {item.name: to_document(item.motion) for item in made},
        "held_out": [item.name for item in made.validation],
        "findings": [str(finding) for finding in made.findings],
    }


def motion_of(motions: Document, name: str) -> SplineMotion:
    """A motion of the task `motions`.

    Args:
        motions: its result.
        name: of the motion.

    Raises:
        UnknownNameError: there is no such motion; lists those that exist.
    """
    if name not in motions["motions"]:
        raise UnknownNameError("motion", name, motions["motions"])
    return from_document(SplineMotion, motions["motions"][name])


def record(subject: Document, motions: Document, motion: str, seed: int) -> dict[str, Any]:
    """Run a motion on the simulated robot.

    Readings are whole steps of encoder and ammeter, so they are kept as such, in a quarter of the space.

    Args:
        subject: document of the robot case.
        motions: the motions.
        motion: name of the one to run.
        seed: of the run.

    Returns:
        `q`, and `tau` or `current` with the torque `constants`; `rate`, Hz.
    """
    about = robot_case_of(subject)
    settings = about.settings
    preset = sensor_preset(settings.sensor)
    reference = motion_of(motions, motion)
    log = simulate_motion(
        about.robot,
        reference,
        controller=about.control.controller,
        sensor=preset,
        rng=np.random.default_rng(seed),
        backlash=settings.backlash,
    )
    kept = {"q": _kept(log.q, encoder_steps(preset, about.robot)), "rate": preset.rate}
    constants = torque_per_ampere(preset, about.robot)
    if constants is None:
        return kept | {"tau": _kept(log.channels["tau"], torque_steps(preset, about.robot))}
    quantum = np.full(about.robot.nv, preset.current_quantum)
    return kept | {"current": _kept(log.channels["current"], quantum), "constants": constants}


def measured(about: RobotCase, recorded: Document) -> Recording:
    """The log of a run, with the torques of the commands.

    The meter shows what acts, one cycle or more after it was commanded; torques are put back to the cycle
    whose command they are, so that they compare with the commands of a simulation. The last cycles, whose
    commands are never seen to act, are cut.

    Args:
        about: the robot case.
        recorded: result of `record`.

    Returns:
        The recording, with q and tau.
    """
    cycle = 1.0 / float(recorded["rate"])
    late = int(np.ceil(about.control.delay / cycle - 1e-9))
    q = _signal(recorded["q"])
    metered = "tau" in recorded
    tau = _signal(recorded["tau"]) if metered else recorded["constants"] * _signal(recorded["current"])
    n = len(q) - late
    time = cycle * np.arange(n, dtype=float)
    history = (Step("run", {"late": late}),)
    return Recording(about.robot.joint_names, time, q=q[:n], tau=tau[late:], provenance=history)


def followed(about: RobotCase, recorded: Document, motions: Document, motion: str) -> Recording:
    """The log of a run, with the torques of the commands and the references it followed.

    Args:
        about: the robot case.
        recorded: result of `record`.
        motions: the motions.
        motion: name of the motion.

    Returns:
        The recording, with q, tau and references.
    """
    log = measured(about, recorded)
    reference = motion_of(motions, motion).sample(log.time)
    return Recording(
        log.joints,
        log.time,
        q=log.q,
        tau=log.tau,
        q_ref=reference.q,
        v_ref=reference.v,
        a_ref=reference.a,
        provenance=log.provenance,
    )


def _kept(signal: Array, size: Array) -> dict[str, Any]:
    """Whole steps of a size, where they give the signal back to the last bit; the signal itself otherwise."""
    with np.errstate(divide="ignore", invalid="ignore"):
        counts = np.rint(signal / size)
    if np.all(np.abs(counts) < 2**15) and np.array_equal(counts * size, signal):
        return {"counts": counts.astype(np.int16), "size": size}
    return {"signal": signal}


def _signal(kept: Document) -> Array:
    return np.asarray(kept["signal"]) if "signal" in kept else kept["counts"] * kept["size"]
