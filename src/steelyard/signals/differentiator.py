r"""Velocity and acceleration from what was measured, torque through the same filter.

A method is a linear filter F and derivatives D of what it lets through:

$$q_F = F q, \quad v = D F q, \quad a = D^2 F q, \quad \tau_F = F \tau.$$

Torque passes F too, so that both sides of the equations of motion have lost the same frequencies.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Literal

from steelyard.arrays import Array
from steelyard.errors import InputError, RecordingError, UnknownNameError
from steelyard.recording import Recording
from steelyard.signals.columns import MEASURED, present
from steelyard.signals.sampling import uniform_interval


@dataclasses.dataclass(frozen=True)
class Differentiator(ABC):
    """A filter with derivatives; subclasses are frozen dataclasses whose attributes are their settings."""

    @abstractmethod
    def filtered(self, series: Array, interval: float, derivative: int, highest: int) -> Array:
        """Return a derivative of the filtered signal.

        The filter may depend on how many derivatives are taken of the signal it is chosen for; calls with
        the same `highest` use the same filter.

        Args:
            series: samples, shape (N, n), SI.
            interval: sampling interval, s.
            derivative: which derivative to return: 0 for the filtered signal itself.
            highest: the highest derivative that is taken with this filter.

        Returns:
            The derivative at the same times, shape (N, n), SI.
        """

    def derivatives(self, series: Array, interval: float, highest: int) -> tuple[Array, ...]:
        """Return the filtered signal and all its derivatives, as `filtered` gives them one by one.

        Args:
            series: samples, shape (N, n), SI.
            interval: sampling interval, s.
            highest: the highest derivative.

        Returns:
            The derivatives from 0 to the highest, each of shape (N, n), SI.
        """
        return tuple(self.filtered(series, interval, k, highest) for k in range(highest + 1))

    @abstractmethod
    def margin(self, interval: float, highest: int) -> int:
        """Return how many samples at each end depend on what lies beyond the recording.

        Args:
            interval: sampling interval, s.
            highest: the highest derivative that is taken with this filter.

        Returns:
            The number of samples.
        """

    @property
    def settings(self) -> Mapping[str, object]:
        """Name and settings of the method, as a recording's history keeps them."""
        return {"method": type(self).__name__, **dataclasses.asdict(self)}


def differentiated(
    recording: Recording, method: Differentiator, source: Literal["q", "v"] = "q"
) -> Recording:
    """Give a recording velocities and accelerations; positions, torques and currents pass the same filter.

    From `q` both v and a come from positions, and a measured v or a is replaced. From `v` measured velocities
    are filtered and differentiated once. References and extra columns keep their values. Samples at the ends
    that the filter cannot know are cut.

    Args:
        recording: a uniform recording.
        method: filter and derivatives.
        source: channel that is differentiated.

    Returns:
        The recording with q, v and a, and with torques and currents where it has them.

    Raises:
        RecordingError: time is not uniform, the channel is missing, or the recording is too short.
    """
    if source not in ("q", "v"):
        raise UnknownNameError("source", source, ("q", "v"))
    h = uniform_interval(recording)
    highest = 2 if source == "q" else 1
    x = recording.channels.get(source)
    if x is None:
        raise RecordingError("there are no measured velocities.", place="v", remedy="Differentiate from 'q'.")
    names = [name for name in present(recording, MEASURED) if name not in ("v", "a")]
    derivatives = method.derivatives(x, h, highest)
    fields = {source: derivatives[0], "v": derivatives[-2], "a": derivatives[-1]}
    for name in names:
        if name != source:
            fields[name] = method.filtered(recording.channels[name], h, 0, highest)
    replaced = [name for name in (("v", "a") if source == "q" else ("a",)) if name in recording.channels]
    detail = {**method.settings, "source": source, "filtered": names, "replaced": replaced}
    return _cut(recording, "differentiated", detail, fields, method.margin(h, highest))


def smoothed(recording: Recording, method: Differentiator, channels: Sequence[str] = MEASURED) -> Recording:
    """Pass channels through a filter, without derivatives.

    Args:
        recording: a uniform recording.
        method: the filter.
        channels: names of the channels; those that are absent are passed over.

    Returns:
        The recording with these channels filtered and its ends cut.
    """
    h = uniform_interval(recording)
    names = present(recording, channels)
    if not names:
        raise InputError(f"none of {list(channels)} is in the recording.", place="channels")
    fields = {name: method.filtered(recording.channels[name], h, 0, 0) for name in names}
    detail = {**method.settings, "filtered": list(names)}
    return _cut(recording, "smoothed", detail, fields, method.margin(h, 0))


def _cut(
    recording: Recording, action: str, detail: Mapping[str, object], fields: Mapping[str, Array], margin: int
) -> Recording:
    if recording.n - 2 * margin < 2:
        raise RecordingError(
            f"{margin} samples are cut at each end, but there are only {recording.n}.",
            place=action,
            remedy="Record longer, or choose a shorter filter.",
        )
    whole = recording.revised(action, {**detail, "cut_at_each_end": margin}, **fields)
    return whole.rows(slice(margin, recording.n - margin)) if margin else whole
