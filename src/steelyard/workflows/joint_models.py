"""What `joints` finds out: a model of every joint, the controller they give, and the folder they go to."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from steelyard.archive import to_document
from steelyard.arrays import Array
from steelyard.control import FeedforwardPD, LoopDesign, controller_text
from steelyard.errors import NoSolutionError
from steelyard.estimation import ArxModel, FirstOrderFit, JointTrace, LoopDelay
from steelyard.export import record_document, require_free, versions, write_folder
from steelyard.files import FilePath
from steelyard.layout import layout_of
from steelyard.recording import Recording, write
from steelyard.report import JointModelContent, JointModelEntry, Quantity, joint_model_page
from steelyard.robot import Robot
from steelyard.workflows.record import RecordedRequest

HEADINGS = ("joint", "K", "T", "T_d", "M̂", "D̂", "K_P", "K_V", "margin")
UNITS = "K rad/s per N·m, T s, T_d ms, M̂ kg·m², D̂ N·m·s/rad, K_P 1/s², K_V 1/s; 95 % intervals"
"""Of the rows of a table."""
_POINTS, _LOWEST = 160, 0.2
"""Frequencies of the responses, and the lowest, Hz."""
_SHOWN = 0.005
"""Time over which drawn velocities are averaged, s."""
_SHAKEN = 0.1
"""Unexplained share of the velocity from which on a reader is told."""


@dataclass(frozen=True, eq=False)
class ModelledJoint:
    """One joint: its experiments and what was made of them."""

    recordings: tuple[Recording, ...]
    traces: tuple[JointTrace, ...]
    fit: FirstOrderFit
    plain: FirstOrderFit
    arx: ArxModel


@dataclass(frozen=True, eq=False, repr=False)
class JointModels:
    """Models of single joints from open-loop experiments, and the controller they give.

    Attributes:
        robot: the robot; joints without a model are held where they stood.
        joints: the others, by name, in its order.
        coupled: whether others give way where each of them is driven, by name.
        delay: from a reading to the arrival of its torque.
        design: their controller, and the margins it has.
        recordings: the experiments of every joint by its name, of those without a model too.
        failed: why a joint has no model, by its name.
        margin: least phase margin that was asked for, degrees.
        seed: of sequences and sensors' noise.
        made: whether the experiments were made on the simulated robot, not given as logs.
        request: what was asked, as a record holds it.
        seconds: what it took.
        files: what was written, by name.
    """

    robot: Robot
    joints: Mapping[str, ModelledJoint]
    coupled: Mapping[str, bool]
    delay: LoopDelay
    design: LoopDesign
    recordings: Mapping[str, tuple[Recording, ...]]
    failed: Mapping[str, NoSolutionError]
    margin: float
    seed: int
    made: bool
    request: RecordedRequest
    seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def controller(self) -> FeedforwardPD:
        """Feedforward and PD control of the joints that have a model, as `simulate` takes it."""
        return self.design.controller

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for; SI units, angles in rad, half widths of 95 % intervals."""
        return self._stored | {"seconds": self.seconds, "files": dict(self.files)}

    @property
    def _stored(self) -> dict[str, Any]:
        """What `joints.json` holds."""
        design = self.design
        return {
            "robot": self.robot.name,
            "cycle": design.controller.cycle,
            "filter": design.controller.filter,
            "delay": self.delay.seconds,
            "delay_deviation": self.delay.deviation,
            "least_phase_margin": math.radians(self.margin),
            "joints": {
                name: _joint_document(joint)
                | {
                    "coupled": self.coupled[name],
                    "controller": {
                        "inertia": float(design.controller.inertia[j]),
                        "viscous": float(design.controller.viscous[j]),
                        "kp": float(design.controller.kp[j]),
                        "kv": float(design.controller.kv[j]),
                        "bandwidth": float(design.bandwidth[j]),
                        "largest_bandwidth": float(design.largest_bandwidth[j]),
                        "crossover": float(design.crossover[j]),
                        "phase_margin": float(design.phase_margin[j]),
                        "inertia_range": design.inertia_range[j].tolist(),
                    },
                }
                for j, (name, joint) in enumerate(self.joints.items())
            },
            "failed": {name: str(error) for name, error in self.failed.items()},
        }

    def save(self, out: FilePath, *, force: bool = False) -> dict[str, str]:
        """Write models, controller, page, experiments and record, or nothing.

        Args:
            out: the folder.
            force: whether an earlier result may be replaced.

        Returns:
            What was written, by name.

        Raises:
            InputError: the folder holds something that may not be replaced, or cannot be written.
        """
        folder = Path(out)
        require_free(folder, force=force)
        document = to_document(self._stored)
        page = joint_model_page(_content(self), version=versions().get("steelyard", ""))
        files = {
            "joints.json": (
                json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
            ).encode(),
            "controller.toml": controller_text(self.controller, _remarks(self)).encode(),
            "report.html": page.encode(),
            **_experiments(self),
        }
        record = record_document(
            self.robot, layout_of(self.robot), files, seed=self.seed, request=self.request.document()
        )
        files["record.json"] = (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode()
        write_folder(folder, files, force=force)
        return {name: str(folder / name) for name in files}

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """By joint, as text: name, K, T, T_d, inertia, viscous friction, K_P, K_V and phase margin."""
        rows: list[tuple[str, ...]] = []
        for j, (name, joint) in enumerate(self.joints.items()):
            fit, design = joint.fit, self.design
            K, T, T_d = (float(x) for x in fit.half_widths)
            rows.append(
                (
                    name,
                    _with_interval(fit.model.gain, K),
                    _with_interval(fit.model.time_constant, T),
                    _with_interval(1e3 * fit.model.dead_time, 1e3 * T_d),
                    _with_interval(fit.model.inertia, fit.inertia_half_width),
                    _with_interval(fit.model.viscous, fit.viscous_half_width),
                    f"{design.controller.kp[j]:.4g}",
                    f"{design.controller.kv[j]:.3g}",
                    f"{math.degrees(design.phase_margin[j]):.0f}°",
                )
            )
        return rows

    @property
    def lateness(self) -> str:
        """When torques arrive, in a sentence."""
        return (
            f"Torques arrive {1e3 * self.delay.seconds:.2f} ms after the reading they answer (standard "
            f"deviation {1e3 * self.delay.deviation:.2g} ms)."
        )

    def __repr__(self) -> str:
        every = len(self.joints) + len(self.failed)
        return f"<JointModels of {self.robot.name}: {len(self.joints)} of {every} joints>"

    def __str__(self) -> str:
        every = len(self.joints) + len(self.failed)
        table = [HEADINGS, *self.rows]
        widths = [max(_width(row[k]) for row in table) for k in range(len(HEADINGS))]
        lines = [
            "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True))
            for row in table
        ]
        return "\n".join(
            [
                f"{len(self.joints)} of {every} joints of {self.robot.name} have a model and a controller.",
                *(f"  {error}" for error in self.failed.values()),
                self.lateness,
                *(line.rstrip() for line in lines),
                UNITS,
            ]
        )


def _joint_document(joint: ModelledJoint) -> dict[str, Any]:
    arx = joint.arx
    return {
        "first_order": _fit_document(joint.fit),
        "first_order_without_friction": _fit_document(joint.plain),
        "arx": {
            "denominator": arx.denominator.tolist(),
            "numerator": arx.numerator.tolist(),
            "delay": arx.delay,
            "interval": arx.interval,
            "deviation": arx.deviation,
        },
        "experiments": [
            {"cycles": log.n, "digest": log.digest, "history": [step.to_json() for step in log.provenance]}
            for log in joint.recordings
        ],
    }


def _fit_document(fit: FirstOrderFit) -> dict[str, Any]:
    K, T, T_d = (float(x) for x in fit.half_widths)
    return {
        "gain": fit.model.gain,
        "gain_half_width": K,
        "time_constant": fit.model.time_constant,
        "time_constant_half_width": T,
        "dead_time": fit.model.dead_time,
        "dead_time_half_width": T_d,
        "inertia": fit.model.inertia,
        "inertia_half_width": fit.inertia_half_width,
        "viscous": fit.model.viscous,
        "viscous_half_width": fit.viscous_half_width,
        "coulomb": fit.coulomb,
        "stiffness": fit.stiffness,
        "covariance": fit.covariance.tolist(),
        "unexplained": fit.unexplained,
    }


def _width(text: str) -> int:
    """Columns that a text takes: the hats of M̂ and D̂ take none."""
    return sum(not unicodedata.combining(letter) for letter in text)


def _with_interval(value: float, half_width: float) -> str:
    """A number and its interval, with the decimals that the interval leaves."""
    if not 0.0 < half_width < math.inf:
        return f"{value:.4g}"
    decimals = max(1 - math.floor(math.log10(half_width)), 0)
    return f"{value:.{decimals}f}±{half_width:.{decimals}f}"


def _content(done: JointModels) -> JointModelContent:
    """What the page shows."""
    entries = [_entry(done, j, joint) for j, joint in enumerate(done.joints.values())]
    missing = "".join(f" Joint '{name}' has no model: {error}" for name, error in done.failed.items())
    made = "Experiments on the simulated robot." if done.made else "Logs of open-loop experiments."
    spread = 1.96e3 * done.delay.deviation
    return JointModelContent(
        done.robot.name,
        f"{made} One joint at a time was driven by torques that nothing corrected, the others were held."
        f"{missing}",
        Quantity("delay", 1e3 * done.delay.seconds, spread, "ms"),
        done.design.controller.cycle,
        done.margin,
        tuple(entries),
    )


def _entry(done: JointModels, j: int, joint: ModelledJoint) -> JointModelEntry:
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
        _joint_remarks(joint, done.coupled[described.name]),
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


def _remarks(done: JointModels) -> list[str]:
    held = [f"--lock {lock.name}={','.join(map(repr, lock.position.tolist()))}" for lock in done.robot.locks]
    return [
        *([f"The robot with {' '.join(held)}; joints without a model are held."] if done.failed else []),
        f"Feedforward and PD of {done.robot.name}, from joint models; per joint, SI units.",
        f"Phase margin at least {math.degrees(float(done.design.phase_margin.min())):.1f} degrees with "
        f"torques {1e3 * done.delay.seconds:.3f} ms late.",
    ]


def _experiments(done: JointModels) -> dict[str, bytes]:
    """The logs that were made, by name; those that were given are the user's."""
    if not done.made:
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
