"""`steelyard compile`: makes the machine code of all kernels ahead, so that no command has to wait for it."""

from __future__ import annotations

import time

from steelyard.cli.output import JsonOption, print_json, say, stdout


def compile_ahead(json: JsonOption = False) -> None:
    """Compile every kernel now; the results are kept for later runs."""
    # Numba takes a moment to load, which the other commands are spared.
    from steelyard.cli.warm_up import KERNELS, warm_up

    started = time.perf_counter()
    for name in KERNELS:
        say(f"compile {name}")
        warm_up(name)
    seconds = time.perf_counter() - started
    if json:
        print_json({"kernels": list(KERNELS), "seconds": seconds})
        return
    stdout.print(f"{len(KERNELS)} kernels are ready; took {seconds:.1f} s.", highlight=False)
