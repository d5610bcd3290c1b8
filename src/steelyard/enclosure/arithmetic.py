"""Affine arithmetic on numbers and vectors, with every rounding error inside (compiled)."""

from __future__ import annotations

import math

from steelyard.arrays import Array
from steelyard.compiled import kernel

# Affine arithmetic: numbers known up to shared unknowns, with every rounding error inside (compiled).
#
# A form stands for all $x = c + \sum_s g_s\,\varepsilon_s + r\,\eta$ with every $|\varepsilon_s| \le 1$ and
# $|\eta| \le 1$. The symbols ε are shared, so what two forms have in common cancels and adds up as it should;
# η is a form's own. A form is a row of a table X of numbers: c, r, its deviation $\ge \sum|g_s| + r$, three
# tallies, and g. Kernels name forms by their rows.
#
# A vector is three rows. Their own parts lie in the box of their radii and, together, in a ball as well:
# turning a vector leaves the ball as it is, where the box grows at every joint; along the axes the box is
# smaller.
#
# A form is built by `clear`, any number of additions, and `seal`. Each addition enters into the tally `TERMS`
# a bound on the sum of the sizes of all terms it adds to any coefficient. A coefficient that is a sum of n
# rounded terms is off by at most $n\,\epsilon$ times the sum of their sizes, $\epsilon = 2^{-52}$ being twice
# the relative error of one operation; so sealing widens r by $(S + \text{OPERATIONS})\,\epsilon$ times that
# tally, and by a number that covers underflow. No rounding mode is changed.

CENTRE, RADIUS, DEVIATION, TERMS, FRESH, BALL, FIRST = range(7)
"""Columns of a form; its generators start at the last.

`FRESH` tallies the part of the radius that is not a turned or scaled ball's, and `BALL`, in the first row of
a vector, the ball.
"""
OPERATIONS = 64
"""More than the operations on any coefficient between `clear` and `seal`, sums over the S symbols aside."""
EPSILON = 2.0**-52
UNDERFLOW = 1e-290
"""More than all that a form can lose to numbers too small to be stated."""
WIDE = 1.0
"""Deviation of an angle, rad, beyond which its sine and cosine are only known to be within 1."""


@kernel
def clear(X: Array, out: int) -> None:
    """Start a form at zero."""
    for s in range(X.shape[1]):
        X[out, s] = 0.0


@kernel
def size(X: Array, x: int) -> float:
    """The largest absolute value of a sealed form."""
    largest: float = abs(X[x, CENTRE]) + X[x, DEVIATION]
    return largest


@kernel
def add_number(X: Array, out: int, k: float) -> None:
    """Add a number that is exact."""
    X[out, CENTRE] += k
    X[out, TERMS] += abs(k)


@kernel
def add_own(X: Array, out: int, radius: float) -> None:
    """Add anything within a radius."""
    X[out, RADIUS] += radius
    X[out, FRESH] += radius


@kernel
def add_shared(X: Array, out: int, k: float, x: int) -> None:
    """Add k x but for the own part of x, which the caller accounts for; x is sealed."""
    if k == 0.0:
        return
    X[out, CENTRE] += k * X[x, CENTRE]
    X[out, TERMS] += abs(k) * (abs(X[x, CENTRE]) + X[x, DEVIATION])
    for s in range(FIRST, X.shape[1]):
        X[out, s] += k * X[x, s]


@kernel
def add_scaled(X: Array, out: int, k: float, x: int) -> None:
    """Add k x, for a number k and a sealed form x."""
    add_shared(X, out, k, x)
    add_own(X, out, abs(k) * X[x, RADIUS])


@kernel
def add_product(X: Array, out: int, k: float, x: int, y: int) -> None:
    r"""Add k x y, for a number k and sealed forms x and y.

    Of the second-order terms $x_s y_t\,\varepsilon_s \varepsilon_t$ those with s = t have a square in them,
    which is a half, give or take a half.
    """
    a, b = k * X[x, CENTRE], X[y, CENTRE]
    dx, dy = abs(k) * X[x, DEVIATION], X[y, DEVIATION]
    squares = shared = 0.0
    for s in range(FIRST, X.shape[1]):
        g, h = k * X[x, s], X[y, s]
        X[out, s] += a * h + b * g
        squares += g * h
        shared += abs(g * h)
    X[out, CENTRE] += a * b + 0.5 * squares
    add_own(X, out, abs(a) * X[y, RADIUS] + abs(b * k) * X[x, RADIUS] + (dx * dy - 0.5 * shared))
    X[out, TERMS] += (abs(a) + dx) * (abs(b) + dy)


@kernel
def seal(X: Array, out: int) -> None:
    """Finish a form: widen it by what rounding may have cost."""
    lost = (X.shape[1] - FIRST + OPERATIONS) * EPSILON
    add_own(X, out, lost * X[out, TERMS] + UNDERFLOW)
    deviate(X, out)


@kernel
def deviate(X: Array, out: int) -> None:
    """Write the deviation of a form, rounded up."""
    lost = (X.shape[1] - FIRST + OPERATIONS) * EPSILON
    deviation = X[out, RADIUS]
    for s in range(FIRST, X.shape[1]):
        deviation += abs(X[out, s])
    X[out, DEVIATION] = deviation * (1.0 + lost)


@kernel
def sine_and_cosine(X: Array, q: int, sine: int, cosine: int) -> None:
    r"""Write the sine and cosine of a sealed form, sealed.

    With δ the angle's deviation from its centre c and $|\delta| \le D$,
    $\sin(c + \delta) = \sin c + \cos c\,\delta - \tfrac12 \sin c\,\delta^2 \pm \tfrac16 D^3$, in which
    $\delta^2$ is $\tfrac12 D^2$, give or take as much; the cosine alike.
    """
    D = X[q, DEVIATION]
    clear(X, sine)
    clear(X, cosine)
    if not D < WIDE:
        add_own(X, sine, 1.0)
        add_own(X, cosine, 1.0)
    else:
        s, c = math.sin(X[q, CENTRE]), math.cos(X[q, CENTRE])
        bend, rest = 0.25 * D * D, D * D * D / 6.0
        _add_turned(X, sine, s, c, bend, rest, q)
        _add_turned(X, cosine, c, -s, bend, rest, q)
    seal(X, sine)
    seal(X, cosine)


@kernel
def _add_turned(X: Array, out: int, value: float, slope: float, bend: float, rest: float, q: int) -> None:
    X[out, CENTRE] = value - bend * value
    add_own(X, out, abs(slope) * X[q, RADIUS] + bend * abs(value) + rest)
    # The library's sine is off by less than an ulp of 1, as is the slope.
    X[out, TERMS] = 2.0 + X[q, DEVIATION]
    for s in range(FIRST, X.shape[1]):
        X[out, s] = slope * X[q, s]


@kernel
def load_form(X: Array, out: int, centre: float, generators: Array, radius: float) -> None:
    """Write a form given by its numbers, sealed."""
    clear(X, out)
    X[out, CENTRE] = centre
    add_own(X, out, radius)
    for s in range(generators.size):
        X[out, FIRST + s] = generators[s]
    seal(X, out)


# Vectors of three forms, in consecutive rows, whose own parts lie in a box and in a ball (compiled).


@kernel
def length(x: float, y: float, z: float) -> float:
    """The length of a vector of numbers, rounded up."""
    return math.sqrt(x * x + y * y + z * z) * (1.0 + 8.0 * EPSILON) + UNDERFLOW


@kernel
def clear_vector(X: Array, out: int) -> None:
    """Start a vector at zero."""
    for r in range(3):
        clear(X, out + r)


@kernel
def add_vector(X: Array, out: int, k: float, x: int) -> None:
    """Add k x, for a number k and a sealed vector x."""
    for r in range(3):
        add_shared(X, out + r, k, x + r)
        X[out + r, RADIUS] += abs(k) * X[x + r, RADIUS]
    X[out, BALL] += abs(k) * X[x, BALL]


@kernel
def add_cross(X: Array, out: int, k: float, a: Array, x: int) -> None:
    """Add k a × x, for three numbers a and a sealed vector x."""
    for r in range(3):
        s, t = (r + 1) % 3, (r + 2) % 3
        add_shared(X, out + r, k * a[s], x + t)
        add_shared(X, out + r, -k * a[t], x + s)
        X[out + r, RADIUS] += abs(k * a[s]) * X[x + t, RADIUS] + abs(k * a[t]) * X[x + s, RADIUS]
    X[out, BALL] += abs(k) * length(a[0], a[1], a[2]) * X[x, BALL]


@kernel
def add_matrix(X: Array, out: int, A: Array, x: int) -> None:
    """Add A x, for a matrix of numbers A (3, 3), which lengthens nothing by more than its Frobenius norm."""
    squares = 0.0
    for r in range(3):
        for c in range(3):
            squares += A[r, c] * A[r, c]
            add_shared(X, out + r, A[r, c], x + c)
            X[out + r, RADIUS] += abs(A[r, c]) * X[x + c, RADIUS]
    X[out, BALL] += length(math.sqrt(squares), 0.0, 0.0) * X[x, BALL]


@kernel
def add_dot(X: Array, out: int, a: Array, x: int) -> None:
    """Add a · x to one form, for three numbers a and a sealed vector x."""
    box = 0.0
    for r in range(3):
        add_shared(X, out, a[r], x + r)
        box += abs(a[r]) * X[x + r, RADIUS]
    add_own(X, out, min(box, length(a[0], a[1], a[2]) * X[x, BALL]))


@kernel
def add_times(X: Array, out: int, v: int, x: int) -> None:
    """Add v x, for a sealed form v and a sealed vector x."""
    for r in range(3):
        add_product(X, out + r, 1.0, v, x + r)


@kernel
def add_product_cross(X: Array, out: int, x: int, y: int) -> None:
    """Add x × y, for sealed vectors x and y."""
    for r in range(3):
        s, t = (r + 1) % 3, (r + 2) % 3
        add_product(X, out + r, 1.0, x + s, y + t)
        add_product(X, out + r, -1.0, x + t, y + s)


@kernel
def seal_vector(X: Array, out: int) -> None:
    """Finish a vector: its own part is in the box, in the ball, and in what either leaves of the other."""
    for r in range(3):
        seal(X, out + r)
    ball = X[out, BALL] + length(X[out, FRESH], X[out + 1, FRESH], X[out + 2, FRESH])
    box = length(X[out, RADIUS], X[out + 1, RADIUS], X[out + 2, RADIUS])
    X[out, BALL] = min(ball, box) * (1.0 + OPERATIONS * EPSILON)
    for r in range(3):
        X[out + r, RADIUS] = min(X[out + r, RADIUS], X[out, BALL])
        deviate(X, out + r)
