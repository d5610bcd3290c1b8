"""The whole line on a simulated arm: what `steelyard demo` does, writes and prints.

The simulated robot is not the one described: its links are others, nobody tells the estimator which, and its
sensors are those of an industrial arm. What is identified is then compared with the truth.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from steelyard.arrays import Array
from steelyard.audit import error_along
from steelyard.cli import identify_answer, identify_request, payload_request
from steelyard.cli.identify_line import Identification
from steelyard.cli.output import say, stdout
from steelyard.cli.payload_line import Weighed
from steelyard.drive import DRIVE_TERMS
from steelyard.dynamics import inverse_dynamics
from steelyard.errors import NoSolutionError, SteelyardError
from steelyard.files import write_text
from steelyard.inertia import Body, drawn_near
from steelyard.layout import layout_of
from steelyard.limits import bearable
from steelyard.motion import FourierMotion, SplineMotion, random_fourier, write_motion
from steelyard.recording import Recording, write
from steelyard.report import torque_figure
from steelyard.robot import Robot
from steelyard.simulate import SENSORS, drawn_specimen, nominal_posture, simulate
from steelyard.uncertainty import base_intervals
from steelyard.workflows.excitation import DesignedMotion
from steelyard.workflows.excite import excite

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


@dataclass(frozen=True, eq=False)
class Run:
    """Everything the demo found out.

    Attributes:
        bench: what was to be found out.
        done: the identified robot.
        weighed: the weighed load; None where the arm's torques cannot tell it.
        described: held-out torque error of the description's own numbers, percent.
        holding: how many 95 % intervals of base parameters hold the truth, and of how many; None where the
            model has terms that the simulated robot lacks.
        files: everything written, by name.
    """

    bench: Bench
    done: Identification
    weighed: Weighed | None
    described: float
    holding: tuple[int, int] | None
    files: dict[str, str]

    @property
    def verdict(self) -> str:
        """The worse of the two verdicts."""
        found = {str(self.done.verdict.status)}
        if self.weighed is not None:
            found.add(str(self.weighed.verdict.status))
        return next(word for word in ("fail", "warn", "pass") if word in found)


def run_line(
    robot: Robot, seed: int, out: Path, asked: identify_request.Request, tool_frame: str | None = None
) -> Run:
    """Design a motion, run it, identify, weigh, and compare with the truth; write everything.

    Args:
        robot: as described.
        seed: of the design, of the robot on the bench and of its sensors.
        out: folder for the results; made here, and removed again when the run does not come to its end.
        asked: the robot as it was named, with its options.
        tool_frame: where it holds things; None for the description's own.

    Returns:
        What was found out.
    """
    new = not out.exists()
    say(f"{robot.name} as described: {len(robot.joints)} joints, {robot.mass:.4g} kg")
    bench = _bench(robot, seed)
    try:
        return _identified(robot, bench, out, asked, tool_frame)
    except BaseException:
        if new:
            shutil.rmtree(out, ignore_errors=True)
        raise


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
        recordings[name] = simulate(arm, motion, sensor=SENSOR, rng=np.random.default_rng([seed, 3, k]))
    bias = drawn_specimen(SENSORS[SENSOR], truth, np.random.default_rng([seed, 3, 0])).bias
    return Bench(truth, load, motions, recordings, bias, certified)


def _identified(
    robot: Robot, bench: Bench, out: Path, asked: identify_request.Request, tool_frame: str | None
) -> Run:
    files = _write_bench(bench, out)
    say("C  identify the robot from the first two logs")
    logs = replace(asked, logs=(files["train.npz"],), holdout=files["holdout.npz"])
    done, model = identify_request.carry_out(logs, out / RESULT, force=True)
    weighed: Weighed | None = None
    asset: dict[str, str] = {}
    if robot.nv >= JOINTS_THAT_WEIGH:
        say("D  weigh what it held")
        weighed, asset = _weighed(files, out, asked, tool_frame)
    else:
        say(f"D  an arm of fewer than {JOINTS_THAT_WEIGH} joints does not show all numbers of what it holds")
    held_out = done.question.holdout
    predicted = done.estimate.torque(done.robot, held_out)
    figure = torque_figure(
        held_out.time,
        held_out.channels["tau"],
        predicted,
        joints=robot.joint_names,
        units=[joint.effort_unit for joint in robot.joints],
        errors=done.holdout.joints,
        title=f"{robot.name}: torque of a motion it was not identified on",
    )
    write_text(out / "torque.svg", figure)
    files = {**files, "torque.svg": str(out / "torque.svg"), **model}
    files |= {f"{OBJECT}/{name}": path for name, path in asset.items()}
    return Run(bench, done, weighed, _error_of_description(done), _holding(bench, done), files)


def _weighed(
    files: dict[str, str], out: Path, asked: identify_request.Request, tool_frame: str | None
) -> tuple[Weighed | None, dict[str, str]]:
    request = payload_request.PayloadRequest(
        robot=asked.robot,
        loaded=(files["loaded.npz"],),
        empty=(files["train.npz"],),
        gravity=asked.gravity,
        lock=asked.lock,
        tool_frame=tool_frame,
        arguments=asked.arguments,
        limits=asked.limits,
        velocity=asked.velocity,
        acceleration=asked.acceleration,
        torque=asked.torque,
    )
    try:
        return payload_request.carry_out(request, out / OBJECT, force=True)
    except SteelyardError as refusal:
        say(f"   this arm cannot tell: {refusal}")
        return None, {}


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
    write_text(files["load.json"], json.dumps(identify_answer.body_numbers(bench.load), indent=2) + "\n")
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


def document(run: Run, seconds: float) -> dict[str, Any]:
    """The run as a JSON document."""
    done = run.done
    names = [joint.name for joint in done.robot.joints if joint.nv]
    true = {link.name: link.body for link in run.bench.truth.links}
    links = identify_answer.links(done)
    for link in links:
        body = true[link["name"]]
        link["true"] = None if body is None else identify_answer.body_numbers(body)
    joints = identify_answer.joints(done)
    for joint, numbers in zip(joints, _true_joints(run), strict=True):
        joint["true"] = numbers
    load = None
    if run.weighed is not None:
        estimate = run.weighed.estimate
        load = {
            "mass": estimate.body.mass,
            "com": estimate.body.com.tolist(),
            "interval95": {"mass": [float(estimate.lower[0]), float(estimate.upper[0])]},
            "true": identify_answer.body_numbers(run.bench.load),
        }
    return {
        "verdict": run.verdict,
        "robot": done.robot.name,
        "parameters": done.layout.size,
        "identifiable": done.problem.base.count,
        "cond": done.estimate.condition,
        "certified": run.bench.certified,
        "samples": done.estimate.samples,
        "holdout": {
            "overall": done.holdout.overall,
            "unfiltered": done.unfiltered.overall,
            "described": run.described,
            "joints": dict(zip(names, done.holdout.joints, strict=True)),
        },
        "intervals_hold": None if run.holding is None else list(run.holding),
        "links": links,
        "joints": joints,
        "payload": load,
        "seconds": seconds,
        "files": run.files,
    }


def _true_joints(run: Run) -> list[dict[str, float]]:
    drive = tuple(term for term in run.done.layout.drive if term in LINEAR)
    layout, phi = layout_of(run.bench.truth, drive), _truth(run.bench, drive)
    rows = []
    for name in layout.joints:
        start = layout.of_joint(name).start
        words = ("armature" if term == "rotor" else term for term in layout.drive)
        rows.append({word: float(phi[start + k]) for k, word in enumerate(words)})
    return rows


def print_run(run: Run, told: dict[str, Any]) -> None:
    """Print the run for people: links, joints, the load, and what it says."""
    _print_links(told)
    _print_joints(told)
    load = told["payload"]
    if load is not None:
        low, high = load["interval95"]["mass"]
        off = 1e3 * float(np.linalg.norm(np.subtract(load["com"], load["true"]["com"])))
        _say(
            f"In its hand: {load['mass']:.3f} kg, 95 % between {low:.3f} and {high:.3f} kg; "
            f"truly {load['true']['mass']:.3f} kg. Its centre of mass is off by {off:.1f} mm."
        )
    held_out = told["holdout"]
    _say(
        f"Of the torque of a motion it has not seen {held_out['overall']:.2g} % is unexplained "
        f"({held_out['unfiltered']:.2g} % with the sensors' noise), by the description's own numbers "
        f"{held_out['described']:.3g} %."
    )
    if run.holding is not None:
        _say(
            f"{told['identifiable']} combinations of {told['parameters']} parameters are known; "
            f"{run.holding[0]} of {run.holding[1]} 95 % intervals hold the truth."
        )
    colour = {"pass": "green", "warn": "yellow", "fail": "red"}[told["verdict"]]
    stdout.print(f"[bold {colour}]{told['verdict']}[/] in {told['seconds']:.1f} s", highlight=False)
    weighed = () if run.weighed is None else run.weighed.verdict.checks
    for check in (*run.done.verdict.checks, *weighed):
        if str(check.status) != "pass":
            _say(f"   {check.status}: {check.name}: {check.message}")
    folder = Path(run.files["report.html"]).parent.parent
    _say(f"Look at {run.files['report.html']}; the model, the load's asset and all logs are in {folder}.")
    _say("With your own robot:")
    for line in (
        "steelyard excite robot.urdf --out motion.json       # a motion to run, with its certificate",
        "steelyard identify robot.urdf log.csv --out model   # what it recorded, as a judged model",
        "steelyard payload robot.urdf --loaded with.csv --empty without.csv --out object",
    ):
        _say(f"    {line}")


def _print_links(told: dict[str, Any]) -> None:
    table = Table(title="Links: mass, kg", title_justify="left")
    for heading in ("link", "described", "estimated", "95 % from", "to", "truly", "decided by"):
        table.add_column(heading, justify="left" if heading in ("link", "decided by") else "right")
    for link in told["links"]:
        described, true = link["described"], link["true"]
        low, high = link.get("interval95", {}).get("mass", (float("nan"), float("nan")))
        table.add_row(
            escape(link["name"]),
            "" if described is None else f"{described['mass']:.3f}",
            f"{link['mass']:.3f}",
            f"{low:.3f}",
            f"{high:.3f}",
            "" if true is None else f"{true['mass']:.3f}",
            link.get("decided_by", {}).get("mass", ""),
        )
    stdout.print(table)


def _print_joints(told: dict[str, Any]) -> None:
    terms = list(told["joints"][0]["true"]) if told["joints"] else []
    if not terms:
        return
    table = Table(
        title="Joints, SI: estimated (truly, offsets with the bias of the torque sensors)",
        title_justify="left",
    )
    for heading in ("joint", *terms, "unexplained torque"):
        table.add_column(heading, justify="left" if heading == "joint" else "right")
    for joint in told["joints"]:
        numbers = (f"{joint[term]:.3g} ({joint['true'][term]:.3g})" for term in terms)
        table.add_row(escape(joint["name"]), *numbers, f"{told['holdout']['joints'][joint['name']]:.2g} %")
    stdout.print(table)


def _say(text: str) -> None:
    stdout.print(text, highlight=False, markup=False, soft_wrap=True)
