"""The result folder of `steelyard identify`: models, parameters, record and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from steelyard.cli.identify_answer import judgement
from steelyard.cli.identify_line import Identification
from steelyard.errors import NoSolutionError
from steelyard.export import draw_models, write_result
from steelyard.report import content_of, report_page


def write_identification(
    done: Identification,
    out: Path,
    description: str,
    *,
    request: Mapping[str, object] | None = None,
    draws: int = 0,
    seed: int = 0,
    force: bool = False,
) -> dict[str, str]:
    """Write everything, or nothing; returns the paths by name. A description that is a URDF is edited."""
    parameters = done.estimate.parameters
    if parameters is None:
        raise NoSolutionError(
            "no set of links that can exist predicts the estimated torques, so no model is written.",
            place="estimate",
            remedy="See the findings; try --method lmi.",
        )

    def page(judges: Mapping[str, Sequence[str]]) -> str:
        content = content_of(
            done.robot,
            done.estimate,
            done.verdict,
            done.recordings,
            held_out=[done.question.held_out],
            findings=done.findings,
            intervals=None if done.intervals is None else done.intervals.ends,
            decided_by=() if done.intervals is None else done.intervals.decided_by,
            read_back=judges,
        )
        return report_page(content)

    described, drawn = Path(description), None
    if draws and done.posterior is not None:
        drawn = done.posterior.draw(draws, np.random.default_rng(seed))
    elif draws and done.estimate.covariance is not None:
        drawn = draw_models(
            done.robot,
            done.layout,
            parameters,
            done.estimate.covariance,
            done.estimate.base,
            draws,
            np.random.default_rng(seed),
        ).parameters
    urdf = described.suffix.lower() == ".urdf" and described.is_file()
    written = write_result(
        out,
        done.robot,
        done.layout,
        parameters,
        description=described.read_bytes() if urdf else None,
        estimate=done.estimate,
        structure=done.problem.structure,
        intervals=None if done.intervals is None else done.intervals.ends,
        decided_by=() if done.intervals is None else done.intervals.decided_by,
        draws=drawn,
        seed=seed if draws else None,
        steps=[step for log in done.recordings.values() for step in log.provenance],
        report=page,
        request=request,
        verdict=judgement(done),
        force=force,
    )
    return {name: str(out / name) for name in written.files}
