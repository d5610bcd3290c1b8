r"""`Problem`: which parameters explain the torques?

The torque equations of all samples are kept as one triangle per degree of freedom, so the question has the
same size for a minute and for a day of data. What the layout fixes is known: its torque is taken off first.

Two questions have no such equations: that of friction which grows with the load, in which torque is not
linear, and that of a motion without accelerations. Estimators made for them go back to the samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from steelyard.arrays import Array, checked, read_only
from steelyard.dynamics import Compressed, compress
from steelyard.errors import InputError, RecordingError
from steelyard.identifiable import (
    BaseParameters,
    Identifiability,
    free_base,
    restricted,
    structural_identifiability,
)
from steelyard.layout import Layout
from steelyard.recording import Recording
from steelyard.robot import Robot

# Fields of a frozen object that may be left out, and are asked for only by those who need them.

T = TypeVar("T")


class OnDemand(Generic[T]):
    """A field that may be built as None and is never read as None.

    Reading a field that was left out makes it from the other fields, once, or raises an error that says why
    it cannot be made. It stays a required argument of the dataclass.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        """State how the field is made.

        Args:
            make: takes the object, returns the field or raises.
        """
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        if instance is None:
            raise AttributeError(self._name)  # what tells a dataclass that the field has no default
        value: T | None = instance.__dict__[self._name]
        if value is None:
            value = self._make(instance)
            instance.__dict__[self._name] = value
        return value

    def __set__(self, instance: Any, value: T | None) -> None:
        instance.__dict__[self._name] = value


# `Evidence`: motions and the torques measured along them, one after the other.


def _no_accelerations(evidence: Evidence) -> Array:
    raise RecordingError(
        "has no a, without which there are no torque equations.",
        place="evidence",
        remedy="Differentiate the recordings and pose the problem with them, or use --method momentum.",
    )


class _Motion:
    """What a motion may be known without; inherited, so that `a` stays a required field before others."""

    a: Any = OnDemand(_no_accelerations)


@dataclass(frozen=True, eq=False)
class Evidence(_Motion):
    """Samples of one or several motions; time starts anew with each.

    Attributes:
        time: when, shape (N,), s.
        q: joint positions, shape (N, nq), rad or m.
        v: joint velocities, shape (N, nv), rad/s or m/s.
        a: joint accelerations, shape (N, nv), rad/s² or m/s²; built as None where they are not known, and
            then whoever reads them gets a RecordingError.
        tau: joint torques, shape (N, nv), N·m or N.
        starts: first sample of each motion, the first being 0.
        digests: digest of the recording of each motion.
    """

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    starts: tuple[int, ...]
    digests: tuple[str, ...]

    def __post_init__(self) -> None:
        n = len(checked("time", self.time, ("N",)))
        for name in ("time", "q", "v", "a", "tau"):
            if name == "a" and not self.accelerated:
                continue
            shape = ("N",) if name == "time" else ("N", "n")
            array = checked(name, getattr(self, name), shape)
            if len(array) != n:
                raise InputError(f"has {len(array)} samples, time has {n}.", place=name)
            object.__setattr__(self, name, read_only(array))
        ends = (*self.starts[1:], n)
        if self.starts[:1] != (0,) or any(a >= b for a, b in zip(self.starts, ends, strict=True)):
            raise InputError(f"{self.starts} are no starts of motions of {n} samples.", place="starts")

    @property
    def accelerated(self) -> bool:
        """Whether accelerations are known."""
        return self.__dict__["a"] is not None

    @property
    def n(self) -> int:
        """Number of samples N."""
        return len(self.time)

    @property
    def motions(self) -> Iterator[slice]:
        """The samples of each motion."""
        return (slice(a, b) for a, b in zip(self.starts, (*self.starts[1:], self.n), strict=True))

    @property
    def blocks(self) -> Iterator[tuple[Array, Array, Array, Array]]:
        """q, v, a and tau of each motion, as `compress` takes them."""
        a = self.a
        return ((self.q[part], self.v[part], a[part], self.tau[part]) for part in self.motions)


def evidence_of(robot: Robot, recordings: Sequence[Recording], *, accelerations: bool = True) -> Evidence:
    """The channels torque identification needs, of one or several recordings.

    Args:
        robot: the robot that moved.
        recordings: its logs; each needs q, v, a and tau of the robot's joints.
        accelerations: whether a is needed; where it is not, it is left out even if it was recorded.

    Raises:
        InputError: there is no recording, or one is of other joints.
        RecordingError: a channel was not recorded.
    """
    if not recordings:
        raise InputError("at least one is needed.", place="recordings")
    joints = tuple(joint.name for joint in robot.joints if joint.nv)
    needed = ("q", "v", "a", "tau") if accelerations else ("q", "v", "tau")
    for recording in recordings:
        if recording.joints != joints:
            raise InputError(
                f"the recording has joints {list(recording.joints)}, the robot {list(joints)}.",
                place="recording",
                remedy="Rename or reorder the recording's joints.",
            )
        if missing := [name for name in needed if name not in recording.channels]:
            raise RecordingError(
                f"has no {', '.join(missing)}.",
                place="recording",
                remedy="These channels are needed to identify."
                + (" Only --method momentum does without a." if missing == ["a"] else ""),
            )
    starts = np.cumsum([0, *(recording.n for recording in recordings)])[:-1]
    joined: dict[str, Any] = {"a": None}
    joined |= {name: np.concatenate([log.channels[name] for log in recordings]) for name in needed}
    return Evidence(
        np.concatenate([recording.time for recording in recordings]),
        joined["q"],
        joined["v"],
        joined["a"],
        joined["tau"],
        tuple(int(s) for s in starts),
        tuple(recording.digest for recording in recordings),
    )


# What can be known of a robot, found once for all problems that are posed about it.


@lru_cache(maxsize=8)
def structure_of(robot: Robot, layout: Layout) -> Identifiability:
    """The answer of `structural_identifiability`, remembered.

    One identification poses several problems: to choose a cut-off, with and without load friction, once more
    when the shapes of friction are known. They ask the same of the robot.

    Args:
        robot: the robot.
        layout: its parameters.

    Returns:
        What torques could say about them.
    """
    return structural_identifiability(robot, layout)


# What could be known of a robot whose friction grows with the load.
#
# $$\tau = r + D\,\delta + F_l\,|r| \operatorname{sign}(v), \qquad r = Y\phi_{links}$$
#
# is a function of the rigid torque r, of the linear drive δ and of $F_l$. The links appear through r alone,
# so the combinations of links are those of a robot without drives, and every drive term stands for itself:
# where friction grows with the load it shows a rotor apart from the link it turns, which torques without such
# friction never do. Joints without it, whose $F_l$ is fixed at zero, are those of a robot with linear drives.
# How well a given motion shows it is for the estimator to say.


def without_load(layout: Layout) -> Layout:
    """The same parameters without the friction that grows with the load.

    Args:
        layout: the parameters.

    Returns:
        The layout without `load`; itself where it has none.
    """
    return _with_drive(layout, tuple(term for term in layout.drive if term != "load"))


def load_base(robot: Robot, layout: Layout) -> BaseParameters:
    """The combinations of parameters that torques could determine, load friction among them.

    Args:
        robot: the robot.
        layout: its parameters, with the term `load`; where that is fixed, a joint has none.

    Returns:
        The combinations of links, and of drives of joints without load friction, that torques determine; then
        every free drive term of the others.
    """
    linear = without_load(layout)
    free = [x for x in layout.parameters if x.term in layout.drive and not x.fixed]
    loaded = {x.owner for x in free if x.term == "load"}
    apart = [x.name for x in free if x.owner in loaded]
    held = linear.fixing({name: 0.0 for name in apart if name in linear.names})
    structure = structure_of(robot, held)
    found = structure.base if held.free.all() else restricted(structure).base
    places = np.array([layout.index(held.names[k]) for k in np.flatnonzero(held.free)], dtype=np.int64)
    drive = np.array([layout.index(name) for name in apart], dtype=np.int64)
    K = np.zeros((found.count + len(drive), layout.size))
    K[: found.count, places] = found.matrix
    K[found.count + np.arange(len(drive)), drive] = 1.0
    return BaseParameters(
        (*found.names, *apart),
        read_only(K),
        read_only(np.concatenate([places[found.columns], drive])),
        found.smallest_kept,
        found.largest_dropped,
    )


def _with_drive(layout: Layout, drive: tuple[str, ...]) -> Layout:
    if drive == layout.drive:
        return layout
    links = 10 * len(layout.links)
    kept = [x for k, x in enumerate(layout.parameters) if k < links or x.term in drive]
    return replace(
        layout,
        parameters=tuple(kept),
        drive=drive,
        stribeck=layout.stribeck if "stribeck" in drive else (),
    )


Block = tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike]
"""A piece of a log: q, v, a and tau."""


def _compressed(problem: Problem) -> Compressed:
    if "load" in problem.layout.drive:
        raise InputError(
            "with friction that grows with the load torque is not linear in the parameters.",
            place="layout",
            remedy="Leave 'load' out of the drive terms, or fit with it and linearise there.",
        )
    return compress(problem.robot, problem.layout, problem.samples.blocks)


_FROM_SAMPLES = OnDemand(_compressed)


@dataclass(frozen=True, eq=False)
class Problem:
    """Which parameters explain the torques?

    Attributes:
        robot: the robot that moved.
        layout: its standard parameters.
        structure: what torques could tell about them, but for the term `load`.
        compressed: the torque equations of all samples; where it is built as None they are made from the
            samples when they are first asked for.
        prior: what is believed of phi beforehand, shape (p,), SI; NaN where nothing is, None for nothing at
            all.
        evidence: the samples themselves, where they are kept: estimators that look at single samples or their
            order need them.
        digests: digests of the recordings.
    """

    robot: Robot
    layout: Layout
    structure: Identifiability
    compressed: OnDemand[Compressed] = _FROM_SAMPLES
    prior: Array | None = None
    evidence: Evidence | None = None
    digests: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.prior is not None:
            prior = checked("prior", self.prior, (self.layout.size,), finite=False)
            object.__setattr__(self, "prior", read_only(prior))

    @cached_property
    def known(self) -> Array:
        """What the layout fixes, zero elsewhere, shape (p,), SI."""
        values = [x.nominal if x.fixed and x.nominal is not None else 0.0 for x in self.layout.parameters]
        return read_only(np.array(values, dtype=float))

    @cached_property
    def base(self) -> BaseParameters:
        """The combinations of free parameters that torques could determine, beta = K phi."""
        if "load" in self.layout.drive:
            return load_base(self.robot, self.layout)
        return free_base(self.structure)

    def factor(self, weights: ArrayLike | None = None) -> Array:
        r"""The triangle of $[W\ \ \tau - W\phi_{known}]$, each degree of freedom times its weight.

        Args:
            weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.

        Returns:
            R, upper triangular, shape (p + 1, p + 1), SI.
        """
        R = self.compressed.factor(weights)
        if self.known.any():
            R[:, -1] -= R[:, :-1] @ self.known
            R = np.asarray(np.linalg.qr(R, mode="r"))
        return R

    def base_factor(self, weights: ArrayLike | None = None) -> Array:
        r"""The triangle of $[W_1\ \ \tau - W\phi_{known}]$ with the columns $W_1$ of the base parameters.

        Args:
            weights: one over the noise of each degree of freedom, shape (nv,), 1/(N·m) or 1/N; None for ones.

        Returns:
            R, upper triangular, shape (b + 1, b + 1), SI.
        """
        R = self.factor(weights)
        b = self.base.count
        small = np.zeros((b + 1, b + 1))
        reduced = np.linalg.qr(R[:, [*self.base.columns, self.layout.size]], mode="r")
        small[: len(reduced)] = reduced[: b + 1]
        return small

    def asked_of(self, recordings: Sequence[Recording]) -> Problem:
        """The same question put to other recordings; what torques could tell is not worked out again.

        Args:
            recordings: logs of the same robot, with q, v, a and tau.

        Returns:
            The problem, as `problem_of` poses it.

        Raises:
            InputError: a recording is of other joints, or there is none.
            RecordingError: a channel was not recorded.
        """
        evidence = evidence_of(self.robot, recordings)
        return replace(self, compressed=None, evidence=evidence, digests=evidence.digests)

    @property
    def samples(self) -> Evidence:
        """The samples themselves.

        Raises:
            InputError: they were not kept.
        """
        if self.evidence is None:
            raise InputError(
                "the samples of this problem were not kept, only their equations.",
                place="problem",
                remedy="Pose it with recordings instead of blocks.",
            )
        return self.evidence


def problem_of(
    robot: Robot,
    layout: Layout,
    recordings: Sequence[Recording],
    *,
    prior: ArrayLike | None = None,
    accelerations: bool = True,
) -> Problem:
    """Pose the question for recordings, whose samples are kept.

    Args:
        robot: the robot that moved.
        layout: the parameters asked about.
        recordings: its logs, with q, v, a and tau.
        prior: what is believed of phi beforehand, shape (p,), SI; NaN where nothing is.
        accelerations: whether the recordings' accelerations are used; without them only estimators that need
            none, such as `fit_momentum`, can answer.

    Raises:
        InputError: a recording is of other joints, or there is none.
        RecordingError: a channel was not recorded.
    """
    evidence = evidence_of(robot, recordings, accelerations=accelerations)
    return Problem(
        robot,
        layout,
        structure_of(robot, without_load(layout)),
        None,
        None if prior is None else np.asarray(prior, dtype=float),
        evidence,
        evidence.digests,
    )


def problem_of_blocks(
    robot: Robot,
    layout: Layout,
    blocks: Iterable[Block],
    *,
    prior: ArrayLike | None = None,
    digests: Sequence[str] = (),
) -> Problem:
    """Pose the question for a log of any length, read piece by piece and not kept.

    Args:
        robot: the robot that moved.
        layout: the parameters asked about.
        blocks: pieces of the log, each (q, v, a, tau) of shape (N, nq) or (N, nv), SI.
        prior: what is believed of phi beforehand, shape (p,), SI; NaN where nothing is.
        digests: digests of the recordings, where known.
    """
    return Problem(
        robot,
        layout,
        structure_of(robot, layout),
        compress(robot, layout, blocks),
        None if prior is None else np.asarray(prior, dtype=float),
        None,
        tuple(digests),
    )
