r"""Which drive terms the torques ask for, by prediction of blocks that are left out.

Every term that is added explains the torques it was fitted to better. Whether it belongs to the robot shows
on torques that the fit has not seen: the training logs are cut into blocks of consecutive samples, each is
left out in turn, and its torques are predicted by a fit to the others, once with the term and once without.
The difference is paired by block, because blocks differ far more among each other than models do.

The fits are those of `fit_entropic` with the divergence's parabola about the prior in its place,

$$\min_\phi \sum_k w_k^2 \lVert r_k + D_k\delta + F_{l,k}\,|r_k| \operatorname{sign}(v_k) - \tau_k \rVert^2
  + \tfrac{\gamma}{2}\,(y - y_0)^\top H\,(y - y_0), \qquad r = Y\phi_{links},$$

so that one linear system answers. About a drive term that is stated far too small the parabola is far steeper
than the divergence; its curvature is then what makes it worth as much as the divergence where the torques put
the term. Drive terms that would be negative and cannot be are left out. The load of $F_l$ is that of the fit
before, three times; the torque predicted is that of the load of its own links.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy.linalg

from steelyard.arrays import Array, BoolArray, IntArray
from steelyard.consistency import Divergence, Prior
from steelyard.drive import FRICTION_TERMS, StribeckShape, stribeck_column
from steelyard.dynamics import torque_regressor
from steelyard.estimation.entropic import UNTESTED, left_out_blocks
from steelyard.estimation.load_friction import MOST
from steelyard.finding import Finding, Severity
from steelyard.layout import Layout, layout_of
from steelyard.problem import Problem
from steelyard.robot import Robot
from steelyard.threads import with_one_blas_thread

LEAST_GAIN = 0.02
"""Share of the squared error of left-out blocks that a term must take away."""
SURE = 2.0
"""Standard errors of the paired difference that this must exceed; six blocks know theirs poorly."""
LEAST_POINTS = 0.05
"""Percent of torque that it must bring: less is not worth a number at every joint. Without this bound one of
forty simulated logs was given a Stribeck term that its arm lacks, for 0.01 percent."""
UNFELT = 0.05
"""Armature over what joints of that torque have, below which torques do not feel a rotor."""
SAMPLES = 2000
"""Samples looked at; more are thinned to about this many."""
SHAPES = ((0.1, 1.0), (0.3, 1.0))
"""Stribeck velocity over a joint's rms speed, and exponent, tried where a description states none."""
_LOADINGS = 3
_SOFTENINGS = 4
_CUTS = 4
_RIDGE = 1e-9


@dataclass(frozen=True)
class DriveTrial:
    """What one set of drive terms predicts of left-out blocks.

    Attributes:
        terms: the drive terms.
        percent: error of left-out torques, percent of their rms.
        error: squared error in units of the noise, relative to that of the linear drive.
        change: of `error` against the terms chosen before this trial; negative where it is better.
        standard_error: of `change`, by paired differences over blocks.
        taken: whether it was chosen.
    """

    terms: tuple[str, ...]
    percent: float
    error: float
    change: float
    standard_error: float
    taken: bool


@dataclass(frozen=True, eq=False)
class DriveChoice:
    """Drive terms, and why these.

    Attributes:
        layout: the parameters with the chosen terms.
        trials: everything that was tried, the linear drive first.
        reason: in words.
        findings: `drive-chosen` where terms were added, `no-rotor-felt` where the rotor was left out.
    """

    layout: Layout
    trials: tuple[DriveTrial, ...]
    reason: str
    findings: tuple[Finding, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """The drive terms chosen."""
        return self.layout.drive


@with_one_blas_thread
def choose_drive(
    problem: Problem, known: Callable[[Layout], Prior] | None = None, *, keep: Sequence[str] = ()
) -> DriveChoice:
    """Add the friction terms and leave out the rotor, as torques of left-out blocks ask for.

    Greedy: of all friction terms that are not chosen yet the best is taken if the squared error of left-out
    blocks falls by more than `SURE` standard errors of the paired difference and by at least `LEAST_GAIN`,
    and the error of torques by `LEAST_POINTS`, until none does. A torque sensor behind the gear feels no
    rotor, and nothing of friction that grows with the load of the gear, so `load` is not tried there; the
    rotor is left out where every armature fitted is below `UNFELT` of what is known or typical and that
    costs no more than one standard error.

    Args:
        problem: the question with its samples and a linear drive.
        known: what is known beforehand of the parameters of a layout; None for nothing, and then the rotor
            stays.
        keep: drive terms that are not left out, because a number of theirs was given.

    Returns:
        The choice; the problem's own terms where the samples are too few to leave some out.
    """
    trial = _Trial.of(problem, known)
    if trial is None:
        return DriveChoice(problem.layout, (), "the samples are too few to leave some out", ())
    now = trial.left_out(_Candidate(problem.layout.drive))
    start, tried = now, [_row(now, now, now, taken=True)]
    tries_rotor = known is not None and "rotor" in now.candidate.terms and "rotor" not in keep

    def unfelt(candidate: _Candidate) -> bool:
        # Where single joints keep an armature the sensor does not sit behind the gear.
        return tries_rotor and bool((trial.armatures(candidate) < UNFELT).all())

    behind = unfelt(now.candidate)
    now = _grown(trial, start, tried, behind=behind)
    if not behind and "load" in now.candidate.terms and unfelt(now.candidate):
        # Torques that feel no rotor are measured behind the gear, and feel none of its friction under load.
        now = _grown(trial, start, tried, behind=True)
    added, rotor = now, None
    if unfelt(now.candidate):
        rotor = trial.left_out(now.candidate.without("rotor"))
        costless = float((rotor.squares - now.squares).sum()) <= _standard_error(rotor, now)
        tried.append(_row(rotor, now, start, taken=costless))
        now, rotor = (rotor, rotor) if costless else (now, None)
    layout = trial.layout(now.candidate)
    return DriveChoice(
        layout,
        tuple(tried),
        f"predicted {len(start.squares)} left-out blocks of the training logs",
        (*_added(start, added, layout), *_unfelt(rotor, added)),
    )


def _grown(trial: _Trial, start: _LeftOut, tried: list[DriveTrial], *, behind: bool) -> _LeftOut:
    """The linear drive with every friction term that pays; none of a gear that the sensor sits behind."""
    now = start
    while True:
        most = (1.0 - LEAST_GAIN) * trial.squares(now.candidate)
        # What does not explain the torques it was fitted to better will not predict others better.
        candidates = [x for x in trial.additions(now.candidate) if trial.squares(x) < most]
        if behind:
            candidates = [x for x in candidates if x.terms[-1] != "load"]
        found = [trial.left_out(trial.where_it_pays(x, now)) for x in candidates]
        best = min(found, key=lambda x: float(x.squares.sum()), default=None)
        taken = best is not None and _pays(best, now)
        tried += [_row(x, now, start, taken=taken and x is best) for x in found]
        if best is None or not taken:
            return now
        now = best


@dataclass(frozen=True)
class _Candidate:
    """Drive terms, which of `SHAPES` their Stribeck friction has, and joints without load friction."""

    terms: tuple[str, ...]
    shape: int = 0
    unloaded: tuple[int, ...] = ()

    def with_term(self, term: str, shape: int) -> _Candidate:
        return replace(self, terms=(*self.terms, term), shape=shape if term == "stribeck" else self.shape)

    def without(self, term: str) -> _Candidate:
        return replace(self, terms=tuple(x for x in self.terms if x != term))


@dataclass(frozen=True, eq=False)
class _LeftOut:
    """Errors of one candidate on left-out blocks: squared and weighted, shape (k, nv), and in percent."""

    candidate: _Candidate
    by_joint: Array
    percent: float

    @property
    def squares(self) -> Array:
        return np.asarray(self.by_joint.sum(axis=1))


class _Trial:
    """Thinned samples with the columns of every term, and fits to all but one block of them."""

    def __init__(
        self,
        problem: Problem,
        layout: Layout,
        shapes: list[tuple[StribeckShape, ...]],
        known: Callable[[Layout], Prior] | None,
        blocks: Sequence[Problem],
    ) -> None:
        self._robot, self._full, self._shapes, self._given = problem.robot, layout, shapes, problem.layout
        self._links = 10 * len(layout.links)
        total = sum(block.samples.n for block in blocks)
        step = max(1, round(total / SAMPLES))
        thin = [tuple(getattr(b.samples, x)[::step] for x in ("q", "v", "a", "tau")) for b in blocks]
        q, self._v, a, self._tau = (np.concatenate([part[k] for part in thin]) for k in range(4))
        edges = np.cumsum([0, *(len(part[0]) for part in thin)])
        self._blocks = [slice(i, j) for i, j in pairwise(edges)]
        load = np.zeros((len(q), problem.robot.untied.nv)) if "load" in layout.drive else None
        self._W = torque_regressor(problem.robot, layout, q, self._v, a, load=load)
        self._step = step
        self._pull(problem, known)
        shaped = [self._shaped(shape) for shape in self._shapes] or [self._W]
        self._equations = [(W @ self._B, self._tau - W @ self._offset) for W in shaped]
        self._to_explain = self._tau - self._W @ self._offset
        self.weights = 1.0 / np.maximum(np.sqrt((self._tau**2).mean(axis=0)), np.finfo(float).tiny)
        # The noise is that of drive terms without a pull: held far off by it, a joint would look noisy, weigh
        # little, and stay held.
        pulled = np.flatnonzero(self._positive)
        self._H[pulled, pulled] = 0.0
        linear, whole = _Candidate(problem.layout.drive), slice(0, 0)
        for _ in range(2):
            self._weigh(self._equations[:1])
            left = self._tau - self._predicted(self.fitted(linear, whole), whole)
            rms = np.sqrt((left**2).mean(axis=0))
            self.weights = 1.0 / np.maximum(rms, 1e-9 * np.sqrt((self._tau**2).mean()))
        self._weigh(self._equations)
        for _ in range(_SOFTENINGS):
            self._soften(self.fitted(linear, whole))

    @staticmethod
    def of(problem: Problem, known: Callable[[Layout], Prior] | None) -> _Trial | None:
        """The trial of a problem; None where nothing can be left out."""
        blocks = list(left_out_blocks(problem))
        if len(blocks) < 3:
            return None
        tied = problem.robot.ties is not None
        # Joints that mimic others share their friction, so neither is known for a joint alone.
        terms = [x.name for x in FRICTION_TERMS if not (tied and x.name in ("load", "stribeck"))]
        if "viscous" not in problem.layout.drive:
            terms.remove("asymmetric")
        drive = [*problem.layout.drive, *(x for x in terms if x not in problem.layout.drive)]
        shapes = _shapes(problem) if "stribeck" in drive else []
        layout = _with_drive(problem.robot, problem.layout, drive, shapes[0] if shapes else ())
        return _Trial(problem, layout, shapes, known, blocks)

    def _pull(self, problem: Problem, known: Callable[[Layout], Prior] | None) -> None:
        """Coordinates in which the pull is a parabola: phi = offset + B y, its centre and curvature."""
        free = np.flatnonzero(self._full.free)
        if known is None:
            self._B, self._offset = np.eye(self._full.size)[:, free], np.zeros(self._full.size)
            fixed = ~self._full.free
            self._offset[fixed] = np.nan_to_num(self._full.nominal[fixed])
            self._centre, self._H = np.zeros(len(free)), np.zeros((len(free), len(free)))
            self._C, self._d, self._typical = np.zeros((0, len(free))), np.zeros(0), None
        else:
            prior = known(self._full)
            divergence = Divergence(prior)
            self._B, self._offset = divergence.B, divergence.offset
            self._centre = divergence.start()
            self._H = UNTESTED * 0.5 * divergence.derivatives(self._centre)[1]
            self._C, self._d = divergence.C, divergence.d
            self._typical = prior.sizes
        owners = np.abs(self._B[self._links :]).argmax(axis=0)
        drives = np.abs(self._B[self._links :]).max(axis=0, initial=0.0) > 0.0
        self._term = np.array(
            [
                self._full.parameters[self._links + k].term if is_drive else ""
                for k, is_drive in zip(owners, drives, strict=True)
            ]
        )
        lower = np.array([x.lower for x in self._full.parameters])
        self._positive = drives & (lower[self._links + owners] == 0.0)
        self._places = self._links + owners
        self._curvature = np.array(np.diag(self._H))

    def _soften(self, phi: Array) -> None:
        r"""Let the parabola about each drive term be worth its divergence where a fit puts the term.

        $2\,(r - \log r - 1) / (r - 1)^2$ of its curvature, $r = \phi/\phi_0$, and never more than all of it.
        Descriptions state friction that nobody measured: held to a fortieth of what a joint has, the linear
        drive would predict nothing, and load friction be taken to stand in for it.
        """
        k = np.flatnonzero(self._positive & (self._curvature > 0.0))
        place = self._places[k]
        r = np.maximum(phi[place] / (self._B[place, k] * self._centre[k]), np.finfo(float).tiny)
        beyond = r > 1.0 + 1e-3
        share = np.ones(len(k))
        share[beyond] = 2.0 * (r - np.log(r) - 1.0)[beyond] / (r - 1.0)[beyond] ** 2
        self._H[k, k] = share * self._curvature[k]

    def _weigh(self, equations: Sequence[tuple[Array, Array]]) -> None:
        """Normal equations of every block, for each shape of Stribeck friction; load is added as needed."""
        self._gram: list[list[tuple[Array, Array]]] = []
        self._X: list[Array] = []
        for W, tau in equations:
            X, y = W * self.weights[:, None], tau * self.weights
            self._X.append(X)
            grams = []
            for part in self._blocks:
                rows = X[part].reshape(-1, X.shape[2])
                grams.append((self._step * rows.T @ rows, self._step * rows.T @ y[part].ravel()))
            self._gram.append(grams)

    def _shaped(self, shape: tuple[StribeckShape, ...]) -> Array:
        W = np.array(self._W)
        layout = self._full.with_stribeck(shape)
        columns = layout.friction_columns[:, 0]
        dofs = np.flatnonzero(columns >= 0)
        W[:, dofs, columns[dofs]] = stribeck_column(self._v[:, dofs], *layout.stribeck_shapes[dofs].T)
        return W

    def additions(self, now: _Candidate) -> list[_Candidate]:
        """The candidates with one term more."""
        more = [x for x in self._full.drive if x not in now.terms and x not in self._given.drive]
        return [
            now.with_term(term, shape)
            for term in more
            for shape in (range(len(self._shapes)) if term == "stribeck" else (now.shape,))
        ]

    def where_it_pays(self, candidate: _Candidate, now: _LeftOut) -> _Candidate:
        """A new load term at those joints alone whose own torques it predicts better, with less than `MOST`.

        A joint that carries next to nothing shows no friction per load: what looks like it is something else,
        and beyond 1 the gear would lock.
        """
        if "load" not in candidate.terms or "load" in now.candidate.terms:
            return candidate
        gain = now.by_joint - self.left_out(candidate).by_joint
        error = gain.std(axis=0, ddof=1) * np.sqrt(len(gain))
        least = np.maximum(SURE * error, LEAST_GAIN * now.by_joint.sum(axis=0))
        phi = self.fitted(candidate, slice(0, 0))
        coefficients = {int(dof): float(phi[k]) for dof, k in zip(*self._loaded(), strict=True)}
        return replace(
            candidate,
            unloaded=tuple(
                dof
                for dof, value in coefficients.items()
                if not (0.0 < value < MOST and gain[:, dof].sum() > least[dof])
            ),
        )

    def squares(self, candidate: _Candidate) -> float:
        """Squared and weighted error of the torques that a candidate was fitted to."""
        missed = self._missed(candidate, slice(0, 0), slice(0, len(self._tau)))
        return float(((missed * self.weights) ** 2).sum())

    def left_out(self, candidate: _Candidate) -> _LeftOut:
        """Errors of the torques of every block, predicted by a fit to the others."""
        missed = [self._missed(candidate, part, part) for part in self._blocks]
        squares = np.array([self._step * ((x * self.weights) ** 2).sum(axis=0) for x in missed])
        size = max(float(np.linalg.norm(self._tau)), np.finfo(float).tiny)
        return _LeftOut(candidate, squares, 100.0 * float(np.linalg.norm(np.concatenate(missed))) / size)

    def _missed(self, candidate: _Candidate, left_out: slice, at: slice) -> Array:
        phi = self.fitted(candidate, left_out)
        return np.asarray(self._tau[at] - self._predicted(phi, at, candidate.shape))

    def _carried(self, phi: Array, at: slice) -> tuple[Array, Array]:
        """The load and the column of its friction, each shape (n, nv), N·m or N."""
        rigid = self._W[at][..., : self._links] @ phi[: self._links]
        return rigid, np.abs(rigid) * np.sign(self._v[at])

    def _predicted(self, phi: Array, at: slice, shape: int = 0) -> Array:
        """The torque, shape (n, nv), N·m or N; an empty slice is all samples."""
        at = slice(None) if at.stop == 0 else at
        W = self._W[at]
        rigid, column = self._carried(phi, at)
        drive = W[..., self._links :] @ phi[self._links :]
        if self._shapes:
            layout = self._full.with_stribeck(self._shapes[shape])
            places = layout.friction_columns[:, 0]
            dofs = np.flatnonzero(places >= 0)
            other = stribeck_column(self._v[at][:, dofs], *layout.stribeck_shapes[dofs].T)
            drive[:, dofs] += (other - W[:, dofs, places[dofs]]) * phi[places[dofs]]
        if (dofs := self._loaded()[0]).size:
            drive[:, dofs] += column[:, dofs] * phi[self._loaded()[1]]
        return np.asarray(rigid + drive)

    def _loaded(self) -> tuple[IntArray, IntArray]:
        """Degrees of freedom with load friction, and its places in phi."""
        columns = self._full.friction_columns[:, 2]
        dofs = np.flatnonzero(columns >= 0)
        return dofs, columns[dofs]

    def fitted(self, candidate: _Candidate, left_out: slice) -> Array:
        """Parameters fitted to all blocks but one, shape (p,), SI; an empty slice leaves none out."""
        present = np.isin(self._term, ("", *candidate.terms))
        for dof, place in zip(*self._loaded(), strict=True):
            if dof in candidate.unloaded:
                present[self._B[place] != 0.0] = False
        grams = [
            gram
            for part, gram in zip(self._blocks, self._gram[candidate.shape], strict=True)
            if part != left_out
        ]
        A, b = (np.asarray(sum(gram[k] for gram in grams)) for k in (0, 1))
        phi = self._solved(A, b, present & (self._term != "load"))
        if "load" in candidate.terms:
            others = np.ones(len(self._tau), dtype=bool)
            others[left_out] = False
            X, y = self._X[candidate.shape][others], self._to_explain[others] * self.weights
            for _ in range(_LOADINGS):
                column = self._carried(phi, slice(None))[1][others] * self.weights
                phi = self._solved(*self._with_load(A, b, column, X, y), present)
        return phi

    def _with_load(self, A: Array, b: Array, column: Array, X: Array, y: Array) -> tuple[Array, Array]:
        """The normal equations of weighted rows X and torques y with the column of a load that is held."""
        A, b = np.array(A), np.array(b)
        for dof, place in zip(*self._loaded(), strict=True):
            k = int(np.flatnonzero(self._B[place])[0])
            unit = self._B[place, k]
            A[k] = A[:, k] = self._step * unit * column[:, dof] @ X[:, dof]
            A[k, k] = self._step * unit**2 * column[:, dof] @ column[:, dof]
            b[k] = self._step * unit * column[:, dof] @ y[:, dof]
        return A, b

    def _solved(self, A: Array, b: Array, present: BoolArray) -> Array:
        """The least of the squares and the pull, without terms that would be negative and cannot be."""
        n = len(b)
        A = A + self._H + _RIDGE * np.diag(np.diag(A))
        b = b + self._H @ self._centre
        scale = 1.0 / np.sqrt(np.maximum(np.diag(A), np.finfo(float).tiny))
        for _ in range(_CUTS):
            keep = np.flatnonzero(present)
            y = np.zeros(n)
            C = self._C[:, keep] * scale[keep]
            small = A[np.ix_(keep, keep)] * np.outer(scale[keep], scale[keep])
            right = b[keep] * scale[keep]
            if len(C):
                # Known sums hold exactly: solve along what they leave free.
                first = np.linalg.lstsq(C, self._d, rcond=None)[0]
                Z = scipy.linalg.null_space(C)
                inner = np.linalg.lstsq(Z.T @ small @ Z, Z.T @ (right - small @ first), rcond=None)[0]
                y[keep] = scale[keep] * (first + Z @ inner)
            else:
                y[keep] = scale[keep] * _solved_positive(small, right)
            negative = self._positive & present & (y < 0.0)
            if not negative.any():
                break
            present = present & ~negative
        return np.asarray(self._offset + self._B @ np.where(self._positive, np.maximum(y, 0.0), y))

    def armatures(self, candidate: _Candidate) -> Array:
        """Armatures fitted to all samples, relative to those typical of the joints' torques, shape (n,)."""
        places = np.flatnonzero([x.term == "rotor" for x in self._full.parameters])
        assert self._typical is not None  # Asked only where something is known.
        return np.asarray(self.fitted(candidate, slice(0, 0))[places] / self._typical[places])

    def layout(self, candidate: _Candidate) -> Layout:
        """The parameters with a candidate's terms; the given ones where nothing was changed."""
        if set(candidate.terms) == set(self._given.drive):
            return self._given
        shape = self._shapes[candidate.shape] if "stribeck" in candidate.terms else ()
        layout = _with_drive(self._robot, self._given, candidate.terms, shape)
        joints = [layout.joints[layout.dofs[dof]] for dof in candidate.unloaded]
        return layout.fixing({f"{joint}.load": 0.0 for joint in joints if "load" in candidate.terms})


def _solved_positive(A: Array, b: Array) -> Array:
    """X of A x = b with A positive definite, as a ridge makes it, unless rounding says otherwise."""
    try:
        return np.asarray(scipy.linalg.cho_solve(scipy.linalg.cho_factor(A), b))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(A, b, rcond=1e-13)[0])


def _shapes(problem: Problem) -> list[tuple[StribeckShape, ...]]:
    """Shapes of Stribeck friction to try at all joints: those stated, else slow and slower ones."""
    speeds = np.sqrt((problem.samples.v**2).mean(axis=0))
    drives = {joint.name: joint.drive for joint in problem.robot.joints}
    dofs = {joint: dof for dof, joint in reversed(list(enumerate(problem.layout.dofs)))}
    tried = []
    for share, exponent in SHAPES:
        shapes = []
        for place, joint in enumerate(problem.layout.joints):
            speed = max(float(speeds[dofs[place]]), 1e-6)
            shapes.append(drives[joint].stribeck_shape or StribeckShape(share * speed, exponent))
        if tuple(shapes) not in tried:
            tried.append(tuple(shapes))
    return tried


def _with_drive(
    robot: Robot, given: Layout, terms: Sequence[str], shape: tuple[StribeckShape, ...]
) -> Layout:
    """A layout with other drive terms that fixes what the given one fixes."""
    stribeck = dict(zip(given.joints, shape, strict=True)) if shape else None
    layout = layout_of(robot, terms, stribeck=stribeck)
    fixed = {x.name: x.nominal or 0.0 for x in given.parameters if x.fixed}
    return layout.fixing({name: value for name, value in fixed.items() if name in layout.names})


def _standard_error(one: _LeftOut, other: _LeftOut) -> float:
    difference = one.squares - other.squares
    return float(difference.std(ddof=1) * np.sqrt(len(difference)))


def _pays(one: _LeftOut, now: _LeftOut) -> bool:
    gain, total = float((now.squares - one.squares).sum()), float(now.squares.sum())
    return gain > max(SURE * _standard_error(one, now), LEAST_GAIN * total) and (
        now.percent - one.percent > LEAST_POINTS
    )


def _row(one: _LeftOut, now: _LeftOut, start: _LeftOut, *, taken: bool) -> DriveTrial:
    floor = max(float(start.squares.sum()), float(np.finfo(float).tiny))
    return DriveTrial(
        one.candidate.terms,
        one.percent,
        float(one.squares.sum()) / floor,
        float((one.squares - now.squares).sum()) / floor,
        _standard_error(one, now) / floor,
        taken,
    )


def _added(start: _LeftOut, now: _LeftOut, layout: Layout) -> tuple[Finding, ...]:
    more = [x for x in now.candidate.terms if x not in start.candidate.terms]
    if not more:
        return ()
    message = (
        f"{', '.join(more)} friction is added{_where(now, layout)}: torques of left-out blocks of the "
        f"training logs are predicted to {now.percent:.3g} % with it, to {start.percent:.3g} % without. "
        f"`--drive {','.join(start.candidate.terms)}` leaves it out."
    )
    return (Finding(Severity.INFO, "drive-chosen", message, "--drive"),)


def _where(now: _LeftOut, layout: Layout) -> str:
    if not now.candidate.unloaded:
        return ""
    bare = {layout.dofs[dof] for dof in now.candidate.unloaded}
    return f" (load at {', '.join(x for k, x in enumerate(layout.joints) if k not in bare)})"


def _unfelt(rotor: _LeftOut | None, before: _LeftOut) -> tuple[Finding, ...]:
    if rotor is None:
        return ()
    message = (
        f"the torques feel no rotor: left-out blocks are predicted to {rotor.percent:.3g} % without "
        f"armatures, to {before.percent:.3g} % with them. They seem to be measured behind the gear, and the "
        "model has no armature; a simulator of the motors needs one from a data sheet, which "
        "`--rotor JOINT=…` states."
    )
    return (Finding(Severity.INFO, "no-rotor-felt", message, "--drive"),)
