"""Straight-line programs as instructions inside compiled kernels.

Numba's front end takes milliseconds for every scalar statement, most of them to find out that it is a float;
thousands would take the best part of a minute. Here they go to LLVM directly: in a kernel a program is one
call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array as _make_array

from steelyard.dynamics.straight_line.expression import Program

LANES = 8
"""Columns that a lane program works on at a time."""

_array: Any = _make_array
_DOUBLE = ir.DoubleType()
_WIDE = ir.VectorType(_DOUBLE, LANES)


def scalar_call(build: Callable[[], Program]) -> Any:
    """A function `run(x, y)` for use in kernels: the program's inputs from x, its outputs into y.

    Args:
        build: makes the program; called when a kernel that uses it is compiled, not when one is loaded.

    Returns:
        The function; x and y are contiguous arrays of any dimension, read and written in their flat order.
    """

    @intrinsic
    def run(_context, x, y):  # type: ignore[no-untyped-def]
        def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            source, target = _pointers(context, builder, signature.args, arguments)
            _emit(
                builder,
                build(),
                lambda k: _load(builder, source, k),
                lambda k, value: builder.store(value, _at(builder, target, k)),
            )
            return context.get_dummy_value()

        return types.void(x, y), emit

    return run


def lane_call(build: Callable[[], Program], scalars: int, rows: tuple[int, ...]) -> Any:
    """A function `run(x, a, b, c, d, out, tile)`: the program on `LANES` columns at once.

    The first inputs of the program are the scalars of x, the others the rows of the tiles a, b, c and d; its
    outputs are the rows of a tile of out.

    Args:
        build: makes the program; called when a kernel that uses it is compiled, not when one is loaded.
        scalars: how many inputs come from x.
        rows: how many rows a tile of a, b, c and d has.

    Returns:
        The function; the tiled arrays are contiguous, of shape (tiles, rows, LANES).
    """

    @intrinsic
    def run(_context, x, a, b, c, d, out, tile):  # type: ignore[no-untyped-def]
        def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            pointers = _pointers(context, builder, signature.args[:-1], arguments[:-1])
            made = build()
            tiles = []
            for pointer, height in zip(pointers[1:], (*rows, len(made.outputs)), strict=True):
                first = builder.mul(arguments[-1], ir.Constant(arguments[-1].type, height * LANES))
                tiles.append(builder.bitcast(builder.gep(pointer, [first]), _WIDE.as_pointer()))

            def given(k: int) -> Any:
                if k < scalars:
                    return _broadcast(builder, _load(builder, pointers[0], k))
                k -= scalars
                which = 0
                while k >= rows[which]:
                    k -= rows[which]
                    which += 1
                return _load(builder, tiles[which], k)

            def keep(k: int, value: Any) -> None:
                builder.store(value, _at(builder, tiles[-1], k), align=8)

            _emit(builder, made, given, keep, wide=True)
            return context.get_dummy_value()

        return types.void(x, a, b, c, d, out, tile), emit

    return run


def _add_scaled_row(_context, out, i, scale, x, j):  # type: ignore[no-untyped-def]
    """For use in kernels: row i of out += scale times row j of x, rows of `LANES` counted over all tiles."""

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        arrays = _pointers(
            context, builder, (signature.args[0], signature.args[3]), (arguments[0], arguments[3])
        )
        target, source = (
            builder.gep(builder.bitcast(pointer, _WIDE.as_pointer()), [row])
            for pointer, row in zip(arrays, (arguments[1], arguments[4]), strict=True)
        )
        product = builder.fmul(_broadcast(builder, arguments[2]), builder.load(source, align=8))
        builder.store(builder.fadd(builder.load(target, align=8), product), target, align=8)
        return context.get_dummy_value()

    return types.void(out, types.intp, types.float64, x, types.intp), emit


add_scaled_row: Any = intrinsic(_add_scaled_row)


def _store_turned(_context, x, first, out, place, width):  # type: ignore[no-untyped-def]
    """For use in kernels: rows first … first + `LANES` - 1 of x, turned, to out[place + lane * width] and on.

    Lane by lane, `LANES` numbers that follow each other in out are stored at once; one by one it takes three
    times as long.
    """

    def emit(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        source, target = _pointers(
            context, builder, (signature.args[0], signature.args[2]), (arguments[0], arguments[2])
        )
        block = builder.gep(builder.bitcast(source, _WIDE.as_pointer()), [arguments[1]])
        lanes = _turned(builder, [_load(builder, block, k) for k in range(LANES)])
        at = arguments[3]
        for values in lanes:
            builder.store(values, builder.bitcast(builder.gep(target, [at]), _WIDE.as_pointer()), align=8)
            at = builder.add(at, arguments[4])
        return context.get_dummy_value()

    return types.void(x, types.intp, out, types.intp, types.intp), emit


store_turned: Any = intrinsic(_store_turned)


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """The transpose of `LANES` rows: blocks of 1, 2, 4, … that lie across the diagonal change places."""
    size = 1
    while size < LANES:
        upper = [k if not k & size else LANES + k - size for k in range(LANES)]
        lower = [k + size if not k & size else LANES + k for k in range(LANES)]
        turned = list(rows)
        for k in (k for k in range(LANES) if not k & size):
            pair = rows[k], rows[k + size]
            turned[k], turned[k + size] = (
                builder.shuffle_vector(*pair, ir.Constant(ir.VectorType(ir.IntType(32), LANES), order))
                for order in (upper, lower)
            )
        rows, size = turned, 2 * size
    return rows


def _pointers(context: Any, builder: Any, kinds: Any, arguments: Any) -> list[Any]:
    for kind in kinds:
        if not (isinstance(kind, types.Array) and kind.layout == "C" and kind.dtype == types.float64):
            raise TypeError(f"a straight-line program takes contiguous arrays of floats, not {kind}")
    pairs = zip(kinds, arguments, strict=True)
    return [_array(kind)(context, builder, argument).data for kind, argument in pairs]


def _at(builder: Any, pointer: Any, k: int) -> Any:
    return builder.gep(pointer, [ir.Constant(cgutils.intp_t, k)], inbounds=True)


def _load(builder: Any, pointer: Any, k: int) -> Any:
    return builder.load(_at(builder, pointer, k), align=8)


def _broadcast(builder: Any, value: Any) -> Any:
    lane = builder.insert_element(ir.Constant(_WIDE, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(lane, ir.Constant(_WIDE, ir.Undefined), everywhere)


def _emit(
    builder: Any,
    made: Program,
    given: Callable[[int], Any],
    keep: Callable[[int, Any], None],
    *,
    wide: bool = False,
) -> None:
    """Emit every instruction, exact IEEE arithmetic in the program's order.

    Outputs are stored as soon as they are known: kept for the end they would crowd the registers.
    """
    binary = {
        "add": builder.fadd,
        "subtract": builder.fsub,
        "multiply": builder.fmul,
        "divide": builder.fdiv,
    }
    wanted: dict[int, list[int]] = {}
    for output, index in enumerate(made.outputs):
        wanted.setdefault(index, []).append(output)
    values: list[Any] = []
    for index, step in enumerate(made.instructions):
        if step.kind == "input":
            value = given(step.arguments[0])
        elif step.kind == "constant":
            x = step.constant
            value = ir.Constant(_WIDE, [x] * LANES) if wide else ir.Constant(_DOUBLE, x)
        elif step.kind == "negate":
            value = builder.fneg(values[step.arguments[0]])
        else:
            left, right = step.arguments
            value = binary[step.kind](values[left], values[right])
        values.append(value)
        for output in wanted.get(index, ()):
            keep(output, value)
