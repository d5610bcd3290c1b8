"""The folder of `steelyard joints`: models, controller, page, experiments and the record."""

from __future__ import annotations

import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from steelyard.archive import to_document
from steelyard.arrays import Array
from steelyard.cli.joints_answer import answer
from steelyard.cli.joints_line import Modelled, ModelledJoint
from steelyard.control import controller_text
from steelyard.export import record_document, versions, write_folder
from steelyard.layout import layout_of
from steelyard.recording import Recording, write
from steelyard.report import JointModelContent, JointModelEntry, Quantity, joint_model_page

_POINTS, _LOWEST = 160, 0.2
"""Frequencies of the responses, and the lowest, Hz."""
_SHOWN = 0.005
"""Time over which drawn velocities are averaged, s."""
_SHAKEN = 0.1
"""Unexplained share of the velocity from which on a reader is told."""


def write_models(done: Modelled, out: Path, *, force: bool = False) -> dict[str, str]:
    """Write everything, or nothing; returns the paths by name."""
    document = to_document(answer(done))
    page = joint_model_page(content_of(done), version=versions().get("steelyard", ""))
    files = {
        "joints.json": (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode(),
        "controller.toml": controller_text(done.design.controller, _remarks(done)).encode(),
        "report.html": page.encode(),
        **_experiments(done),
    }
    record = record_document(
        done.robot, layout_of(done.robot), files, seed=done.request.seed, request=done.request.document()
    )
    files["record.json"] = (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode()
    write_folder(out, files, force=force)
    return {name: str(out / name) for name in files}


def content_of(done: Modelled) -> JointModelContent:
    """What the page shows."""
    entries = [_entry(done, j, joint) for j, joint in enumerate(done.joints)]
    missing = "".join(f" Joint '{name}' has no model: {error}" for name, error in done.failed.items())
    made = "Logs of open-loop experiments." if done.request.logs else "Experiments on the simulated robot."
    spread = 1.96e3 * done.delay.deviation
    return JointModelContent(
        done.robot.name,
        f"{made} One joint at a time was driven by torques that nothing corrected, the others were held."
        f"{missing}",
        Quantity("delay", 1e3 * done.delay.seconds, spread, "ms"),
        done.design.controller.cycle,
        done.request.margin,
        tuple(entries),
    )


def _entry(done: Modelled, j: int, joint: ModelledJoint) -> JointModelEntry:
    fit, design, described = joint.fit, done.design, done.robot.joints[j]
    force, place = described.effort_unit, described.position_unit
    K, T, T_d = (float(x) for x in fit.half_widths)
    inertia = "kg·m²" if place == "rad" else "kg"
    friction = f"{force}·s/{place}"
    model = (
        Quantity("gain K", fit.model.gain, K, f"{place}/s per {force}"),
        Quantity("time constant T", 1e3 * fit.model.time_constant, 1e3 * T, "ms"),
        Quantity("dead time T_d", 1e3 * fit.model.dead_time, 1e3 * T_d, "ms"),
        Quantity("inertia M̂", fit.model.inertia, fit.inertia_half_width, inertia),
        Quantity("viscous friction D̂", fit.model.viscous, fit.viscous_half_width, friction),
        Quantity("Coulomb friction", fit.coulomb, 1.96 * fit.coulomb_deviation, force),
        Quantity("stiffness of gravity", fit.stiffness, 1.96 * fit.stiffness_deviation, f"{force}/{place}"),
        Quantity("gain without friction terms", joint.plain.model.gain, math.inf, f"{place}/s per {force}"),
        Quantity("unexplained velocity", 100.0 * fit.unexplained, math.inf, "%"),
    )
    degrees = math.degrees(float(design.phase_margin[j]))
    controller = (
        Quantity("K_P", float(design.controller.kp[j]), math.inf, "1/s²"),
        Quantity("K_V", float(design.controller.kv[j]), math.inf, "1/s"),
        Quantity("bandwidth", float(design.bandwidth[j]), math.inf, "rad/s"),
        Quantity("largest bandwidth", float(design.largest_bandwidth[j]), math.inf, "rad/s"),
        Quantity("phase margin", degrees, math.inf, "°"),
        Quantity("least inertia", float(design.inertia_range[j, 0]), math.inf, inertia),
        Quantity("most inertia", float(design.inertia_range[j, 1]), math.inf, inertia),
    )
    trace, h = joint.traces[0], fit.interval
    width = max(round(_SHOWN / h), 1)
    f = np.geomspace(_LOWEST, 0.49 / joint.arx.interval, _POINTS)
    w = 2.0 * math.pi * f
    return JointModelEntry(
        described.name,
        model,
        controller,
        f"the first of {len(joint.traces)} experiments, averaged over {1e3 * width * h:g} ms",
        _averaged(h * np.arange(trace.n, dtype=float), width),
        _averaged(trace.command, width),
        _averaged(trace.velocity, width),
        _averaged(fit.velocity[0], width),
        f"{place}/s",
        force,
        f,
        {
            "first order": fit.model.sampled_response(w, h),
            "without friction terms": joint.plain.model.sampled_response(w, h),
            "ARX of order four": joint.arx.sampled_response(w),
        },
        _joint_remarks(joint, done.coupled[j]),
    )


def _joint_remarks(joint: ModelledJoint, coupled: bool) -> tuple[str, ...]:
    remarks = []
    if coupled:
        remarks.append(
            "Other joints give way where this one is driven: at high frequencies it is lighter, and its own "
            "dead time comes out too short. The controller is designed with that of the joints that stand "
            "alone."
        )
    ended = [log for log in joint.recordings if log.provenance[0].detail.get("ended") == "left its room"]
    if ended:
        remarks.append(f"{len(ended)} of {len(joint.recordings)} experiments ended early, out of room.")
    if joint.fit.unexplained > _SHAKEN:
        remarks.append(f"The model leaves {100.0 * joint.fit.unexplained:.0f} % of the velocity unexplained.")
    if joint.fit.half_widths[1] > joint.fit.model.time_constant:
        remarks.append("Gain and time constant are not told apart; their ratio, the inertia, is.")
    return tuple(remarks)


def _averaged(x: Array, width: int) -> Array:
    groups = len(x) // width
    return np.asarray(x[: groups * width].reshape(groups, width).mean(axis=1))


def _remarks(done: Modelled) -> list[str]:
    held = [f"--lock {lock.name}={','.join(map(repr, lock.position.tolist()))}" for lock in done.robot.locks]
    return [
        *([f"The robot with {' '.join(held)}; joints without a model are held."] if done.failed else []),
        f"Feedforward and PD of {done.robot.name}, from joint models; per joint, SI units.",
        f"Phase margin at least {math.degrees(float(done.design.phase_margin.min())):.1f} degrees with "
        f"torques {1e3 * done.delay.seconds:.3f} ms late.",
    ]


def _experiments(done: Modelled) -> dict[str, bytes]:
    """The logs that were made, by name; those that were given are the user's."""
    if done.request.logs:
        return {}
    with TemporaryDirectory() as folder:
        return {
            f"experiments/{j}_{k}.npz": _stored(log, Path(folder) / "log.npz")
            for j, logs in enumerate(done.recordings.values(), start=1)
            for k, log in enumerate(logs, start=1)
        }


def _stored(log: Recording, path: Path) -> bytes:
    write(log, path)
    return path.read_bytes()
