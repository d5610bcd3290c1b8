"""A move as it goes into a file: its law is left out, for setting and load determine it."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.arrays import Array
from steelyard.motion import RecedingPlan, SplineMotion
from steelyard.online.check_plan import PlanCheck
from steelyard.online.move import Move
from steelyard.online.plan_certificate import PlanCertificate
from steelyard.online.setting import Setting
from steelyard.uncertainty import PayloadBox


@dataclass(frozen=True, eq=False)
class NotedMove:
    """A move without its law, which setting and load determine.

    Attributes:
        motion: of its plan.
        switch: of its plan, s.
        parameter: of its plan, shape (nv,), dimensionless.
        load: what is taken for granted of the load.
        certificate: its proof.
        condition: of the load's regressor, dimensionless.
        refused: plans that could not be proven.
        check: what the independent check found to be left; None where there was none.
    """

    motion: SplineMotion
    switch: float
    parameter: Array
    load: PayloadBox
    certificate: PlanCertificate
    condition: float | None
    refused: tuple[str, ...]
    check: PlanCheck | None = None

    @classmethod
    def of(cls, move: Move) -> NotedMove:
        """Note a move.

        Args:
            move: the move.

        Returns:
            The note.
        """
        plan, words = move.plan, (move.condition, move.refused, move.check)
        return cls(plan.motion, plan.switch, plan.parameter, move.load, move.certificate, *words)

    def move(self, setting: Setting) -> Move:
        """The move again.

        Args:
            setting: of the run.

        Returns:
            The move, with the same law.
        """
        plan = RecedingPlan(self.motion, self.switch, self.parameter)
        law = setting.controller(self.load)
        return Move(plan, self.load, law, self.certificate, self.condition, self.refused, self.check)
