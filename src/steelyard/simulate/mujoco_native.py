"""MuJoCo's C functions for compiled code.

Called from Python each of them costs as much again as it computes. A kernel calls them by their names; the
linker inside Numba is told where they are. So machine code in the cache holds names, and no address of the
process that compiled it.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
from llvmlite import binding
from numba import types

from steelyard.errors import InputError

_ADDRESS, _INT = types.intp, types.intc
_names: list[str] = []


def _function(name: str, *arguments: Any) -> Any:
    """A C function without a result; the way that Numba's own kernels call LAPACK."""
    _names.append(name)
    return types.ExternalFunction(name, types.void(*arguments))


# All take the addresses of the model and of the data first; mj_rne, mj_solveM and mj_fullM then take one flag
# and the result, the result with its right side and their number, and the result.
mj_kinematics = _function("mj_kinematics", _ADDRESS, _ADDRESS)
mj_comPos = _function("mj_comPos", _ADDRESS, _ADDRESS)
mj_makeM = _function("mj_makeM", _ADDRESS, _ADDRESS)
mj_factorM = _function("mj_factorM", _ADDRESS, _ADDRESS)
mj_comVel = _function("mj_comVel", _ADDRESS, _ADDRESS)
mj_rne = _function("mj_rne", _ADDRESS, _ADDRESS, _INT, _ADDRESS)
mj_solveM = _function("mj_solveM", _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS, _INT)
mj_fullM = _function("mj_fullM", _ADDRESS, _ADDRESS, _ADDRESS)


@cache
def link_mujoco() -> None:
    """Tell the linker where the functions are; to be called before a kernel that uses one.

    Raises:
        InputError: the library is not beside the Python package, or lacks a function.
    """
    folder = Path(mujoco.__file__).parent
    found = [file for pattern in ("libmujoco*", "mujoco*.dll") for file in sorted(folder.rglob(pattern))]
    if not found:
        raise InputError(
            "the library libmujoco is not in this folder.",
            place=str(folder),
            remedy="Install the package mujoco from its wheel, which brings the library.",
        )
    library = ctypes.CDLL(str(found[0]))
    for name in _names:
        function = getattr(library, name, None)
        if function is None:
            raise InputError(
                f"MuJoCo {mujoco.__version__} has no function {name}.",
                place=str(found[0]),
                remedy="Install a version of mujoco that this package allows.",
            )
        binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
