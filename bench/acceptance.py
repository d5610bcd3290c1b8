"""The long studies: dated JSON and a table under docs/results/; a reduced version of each is in the tests.

Run all with `make acceptance`, or some by name: `.venv/bin/python bench/acceptance.py kernels`. Those that
repeat a search or a run take `--seeds N` for a quick look, which is printed and not kept.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

# BLAS threads spin on the cores that our own processes need.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from studies import (
    admittance,
    all_pose,
    believable_public,
    believable_simulated,
    bodies,
    campaign,
    certificates,
    certified_by_name,
    certified_excitation,
    coverage,
    excitation,
    excited_plant,
    hostile,
    identifiability,
    kernels,
    mesh_clearance,
    momentum_condition,
    online_bounds,
    patched_files,
    payload_bounds,
    payloads,
    real_data,
    real_peers,
    refinement,
    repeatability,
    safe_faults,
    safe_runs,
    safe_stacking,
    servos,
    settling,
    thesis_payloads,
    tube_enclosure,
    virtual_constraints,
    wrong_descriptions,
    zoo_commands,
)
from tables import Study, write_study

STUDIES: dict[str, Callable[[], Study]] = {
    "kernels": kernels.run,
    "bodies": bodies.run,
    "hostile": hostile.run,
    "identifiability": identifiability.run,
    "coverage": coverage.run,
    "certificates": certificates.run,
    "excitation": excitation.run,
    "excited_plant": excited_plant.run,
    "admittance": admittance.run,
    "real_data": real_data.run,
    "real_peers": real_peers.run,
    "repeatability": repeatability.run,
    "patched_files": patched_files.run,
    "payloads": payloads.run,
    "payload_bounds": payload_bounds.run,
    "virtual_constraints": virtual_constraints.run,
    "thesis_payloads": thesis_payloads.run,
    "all_pose": all_pose.run,
    "refinement": refinement.run,
    "campaign": campaign.run,
    "momentum_condition": momentum_condition.run,
    "certified_excitation": certified_excitation.run,
    "safe_stacking": safe_stacking.run,
    "safe_runs": safe_runs.run,
    "safe_faults": safe_faults.run,
    "online_bounds": online_bounds.run,
    "tube_enclosure": tube_enclosure.run,
    "certified_by_name": certified_by_name.run,
    "mesh_clearance": mesh_clearance.run,
    "settling": settling.run,
    "servos": servos.run,
    "believable_simulated": believable_simulated.run,
    "believable_public": believable_public.run,
    "wrong_descriptions": wrong_descriptions.run,
    "zoo_commands": zoo_commands.run,
}
SEEDED: dict[str, Callable[[int], Study]] = {
    "believable_public": believable_public.run,
    "excitation": excitation.run,
    "excited_plant": excited_plant.run,
    "certified_excitation": certified_excitation.run,
    "online_bounds": online_bounds.run,
    "safe_faults": safe_faults.run,
    "safe_runs": safe_runs.run,
    "safe_stacking": safe_stacking.run,
    "wrong_descriptions": wrong_descriptions.run,
}


def main(words: list[str]) -> int:
    """Run the named studies, all by default; 1 if one of them fails its bound."""
    parser = argparse.ArgumentParser(description="Run the long studies.")
    parser.add_argument(
        "names", nargs="*", metavar="study", help=f"which; all by default: {', '.join(STUDIES)}"
    )
    parser.add_argument("--seeds", type=int, metavar="N", help=f"a quick look at {' or '.join(SEEDED)}")
    asked = parser.parse_args(words)
    valid = STUDIES if asked.seeds is None else SEEDED
    unknown = [name for name in asked.names if name not in valid]
    if unknown:
        parser.error(f"unknown studies {unknown}; valid: {list(valid)}")
    if asked.seeds is not None and asked.seeds < 1:
        parser.error(f"--seeds must be at least 1, got {asked.seeds}")
    passed = True
    for name in asked.names or valid:
        if asked.seeds is None:
            study = STUDIES[name]()
            print(write_study(name, study))
        else:
            study = SEEDED[name](asked.seeds)
        print(study.markdown())
        passed = passed and study.passed
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
