r"""One step of an arm driven by position servos, and its derivative (compiled).

One step of length h solves for the velocity at its end, with $v_m = (1-\theta) v + \theta v^+$:

$$\tilde M (v^+ - v) + h\,\big(b + F_v v_m - \operatorname{clip}(k_p (\bar u - q - \theta h v_m) - k_d v_m,
  \pm\tau_{max}) + f\big) = 0, \qquad q^+ = q + h v_m.$$

$\tilde M = M + I_a$ and $b = c + g$ stand still during a step, at $q + (1-\theta) h v$. A step is divided
where a held command changes, so that a limit meets the command itself and not a mean. A moving joint feels
$f = F \operatorname{sign}(v)$ until it comes to rest: there the step is divided too, at the very instant. A
joint at rest sticks where $|f| \le F$ balances it, and slips otherwise. So the map is continuous in its start
and its parameters, and where a joint turns round the derivative has the factor $a^+/a^-$ of the true motion;
with a friction that looks at the end of a step alone it would be 0 or 1, by chance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from steelyard.arrays import Array, IntArray
from steelyard.compiled import dense_kernel, kernel
from steelyard.dynamics.straight_line.machine_code import LANES, add_scaled_row

KP, KD, LIMIT, ARMATURE, VISCOUS, COULOMB, STRIBECK, FADING, DELAY, OFFSET, EXPONENT = range(11)
"""Columns of `drive.servo_numbers`."""


class Places(NamedTuple):
    """Where the entries of the programs' outputs go.

    Attributes:
        above_row: rows of the entries of M below its diagonal, shape (e,), dimensionless.
        above_column: their columns, shape (e,), dimensionless.
        related_row: rows of the entries of I_q and I_v, shape (r,), dimensionless.
        related_column: their columns, shape (r,), dimensionless.
        felt_row: rows of the entries of Y, shape (y,), dimensionless.
        felt_parameter: their places in phi, shape (y,), dimensionless.
    """

    above_row: IntArray
    above_column: IntArray
    related_row: IntArray
    related_column: IntArray
    felt_row: IntArray
    felt_parameter: IntArray


class Steps(NamedTuple):
    """The time of a run, divided into steps, and these where a held command changes.

    Attributes:
        length: of each part, shape (P,), s.
        whole: of the step that starts with it; zero where the part goes on with a step, shape (P,), s.
        sample: the sample at the end of each part, -1 where none is, shape (P,), dimensionless.
        moves: whether the end of each part is where a late command arrives, shape (P,), dimensionless.
        command: mean command over each part, shape (P, n), rad or m.
        slope: its derivative in the delay where no part's end moves, shape (P, n), rad/s or m/s.
    """

    length: Array
    whole: Array
    sample: IntArray
    moves: IntArray
    command: Array
    slope: Array


class Track(NamedTuple):
    """What a run leaves for its derivatives: a record for every part, or piece of one that an event divides.

    Attributes:
        step: index of the part in `Steps`, shape (R,), dimensionless.
        length: of the piece, shape (R,), s.
        event: the joint that comes to rest at the end of the piece, -1 for none, shape (R,), dimensionless.
        q_at: positions at which the rigid body is computed, shape (R, n), rad or m.
        v_at: velocities there, shape (R, n), rad/s or m/s.
        a_at: accelerations over the part, shape (R, n), rad/s² or m/s².
        q: positions at its start, shape (R, n), rad or m.
        v: velocities at its start, shape (R, n), rad/s or m/s.
        v_end: velocities at its end, shape (R, n), rad/s or m/s.
        way: sign of the motion that friction opposes, 0 for a joint that sticks, shape (R, n), dimensionless.
        clip: sign of the limit that holds, 0 for none, shape (R, n), dimensionless.
    """

    step: IntArray
    length: Array
    event: IntArray
    q_at: Array
    v_at: Array
    a_at: Array
    q: Array
    v: Array
    v_end: Array
    way: Array
    clip: Array


class StepBody(NamedTuple):
    """Everything of a step but its length and its pieces: see the head of the file.

    Attributes:
        M: M + I_a, shape (n, n), SI.
        b: c + g, shape (n,), N·m or N.
        u: mean command and offset, shape (n,), rad or m.
        F: dry friction, shape (n,), N·m or N.
        q: positions at the start, shape (n,), rad or m.
        v: velocities at the start, shape (n,), rad/s or m/s.
    """

    M: Array
    b: Array
    u: Array
    F: Array
    q: Array
    v: Array


class Work(NamedTuple):
    """Memory of the solver.

    Attributes:
        A: the matrix, then its factor, shape (n, n), SI.
        B: the right side, shape (n,), SI.
        D: what is added to the diagonal of M, shape (n,), SI.
    """

    A: Array
    B: Array
    D: Array


@kernel
def drive_of(body: StepBody, servo: Array, k: int, h: float, theta: float, v_end: float) -> float:
    """What the loop of joint k asks for before the limit, in the middle of a step."""
    v_m = (1.0 - theta) * body.v[k] + theta * v_end
    asked: float = servo[k, KP] * (body.u[k] - body.q[k] - theta * h * v_m) - servo[k, KD] * v_m
    return asked


@kernel
def write_row(body: StepBody, servo: Array, k: int, h: float, theta: float, clip: float, work: Work) -> None:
    """Write D and B of joint k without friction: row k says (M + D) v_end = B."""
    v = body.v[k]
    push = body.b[k] + servo[k, VISCOUS] * (1.0 - theta) * v
    slope = servo[k, VISCOUS]
    if clip == 0.0:
        feedback = servo[k, KD] + theta * h * servo[k, KP]
        push += feedback * (1.0 - theta) * v - servo[k, KP] * (body.u[k] - body.q[k])
        slope += feedback
    else:
        push -= clip * servo[k, LIMIT]
    total = -h * push
    for j in range(body.v.size):
        total += body.M[k, j] * body.v[j]
    work.D[k], work.B[k] = h * theta * slope, total


@kernel
def factorise_moving(body: StepBody, way: Array, work: Work) -> None:
    """Write the factor L D Lᵀ of M + D over the joints that move; the others stay at rest."""
    A, n = work.A, way.size
    for i in range(n):
        for j in range(i):
            A[i, j] = body.M[i, j] if way[i] != 0.0 and way[j] != 0.0 else 0.0
        A[i, i] = body.M[i, i] + work.D[i] if way[i] != 0.0 else 1.0
    for j in range(n):
        for k in range(j):
            A[j, j] -= A[j, k] * A[j, k] * A[k, k]
        for i in range(j + 1, n):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k] * A[k, k]
            A[i, j] /= A[j, j]


@kernel
def solve_moving(body: StepBody, h: float, way: Array, work: Work, x: Array) -> None:
    """Solve for the velocities with given pieces."""
    A, n = work.A, way.size
    factorise_moving(body, way, work)
    for i in range(n):
        x[i] = work.B[i] - h * body.F[i] * way[i] if way[i] != 0.0 else 0.0
        for k in range(i):
            x[i] -= A[i, k] * x[k]
    for i in range(n - 1, -1, -1):
        x[i] /= A[i, i]
        for k in range(i + 1, n):
            x[i] -= A[k, i] * x[k]


@kernel
def clip_at(asked: float, limit: float) -> float:
    """The limit that holds at a torque: its sign, or 0."""
    if asked > limit:
        return 1.0
    return -1.0 if asked < -limit else 0.0


@kernel
def end_velocities(
    body: StepBody, servo: Array, h: float, theta: float, way: Array, clip: Array, work: Work, x: Array
) -> None:
    r"""Solve a step: velocities x at its end, and its pieces.

    The equation is the gradient of a strictly convex function, quadratic between the pieces, so one solution
    exists. Pieces are guessed, solved and corrected all at once, which ends after one or two rounds in nearly
    every step; where it goes round in circles, joint after joint is solved exactly in turn, which converges
    for every such function, and its pieces are solved once more.

    Args:
        body: the step.
        servo: its numbers, shape (n, 11), SI.
        h: length, s.
        theta: share of the end.
        way: a guess for joints at rest, then the sign that friction opposes, shape (n,), dimensionless.
        clip: a guess, then the limits that hold, shape (n,), dimensionless.
        work: memory.
        x: velocities at the end, shape (n,), rad/s or m/s.
    """
    n = x.size
    for k in range(n):
        if body.v[k] != 0.0:
            way[k] = 1.0 if body.v[k] > 0.0 else -1.0
        elif body.F[k] == 0.0 and way[k] == 0.0:
            way[k] = 1.0
        write_row(body, servo, k, h, theta, clip[k], work)
    for _ in range(2 * n + 6):
        solve_moving(body, h, way, work, x)
        changed = False
        for k in range(n):
            now = clip_at(drive_of(body, servo, k, h, theta, x[k]), servo[k, LIMIT])
            if now != clip[k]:
                clip[k], changed = now, True
                write_row(body, servo, k, h, theta, now, work)
        for k in range(n):
            if body.v[k] != 0.0 or body.F[k] == 0.0:
                continue
            if way[k] == 0.0:
                left = work.B[k]
                for j in range(n):
                    left -= body.M[k, j] * x[j]
                if abs(left) > h * body.F[k]:
                    way[k], changed = (1.0 if left > 0.0 else -1.0), True
            elif way[k] * x[k] <= 0.0:
                way[k], changed = 0.0, True
        if not changed:
            return
    for _ in range(400):
        moved, size = 0.0, 0.0
        for k in range(n):
            old = x[k]
            # The piece of one joint, the others held: its equation is monotone, so the pieces follow in turn.
            clip[k] = 0.0 if clip[k] == 0.0 or body.v[k] != 0.0 else clip[k]
            for _ in range(3):
                write_row(body, servo, k, h, theta, clip[k], work)
                left = work.B[k]
                for j in range(n):
                    if j != k:
                        left -= body.M[k, j] * x[j]
                if body.v[k] == 0.0 and body.F[k] > 0.0:
                    way[k] = 0.0
                    if abs(left) > h * body.F[k]:
                        way[k] = 1.0 if left > 0.0 else -1.0
                x[k] = 0.0
                if way[k] != 0.0:
                    x[k] = (left - h * body.F[k] * way[k]) / (body.M[k, k] + work.D[k])
                now = clip_at(drive_of(body, servo, k, h, theta, x[k]), servo[k, LIMIT])
                if now == clip[k]:
                    break
                clip[k] = now
            moved += abs(x[k] - old)
            size += abs(x[k])
        if moved <= 1e-13 * size:
            break
    for k in range(n):
        write_row(body, servo, k, h, theta, clip[k], work)
    solve_moving(body, h, way, work, x)


@kernel
def fade(servo: Array, k: int, speed: float) -> float:
    """Share of static friction's excess that is left at a speed."""
    left: float = math.exp(-((abs(speed) / servo[k, FADING]) ** servo[k, EXPONENT]))
    return left


@kernel
def rest_at(
    body: StepBody,
    servo: Array,
    k: int,
    h: float,
    theta: float,
    way: Array,
    clip: Array,
    work: Work,
    x: Array,
) -> float:
    """Length after which joint k is at rest, which has turned round after h; leaves x of that length."""
    low, high = 0.0, h
    f_low, f_high = body.v[k], x[k]
    last, at = 0, h
    for _ in range(60):
        at = high - f_high * (high - low) / (f_high - f_low)
        if not low < at < high:
            at = 0.5 * (low + high)
        end_velocities(body, servo, at, theta, way, clip, work, x)
        f = x[k]
        if abs(f) <= 1e-15 * abs(body.v[k]) or high - low <= 4e-16 * h:
            break
        # The Illinois rule: an end that stays twice counts half, so that both close in.
        if (f > 0.0) == (body.v[k] > 0.0):
            low, f_low = at, f
            if last == 1:
                f_high *= 0.5
            last = 1
        else:
            high, f_high = at, f
            if last == -1:
                f_low *= 0.5
            last = -1
    x[k] = 0.0
    return at


class Pieces(NamedTuple):
    """The pieces of a step and its end, see `end_velocities`.

    Attributes:
        way: signs that friction opposes, shape (n,), dimensionless.
        clip: limits that hold, shape (n,), dimensionless.
        end: velocities at the end, shape (n,), rad/s or m/s.
    """

    way: Array
    clip: Array
    end: Array


@kernel
def advance_step(
    servo: Array,
    step: int,
    h: float,
    theta: float,
    room: int,
    q_at: Array,
    v_at: Array,
    body: StepBody,
    pieces: Pieces,
    spare: Pieces,
    work: Work,
    track: Track,
    records: int,
) -> int:
    """Take a step with the body's M and b: overwrite its state, add records; their number, -1: diverged."""
    q, v, n = body.q, body.v, body.v.size
    way, clip, end = pieces.way, pieces.clip, pieces.end
    parts = 0
    while True:
        for k in range(n):
            body.F[k] = servo[k, COULOMB]
            if servo[k, STRIBECK] != 0.0:
                body.F[k] += servo[k, STRIBECK] * fade(servo, k, v[k])
        end_velocities(body, servo, h, theta, way, clip, work, end)
        length, event = h, -1
        if parts < 2 * n + 4 and records < room:
            for k in range(n):
                if v[k] * end[k] < 0.0 and body.F[k] > 0.0:
                    # Earlier than an event already found: its end is looked at, not that of the whole step.
                    for j in range(n):
                        spare.way[j], spare.clip[j], spare.end[j] = way[j], clip[j], end[j]
                    length = rest_at(body, servo, k, length, theta, spare.way, spare.clip, work, spare.end)
                    event = k
                    for j in range(n):
                        way[j], clip[j], end[j] = spare.way[j], spare.clip[j], spare.end[j]
        track.step[records], track.length[records], track.event[records] = step, length, event
        size = 0.0
        for k in range(n):
            track.q_at[records, k], track.v_at[records, k] = q_at[k], v_at[k]
            track.a_at[records, k] = (end[k] - v[k]) / length
            track.q[records, k], track.v[records, k], track.v_end[records, k] = q[k], v[k], end[k]
            track.way[records, k], track.clip[records, k] = way[k], clip[k]
            q[k] += length * ((1.0 - theta) * v[k] + theta * end[k])
            v[k] = end[k]
            size += abs(q[k]) + abs(v[k])
        records += 1
        parts += 1
        if not math.isfinite(size):
            return -1
        if event < 0:
            return records
        way[event] = 0.0
        h -= length
        if not h > 0.0:
            return records


class Columns(NamedTuple):
    """What derivatives are taken in: servo numbers first, then link numbers, then the start state.

    Attributes:
        joint: joint of each servo number, shape (c,), dimensionless.
        term: its column in `drive.servo_numbers`, shape (c,), dimensionless.
        target: the column of the derivatives it counts to, shape (c,), dimensionless.
        links: B of the link numbers, phi = B beta, shape (10 nb, l), SI; its columns follow the targets.
        first_link: the column of the first of them.
        first_start: the column of the first start position; the start velocities follow.
        late: the column of the delay that moves the ends of parts, -1 for none.
        total: number of columns.
    """

    joint: IntArray
    term: IntArray
    target: IntArray
    links: Array
    first_link: int
    first_start: int
    late: int
    total: int


@dense_kernel
def add_row(out: Array, k: int, scale: float, x: Array, j: int, tiles: int) -> None:
    """Add scale times row j of x to row k of out; a row has `tiles` times `LANES` columns."""
    for tile in range(tiles):
        add_scaled_row(out, k * tiles + tile, scale, x, j * tiles + tile)


@kernel
def servo_slope(servo: Array, track: Track, steps: Steps, r: int, k: int, term: int, theta: float) -> float:
    """Derivative of what drives joint k, less what it drives, in one of its servo numbers, at given v_end."""
    h, step = track.length[r], track.step[r]
    change = 0.0
    v, v_end, free = track.v[r, k], track.v_end[r, k], track.clip[r, k] == 0.0
    v_m = (1.0 - theta) * v + theta * v_end
    if term == ARMATURE:
        change = -(v_end - v) / h
    elif term == VISCOUS or (term == KD and free):
        change = -v_m
    elif term == COULOMB:
        change = -track.way[r, k]
    elif term == STRIBECK:
        change = -track.way[r, k] * fade(servo, k, v)
    elif term == FADING:
        z = (abs(v) / servo[k, FADING]) ** servo[k, EXPONENT]
        change = -track.way[r, k] * servo[k, STRIBECK] * servo[k, EXPONENT] * z / servo[k, FADING]
        change *= math.exp(-z)
    elif term == LIMIT:
        change = track.clip[r, k]
    elif free and term == KP:
        change = steps.command[step, k] + servo[k, OFFSET] - track.q[r, k] - theta * h * v_m
    elif free and term == DELAY:
        change = servo[k, KP] * steps.slope[step, k]
    elif free and term == OFFSET:
        change = servo[k, KP]
    return change


class Variation(NamedTuple):
    """Derivatives of a state, padded to whole tiles of `LANES` columns, and memory.

    Attributes:
        DQ: of the positions, shape (n, c), SI.
        DV: of the velocities, shape (n, c), SI.
        END: of the velocities at the end of a part, shape (n, c), SI.
        DQ_at: of the positions at which the rigid body stands still, shape (n, c), SI.
        DV_at: of the velocities there, shape (n, c), SI.
        rest: of the time that is left of a step, shape (1, c), SI.
        grow: change of the end with the length of a part, shape (n,), SI.
        links: B of `Columns` in its place among all columns, shape (10 nb, c), SI; (10 nb, 0) for none.
    """

    DQ: Array
    DV: Array
    END: Array
    DQ_at: Array
    DV_at: Array
    rest: Array
    grow: Array
    links: Array


@kernel
def follow_part(
    servo: Array,
    places: Places,
    steps: Steps,
    theta: float,
    track: Track,
    r: int,
    lanes: Array,
    columns: Columns,
    moving: Variation,
    body: StepBody,
    work: Work,
) -> None:
    """Carry the derivatives over record r, whose rigid body is in its lane."""
    DQ, DV, END, DQ_at, DV_at = moving.DQ, moving.DV, moving.END, moving.DQ_at, moving.DV_at
    rest, grow, M, D, A = moving.rest, moving.grow, body.M, work.D, work.A
    n, e, related = track.q.shape[1], places.above_row.size, places.related_row.size
    felt, total, B = places.felt_row.size, DQ.shape[1], moving.links
    tiles = total // LANES
    lane, step, h, event = r % LANES, track.step[r], track.length[r], track.event[r]
    if r == 0 or step != track.step[r - 1]:
        for c in range(total):
            rest[0, c] = 0.0
        if columns.late >= 0:
            if steps.moves[step]:
                rest[0, columns.late] += 1.0
            if step > 0 and steps.moves[step - 1]:
                rest[0, columns.late] -= 1.0
        if steps.whole[step] > 0.0:
            for k in range(n):
                for c in range(total):
                    DQ_at[k, c] = DQ[k, c] + (1.0 - theta) * steps.whole[step] * DV[k, c]
                    DV_at[k, c] = DV[k, c]
    for k in range(n):
        M[k, k] = lanes[0, k, lane] + servo[k, ARMATURE]
    for entry in range(e):
        i, j = places.above_row[entry], places.above_column[entry]
        M[i, j] = M[j, i] = lanes[0, n + entry, lane]
    way, clip, v, v_end = track.way[r], track.clip[r], track.v[r], track.v_end[r]
    for k in range(n):
        slope = servo[k, VISCOUS]
        if clip[k] == 0.0:
            slope += servo[k, KD] + theta * h * servo[k, KP]
        D[k] = h * theta * slope
    factorise_moving(body, way, work)
    for k in range(n):
        for c in range(total):
            END[k, c] = 0.0
        if way[k] == 0.0:
            continue
        slope, own, v_m = D[k] / theta * (1.0 - theta), 0.0, (1.0 - theta) * v[k] + theta * v_end[k]
        grow[k] = 0.0
        if clip[k] == 0.0:
            add_row(END, k, -h * servo[k, KP], DQ, k, tiles)
            grow[k] -= h * theta * servo[k, KP] * v_m
        if servo[k, STRIBECK] != 0.0 and v[k] != 0.0:
            z = (abs(v[k]) / servo[k, FADING]) ** servo[k, EXPONENT]
            own = servo[k, STRIBECK] * servo[k, EXPONENT] * z / v[k] * math.exp(-z) * way[k]
        add_row(END, k, h * own - slope, DV, k, tiles)
        for j in range(n):
            if M[k, j] != 0.0:
                add_row(END, k, M[k, j], DV, j, tiles)
                grow[k] += M[k, j] * (v_end[j] - v[j]) / h
    for entry in range(related):
        k, j = places.related_row[entry], places.related_column[entry]
        if way[k] != 0.0:
            add_row(END, k, -h * lanes[0, n + e + entry, lane], DQ_at, j, tiles)
            add_row(END, k, -h * lanes[0, n + e + related + entry, lane], DV_at, j, tiles)
    if B.shape[1] > 0:
        for entry in range(felt):
            k, place = places.felt_row[entry], places.felt_parameter[entry]
            if way[k] != 0.0:
                weight = -h * lanes[0, n + e + 2 * related + entry, lane]
                add_row(END, k, weight, B, place, tiles)
    for c in range(columns.joint.size):
        k = columns.joint[c]
        if way[k] != 0.0:
            END[k, columns.target[c]] += h * servo_slope(servo, track, steps, r, k, columns.term[c], theta)
    if event < 0:
        for k in range(n):
            if way[k] != 0.0:
                add_row(END, k, grow[k], rest, 0, tiles)
    for i in range(n):
        for k in range(i):
            if A[i, k] != 0.0:
                add_row(END, i, -A[i, k], END, k, tiles)
                if way[i] != 0.0 and way[k] != 0.0:
                    grow[i] -= A[i, k] * grow[k]
    for i in range(n - 1, -1, -1):
        for c in range(total):
            END[i, c] /= A[i, i]
        grow[i] = grow[i] / A[i, i] if way[i] != 0.0 else 0.0
        for k in range(i + 1, n):
            if A[k, i] != 0.0:
                add_row(END, i, -A[k, i], END, k, tiles)
                grow[i] -= A[k, i] * grow[k]
    if event >= 0:
        # The part ends when the joint rests, whatever the parameters: its length answers to them.
        for c in range(total):
            change = -END[event, c] / grow[event]
            for k in range(n):
                END[k, c] += grow[k] * change
                v_m = (1.0 - theta) * v[k] + theta * v_end[k]
                DQ[k, c] += v_m * change
            END[event, c] = 0.0
            rest[0, c] -= change
    else:
        for k in range(n):
            add_row(DQ, k, (1.0 - theta) * v[k] + theta * v_end[k], rest, 0, tiles)
    for k in range(n):
        for c in range(total):
            DQ[k, c] += h * ((1.0 - theta) * DV[k, c] + theta * END[k, c])
            DV[k, c] = END[k, c]
