"""Models of single joints by open-loop experiments, and the controller that they give."""

from __future__ import annotations

import json
import math
import os
import time
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from steelyard.archive import to_document
from steelyard.arrays import Array
from steelyard.control import (
    FeedforwardPD,
    JointModel,
    LoopDesign,
    controller_text,
    inertia_range,
    shaped_controller,
)
from steelyard.errors import InputError, NoSolutionError
from steelyard.estimation import ArxModel, FirstOrderFit, JointTrace, excited_joint, fit_arx, fit_first_order
from steelyard.estimation.closed_loop import LoopDelay, common_dead_time
from steelyard.files import FilePath
from steelyard.formats import record_document, require_free, versions, write_folder
from steelyard.layout import layout_of
from steelyard.progress import say
from steelyard.recording import Recording, read, require_readable_logs, single_logs, write
from steelyard.report.joints import JointModelContent, JointModelEntry, Quantity, joint_model_page
from steelyard.robot import Robot, StatedLimits
from steelyard.simulation import joint_experiments, nominal_posture
from steelyard.workflows.given import given_robot
from steelyard.workflows.joints import BANDWIDTH, MARGIN, TRAVEL
from steelyard.workflows.logs import log_units
from steelyard.workflows.record import GivenObjects, RecordedRequest, request_of, require_seed

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


COUPLED = 0.05
"""Share of its inertia that a joint may lose where the others give way, to show the dead time well."""
_POSES = 1000
"""Poses at which inertias are looked at."""
_KNOWN = 0.3
"""Largest half width of an inertia's interval, over the inertia, to design with."""


@dataclass(frozen=True)
class JointsRequest(RecordedRequest, StatedLimits):
    """The arguments of `joints` as a record holds them; those of objects are their names."""

    robot: str
    logs: tuple[str, ...] = ()
    sensor: str = "low-cost"
    posture: str | None = None
    backlash: float = 0.0
    travel: float = TRAVEL
    bandwidth: float | None = None
    margin: float = MARGIN
    inertia_range: str | None = None
    seed: int = 0
    gravity: str | None = None
    lock: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    package_path: tuple[str, ...] = ()
    columns: str | None = None
    topic: str | None = None
    units: str | None = None
    calibration: str | None = None

    command = "joints"

    @property
    def named(self) -> tuple[str | None, ...]:
        """What may be the name of a file it reads."""
        return (self.robot, *self.logs, self.columns, self.limits, self.calibration)


def joint_models_of(given: Mapping[str, Any]) -> JointModels:
    """Model joints by the arguments of `joints`, by name."""
    objects, log = GivenObjects(), given["log"]
    several = [log] if isinstance(log, Recording | str | os.PathLike) else log or ()
    asked = {**given, "arguments": given["argument"], "logs": [objects.named(one) for one in several]}
    request = request_of(JointsRequest, asked, objects)
    return joints_of_request(request, given["out"], force=given["force"], objects=objects)


def joints_of_request(
    request: JointsRequest,
    out: FilePath | None,
    *,
    force: bool = False,
    objects: GivenObjects | None = None,
) -> JointModels:
    """Experiment or read logs, fit every joint, design the controller and, where a folder is named, write.

    Args:
        request: what was asked.
        out: folder for the result; None to write nothing.
        force: whether an earlier result may be replaced.
        objects: what the request names that is no file.

    Raises:
        InputError: something asked for is not usable; nothing is written.
        NoSolutionError: no joint can be moved safely, follows its torque and has a margin.
    """
    started = time.perf_counter()
    if out is not None:
        require_free(out, force=force)
    done = _modelled(request, objects or GivenObjects())
    files = {} if out is None else done.save(out, force=force)
    return replace(done, files=files, seconds=time.perf_counter() - started)


def _modelled(request: JointsRequest, objects: GivenObjects) -> JointModels:
    require_seed(request.seed)
    robot = given_robot(
        objects.of(request.robot),
        request.gravity,
        request.lock,
        arguments=request.arguments,
        package_path=request.package_path,
        stated=request,
    )
    robot.require_arm()
    logs = [objects.of(name) for name in request.logs]
    experiments, poses = np.random.default_rng(request.seed).spawn(2)
    failed: dict[str, NoSolutionError] = {}
    recordings = _read(request, robot, logs) if logs else _made(request, robot, experiments, failed)
    say(f"2  {len(robot.joints)} joints are fitted")
    found: dict[str, ModelledJoint] = {}
    for name in recordings:
        try:
            found[name] = _fitted(recordings[name])
        except NoSolutionError as error:
            _fail(failed, name, error)
    _require_some(found, failed)
    posture = np.mean([joint.recordings[0].q[0] for joint in found.values()], axis=0)
    free, held = inertia_range(robot, posture[None]).T
    shaken = dict(zip(robot.joint_names, (free < (1.0 - COUPLED) * held).tolist(), strict=True))
    span = _inertia_factors(request, robot, posture, poses)
    while True:
        # A joint that shakes others is lighter at high frequencies, and seems to answer too soon.
        alone = [joint.fit for name, joint in found.items() if not shaken[name]]
        delay = common_dead_time(alone or [joint.fit for joint in found.values()])
        late = f"torques are {1e3 * delay.seconds:.2f} ms late"
        say(f"3  {late}; gains for a phase margin of {request.margin:g}°")
        moving = _with_held(robot, posture, failed)
        try:
            design = _designed(request, moving, found, delay, span)
            break
        except NoSolutionError as error:
            name = str(error.evidence.get("joint"))
            if name not in found:
                raise
            del found[name]
            _fail(failed, name, error)
            _require_some(found, failed)
    return JointModels(
        robot=moving,
        joints=found,
        coupled={name: shaken[name] for name in found},
        delay=delay,
        design=design,
        recordings=recordings,
        failed=failed,
        margin=request.margin,
        seed=request.seed,
        made=not logs,
        request=request,
    )


def _fitted(recordings: tuple[Recording, ...]) -> ModelledJoint:
    traces = tuple(JointTrace.of(log) for log in recordings)
    fit, plain = fit_first_order(traces), fit_first_order(traces, terms=())
    _require_known(fit)
    return ModelledJoint(recordings, traces, fit, plain, fit_arx(traces))


def _fail(failed: dict[str, NoSolutionError], name: str, error: NoSolutionError) -> None:
    """Go on without a joint: what is known of the others stays known."""
    say(f"   {error}")
    failed[name] = error


def _require_some(joints: Mapping[str, ModelledJoint], failed: Mapping[str, NoSolutionError]) -> None:
    if not joints:
        raise next(iter(failed.values()))


def _with_held(robot: Robot, posture: Array, failed: Mapping[str, NoSolutionError]) -> Robot:
    """The robot with the joints held, where they stood, that have no model."""
    if not failed:
        return robot
    places = {}
    for joint, q in zip(robot.joints, posture, strict=True):
        if joint.name in failed:
            places[joint.name] = float(np.clip(q, joint.limits.lower, joint.limits.upper))
    return robot.locked(places)


def _made(
    request: JointsRequest, robot: Robot, rng: np.random.Generator, failed: dict[str, NoSolutionError]
) -> dict[str, tuple[Recording, ...]]:
    """Experiments by joint; one that cannot be moved safely has none."""
    if request.posture is None:
        posture = nominal_posture(robot)
    else:
        posture = np.array(_numbers(request.posture, "--posture", robot.nv))
    say(f"1  open-loop experiments on {len(robot.joints)} joints of {robot.name}")
    made = {}
    for name in robot.joint_names:
        try:
            made[name] = tuple(
                joint_experiments(
                    robot,
                    posture=posture,
                    rng=rng,
                    sensor=request.sensor,
                    backlash=request.backlash,
                    travel=request.travel,
                    joints=(name,),
                )
            )
        except NoSolutionError as error:
            _fail(failed, name, error)
    return made


def _read(
    request: JointsRequest, robot: Robot, logs: Sequence[Recording | str]
) -> dict[str, tuple[Recording, ...]]:
    say(f"1  {len(logs)} logs are read")
    require_readable_logs(log for log in logs if not isinstance(log, Recording))
    names, units = robot.joint_names, log_units(request.units, request.calibration, robot)
    recordings = [
        (log if log.joints == names else log.joint_subset(names))
        if isinstance(log, Recording)
        else read(log, joints=names, columns=request.columns, topic=request.topic, units=units)
        for log in single_logs(logs)
    ]
    shown = {excited_joint(log) for log in recordings}
    if missing := [name for name in robot.joint_names if name not in shown]:
        raise InputError(
            f"no log has commands of {', '.join(missing)}.",
            place="--log",
            remedy="Give an experiment for every joint, or hold some of them still with --lock.",
        )
    return {
        name: tuple(log for log in recordings if excited_joint(log) == name) for name in robot.joint_names
    }


def _require_known(fit: FirstOrderFit) -> None:
    """Refuse to design for a joint whose inertia the experiments leave open."""
    M, half = fit.model.inertia, fit.inertia_half_width
    if not half <= _KNOWN * M:
        raise NoSolutionError(
            f"the experiments leave the inertia of joint '{fit.joint}' open: {M:.3g} ± {half:.3g}.",
            place="experiments",
            remedy="Choose a --posture where other joints do not give way, or hold them with --lock.",
        )


def _inertia_factors(
    request: JointsRequest, robot: Robot, posture: Array, rng: np.random.Generator
) -> dict[str, Array]:
    """Least and most inertia over that of the experiments by joint, each of shape (2,), dimensionless."""
    if request.inertia_range is not None:
        factors = np.tile(_numbers(request.inertia_range, "--inertia-range", 2), (robot.nv, 1))
    else:
        there = inertia_range(robot, posture[None])[:, 1]
        factors = inertia_range(robot, np.vstack([posture, _poses(robot, posture, rng)])) / there[:, None]
    return dict(zip(robot.joint_names, factors, strict=True))


def _designed(
    request: JointsRequest,
    robot: Robot,
    joints: Mapping[str, ModelledJoint],
    delay: LoopDelay,
    factors: Mapping[str, Array],
) -> LoopDesign:
    # One bus serves all joints: a joint that shows its own dead time badly has that of the others.
    fits = [joint.fit for joint in joints.values()]
    models = [JointModel(fit.model.gain, fit.model.time_constant, delay.seconds) for fit in fits]
    span = np.array([model.inertia * factors[name] for name, model in zip(joints, models, strict=True)])
    return shaped_controller(
        robot,
        models,
        bandwidth=BANDWIDTH if request.bandwidth is None else request.bandwidth,
        cycle=fits[0].interval,
        inertia_range=span,
        phase_margin=math.radians(request.margin),
        at_most=request.bandwidth is None,
    )


def _poses(robot: Robot, posture: Array, rng: np.random.Generator) -> Array:
    """Poses within the limits, a whole turn where a joint has none, shape (N, nv), rad or m."""
    low, high = np.array(posture), np.array(posture)
    for j, joint in enumerate(robot.joints):
        if math.isfinite(joint.limits.lower) and math.isfinite(joint.limits.upper):
            low[j], high[j] = joint.limits.lower, joint.limits.upper
        elif joint.kind.rotates:
            low[j], high[j] = -math.pi, math.pi
    return rng.uniform(low, high, (_POSES, robot.nv))


def _numbers(text: str, place: str, count: int) -> list[float]:
    """Numbers between commas, as many as are wanted."""
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if len(values) != count:
        raise InputError(f"expected {count} numbers between commas, got '{text}'.", place=place)
    return values
