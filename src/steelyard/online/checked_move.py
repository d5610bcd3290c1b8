"""A move whose certificate was verified by the independent check, for the setting that it was proven in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.errors import InputError, SteelyardError
from steelyard.online.check_plan import check_plan
from steelyard.online.move import Move
from steelyard.online.setting import Setting


def checked_move(setting: Setting, move: Move) -> Move:
    """Verify the certificate of a move again; limits, box, tube and law are made afresh from the setting.

    Args:
        setting: what was decided before, among what the move was proven in.
        move: a plan with its proof.

    Returns:
        The move, with what the check found to be left of each limit.

    Raises:
        InputError: the certificate is of another robot, plan, model, limit, box, tube or law.
        NotCertifiedError: a limit could not be verified; says which and when.
    """
    needed, proof = setting.certifier(move.load), move.certificate
    claims = {
        "box of parameters": np.array_equal(proof.half_widths, needed.half_widths),
        "tube": proof.tube == needed.tube,
        "law": proof.law == needed.law,
    }
    for name, same in claims.items():
        if not same:
            raise InputError(f"is not that of the certificate: {name}.", place="certificate")
    return replace(move, check=check_plan(proof, needed.limits, move.plan.motion))


def refusal(error: SteelyardError) -> str:
    """That a proof was refused, in a sentence.

    Args:
        error: what the check said.

    Returns:
        The sentence.
    """
    return f"The check of a plan's proof by other means refuses it: {error}"
