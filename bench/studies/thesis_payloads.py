"""The simulated cases of Lambert (2023) beside ours: Tables 5.1-5.4 by line, the dumbbell of Table 5.6.

About four minutes on one idle core.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from steelyard.arrays import Array
from steelyard.control import ComputedTorque
from steelyard.dynamics import torque_regressor
from steelyard.estimation.linear import fit_weighted
from steelyard.identifiable import structural_identifiability
from steelyard.inertia import PARAMETER_NAMES, Body, check_body
from steelyard.layout import Layout, layout_of
from steelyard.motion import Motion
from steelyard.payloads import (
    ArmModel,
    PayloadEstimate,
    Weighing,
    described,
    mounted_at,
    payload_of,
    weigh_by_residual,
    weigh_full_arm,
    weigh_with_model,
)
from steelyard.pose import Pose
from steelyard.problem import problem_of
from steelyard.recording import Recording
from steelyard.robot import Robot
from steelyard.signals import CentralDifferences, differentiated, prepared
from steelyard.simulation import simulate_motion
from steelyard.zoo import zoo_robot
from tables import Bound, Study

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from payloads.thesis_cases import (
    BLOCK,
    CYCLE,
    DUMBBELL,
    OBJECT,
    TABLE_5_1,
    TABLE_5_2,
    TABLE_5_3,
    TABLE_5_4,
    TABLE_5_6,
    Printed,
    from_positions,
    in_step,
    panda_sinusoids,
    planar_sinusoids,
    without_friction,
)

FINGERS = Pose(np.eye(3), np.array([0.0, 0.0, 0.1034]))
"""Where the hand of the Panda holds things, in its flange: 103.4 mm, the vendor's nominal end effector."""
DUMBBELL_RUNS = 10
THIN = 10
"""Of the ideal rows every tenth is enough."""
SPARSE = 5
"""The paper logged at 200 Hz, a fifth of the simulated rate."""
TRUE, POSITIONS, LATE = "true accelerations", "positions alone", "positions alone, torques not moved"

_DESCRIPTION = """Arms without friction on MuJoCo plants with ideal sensors. Errors are absolute, in SI units.
"True accelerations" takes the log as it is. "Positions alone" takes positions and torques, differentiates,
and moves torques by the lag that the fit finds: half a millisecond, since a drive holds its torque for one.
"Not moved" leaves that out: torque and acceleration are then of different instants, and errors rise to 1e-5
and 1e-3, where the paper's are, which asks where its own come from (5.1.1). All but the last are held to the
paper's error or 1e-6, whichever is larger; a printed 0.000 counts as zero. The paper states neither
frequencies nor durations of its small arms. Ours are slow: what "positions alone" leaves grows with the
frequency, and with sinusoids of up to 4 instead of 2.5 rad/s the mass of Table 5.3 is off by 1e-6 to 3e-6."""

_TWO_LINKS = """**Table 5.2.** Lumping terms with the same coefficient gives seven parameters, but of {} only
two combinations show: mass moved from the second link to the end of the first changes no torque. The data
matrix of the seven has condition {:.0e} on random states, so a solver picks some point of a line. The paper's
errors of +0.30, −0.291 and +0.300 lie along this line. Torques determine six combinations, which the arm's
structure tells before there is a log, and these come out right, from the paper's numbers as from ours."""

_RESIDUAL = """"Residual" subtracts an empty run of the same motion; a description says what the arm needs for
the small difference of the two runs. "No description" is the paper's own form, shown and not held: it takes
two runs for one motion, which no controller that holds torques for a millisecond gives exactly. "Known robot"
needs no empty run, "full arm" identifies the arm twice and knows nothing of it beforehand."""

_DUMBBELL = """The dumbbell in the fingers of a Panda with friction and `industrial` sensors, its controller
ignorant of it; ten sinusoids, empty and loaded; residual torques with a description that is ten percent off.
"Not filtered" takes every fifth row, the paper's 200 Hz, and differences of it. The paper's errors are of
hardware and ours are not: the table compares what becomes of such data, not instruments."""


def run() -> Study:
    """Every table."""
    parts = [
        _arm("Table 5.1", "one_link", TABLE_5_1),
        _two_links(),
        _payload("Table 5.3", "two_link", BLOCK, TABLE_5_3, _planar_motions),
        _payload("Table 5.4", "panda", OBJECT, TABLE_5_4, _panda_motions),
        _dumbbell(),
    ]
    texts, bounds, extras = zip(*parts, strict=True)
    return Study(
        "Payloads of Lambert (2023)",
        "\n\n".join((_DESCRIPTION, *texts)),
        tuple(chain.from_iterable(bounds)),
        {key: value for extra in extras for key, value in extra.items()},
    )


Part = tuple[str, list[Bound], dict[str, Any]]


def _arm(title: str, name: str, printed: Mapping[str, Printed]) -> Part:
    """An arm identified from three sinusoids; the lines are its base parameters."""
    robot = without_friction(name)
    layout = layout_of(robot, ())
    logs = [simulate_motion(robot, motion) for motion in planar_sinusoids(robot, (1.0, 2.0, 3.0), 8.0)]
    late = from_positions(logs)
    ways = {TRUE: logs, POSITIONS: in_step(robot, layout, late), LATE: late}
    found = {way: fit_weighted(problem_of(robot, layout, runs)).values for way, runs in ways.items()}
    return _compared(title, printed, found, held=(TRUE, POSITIONS))


def _two_links() -> Part:
    """Table 5.2: what its seven numbers hide, and the six that torques determine."""
    robot = without_friction("two_link")
    layout = layout_of(robot, ())
    structure = structural_identifiability(robot, layout)
    lumped = np.array([_indicator(layout, names) for names in TABLE_5_2])
    # Changes that no torque shows, as changes of the lumped parameters: all lie along one direction.
    U, s, _ = np.linalg.svd(lumped @ structure.nullspace)
    hidden = U[:, 0] / np.abs(U[:, 0]).max()
    missed = np.array([line.estimate - line.truth for line in TABLE_5_2.values()])
    along = hidden * (hidden @ missed) / (hidden @ hidden)
    affected = [" + ".join(n) for n, h in zip(TABLE_5_2, hidden, strict=True) if abs(h) > 1e-9]
    base = _printed_base(structure.base.matrix, structure.base.names, layout)
    text, bounds, extra = _arm("Table 5.2, base parameters", "two_link", base)
    explained = [
        Bound(
            "Table 5.2: directions among its seven lumped parameters that no torque shows",
            int((s > 1e-9).sum()),
            1,
        ),
        Bound(
            "Table 5.2: the paper's largest error but for that direction",
            float(np.abs(missed - along).max()),
            0.01,
            note=f"{np.abs(missed).max():.3g} with it",
        ),
    ]
    told = _TWO_LINKS.format(", ".join(affected), _condition(robot, layout, lumped))
    return f"{told}\n\n{text}", [*explained, *bounds], extra


def _indicator(layout: Layout, names: Iterable[str]) -> Array:
    row = np.zeros(layout.size)
    row[[layout.index(name) for name in names]] = 1.0
    return row


def _printed_base(K: Array, names: Sequence[str], layout: Layout) -> dict[str, Printed]:
    """The paper's lines, combined to the base parameters that they determine."""
    lumped = np.array([_indicator(layout, names) for names in TABLE_5_2])
    C = np.linalg.lstsq(lumped.T, K.T, rcond=None)[0].T
    truth, estimate = (C @ [getattr(x, what) for x in TABLE_5_2.values()] for what in ("truth", "estimate"))
    lines = {name: Printed(t, e, abs(e - t)) for name, t, e in zip(names, truth, estimate, strict=True)}
    # Where one line is one base parameter its printed error stands.
    return {name: TABLE_5_2.get((name,), line) for name, line in lines.items()}


def _condition(robot: Robot, layout: Layout, lumped: Array) -> float:
    rng = np.random.default_rng(0)
    Y = torque_regressor(robot, layout, *(rng.uniform(-2.0, 2.0, (3, 200, 2)))).reshape(-1, layout.size)
    shown = lumped.any(axis=0)
    return float(np.linalg.cond(Y[:, shown] @ np.linalg.inv(lumped[:, shown])))


def _planar_motions(robot: Robot) -> list[Motion]:
    return planar_sinusoids(robot, tuple(np.linspace(1.0, 2.5, 10)), 6.0)


def _panda_motions(robot: Robot) -> list[Motion]:
    return panda_sinusoids(robot, np.random.default_rng(0), 3, 6.0)


def _payload(
    title: str,
    name: str,
    body: Body,
    printed: Mapping[str, Printed],
    motions_of: Callable[[Robot], list[Motion]],
) -> Part:
    """An object weighed in every way; the controller knows it, as the paper's does."""
    robot = without_friction(name)
    motions = motions_of(robot)
    empty = [simulate_motion(robot, motion) for motion in motions]
    loaded = [simulate_motion(robot.with_body("payload", body), motion) for motion in motions]
    columns = [PARAMETER_NAMES.index(term) for term in printed]
    found = {}
    for source, ready, interval in ((TRUE, _thinned, None), (POSITIONS, from_positions, CYCLE)):
        runs = ready(loaded), ready(empty)
        for way, weighing in _weighed(robot, *runs, interval).items():
            assert np.isfinite(weighing.deviations[columns]).all(), f"{title}: {way} does not show every line"
            found[f"{way}, {source}"] = weighing.values[columns]
    text, bounds, extra = _compared(
        title, printed, found, held=[w for w in found if "no description" not in w]
    )
    return (f"{_RESIDUAL}\n\n{text}" if title == "Table 5.3" else text), bounds, extra


def _thinned(logs: Sequence[Recording]) -> list[Recording]:
    return [log.rows(slice(None, None, THIN)) for log in logs]


def _weighed(
    robot: Robot, loaded: list[Recording], empty: list[Recording], interval: float | None
) -> dict[str, Weighing]:
    held, model, layout = mounted_at(robot), described(robot, ()), layout_of(robot, ())
    told: dict[str, Any] = {"changes": (), "interval": interval}
    arms = loaded, empty
    if interval is not None:
        arms = in_step(robot, layout, loaded), in_step(robot, layout, empty)
    return {
        "residual": weigh_by_residual(robot, held, loaded, empty, description=model, **told),
        "known robot": weigh_with_model(model, held, loaded, **told),
        "full arm": weigh_full_arm(robot, layout, held, *arms, changes=()),
        "residual, no description": weigh_by_residual(robot, held, loaded, empty, **told),
    }


def _dumbbell() -> Part:
    """Table 5.6 in simulation, filtered and not."""
    robot = zoo_robot("panda")
    held, model = mounted_at(robot, grasp=FINGERS), described(robot)
    doubted = ArmModel(robot, model.layout, 0.9 * model.parameters, "a description ten percent off")
    controller = ComputedTorque.nominal(robot, 2500.0, 100.0)
    motions = panda_sinusoids(robot, np.random.default_rng(1), DUMBBELL_RUNS, 6.0)
    logs = [
        [
            simulate_motion(
                arm, motion, controller=controller, sensor="industrial", rng=np.random.default_rng([k, i])
            )
            for i, motion in enumerate(motions)
        ]
        for k, arm in enumerate((robot.with_body("dumbbell", DUMBBELL.moved(FINGERS)), robot))
    ]
    raw, smooth = ([[ready(log) for log in runs] for runs in logs] for ready in (_unfiltered, _filtered))
    estimates = [
        payload_of(
            weigh_by_residual(robot, held, *runs, description=doubted, interval=interval),
            np.random.default_rng(0),
        )
        for runs, interval in ((raw, SPARSE * CYCLE), (smooth, CYCLE))
    ]
    truth, *theirs = (np.array(column) for column in zip(*TABLE_5_6.values(), strict=True))
    bounds = [
        Bound(
            "Table 5.6: our answers that cannot exist",
            sum(not estimate.body.consistency for estimate in estimates),
            0,
            note=f"of 2; the paper's: {sum(not check_body(ten) for ten in theirs)} of 2",
        )
    ]
    ours, paper = (np.abs(ten - truth) for ten in (estimates[1].ten, theirs[1]))
    for what, part in (("mass", slice(0, 1)), ("first moment", slice(1, 4)), ("inertia", slice(4, 10))):
        bounds.append(
            Bound(
                f"Table 5.6: largest error in {what}, filtered",
                float(ours[part].max()),
                float(paper[part].max()),
            )
        )
    kept = {"Table 5.6": [estimate.ten.tolist() for estimate in estimates]}
    return f"**Table 5.6.** {_DUMBBELL}\n\n{_dumbbell_table(truth, theirs, estimates)}", bounds, kept


def _unfiltered(log: Recording) -> Recording:
    return differentiated(log.rows(slice(None, None, SPARSE)).with_channels(v=None), CentralDifferences())


def _filtered(log: Recording) -> Recording:
    return prepared(log).recording


def _dumbbell_table(truth: Array, theirs: Sequence[Array], estimates: Sequence[PayloadEstimate]) -> str:
    heads = (
        "number", "truth", "paper, not filtered", "ours, not filtered", "paper, filtered", "ours, filtered"
    )  # fmt: skip
    columns = [x for pair in zip(theirs, (e.ten for e in estimates), strict=True) for x in pair]
    rows = [
        (name, f"{t:.4g}", *(f"{abs(column[k] - t):.2g}" for column in columns))
        for k, (name, t) in enumerate(zip(PARAMETER_NAMES, truth, strict=True))
    ]
    alone = ["can" if check_body(e.weighing.values) else "cannot" for e in estimates]
    told = (
        f"Ours are bodies that can exist by construction; least squares alone, not filtered and filtered, "
        f"gives one that {alone[0]} and one that {alone[1]}. None of the paper's can."
    )
    return f"Errors.\n\n{_markdown(heads, rows)}\n\n{told}"


def _compared(
    title: str, printed: Mapping[str, Printed], found: Mapping[str, Array], held: Sequence[str]
) -> Part:
    """A table of errors beside the paper's, and a bound for each way that is held."""
    truth, allowed = (np.array([getattr(x, w) for x in printed.values()]) for w in ("truth", "allowed"))
    errors = {way: np.abs(values - truth) for way, values in found.items()}
    bounds = [
        Bound(
            f"{title}, {way}: largest error over max(paper's error, 1e-6)",
            float((errors[way] / allowed).max()),
            1.0,
            note=f"{len(printed)} lines",
        )
        for way in held
    ]
    first = next(iter(found.values()))
    rows = [
        (
            name,
            f"{line.truth:.4g}",
            f"{first[k]:.9f}",
            *(f"{error[k]:.1e}" for error in errors.values()),
            f"{line.error:.2e}" if line.error > 1e-12 else "0.000",
        )
        for k, (name, line) in enumerate(printed.items())
    ]
    heads = ("number", "truth", "ours", *errors, "paper")
    text = f"**{title}.** Errors by way.\n\n{_markdown(heads, rows)}"
    return text, bounds, {title: {way: values.tolist() for way, values in found.items()}}


def _markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ("---",) * len(heads), *rows))
