"""`steelyard compile`: makes the machine code of all kernels ahead, so that no command has to wait for it."""

from __future__ import annotations

import time

from steelyard.cli.output import JsonOption, print_json, say, stdout


def compile(json: JsonOption = False) -> None:
    """Compile every kernel now; the results are kept for later runs."""
    # Numba takes a moment to load, which the other commands are spared.
    from steelyard.cli.warm_up import KERNELS, start_helper, warm_up
    from steelyard.threads import thread_count

    started = time.perf_counter()
    # From both ends: who meets a kernel that is being made waits for it.
    helper = start_helper(tuple(reversed(KERNELS))) if thread_count() > 1 else None
    try:
        for name in KERNELS:
            say(f"compile {name}")
            warm_up(name)
    finally:
        if helper is not None:
            helper.kill()
    seconds = time.perf_counter() - started
    if json:
        print_json({"kernels": list(KERNELS), "seconds": seconds})
        return
    stdout.print(f"{len(KERNELS)} kernels are ready; took {seconds:.1f} s.", highlight=False)
