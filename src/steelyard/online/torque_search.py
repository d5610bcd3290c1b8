"""The search for a proof of the torques: stretches of time are cut until every limit is kept on each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.arrays import Array, BoolArray
from steelyard.enclosure import Curve
from steelyard.limits import NotCertifiedError
from steelyard.online.robust_torque import RobustLaw
from steelyard.online.tube_forms import tube_forms
from steelyard.online.tube_torque import TubeDynamics, TubeTorques

FIRST_STRETCHES = 8
"""Into how many stretches a plan is cut at least, before any is cut again."""
MOST_PARTS = 8
"""Into how many a stretch is cut at most in one round."""
_RESERVE = 1.25
"""By how much a cut is finer than needed if torques were steady: they are not, and another round is dear."""


@dataclass(frozen=True, eq=False)
class TorqueSearch:
    """What is asked of the torques.

    Attributes:
        dynamics: the torques in the tube.
        law: the robust law.
        effort: the torque limits, infinite where none is stated, shape (nv,), N·m or N.
        plan: the plan.
        most: how many stretches to look at before giving up.
    """

    dynamics: TubeDynamics
    law: RobustLaw
    effort: Array
    plan: Curve
    most: int

    def run(self) -> tuple[Array, TubeTorques]:
        """Cut stretches until every torque limit is kept on each.

        Returns:
            Where the stretches meet, shape (K + 1,), s; and the torques on them.

        Raises:
            NotCertifiedError: a limit may be broken, or could not be proven; says which and when.
        """
        spans = self._first_spans()
        found: list[tuple[Array, TubeTorques, BoolArray]] = []
        looked_at = 0
        while len(spans):
            looked_at += len(spans)
            torques, margins = self._margins(spans)
            kept: BoolArray = np.asarray((margins >= 0.0).all(axis=1))
            found.append((spans, torques, kept))
            spans = self._cut(spans[~kept], margins[~kept], self.most - looked_at)
        return _joined(found)

    def _first_spans(self) -> Array:
        """Every piece of the plan in equal parts, none longer than `FIRST_STRETCHES` parts of the whole."""
        breaks = np.asarray(self.plan.breaks)
        pieces = np.stack((breaks[:-1], breaks[1:]), axis=1)
        return _parted(pieces, np.ceil(FIRST_STRETCHES * np.diff(breaks) / self.plan.duration - 1e-9))

    def _cut(self, spans: Array, margins: Array, most: int) -> Array:
        r"""Cut stretches on which a limit is not proven, or refuse the plan.

        What a bound over a stretch exceeds that of its middle by is about in proportion to its length: where
        a margin is $m < 0$ on the stretch and $m_0 > 0$ in its middle, $(m_0 - m)/m_0$ parts will do.
        """
        if not len(spans):
            return spans
        t = spans.mean(axis=1, keepdims=True)
        torques, middle = self._margins(np.repeat(t, 2, axis=1))
        if not (middle >= 0.0).all():
            # What is not kept at an instant is proven over no stretch around it.
            raise self._refusal(spans, middle, torques)
        short = margins < 0.0
        needed = np.where(short, 1.0 - margins / np.where(middle > 0.0, middle, np.inf), 2.0).max(axis=1)
        counts = np.clip(np.ceil(_RESERVE * needed), 2, MOST_PARTS)
        if counts.sum() > most:
            raise self._refusal(spans, margins, torques)
        return _parted(spans, counts)

    def _margins(self, spans: Array) -> tuple[TubeTorques, Array]:
        """The torques over stretches, and what is left of their limits, (K, nv)."""
        forms = tube_forms(self.plan, spans[:, 0], spans[:, 1], self.dynamics.tube)
        torques = self.dynamics.torques(forms)
        most = np.maximum(-torques.lower, torques.upper) + self.law.torque_bound(torques.disturbance)
        return torques, np.nextafter(self.effort - np.nextafter(most, np.inf), -np.inf)

    def _refusal(self, spans: Array, margins: Array, torques: TubeTorques) -> NotCertifiedError:
        """What to say of the joint and stretch of which least is left; `torques` are those in the middles."""
        row, joint = (int(k) for k in np.unravel_index(int(margins.argmin()), margins.shape))
        (start, end), least = spans[row], float(margins[row, joint])
        name, unit = self.dynamics.robot.joint_names[joint], self.dynamics.robot.joints[joint].effort_unit
        robust = float(self.law.torque_bound(torques.disturbance[row])[joint])
        how = f"may exceed its limit of {self.effort[joint]:g} {unit} by {-least:.3g} {unit}"
        return NotCertifiedError(
            f"its torque {how} between t = {start:.6g} s and {end:.6g} s; the robust part takes "
            f"{robust:.3g} {unit}.",
            kind="torque",
            name=name,
            instant=float(0.5 * (start + end)),
            margin=least,
            broken=False,
            remedy="Move more slowly, or narrow the parameters or the tube.",
        )


def _parted(spans: Array, counts: Array) -> Array:
    """Stretches (K, 2) in equal parts, as many of each as its count says."""
    edges = [np.linspace(start, end, int(n) + 1) for (start, end), n in zip(spans, counts, strict=True)]
    return np.concatenate([np.stack((x[:-1], x[1:]), axis=1) for x in edges])


def _joined(found: list[tuple[Array, TubeTorques, BoolArray]]) -> tuple[Array, TubeTorques]:
    """Proven stretches of all rounds in the order of time."""
    spans = np.concatenate([span[kept] for span, _, kept in found])
    order = spans[:, 0].argsort()
    lower, upper, w = (
        np.concatenate([getattr(torques, name)[kept] for _, torques, kept in found])[order]
        for name in ("lower", "upper", "disturbance")
    )
    return np.append(spans[order, 0], spans[order[-1], 1]), TubeTorques(lower, upper, w)
