"""What paper 000's Theorem 13 says of a run: its answer to all equations that the run's log gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.online.online_run import OnlineRun
from steelyard.online.tube_acceleration import tube_acceleration
from steelyard.uncertainty import Theorem13, bounded_rows, theorem13_of


def published_bounds(run: OnlineRun) -> Theorem13 | None:
    """Theorem 13 on the whole log, with what is known of the load in the end bounding the errors of its rows.

    Args:
        run: the run.

    Returns:
        Both forms of the theorem; None where nothing was absorbed, or something assumed is not so.
    """
    record, setting = run.record, run.record.setting
    if record.alarm is not None or record.knowledge[-1].rows == 0:
        return None
    arm = setting.arm
    most = [
        tube_acceleration(
            driven.move.certificate,
            arm.robot,
            plan=driven.move.motion,
            lag=setting.cycle,
            errors=setting.errors,
        )
        for driven in record.moves
    ]
    errors = replace(setting.errors, acceleration=np.max(most, axis=0))
    model = arm.robot, arm.layout, arm.parameters
    rows = bounded_rows(*model, run.recording, arm.held, errors, record.box, window=setting.window)
    return theorem13_of(rows)
