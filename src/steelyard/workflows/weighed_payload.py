"""`Payload`: what an arm holds, weighed; the request behind it, its document, and the asset it becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.audit import Status, Verdict
from steelyard.errors import InputError, RecordingError
from steelyard.export import (
    FOLDER,
    SHEET,
    ControllerLoad,
    ObjectMesh,
    controller_files,
    controller_names,
    write_object,
)
from steelyard.files import FilePath
from steelyard.finding import Finding
from steelyard.formats import record_document
from steelyard.inertia import PARAMETER_NAMES, Body, companions
from steelyard.layout import layout_of
from steelyard.payloads import (
    QUANTITIES,
    UNITS,
    ArmModel,
    ConstantErrors,
    GraspSlip,
    Mount,
    PayloadEstimate,
    Weighing,
    WristSensor,
)
from steelyard.pose import Pose
from steelyard.recording import Recording
from steelyard.report import TorqueTrace
from steelyard.report.payload import (
    GainAnswer,
    TrialOutcome,
    payload_content_of,
    payload_page,
    payload_trace,
    safety_sheet,
    wrench_trace,
)
from steelyard.robot import Robot, StatedLimits
from steelyard.simulation import Swing, run_trial, standard_trials
from steelyard.uncertainty import GuaranteedBounds
from steelyard.workflows.controller_load import controller_load_of
from steelyard.workflows.record import RecordedRequest, read_back

OF_OBJECT = {
    "mass": "m",
    **{f"com_{axis}": axis for axis in "xyz"},
    **{f"I_{axes}": f"I{axes}_com" for axes in ("xx", "xy", "yy", "xz", "yz", "zz")},
}
"""Names of the quantities in the asset's `parameters.json`."""
REPORT = "report.html"
ALONE = (
    "No empty run is given: torques that are all too high, a link that is heavier or longer, or a joint's "
    "zero can look like another load."
)
"""What bounds from loaded runs alone cannot tell."""
TRIAL_SECONDS = 2.0
"""How long asset and true object are watched beside each other, s."""


@dataclass(frozen=True)
class PayloadRequest(RecordedRequest, StatedLimits):
    """What was asked, as a record holds it."""

    robot: str
    loaded: tuple[str, ...]
    empty: tuple[str, ...] = ()
    model: str | None = None
    way: str = "auto"
    method: str = "wls"
    point: str = "mean"
    mesh: str | None = None
    scale: float = 1.0
    grasp: str | None = None
    truth: str | None = None
    heaviest: float = 100.0
    extent: float = 0.5
    torque_error: str | None = None
    model_error: float = 0.05
    velocity_error: float = 1e-3
    position_error: float | None = None
    torque_delay: float = 2e-3
    torque_constant: str | None = None
    torque_constant_error: str | None = None
    known_loads: tuple[str, ...] = ()
    known_mass: float | None = None
    known_com: str | None = None
    known_body: str | None = None
    other_torque_constants: tuple[str, ...] = ()
    columns: str | None = None
    cutoff: float | None = None
    seed: int = 0
    gravity: str | None = None
    lock: tuple[str, ...] = ()
    empty_lock: tuple[str, ...] = ()
    tool_frame: str | None = None
    arguments: tuple[str, ...] = ()
    package_path: tuple[str, ...] = ()
    window: float | None = None
    topic: str | None = None
    controller: str | None = None
    flange_frame: str | None = None
    wrench: str | None = None
    wrench_sign: str = "load"
    units: str | None = None
    calibration: str | None = None
    mesh_pose: str | None = None
    mesh_turn: str | None = None

    command = "payload"

    @property
    def named(self) -> tuple[str | None, ...]:
        """What may be the name of a file it reads."""
        options = (self.model, self.mesh, self.truth, self.columns, self.known_body, self.limits)
        # What the mesh takes its look from lies beside it.
        looks = () if self.mesh is None else companions(self.mesh)
        logs = (*self.loaded, *self.empty, *self.known_loads)
        return (self.robot, *logs, *options, self.calibration, *looks)

    @property
    def mesh_frame(self) -> Pose | None:
        """The mesh's frame in the payload's, or its turn alone by `mesh_turn`; None where they are one."""
        if self.mesh_turn is None:
            return pose_of(self.mesh_pose, "--mesh-pose")
        return Pose.from_rpy(numbers_of(self.mesh_turn, "--mesh-turn", (3,), "roll,pitch,yaw in rad"))

    @property
    def grasp_pose(self) -> Pose | None:
        """The payload's frame in the tool frame; None where they are one."""
        return pose_of(self.grasp, "--grasp")

    @property
    def controllers(self) -> tuple[str, ...]:
        """Names of the controllers that files are written for."""
        return () if self.controller is None else controller_names(self.controller, place="--controller")

    @property
    def stated_for_controllers(self) -> bool:
        """Whether anything is said in the controller's frame: a file for it, or the safety sheet."""
        return self.controller is not None or self.torque_error is not None


def pose_of(text: str | None, place: str) -> Pose | None:
    """The pose that an option states: three numbers of a translation, or six with roll, pitch and yaw."""
    if text is None:
        return None
    values = numbers_of(text, place, (3, 6), "x,y,z in m, or x,y,z,roll,pitch,yaw in m and rad")
    return Pose.from_rpy(values[3:] or (0.0, 0.0, 0.0), values[:3])


def numbers_of(text: str, place: str, counts: tuple[int, ...], words: str) -> list[float]:
    """The numbers that an option states between commas.

    Args:
        text: as it was given.
        place: the option.
        counts: 3, or 3 and 6: how many there may be.
        words: how to write them.

    Raises:
        InputError: there are more or fewer, or one is no number.
    """
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if len(values) not in counts or not np.isfinite(values).all():
        many = " or ".join({3: "three", 6: "six"}[count] for count in counts)
        raise InputError(
            f"expected {many} numbers between commas, got '{text}'.", place=place, remedy=f"Write {words}."
        )
    return values


@dataclass(frozen=True, eq=False)
class Runs:
    """The logs made ready.

    Attributes:
        loaded: with the payload.
        empty: without it.
        known: with a load that is known.
        interval: longest at which one was recorded, s.
        errors: how far the torque constants may be off.
        findings: what was noticed.
    """

    loaded: tuple[Recording, ...]
    empty: tuple[Recording, ...]
    known: tuple[Recording, ...]
    interval: float
    errors: ConstantErrors
    findings: tuple[Finding, ...]

    def scaled(self, factors: Array) -> Runs:
        """The same with torques times a factor at each joint, shape (nv,)."""

        def louder(logs: tuple[Recording, ...]) -> tuple[Recording, ...]:
            detail = {"factors": factors.tolist()}
            return tuple(log.revised("calibrated", detail, tau=log.channels["tau"] * factors) for log in logs)

        return replace(self, loaded=louder(self.loaded), empty=louder(self.empty), known=louder(self.known))


@dataclass(frozen=True, eq=False, repr=False)
class Payload:
    """What an arm holds, with everything that was found out about it.

    Attributes:
        robot: the robot.
        held: where the payload is held.
        runs: the logs.
        why: this way of weighing was chosen.
        estimate: what the arm holds.
        others: the same by other torque constants.
        bounds: guaranteed, where they were asked for and nothing contradicts them.
        mesh: its shape in its frame, where one was given.
        model: the arm without payload that was trusted, or that corrected where two runs differ.
        gripper: what the carrying link itself gained between the runs, in its own frame, shape (10,), SI.
        sensor: the one at the wrist that weighed; None where joint torques did.
        slip: what was seen of the grasp; None where nothing can be said of it.
        verdict: of the estimate.
        findings: what was noticed.
        request: what was asked.
        truth: the true payload in the tool frame, where it was given.
        seconds: what it took.
        files: what was written, by name.
    """

    robot: Robot
    held: Mount
    runs: Runs
    why: str
    estimate: PayloadEstimate
    others: Mapping[str, PayloadEstimate]
    bounds: GuaranteedBounds | None
    mesh: ObjectMesh | None
    model: ArmModel | None
    gripper: Array | None
    sensor: WristSensor | None
    slip: GraspSlip | None
    verdict: Verdict
    findings: tuple[Finding, ...]
    request: PayloadRequest
    truth: Body | None = None
    seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def weighing(self) -> Weighing:
        """What the data says."""
        return self.estimate.weighing

    @property
    def body(self) -> Body:
        """The payload in its frame."""
        return self.estimate.body

    @property
    def mass(self) -> float:
        """What it weighs, kg."""
        return self.body.mass

    @property
    def com(self) -> Array:
        """Its centre of mass in its frame, shape (3,), m."""
        return self.body.com

    @property
    def inertia(self) -> Array:
        """Its inertia about its centre of mass, in the axes of its frame, shape (3, 3), kg·m²."""
        return self.body.inertia

    @property
    def interval95(self) -> dict[str, tuple[float, float]]:
        """Ends of the 95 % intervals by quantity, SI."""
        ends = zip(QUANTITIES, self.estimate.lower.tolist(), self.estimate.upper.tolist(), strict=True)
        return {name: (low, high) for name, low, high in ends}

    @property
    def decided_by(self) -> dict[str, str]:
        """What decided each quantity: the data, or what can exist."""
        return {name: by.value for name, by in self.estimate.decided.items()}

    @property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        estimate, bounds = self.estimate, self.bounds
        xx, xy, yy, xz, yz, zz = estimate.values[4:10].tolist()
        return {
            "verdict": self.verdict.status,
            "checks": [
                {"name": check.name, "status": check.status, "message": check.message}
                for check in self.verdict.checks
            ],
            "findings": [
                {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place}
                for f in self.findings
            ],
            "mass": self.mass,
            "com": self.com.tolist(),
            "inertia": [xx, xy, yy, xz, yz, zz],
            "frame": self.held.frame,
            "link": self.held.link,
            "parameters": estimate.ten.tolist(),
            "interval95": {name: list(ends) for name, ends in self.interval95.items()},
            "deviations": {
                source: dict(zip(QUANTITIES, each.tolist(), strict=True))
                for source, each in estimate.deviations.items()
            },
            "decided_by": dict(estimate.decided),
            "bounds": None if bounds is None else _ends(bounds),
            "bounds_assume": [] if bounds is None else list(bounds.assumptions),
            "bounds_untested": [] if bounds is None else list(bounds.untested),
            "bounds_need": None if bounds is None else bounds.needed,
            "others": {name: other.body.mass for name, other in self.others.items()},
            "weighed_by": "torque" if self.request.wrench is None else "wrench",
            "slip": _slip(self.slip),
            "way": self.weighing.way,
            "why": self.why,
            "cond": self.weighing.condition,
            "samples": self.weighing.samples,
            "consistent": self.verdict.check("physical possibility").status is Status.PASS,
            "seconds": self.seconds,
            "files": dict(self.files),
            "read_back": read_back(self.files) if self.files else {},
        }

    def controller_load(self, *, flange_frame: str | None = None) -> ControllerLoad:
        """The load in the frame in which the controller takes it.

        Args:
            flange_frame: link whose frame that is; None for what was asked when it was weighed.

        Returns:
            The load, with its bounds in that frame.

        Raises:
            InputError: there is no such link, or a joint lies between it and the load.
        """
        return controller_load_of(
            self.robot,
            self.held,
            self.estimate,
            self.bounds,
            extent=self.request.extent,
            flange_frame=self.request.flange_frame if flange_frame is None else flange_frame,
            verdict=self.verdict.status.value,
            sources=[Path(name).name for name in (*self.request.loaded, *self.request.empty)],
        )

    def for_controller(self, name: str, *, flange_frame: str | None = None) -> dict[str, str]:
        """What to tell a controller, in its frame and units, bounds and assumptions as comment.

        Args:
            name: `ur`, `franka`, `kuka`, `abb`, `fanuc` or `ros2`; several between commas, or `all`.
            flange_frame: link whose frame the controller has; None for what was asked when it was weighed.

        Returns:
            The text of each file by its name, such as `ur/payload.script`.

        Raises:
            UnknownNameError: there is no such controller.
            InputError: there is no such link, or a joint lies between it and the load.
        """
        names = controller_names(name, place="controller")
        return dict(controller_files(self.controller_load(flange_frame=flange_frame), names).files)

    def safety_sheet(self, *, flange_frame: str | None = None) -> str:
        """One page to print: mass at most, centre within, what is assumed, what was checked, what it is not.

        Args:
            flange_frame: link whose frame the controller has; None for what was asked when it was weighed.

        Returns:
            HTML in UTF-8.

        Raises:
            InputError: there is no such link, or a joint lies between it and the load.
        """
        inputs = self.request.document()["inputs"]
        return safety_sheet(
            self.controller_load(flange_frame=flange_frame),
            self.verdict,
            way=self.weighing.way,
            caution="" if self.request.empty else ALONE,
            inputs={Path(name).name: digest for name, digest in inputs.items()},
        )

    def _for_controllers(self) -> dict[str, bytes]:
        """The files for controllers and the safety sheet, where they were asked for."""
        if not self.request.stated_for_controllers:
            return {}
        files = controller_files(self.controller_load(), self.request.controllers).files
        texts = {f"{FOLDER}/{name}": text for name, text in files.items()} | {SHEET: self.safety_sheet()}
        return {name: text.encode() for name, text in texts.items()}

    def save(self, folder: FilePath, *, force: bool = False) -> dict[str, str]:
        """Write the asset: models for simulators, numbers, record and report; everything, or nothing.

        With them go the files for controllers that were asked for, and with these or with guaranteed bounds
        the safety sheet.

        Args:
            folder: where to.
            force: whether an earlier result may be replaced.

        Returns:
            The paths by name.

        Raises:
            InputError: the folder is not free or cannot be written.
        """
        out = Path(folder)
        told = self._object()
        steps = [step for log in (*self.runs.loaded, *self.runs.empty) for step in log.provenance]

        def record(files: Mapping[str, bytes]) -> dict[str, Any]:
            asked = self.request.document()
            layout = layout_of(self.robot)
            return record_document(
                self.robot, layout, files, steps=steps, seed=self.request.seed, request=asked
            )

        with TemporaryDirectory() as scratch:
            # The trials load the models as a simulator would, so these are written once before the report.
            first = write_object(Path(scratch) / "object", self.body, **told)
            trials: tuple[TrialOutcome, ...] = ()
            if self.truth is not None:
                grasp = self.request.grasp_pose
                body = self.truth if grasp is None else self.truth.moved(grasp.inverse())
                trials = _beside_the_truth(Path(scratch) / "object" / "object.xml", body)
        beside = self._for_controllers()
        page = self._page(trials, [*first.files, *beside, "record.json", REPORT], first.judges)
        extra = {REPORT: page.encode(), **beside}
        written = write_object(out, self.body, **told, extra=extra, record=record, force=force)
        return {name: str(out / name) for name in written.files}

    def _object(self) -> dict[str, Any]:
        """What the asset says of the object beside its inertia."""
        intervals = {OF_OBJECT[name]: ends for name, ends in self.interval95.items() if name in OF_OBJECT}
        decided = self.estimate.decided
        return {
            "name": "payload",
            "frame": self.held.frame,
            "mesh": self.mesh,
            "intervals": intervals,
            "bounds": None if self.bounds is None else _ends(self.bounds),
            "decided_by": {OF_OBJECT[name]: by for name, by in decided.items() if name in OF_OBJECT},
            "covariance": self.estimate.covariance,
            "checks": self.verdict.checks,
            "findings": self.findings,
        }

    def _page(
        self,
        trials: Sequence[TrialOutcome],
        files: Sequence[str],
        judges: Mapping[str, Sequence[str]],
    ) -> str:
        density = [check for check in self.verdict.checks if check.name == "uniform density"]
        names = (*self.request.loaded, *self.request.empty)
        logs = zip(names, (*self.runs.loaded, *self.runs.empty), strict=True)
        return payload_page(
            payload_content_of(
                self.robot,
                self.estimate,
                self.verdict,
                {Path(name).name: log for name, log in logs},
                why=self.why,
                traces=self._traces(),
                wrench=self.sensor is not None,
                bounds=self.bounds,
                gains=self.request.torque_constant or "",
                others=[GainAnswer(name, x.body.mass, x.body.com) for name, x in self.others.items()],
                mesh=None if self.mesh is None else self.mesh.surface,
                density=density[0] if density else None,
                trials=trials,
                findings=self.findings,
                inputs=self.request.document()["inputs"],
                files=files,
                read_back=judges,
                seed=self.request.seed,
            )
        )

    def _traces(self) -> list[TorqueTrace]:
        """What each loaded run measured beyond the arm; none where the arm itself was estimated twice."""
        runs = self.runs
        if self.sensor is not None:
            return [
                wrench_trace(self.sensor, self.estimate, Path(name).name, run)
                for name, run in zip(self.request.loaded, runs.loaded, strict=True)
            ]
        empty: list[Recording | None] = [None] * len(runs.loaded)
        paired = len(runs.empty) == len(runs.loaded)
        if paired and self.model is not None and self.request.model is None:
            empty = list(runs.empty)
        if self.model is None and None in empty:
            return []
        traces = []
        for name, loaded, bare in zip(self.request.loaded, runs.loaded, empty, strict=True):
            try:
                traces.append(
                    payload_trace(
                        self.robot,
                        self.estimate,
                        Path(name).name,
                        loaded,
                        empty=bare,
                        model=self.model,
                        gripper=self.gripper,
                    )
                )
            except RecordingError:
                continue
        return traces

    @property
    def table(self) -> list[tuple[str, str, str, str, str, str]]:
        """Rows for people: name, value, ends of the 95 % interval, unit, and what decided it."""
        estimate = self.estimate
        columns = (QUANTITIES, estimate.values, estimate.lower, estimate.upper, UNITS)
        return [
            (name, f"{value:.4g}", f"{low:.4g}", f"{high:.4g}", unit, estimate.decided[name].value)
            for name, value, low, high, unit in zip(*columns, strict=True)
        ]

    def __repr__(self) -> str:
        low, high = self.interval95["mass"]
        return (
            f"<Payload of {self.robot.name}: {self.mass:.4g} kg, 95 % between {low:.4g} and {high:.4g} kg, "
            f"{self.verdict.status.value}>"
        )

    def __str__(self) -> str:
        lines = [
            f"{self.verdict.status.value}: {self.mass:.4g} kg in {self.held.frame}, by {self.weighing.way}",
            *(
                f"  {name:<9} {value:>11}  {low:>11}  {high:>11}  {unit:<6}  {by}"
                for name, value, low, high, unit, by in [HEADS, *self.table]
            ),
            *(f"{check.status.value:>7}  {check.name}: {check.message}" for check in self.verdict.checks),
            *(str(finding) for finding in self.findings),
        ]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, the numbers and the checks."""
        rows = "".join(
            "<tr>" + "".join(f"<{tag}>{escape(word)}</{tag}>" for word in row) + "</tr>"
            for tag, row in [("th", HEADS), *(("td", row) for row in self.table)]
        )
        checks = "".join(
            f"<li>{check.status.value}: {escape(check.name)}: {escape(check.message)}</li>"
            for check in self.verdict.checks
        )
        title = f"{self.mass:.4g} kg in {escape(self.held.frame)}"
        return f"<p><b>{self.verdict.status.value}</b>: {title}</p><table>{rows}</table><ul>{checks}</ul>"


HEADS = ("", "value", "95 % from", "to", "unit", "decided by")
"""Headings of the table of a payload."""


def _slip(slip: GraspSlip | None) -> dict[str, object] | None:
    """What was seen of the grasp, as JSON holds it."""
    if slip is None:
        return None
    way = slip.way.tolist()
    return {
        "noticed": slip.noticed,
        "chance": slip.chance,
        "run": slip.run,
        "time": slip.time,
        "way": way,
        "distance": slip.distance,
        "deviation": slip.deviation,
    }


def _ends(bounds: GuaranteedBounds) -> dict[str, list[float]]:
    ends = zip(PARAMETER_NAMES, bounds.lower.tolist(), bounds.upper.tolist(), strict=True)
    return {name: [low, high] for name, low, high in ends}


def _beside_the_truth(asset: Path, truth: Body) -> tuple[TrialOutcome, ...]:
    """How far the asset and the true object come apart when a simulator drops, pushes and swings both.

    Args:
        asset: the MJCF file.
        truth: the true inertia in the asset's frame.
    """
    outcomes = []
    for name, trial in standard_trials(asset).items():
        mine = run_trial(asset, trial, seconds=TRIAL_SECONDS)
        its = run_trial(asset, trial, seconds=TRIAL_SECONDS, body=truth)
        apart = mine.compared_with(its)
        periods = (mine.swing_period(), its.swing_period()) if isinstance(trial, Swing) else None
        far, turned = apart.largest_position, apart.largest_angle
        outcomes.append(TrialOutcome(name, "the true object", TRIAL_SECONDS, far, turned, periods))
    return tuple(outcomes)
