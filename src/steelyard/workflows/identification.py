"""`Identification`: what `identify` found out, with its verdict; asked, scored, drawn, printed and saved."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array
from steelyard.audit import Status, TorqueError, Verdict, error_along
from steelyard.consistency import Prior
from steelyard.errors import InputError, NoSolutionError
from steelyard.export import draw_models, estimate_record, estimated_model
from steelyard.files import FilePath, write_text
from steelyard.finding import Finding
from steelyard.formats import load_judges
from steelyard.identifiable import ExcitationCertificate
from steelyard.identification import IdentificationData, LogOptions, log_made_ready
from steelyard.layout import Layout
from steelyard.model import LinkSpread, Model, write_model
from steelyard.problem import Estimate, Problem
from steelyard.recording import Log, Recording
from steelyard.report import identification_content_of, load_report_page, report_page, torque_figure
from steelyard.robot import Robot
from steelyard.signals import band_of, in_band
from steelyard.uncertainty import LinkIntervals, LinkPosterior, base_intervals
from steelyard.workflows.identify_request import IdentifyRequest, log_options
from steelyard.workflows.logs import log_units
from steelyard.workflows.record import read_back

if TYPE_CHECKING:
    from steelyard.workflows.options import PackagePathGiven
    from steelyard.workflows.patched_description import PatchedDescription

NO_LINKS = "no set of links that can exist predicts the estimated torques, so no model is written."


@dataclass(frozen=True)
class Price:
    """What links cost against the data's own base parameters, which no links need to have.

    Attributes:
        train: torque error of those base parameters on the training logs.
        holdout: the same on the log held out.
    """

    train: TorqueError
    holdout: TorqueError


@dataclass(frozen=True)
class ParameterRow:
    """One parameter of a model.

    Attributes:
        name: `<owner>.<term>`, such as `forearm_link.mx` or `elbow.coulomb`.
        value: in its unit.
        lower: lower end of its 95 % interval, in its unit.
        upper: upper end of it, in its unit.
        unit: SI unit.
        decided_by: who decided it: `data`, `prior`, `both` or `fixed`; empty where that is not known.
    """

    name: str
    value: float
    lower: float
    upper: float
    unit: str
    decided_by: str


@dataclass(frozen=True, eq=False, repr=False)
class ParameterTable:
    """Every parameter of a model with its interval; a sequence of rows, or a data frame.

    Attributes:
        rows: the parameters in the order of the layout.
    """

    rows: tuple[ParameterRow, ...]

    @classmethod
    def of(cls, model: Model) -> ParameterTable:
        """The table of a model."""
        p = model.layout.size
        ends = np.tile([-np.inf, np.inf], (p, 1)) if model.intervals is None else model.intervals
        who = model.decided_by or ("",) * p
        return cls(
            tuple(
                ParameterRow(x.name, float(value), float(low), float(high), x.unit, word)
                for x, value, (low, high), word in zip(
                    model.layout.parameters, model.parameters, ends, who, strict=True
                )
            )
        )

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns by name.

        Returns:
            Lists of equal length: names, values, ends of the intervals, units, and who decided.
        """
        names = ("name", "value", "lower", "upper", "unit", "decided_by")
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    def to_pandas(self) -> Any:
        """The table as a data frame of pandas, which must be installed.

        Returns:
            A `pandas.DataFrame`.

        Raises:
            InputError: pandas is not installed.
        """
        return _frame("pandas", self.to_dict())

    def to_polars(self) -> Any:
        """The table as a data frame of Polars, which must be installed.

        Returns:
            A `polars.DataFrame`.

        Raises:
            InputError: Polars is not installed.
        """
        return _frame("polars", self.to_dict())

    def __iter__(self) -> Iterator[ParameterRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> ParameterRow:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    def __repr__(self) -> str:
        return f"<ParameterTable: {len(self.rows)} parameters, {self.rows[0].name} to {self.rows[-1].name}>"


@dataclass(frozen=True, repr=False)
class Figure:
    """A picture as SVG, which notebooks show.

    Attributes:
        svg: its text.
        title: what it shows.
    """

    svg: str
    title: str

    def save(self, path: FilePath) -> None:
        """Write it.

        Args:
            path: an `.svg` file; an existing one is replaced.
        """
        write_text(path, self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure: {self.title}>"


def load_writers() -> None:
    """Load what only writing a result needs: the programs that read models back, and the page's templates."""
    load_judges()
    load_report_page()


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """A robot that was identified, and what is to be thought of it.

    Attributes:
        question: robot, logs and options, as they were made ready.
        problem: the equations that were solved.
        estimate: their answer.
        certificate: which combinations of parameters the motion shows.
        verdict: what is to be thought of it, check by check.
        train: torque unexplained on the training logs, percent of its rms.
        holdout: the same on data that was not learnt from.
        unfiltered: the same with all that the torques held out hold, noise included.
        findings: what was noticed on the way.
        price: what links cost against base parameters alone.
        prior: what was known beforehand; None for nothing.
        posterior: what data and prior together say of the links; None without a prior.
        intervals: the same as intervals; None without a prior.
        request: what was asked, as a record holds it; None where it was not asked by `identify`.
        recorded: the request with the digests of its inputs.
        constants: torque per current at each joint, shape (nv,), N·m/A or N/A; None for logged torques.
        seconds: what it took.
        files: what was written, by name.
    """

    question: IdentificationData
    problem: Problem
    estimate: Estimate
    certificate: ExcitationCertificate
    verdict: Verdict
    train: TorqueError
    holdout: TorqueError
    unfiltered: TorqueError
    findings: tuple[Finding, ...]
    price: Price
    prior: Prior | None = None
    posterior: LinkPosterior | None = None
    intervals: LinkIntervals | None = None
    request: IdentifyRequest | None = None
    recorded: Mapping[str, Any] | None = None
    constants: Array | None = None
    seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def robot(self) -> Robot:
        """The robot that moved."""
        return self.question.robot

    @property
    def layout(self) -> Layout:
        """Its parameters, with the shapes of friction that were found."""
        return self.estimate.layout

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints that move, in order."""
        return tuple(joint.name for joint in self.robot.joints if joint.nv)

    @property
    def recordings(self) -> dict[str, Recording]:
        """What was learnt from and judged by, by name."""
        train = {f"train {k + 1}": log for k, log in enumerate(self.question.train)}
        return train | {self.question.held_out: self.question.holdout}

    @cached_property
    def model(self) -> Model:
        """The model that was found.

        Raises:
            NoSolutionError: no set of links that can exist predicts the estimated torques.
        """
        estimate, found, layout = self.estimate, self.intervals, self.layout
        if estimate.parameters is None:
            raise NoSolutionError(NO_LINKS, place="estimate", remedy="See the findings; try --method lmi.")
        ends: Array | None = None
        spreads: tuple[LinkSpread, ...] = ()
        if found is not None:
            ends = found.ends
            spreads = tuple(
                LinkSpread(
                    found.com_ends[k],
                    found.inertia_ends[k],
                    tuple(found.com_decided_by[k]),
                    tuple(found.inertia_decided_by[k]),
                )
                for k in range(len(layout.links))
            )
        return estimated_model(
            self.robot,
            layout,
            estimate.parameters,
            estimate,
            structure=self.problem.structure,
            intervals=ends,
            decided_by=() if found is None else found.decided_by,
            spreads=spreads,
            findings=self.findings,
        )

    @cached_property
    def parameters(self) -> ParameterTable:
        """Every parameter with its interval and who decided it."""
        return ParameterTable.of(self.model)

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Torques of a motion by the model.

        Args:
            q: joint positions, shape (N, nq), rad or m.
            v: joint velocities, shape (N, nv), rad/s or m/s.
            a: joint accelerations, shape (N, nv), rad/s² or m/s².

        Returns:
            Torques, shape (N, nv), N·m or N.
        """
        return self.model.torque(q, v, a)

    def score(self, log: Log) -> float:
        """How much torque of another log the model leaves unexplained, in the band of its motion.

        The log is read and made ready as those that were learnt from.

        Args:
            log: its path, a recording, columns by name, or a data frame.

        Returns:
            Percent of the torque's rms over all joints.

        Raises:
            InputError: the log cannot be used.
        """
        asked = self.request
        how = LogOptions()
        if asked is not None:
            units = log_units(asked.units, asked.calibration, self.robot)
            how = log_options(asked, self.joints, self.constants, units)
        ready, _, _ = log_made_ready(log, self.robot, how)
        if (factors := self.question.factors) is not None:
            ready = ready.revised(
                "calibrated", {"factors": factors.tolist()}, tau=ready.channels["tau"] * factors
            )
        predicted = self.predict(*(ready.channels[name] for name in ("q", "v", "a")))
        return error_along([ready], [predicted]).overall

    def plot(self) -> Figure:
        """Draw measured and predicted torque of the log held out, joint by joint.

        Returns:
            A picture that notebooks show, and that can be saved.
        """
        log = self.question.holdout
        predicted = self.estimate.torque(self.robot, log)
        title = f"{self.robot.name}: torque of a motion it was not identified on"
        moving = [joint for joint in self.robot.joints if joint.nv]
        svg = torque_figure(
            log.time,
            in_band(log, log.channels["tau"]),
            in_band(log, predicted),
            joints=self.joints,
            units=[joint.effort_unit for joint in moving],
            errors=self.holdout.joints,
            title=title,
        )
        return Figure(svg, title)

    def save(self, folder: FilePath, *, force: bool = False) -> dict[str, str]:
        """Write everything, or nothing: models, parameters, code, record and report.

        A description that is a URDF file is edited in place of being written anew.

        Args:
            folder: for the result.
            force: whether an earlier result may be replaced.

        Returns:
            The paths of the files by name.

        Raises:
            InputError: the folder is not free.
            NoSolutionError: no set of links that can exist predicts the estimated torques.
        """
        out, request = Path(folder), self.request
        draws, seed = (0, 0) if request is None else (request.draws, request.seed)
        described = None if request is None else Path(request.robot)
        urdf = described is not None and described.suffix.lower() == ".urdf" and described.is_file()
        written = write_model(
            out,
            self.model,
            description=described.read_bytes() if urdf and described is not None else None,
            estimate=estimate_record(self.estimate),
            draws=self._drawn(draws, seed),
            seed=seed if draws else None,
            steps=[step for log in self.recordings.values() for step in log.provenance],
            report=self._page,
            request=self.recorded,
            verdict=self.judgement,
            force=force,
        )
        return {name: str(out / name) for name in written.files}

    def patch(
        self,
        description: FilePath,
        out: FilePath | None = None,
        *,
        argument: Sequence[str] | Mapping[str, str] | None = None,
        package_path: PackagePathGiven = None,
        force: bool = False,
    ) -> PatchedDescription:
        """Change a description of the robot in the numbers that were found, and in nothing else.

        Args:
            description: the path of a URDF, xacro or MJCF file.
            out: where to write the changed file; None to write nothing.
            argument: values of xacro arguments, by name.
            package_path: folders in which packages of meshes and xacro files are looked for.
            force: whether files that exist may be replaced, the description itself among them.

        Returns:
            The changed files, what changed in them, and what they cannot carry; see `sy.patch`.

        Raises:
            InputError: names or kinematics differ, or a number has no place of its own in the file.
            NoSolutionError: no set of links that can exist predicts the estimated torques.
        """
        from steelyard.workflows.patched_description import patched_description

        return patched_description(
            description, self.model, out, argument=argument, package_path=package_path, force=force
        )

    def _drawn(self, draws: int, seed: int) -> Array | None:
        """Models of what the data leaves open, shape (draws, p), SI."""
        if not draws:
            return None
        if self.posterior is not None:
            return self.posterior.draw(draws, np.random.default_rng(seed))
        if self.estimate.covariance is None:
            return None
        return draw_models(
            self.robot,
            self.layout,
            self.model.parameters,
            self.estimate.covariance,
            self.estimate.base,
            draws,
            np.random.default_rng(seed),
        ).parameters

    def _page(self, judges: Mapping[str, Sequence[str]]) -> str:
        content = identification_content_of(
            self.robot,
            self.estimate,
            self.verdict,
            self.recordings,
            held_out=[self.question.held_out],
            findings=self.findings,
            intervals=None if self.intervals is None else self.intervals.ends,
            decided_by=() if self.intervals is None else self.intervals.decided_by,
            read_back=judges,
        )
        return report_page(content)

    @property
    def judgement(self) -> dict[str, Any]:
        """The verdict and the errors of torques it rests on, in the motion's band and unfiltered, percent."""

        def errors(error: TorqueError) -> dict[str, Any]:
            return {"overall": error.overall, "joints": dict(zip(self.joints, error.joints, strict=True))}

        return {
            "verdict": self.verdict.status,
            "checks": [
                {"name": check.name, "status": check.status, "message": check.message}
                for check in self.verdict.checks
            ],
            "train": errors(self.train),
            "holdout": {
                "log": self.question.held_out,
                "band": band_of(self.question.holdout),
                "unfiltered": self.unfiltered.overall,
                **errors(self.holdout),
            },
            "unfiltered": errors(self.unfiltered),
        }

    @property
    def _refinement(self) -> dict[str, Any] | None:
        """How the refinement of a closed loop went; None where the estimate is none."""
        if "outcome" not in self.estimate.detail:
            return None
        from steelyard.workflows.closed_loop import refinement_of

        return refinement_of(self.estimate, self.joints)

    @cached_property
    def document(self) -> dict[str, Any]:
        """Everything a script may ask for."""
        intervals = base_intervals(self.estimate, systematic=True)
        random = base_intervals(self.estimate)
        refinement = self._refinement
        judged = self.judgement
        model = None if self.estimate.parameters is None else self.model
        masses = self.layout.nominal[: 10 * len(self.layout.links) : 10]
        return {
            "verdict": judged["verdict"],
            "checks": judged["checks"],
            "findings": [
                {"severity": f.severity, "code": f.code, "message": f.message, "place": f.place}
                for f in (*self.findings, *self.estimate.findings)
            ],
            "identifiable": self.problem.base.count,
            "excited": self.certificate.determined,
            "cond": self.estimate.condition,
            "method": self.estimate.method,
            "samples": self.estimate.samples,
            "train": judged["train"],
            "holdout": judged["holdout"],
            "unfiltered": judged["unfiltered"],
            "price": {
                "train": {"unconstrained": self.price.train.overall, "links": self.train.overall},
                "holdout": {"unconstrained": self.price.holdout.overall, "links": self.holdout.overall},
            },
            "total_mass": {
                "estimated": None if model is None else model.mass,
                "described": None if np.isnan(masses).any() else float(masses.sum()),
            },
            "links": [] if model is None else [link.document for link in model.links.values()],
            "joints": [] if model is None else [joint.document for joint in model.joints.values()],
            "consistent": self.verdict.check("physical consistency").status is Status.PASS,
            "base": [
                {"name": name, "value": value, "interval95": [lower, upper], "interval95_random": [low, high]}
                for name, value, lower, upper, low, high in zip(
                    intervals.names,
                    intervals.values.tolist(),
                    intervals.lower.tolist(),
                    intervals.upper.tolist(),
                    random.lower.tolist(),
                    random.upper.tolist(),
                    strict=True,
                )
            ],
            **({} if refinement is None else {"refinement": refinement}),
            "seconds": self.seconds,
            "files": dict(self.files),
            "read_back": read_back(self.files) if self.files else {},
        }

    @property
    def constants_told(self) -> str | None:
        """What the errors of torque constants add to the intervals of base parameters; None for nothing."""
        if self.estimate.systematic is None:
            return None
        random, added = self.estimate.deviations, self.estimate.systematic_deviations
        known = np.isfinite(random) & (random > 0.0)
        wider = float(np.median(np.hypot(random, added)[known] / random[known])) if known.any() else 1.0
        errors = sorted(set(np.asarray(self.question.constant_errors).tolist()))
        share = " to ".join(f"{100.0 * x:.3g}" for x in dict.fromkeys((errors[0], errors[-1])))
        return (
            f"Intervals of base parameters hold an error of {share} % of each torque constant, which makes "
            f"them {wider:.3g} times as wide (median); interval95_random in the JSON answer is without it: "
            "logs made with the same constants are compared by that."
        )

    def summary(self) -> str:
        """Verdict, checks, torques and the model as plain text.

        Returns:
            Text for people.
        """
        lines = [f"{self.verdict.status}: {self._headline()}", ""]
        lines += [f"{check.status.value:>7}  {check.name}: {check.message}" for check in self.verdict.checks]
        width = max(len(name) for name in (*self.joints, "overall"))
        lines += ["", f"{'unexplained torque, %':<{width}}  {'training':>9}  {'held out':>9}"]
        rows = zip(self.joints, self.train.joints, self.holdout.joints, strict=True)
        for name, train, held in (*rows, ("overall", self.train.overall, self.holdout.overall)):
            lines.append(f"{name:<{max(width, 21)}}  {train:9.2f}  {held:9.2f}")
        if self.estimate.parameters is not None:
            lines += ["", self.model.summary()]
        return "\n".join(lines)

    def _headline(self) -> str:
        return (
            f"{self.robot.name} by {self.estimate.method}, {self.holdout.overall:.2f} % of the torque held "
            f"out is unexplained ({self.question.held_out})"
        )

    def __repr__(self) -> str:
        told = f"{self.verdict.status}, {self.holdout.overall:.2f} % held out"
        return f"<Identification of {self.robot.name}: {told}>"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        def row(cells: Sequence[str], tag: str = "td") -> str:
            return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

        checks = "".join(
            row((check.status.value, check.name, check.message)) for check in self.verdict.checks
        )
        told = f"<p><b>{self.verdict.status.value}</b>: {html.escape(self._headline())}</p>"
        told += f"<table>{checks}</table>"
        if self.estimate.parameters is None:
            return told
        links = [row(("link", "mass, kg", "95 %", "centre of mass, m", "decided by"), "th")]
        for link in self.model.links.values():
            ends = link.interval95.get("mass")
            spread = "" if ends is None else f"{ends[0]:.4g} to {ends[1]:.4g}"
            com = ", ".join(f"{x:.4f}" for x in link.com)
            links.append(
                row((link.name, f"{link.mass:.4g}", spread, com, str(link.decided_by.get("mass", ""))))
            )
        return f"{told}<table>{''.join(links)}</table>"


def _frame(package: str, columns: Mapping[str, list[Any]]) -> Any:
    """Columns as a data frame of a package that nothing else here needs, so that it is no dependency."""
    try:
        module = import_module(package)
    except ImportError as error:
        raise InputError(
            f"{package} is not installed.", place=package, remedy=f"Install it: pip install {package}."
        ) from error
    return module.DataFrame(columns)
