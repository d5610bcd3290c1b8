"""The whole line on a simulated arm: design a motion, run it, identify the arm, weigh what it holds.

The simulated robot is not the one described: its links are others, nobody tells the estimator which, and its
sensors are those of an industrial arm. What is identified is then compared with the truth.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import error_along
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import InputError, NoSolutionError, SteelyardError
from steelyard.files import FilePath, require_writable, write_text
from steelyard.formats import require_free
from steelyard.inertia import Body, drawn_near
from steelyard.layout import layout_of
from steelyard.limits import bearable
from steelyard.model import body_numbers
from steelyard.motion import FourierMotion, SplineMotion, random_fourier, write_motion
from steelyard.progress import say
from steelyard.recording import Recording, write
from steelyard.report import torque_figure
from steelyard.robot import Robot
from steelyard.simulation import SENSORS, nominal_posture, simulate_motion
from steelyard.uncertainty import base_intervals
from steelyard.workflows.excitation import DesignedMotion
from steelyard.workflows.excite import excite
from steelyard.workflows.given import given_robot, stated_limits
from steelyard.workflows.identification import Identification
from steelyard.workflows.identify import identify
from steelyard.workflows.options import (
    AccelerationGiven,
    ArgumentsGiven,
    GravityGiven,
    LimitsGiven,
    LockGiven,
    PackagePathGiven,
    ToolFrameGiven,
    TorqueGiven,
    VelocityGiven,
)
from steelyard.workflows.payload import payload
from steelyard.workflows.weighed_payload import Payload

SENSOR = "industrial"
"""Preset of the simulated robot's sensors."""
LINKS_OFF = 0.15
"""How far the simulated links are from the described ones, relative."""
LOAD_SHARE = 0.15
"""Of the torque that gravity leaves the joints, the share that the load takes."""
FULL = 0.8
"""Share of a torque limit that arm and load together may need along the motion."""
LIGHTEST = 1e-3
"""Of the arm's mass: what is lighter is not worth holding."""
LIGHTEST_LOAD = 0.05
"""Of the arm's mass, where no limit says what the joints bear."""
JOINTS_THAT_WEIGH = 5
"""Joints from which on a motion shows the ten numbers of a load."""
BESIDE = (0.02, -0.01, 0.06)
"""Centre of mass of the load in the tool's frame, m."""
GYRATION = (0.09, 0.08, 0.07)
"""Its radii of gyration, m: about those of a filled bucket."""
LINEAR = tuple(term.name for term in DRIVE_TERMS)
DESIGN: Mapping[str, Any] = {
    "criterion": "a",
    "start": "free",
    "drive": LINEAR,
    "budget": 60.0,
    "rounds": 4,
}
"""How the training motion is designed: by a number of searches, not a time, so that seeds repeat it."""
RESULT, OBJECT = "result", "object"
"""Folders of the identified model and of the load's asset beneath the demo's."""
Motion = FourierMotion | SplineMotion


@dataclass(frozen=True, eq=False)
class Bench:
    """What stands on the simulated bench, and what ran there.

    Attributes:
        truth: the robot as it is.
        load: what it holds in the last run, in its tool frame.
        motions: `train` and `holdout`.
        recordings: `train` and `holdout` without load, `loaded` with it along `train`.
        bias: of the torque meters in `train`, shape (nv,), N·m or N; what is estimated as an offset holds it.
        certified: whether every limit is proven along `train`.
    """

    truth: Robot
    load: Body
    motions: dict[str, Motion]
    recordings: dict[str, Recording]
    bias: Array
    certified: bool


@dataclass(frozen=True, eq=False, repr=False)
class Demonstration:
    """What the demo found out, beside the truth.

    Attributes:
        bench: what was to be found out.
        identification: the identified robot.
        payload: the weighed load; None where the arm's torques cannot tell it.
        described: held-out torque error of the description's own numbers, percent.
        holding: how many 95 % intervals of base parameters hold the truth, and of how many; None where the
            model has terms that the simulated robot lacks.
        seconds: what it took.
        files: what was written, by name.
    """

    bench: Bench
    identification: Identification
    payload: Payload | None
    described: float
    holding: tuple[int, int] | None
    seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """The worse of the two verdicts."""
        found = {str(self.identification.verdict.status)}
        if self.payload is not None:
            found.add(str(self.payload.verdict.status))
        return next(word for word in ("fail", "warn", "pass") if word in found)

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        done = self.identification
        true = {link.name: link.body for link in self.bench.truth.links}
        links = [link.document for link in done.model.links.values()]
        for link in links:
            body = true[link["name"]]
            link["true"] = None if body is None else body_numbers(body)
        joints = [joint.document for joint in done.model.joints.values()]
        for joint, numbers in zip(joints, self._true_joints(), strict=True):
            joint["true"] = numbers
        load = None
        if self.payload is not None:
            estimate = self.payload.estimate
            load = {
                "mass": estimate.body.mass,
                "com": estimate.body.com.tolist(),
                "interval95": {"mass": [float(estimate.lower[0]), float(estimate.upper[0])]},
                "true": body_numbers(self.bench.load),
            }
        return {
            "verdict": self.verdict,
            "robot": done.robot.name,
            "parameters": done.layout.size,
            "identifiable": done.problem.base.count,
            "cond": done.estimate.condition,
            "certified": self.bench.certified,
            "samples": done.estimate.samples,
            "holdout": {
                "overall": done.holdout.overall,
                "unfiltered": done.unfiltered.overall,
                "described": self.described,
                "joints": dict(zip(done.joints, done.holdout.joints, strict=True)),
            },
            "intervals_hold": None if self.holding is None else list(self.holding),
            "links": links,
            "joints": joints,
            "payload": load,
            "seconds": self.seconds,
            "files": dict(self.files),
        }

    def _true_joints(self) -> list[dict[str, float]]:
        drive = tuple(term for term in self.identification.layout.drive if term in LINEAR)
        layout, phi = layout_of(self.bench.truth, drive), _truth(self.bench, drive)
        rows = []
        for name in layout.joints:
            start = layout.of_joint(name).start
            words = ("armature" if term == "rotor" else term for term in layout.drive)
            rows.append({word: float(phi[start + k]) for k, word in enumerate(words)})
        return rows

    @property
    def told(self) -> list[str]:
        """What was found out of load, torques and intervals, in sentences."""
        done, load = self.identification, self.payload
        lines = []
        if load is not None:
            body, low, high = load.estimate.body, load.estimate.lower[0], load.estimate.upper[0]
            off = 1e3 * float(np.linalg.norm(body.com - self.bench.load.com))
            lines.append(
                f"In its hand: {body.mass:.3f} kg, 95 % between {low:.3f} and {high:.3f} kg; "
                f"truly {self.bench.load.mass:.3f} kg. Its centre of mass is off by {off:.1f} mm."
            )
        lines.append(
            f"Of the torque of a motion it has not seen {done.holdout.overall:.2g} % is unexplained "
            f"({done.unfiltered.overall:.2g} % with the sensors' noise), by the description's own numbers "
            f"{self.described:.3g} %."
        )
        if self.holding is not None:
            lines.append(
                f"{done.problem.base.count} combinations of {done.layout.size} parameters are known; "
                f"{self.holding[0]} of {self.holding[1]} 95 % intervals hold the truth."
            )
        return lines

    def __repr__(self) -> str:
        done = self.identification
        return f"<Demonstration of {done.robot.name}: {self.verdict}, {done.holdout.overall:.2f} % held out>"

    def __str__(self) -> str:
        links = [("link", "described, kg", "estimated", "truly")]
        for link in self.document["links"]:
            masses = (body and body["mass"] for body in (link["described"], link, link["true"]))
            links.append((link["name"], *("" if mass is None else f"{mass:.3f}" for mass in masses)))
        widths = [max(len(row[k]) for row in links) for k in range(4)]
        table = ["  ".join(x.ljust(width) for x, width in zip(row, widths, strict=True)) for row in links]
        done = f"{self.verdict}: {self.identification.robot.name}, in {self.seconds:.1f} s"
        return "\n".join([done, *self.told, *(line.rstrip() for line in table)])


def demonstration(
    robot: Robot | FilePath,
    *,
    out: FilePath | None,
    seed: int,
    gravity: GravityGiven,
    lock: LockGiven,
    tool_frame: ToolFrameGiven,
    argument: ArgumentsGiven,
    package_path: PackagePathGiven,
    limits: LimitsGiven,
    velocity: VelocityGiven,
    acceleration: AccelerationGiven,
    torque: TorqueGiven,
) -> Demonstration:
    """Show the whole line, by the arguments of `demo`."""
    folder = None if out is None else Path(out)
    if folder is not None:
        if folder.exists() and not folder.is_dir():
            raise InputError("is a file, not a folder.", place=str(folder))
        require_writable(folder)
    stated: dict[str, Any] = {
        "limits": limits,
        "velocity": velocity,
        "acceleration": acceleration,
        "torque": torque,
    }
    found = given_robot(
        robot,
        gravity,
        lock,
        tool_frame,
        arguments=argument,
        stated=stated_limits(**stated),
        package_path=package_path,
    )
    if folder is not None:
        for name in (RESULT, OBJECT):
            require_free(folder / name, force=True)
    started = time.perf_counter()
    new = folder is not None and not folder.exists()
    say(f"{found.name} as described: {len(found.joints)} joints, {found.mass:.4g} kg")
    bench = _bench(found, seed)
    options = {"gravity": gravity, "lock": lock, "argument": argument, "package_path": package_path, **stated}
    try:
        done = _identified(robot, found, bench, folder, options, tool_frame)
    except BaseException:
        if new and folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return replace(done, seconds=time.perf_counter() - started)


def _bench(robot: Robot, seed: int) -> Bench:
    rng = np.random.default_rng([seed, 2])
    truth = _other_links(robot, rng)
    say(f"   on the bench stands another one: links off by about {100 * LINKS_OFF:g} %, {truth.mass:.4g} kg")
    say("A  design a motion that shows the parameters")
    training, certified = _training(robot, seed)
    motions: dict[str, Motion] = {
        "train": training,
        "holdout": random_fourier(robot, np.random.default_rng(seed)),
    }
    load = _load(truth, training)
    runs = {
        "train": (truth, training, "that motion"),
        "holdout": (truth, motions["holdout"], "another one to judge by"),
        "loaded": (
            truth.with_body("load", load),
            training,
            f"the first with {load.mass:.3g} kg in the hand",
        ),
    }
    say(f"B  run it on the simulated robot (MuJoCo, {SENSOR} sensors)")
    recordings = {}
    for k, (name, (arm, motion, words)) in enumerate(runs.items()):
        say(f"   {words}, {motion.duration:g} s")
        recordings[name] = simulate_motion(
            arm, motion, sensor=SENSOR, rng=np.random.default_rng([seed, 3, k])
        )
    bias = SENSORS[SENSOR].drawn(truth, np.random.default_rng([seed, 3, 0])).bias
    return Bench(truth, load, motions, recordings, bias, certified)


def _identified(
    given: Robot | FilePath,
    robot: Robot,
    bench: Bench,
    out: Path | None,
    options: Mapping[str, Any],
    tool_frame: str | None,
) -> Demonstration:
    """Identify and weigh, from files where they are written, and compare with the truth."""
    files: dict[str, str] = {} if out is None else _write_bench(bench, out)
    logs = {name: files.get(f"{name}.npz", recording) for name, recording in bench.recordings.items()}
    say("C  identify the robot from the first two logs")
    found = identify(
        given,
        logs["train"],
        holdout=logs["holdout"],
        out=None if out is None else out / RESULT,
        force=True,
        **options,
    )
    done = cast(Identification, found)  # its logs hold torques
    weighed: Payload | None = None
    if robot.nv >= JOINTS_THAT_WEIGH:
        say("D  weigh what it held")
        try:
            weighed = payload(
                given,
                loaded=[logs["loaded"]],
                empty=[logs["train"]],
                tool_frame=tool_frame,
                out=None if out is None else out / OBJECT,
                force=True,
                **options,
            )
        except SteelyardError as refusal:
            say(f"   this arm cannot tell: {refusal}")
    else:
        say(f"D  an arm of fewer than {JOINTS_THAT_WEIGH} joints does not show all numbers of what it holds")
    if out is not None:
        write_text(out / "torque.svg", _figure(robot, done))
        files |= {"torque.svg": str(out / "torque.svg"), **done.files}
        held = {} if weighed is None else weighed.files
        files |= {f"{OBJECT}/{name}": path for name, path in held.items()}
    described, holding = _error_of_description(done), _holding(bench, done)
    return Demonstration(bench, done, weighed, described, holding, files=files)


def _figure(robot: Robot, done: Identification) -> str:
    """Torque of the log held out, measured and predicted, as SVG."""
    held_out = done.question.holdout
    return torque_figure(
        held_out.time,
        held_out.channels["tau"],
        done.estimate.torque(done.robot, held_out),
        joints=robot.joint_names,
        units=[joint.effort_unit for joint in robot.joints],
        errors=done.holdout.joints,
        title=f"{robot.name}: torque of a motion it was not identified on",
    )


def _other_links(robot: Robot, rng: np.random.Generator) -> Robot:
    """The robot with bodies drawn around the described ones."""
    links = []
    for link in robot.links:
        if link.body is not None and link.own is not None and not link.virtual:
            # What is bolted to a link stays as described; the rest of it takes the change.
            changed = drawn_near(link.body.parameters, LINKS_OFF, rng) - link.body.parameters
            link = replace(link, own=Body.from_parameters(link.own.parameters + changed))
        links.append(link)
    return replace(robot, links=tuple(links))


def _load(robot: Robot, motion: Motion) -> Body:
    """Something to hold, as heavy as the joints bear with ease where the arm stands and along a motion."""
    bears = bearable(robot, nominal_posture(robot), 0.0).mass
    wanted = LOAD_SHARE * bears if np.isfinite(bears) else LIGHTEST_LOAD * robot.mass
    own, with_one = (_torques(arm, motion) for arm in (robot, robot.with_body("load", _held(1.0))))
    with np.errstate(divide="ignore"):
        room = (FULL * robot.limit_array("effort") - np.abs(own)) / np.abs(with_one - own)
    return _held(float(f"{max(min(wanted, float(room.min())), LIGHTEST * robot.mass):.2g}"))


def _torques(robot: Robot, motion: Motion) -> Array:
    """Of a perfectly followed motion, shape (N, nv), N·m or N."""
    at, layout = motion.sample(np.linspace(0.0, motion.duration, 500)), layout_of(robot, LINEAR)
    return np.asarray(inverse_dynamics(robot, layout, layout.complete_nominal(), at.q, at.v, at.a))


def _held(mass: float) -> Body:
    return Body(mass, np.array(BESIDE), mass * np.diag(np.square(GYRATION)))


def _training(robot: Robot, seed: int) -> tuple[Motion, bool]:
    """A designed motion, and whether every limit is proven along it; where there is none, a random one."""
    try:
        found = excite(robot, seed=seed, **DESIGN)
    except NoSolutionError as refusal:
        say(f"   no motion could be designed ({refusal}); a random one is run")
        return random_fourier(robot, np.random.default_rng([seed, 1])), False
    assert isinstance(found, DesignedMotion)
    if found.design.interrupted:
        # `excite` keeps the best motion so far; here whoever interrupts wants the whole line to end.
        raise KeyboardInterrupt
    return found.motion, found.certified


def _write_bench(bench: Bench, out: Path) -> dict[str, str]:
    out.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, motion in bench.motions.items():
        files[f"{name}.motion.json"] = str(out / f"{name}.motion.json")
        write_motion(motion, files[f"{name}.motion.json"])
    for name, recording in bench.recordings.items():
        files[f"{name}.npz"] = str(out / f"{name}.npz")
        write(recording, files[f"{name}.npz"])
    files["load.json"] = str(out / "load.json")
    write_text(files["load.json"], json.dumps(body_numbers(bench.load), indent=2) + "\n")
    return files


def _error_of_description(done: Identification) -> float:
    """Held-out torque error of the numbers the description states, in the motion's band, percent."""
    log, layout = done.question.holdout, layout_of(done.robot, LINEAR)
    stated = inverse_dynamics(
        done.robot, layout, layout.complete_nominal(), *(log.channels[name] for name in ("q", "v", "a"))
    )
    return float(error_along([log], [stated]).overall)


def _holding(bench: Bench, done: Identification) -> tuple[int, int] | None:
    if set(done.layout.drive) - set(LINEAR) or done.layout.friction:
        return None
    beta = done.problem.base.matrix @ _truth(bench, done.layout.drive)
    covered = base_intervals(done.estimate).cover(beta)
    return int(covered.sum()), len(covered)


def _truth(bench: Bench, drive: Sequence[str]) -> Array:
    """The parameters of the robot on the bench; its offsets hold the bias of the meters, as estimates do."""
    layout = layout_of(bench.truth, drive)
    phi: Array = layout.complete_nominal()
    if "offset" in drive:
        phi[layout.drive_columns[:, list(drive).index("offset")]] += bench.bias
    return phi
