"""Real logs by other tools and other methods, on exactly the samples that our default fit learns from.

Every log is prepared once, as by `steelyard identify`; each method then gets the same q, v, a and torques,
the same noise of each joint, the same links believed beforehand and the linear drive terms that our fit took,
and is judged on the same held-out log. FIGAROH and `mujoco.sysid` run in an environment of their own, whose
interpreter STEELYARD_PEERS names; where there is none their rows say so.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from steelyard.arrays import Array
from steelyard.audit import error_along
from steelyard.dynamics import inverse_dynamics, torque_regressor
from steelyard.errors import SteelyardError
from steelyard.estimation.auto import fit_auto
from steelyard.estimation.linear import fit_least_squares, fit_weighted
from steelyard.estimation.physical import fit_lmi
from steelyard.inertia import Body
from steelyard.layout import Layout, layout_of
from steelyard.problem import Estimate, Problem, problem_of
from steelyard.workflows.identification import Identification
from steelyard.workflows.identify import DRIVE
from studies.believable_public import BLOCKS, difference_error
from studies.real_data import CASES, DATA
from tables import Bound, Study
from timing import in_own_process

ROBOTS = ("UR10e", "Panda", "UR10, bag", "xMate7p", "LWR4+")
OURS, POSSIBLE = "Steelyard, default", "possible links without prior (`--method lmi`)"
MASSES = (1 / 3, 3.0)
"""Bounds of a link's mass over the believed one that FIGAROH is given in one of its rows."""
PATIENCE = float(os.environ.get("STEELYARD_PATIENCE", "60"))
"""Seconds of one core after which the search of `mujoco.sysid` is stopped and its best so far taken."""
NO_FLOBAROID = "not run: it is not on the Python package index"
TEN = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
FIGAROH_TERMS = {"viscous": "fv", "coulomb": "fs", "offset": "off", "rotor": "Ia"}


@dataclass(frozen=True)
class Row:
    """What a method made of a log.

    Attributes:
        method: its name.
        failed: how it failed; empty where it did not.
        held_out: unexplained torque on the log held out, percent.
        total: mass of all links, kg; NaN where the method states no links.
        least: smallest mass of a link over the described one.
        most: largest mass of a link over the described one.
        moved: farthest centre of mass from the described one, m.
        seconds: of one core for the fit alone, the samples being given; NaN where nothing was fitted.
        note: what a reader must know.
    """

    method: str
    failed: str = ""
    held_out: float = math.nan
    total: float = math.nan
    least: float = math.nan
    most: float = math.nan
    moved: float = math.nan
    seconds: float = math.nan
    note: str = ""


@dataclass(frozen=True, eq=False)
class Shared:
    """What every method gets.

    Attributes:
        done: our identification, with the log held out.
        layout: links and the linear drive terms that our fit took.
        problem: the samples it learnt from.
        weights: one over the noise of each joint, shape (nv,), 1/(N·m).
        believed: links and drive believed beforehand, shape (p,), SI.
    """

    done: Identification
    layout: Layout
    problem: Problem
    weights: Array
    believed: Array

    def judged(self, method: str, phi: Array, seconds: float, note: str = "", *, links: bool = True) -> Row:
        """How a parameter vector of the layout does.

        Args:
            method: what found it.
            phi: the parameters, shape (p,), SI.
            seconds: how long that took.
            note: what a reader must know.
            links: whether they state links, rather than base parameters alone.
        """
        held_out = error_along([self.done.question.holdout], [self.torque(phi)]).overall
        if not links:
            return Row(method, held_out=held_out, seconds=seconds, note=note)
        return Row(method, "", held_out, *masses(self.layout, phi), seconds, note)

    def torque(self, phi: Array) -> Array:
        """Torques along the log held out, shape (N, nv), N·m.

        Args:
            phi: the parameters, shape (p,), SI.
        """
        log = self.done.question.holdout.channels
        return inverse_dynamics(self.done.robot, self.layout, phi, log["q"], log["v"], log["a"])


def masses(layout: Layout, phi: Array) -> tuple[float, float, float, float]:
    """Total mass in kg, least and largest mass over the described, and farthest centre of mass in m.

    Args:
        layout: the order of the parameters, with what is described.
        phi: the parameters, shape (p,), SI.
    """
    bodies = [Body.from_parameters(phi[layout.of_link(name)]) for name in layout.links]
    stated = [Body.from_parameters(layout.nominal[layout.of_link(name)]) for name in layout.links]
    ratios = [a.mass / b.mass for a, b in zip(bodies, stated, strict=True)]
    moved = [math.dist(a.com, b.com) for a, b in zip(bodies, stated, strict=True)]
    return sum(body.mass for body in bodies), min(ratios), max(ratios), max(moved)


def run() -> Study:
    """Give every log to every method."""
    if not DATA.is_dir():
        raise FileNotFoundError(f"the logs are not here: {DATA}")
    rows: dict[str, list[Row]] = {}
    figures: list[Bound] = []
    for name in ROBOTS:
        rows[name], more = compared(name)
        figures += more
    return Study(
        "Real logs by other tools and methods",
        "Every method gets the samples that the default fit of `steelyard identify` learns from, the same "
        "noise of each joint, links believed beforehand and linear drive terms, and is judged by the same "
        "log held out, in percent of the torque's rms in the band of the motion. Seconds are of one core, "
        "for the fit alone. Ours may add a drive term by evidence, which no peer has.",
        tuple(figures),
        {name: [asdict(row) for row in found] for name, found in rows.items()},
        "\n\n".join(table(name, found) for name, found in rows.items()),
    )


def compared(name: str) -> tuple[list[Row], list[Bound]]:
    """One log by every method, and what ours must keep beside them.

    Args:
        name: of the case in `real_data`.
    """
    return beside(name, shared_by(CASES[name].identified()))


def beside(name: str, shared: Shared) -> tuple[list[Row], list[Bound]]:
    """The rows of a log, ours first.

    Args:
        name: what the log is called.
        shared: what every method gets.
    """
    done, weights = shared.done, shared.weights
    ours = _default(shared)
    possible, row = _ours_by(shared, POSSIBLE, lambda posed: fit_lmi(posed, weights=weights))
    rows = [
        ours,
        shared.judged("the description's own numbers", shared.layout.complete_nominal(), math.nan),
        _ours_by(shared, "ordinary least squares, base parameters", fit_least_squares)[1],
        _ours_by(
            shared,
            "weighted least squares, base parameters",
            lambda posed: fit_weighted(posed, on_blind="infinite"),
        )[1],
        row,
        *_figaroh(shared),
        _mujoco(shared),
        Row("FloBaRoID", NO_FLOBAROID),
    ]
    bounds = []
    if possible is not None:
        log = done.question.holdout
        spread = difference_error(log, done.estimate.torque(done.robot, log), shared.torque(possible))
        bounds = [
            Bound(
                f"{name}: held-out points beyond possible links without prior",
                ours.held_out - row.held_out,
                spread,
                note=f"the bound is the standard error of the difference over {BLOCKS} stretches",
            )
        ]
    return rows, bounds


def shared_by(done: Identification) -> Shared:
    """What every method gets of a log that was identified.

    Args:
        done: our identification by default options.
    """
    assert done.prior is not None
    layout = layout_of(done.robot, [term for term in done.layout.drive if term in DRIVE.split(",")])
    stated = dict(zip(done.prior.layout.names, done.prior.centre, strict=True))
    posed = problem_of(done.robot, layout, done.question.train)
    believed = np.array([stated[name] for name in layout.names])
    weights = fit_weighted(posed, on_blind="infinite").weights
    assert weights is not None
    return Shared(done, layout, posed, weights, believed)


def _default(shared: Shared) -> Row:
    done = shared.done
    started = time.process_time()
    fit_auto(replace(done.problem, compressed=None), done.prior)
    seconds = time.process_time() - started
    phi = done.estimate.representative
    more = [term for term in done.layout.drive if term not in shared.layout.drive]
    note = f"with the drive term {', '.join(more)}, by evidence" if more else ""
    return Row(OURS, "", done.holdout.overall, *masses(done.layout, phi), seconds, note)


def _ours_by(shared: Shared, method: str, fit: Callable[[Problem], Estimate]) -> tuple[Array | None, Row]:
    started = time.process_time()
    try:
        estimate = fit(replace(shared.problem, compressed=None))
    except SteelyardError as error:
        return None, Row(method, f"fails: {error}")
    seconds = time.process_time() - started
    phi = estimate.representative
    return phi, shared.judged(method, phi, seconds, links=estimate.parameters is not None)


def _interpreter(*modules: str) -> str | None:
    """An interpreter that has these modules: the peers', or this one; None where neither has."""
    for python in (os.environ.get("STEELYARD_PEERS"), sys.executable):
        command = [python or "", "-c", f"import {', '.join(modules)}"]
        if python and not subprocess.run(command, capture_output=True, check=False).returncode:
            return python
    return None


def _figaroh(shared: Shared) -> list[Row]:
    """FIGAROH's fit over possible links, as it is and with bounds of every mass."""
    methods = {"FIGAROH 1.0.2": None, "FIGAROH 1.0.2, masses within 1/3 to 3": MASSES}
    python = _interpreter("figaroh", "cvxopt", "picos")
    if python is None:
        return [Row(method, "not installed") for method in methods]
    at, layout = shared.problem.samples, shared.layout
    Y = torque_regressor(shared.done.robot, layout, at.q, at.v, at.a)
    # Links and joints of an arm come in one order; the peer reads which joint a column belongs to.
    of_link = [f"{key}_joint{k}" for k in range(len(layout.links)) for key in TEN]
    of_joint = [f"{FIGAROH_TERMS[term]}_joint{k}" for k in range(len(layout.joints)) for term in layout.drive]
    prior = np.where(np.arange(layout.size) < len(of_link), shared.believed, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/regressor.npy", Y.transpose(1, 0, 2).reshape(-1, layout.size))
        np.savez(
            f"{folder}/log.npz",
            tau=at.tau,
            noise=1.0 / shared.weights,
            prior=prior,
            names=np.array([*of_link, *of_joint]),
        )
        answers = {}
        for method, bounds in methods.items():
            try:
                answers[method] = in_own_process("peers.figaroh_fit", "links", folder, bounds, python=python)
            except subprocess.CalledProcessError as error:
                answers[method] = {"parameters": None, "said": error.stderr.strip().splitlines()[-1]}
    rows = []
    for method, answer in answers.items():
        if answer["parameters"] is None:
            rows.append(Row(method, f"fails: {answer['said']}", seconds=answer.get("seconds", math.nan)))
            continue
        phi = np.array(answer["parameters"])
        notes = [] if answer["accepted"] else [f"not accepted by its own check ({answer['said']})"]
        never = [k for k, x in enumerate(layout.parameters) if x.term in ("viscous", "coulomb", "rotor")]
        if below := int((phi[never] < 0.0).sum()):
            notes.append(f"{below} of {len(never)} friction and rotor terms negative")
        rows.append(shared.judged(method, phi, answer["seconds"], "; ".join(notes)))
    return rows


def _mujoco(shared: Shared) -> Row:
    """`mujoco.sysid` on windows of the samples, from the same beliefs."""
    method = "`mujoco.sysid`"
    python = _interpreter("mujoco.sysid")
    if python is None:
        return Row(method, "not installed")
    at, layout = shared.problem.samples, shared.layout
    columns = layout.drive_columns
    drive = np.where(columns >= 0, shared.believed[columns], 0.0)
    with tempfile.TemporaryDirectory() as folder:
        Path(f"{folder}/model.xml").write_text(_mjcf(shared))
        np.savez(f"{folder}/log.npz", time=at.time, q=at.q, v=at.v, tau=at.tau, drive=drive)
        try:
            answer = in_own_process("peers.mujoco_sysid", "links", folder, PATIENCE, python=python)
        except subprocess.CalledProcessError as error:
            return Row(method, f"fails: {error.stderr.strip().splitlines()[-1]}")
    phi = np.zeros(layout.size)
    phi[: 10 * len(layout.links)] = np.ravel(answer["links"])
    found = np.array(answer["drive"])
    phi[columns[columns >= 0]] = found[columns >= 0]
    note = "" if answer["settled"] else f"stopped after {PATIENCE:g} s, best so far"
    return shared.judged(f"{method} {answer['version']}", phi, answer["seconds"], note)


def _mjcf(shared: Shared) -> str:
    """The believed arm without friction: body `link<i>` and joint `joint<i>` for every moving link."""
    robot, layout = shared.done.robot, shared.layout
    arm = ElementTree.Element("mujoco", model=robot.name)
    ElementTree.SubElement(arm, "compiler", angle="radian", autolimits="false", inertiafromgeom="false")
    option = ElementTree.SubElement(arm, "option", gravity=_words(robot.gravity), integrator="implicitfast")
    ElementTree.SubElement(option, "flag", contact="disable", limit="disable")
    places = {-1: ElementTree.SubElement(arm, "worldbody")}
    for i, (link, joint) in enumerate(zip(robot.links, robot.joints, strict=True)):
        believed = Body.from_parameters(shared.believed[layout.of_link(link.name)])
        principal = believed.principal_axes()
        places[i] = ElementTree.SubElement(
            places[joint.parent],
            "body",
            name=f"link{i}",
            pos=_words(joint.placement.translation),
            quat=_words(_quaternion(joint.placement.rotation)),
        )
        ElementTree.SubElement(
            places[i],
            "inertial",
            mass=repr(believed.mass),
            pos=_words(believed.com),
            quat=_words(_quaternion(principal.rotation)),
            diaginertia=_words(principal.moments),
        )
        kind = "hinge" if joint.kind.rotates else "slide"
        ElementTree.SubElement(places[i], "joint", name=f"joint{i}", type=kind, axis=_words(joint.axis))
    return ElementTree.tostring(arm, encoding="unicode")


def _words(numbers: Array) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def _quaternion(rotation: Array) -> Array:
    """w, x, y, z."""
    return np.roll(Rotation.from_matrix(rotation).as_quat(), 1)


def table(name: str, rows: list[Row]) -> str:
    """The rows of a log in Markdown.

    Args:
        name: what the log is called.
        rows: of every method.
    """
    head = (
        f"| {name} | held out, % | total mass, kg | links, times described "
        "| farthest centre of mass, m | seconds | |"
    )
    lines = [head, "| --- | --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        ratios = "–" if math.isnan(row.least) else f"{row.least:.2g} to {row.most:.3g}"
        cells = [
            row.method,
            _cell(row.held_out, ".2f"),
            _cell(row.total, ".1f"),
            ratios,
            _cell(row.moved, ".3f"),
            _cell(row.seconds, ".2g"),
            row.failed or row.note,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)
