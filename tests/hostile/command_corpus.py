"""Every hostile command, from one seed."""

from __future__ import annotations

from collections.abc import Mapping

from hostile.attempts import Attempt
from hostile.good import csv, log
from hostile.log_traps import (
    bag_folder_traps,
    csv_value_traps,
    db3_traps,
    mcap_traps,
    npz_traps,
    parquet_traps,
)
from hostile.motion_traps import motion_traps
from hostile.option_traps import campaign_traps, description_traps, document_traps, option_traps
from hostile.record_traps import model_traps, record_traps

LOG = csv(*log())


def commands(result: Mapping[str, bytes], *, seed: int, rounds: int) -> list[Attempt]:
    """All attempts.

    Args:
        result: content of the folder of a result identified from `LOG`, by name.
        seed: of the fuzzer.
        rounds: how many documents of each kind the fuzzer damages.

    Returns:
        The attempts, the same for the same seed.
    """
    return [
        *record_traps(result, LOG, seed=seed, rounds=rounds),
        *model_traps(result, LOG, seed=seed, rounds=rounds),
        *motion_traps(seed=seed, rounds=rounds),
        *csv_value_traps(seed=seed, rounds=rounds),
        *npz_traps(),
        *parquet_traps(),
        *mcap_traps(),
        *db3_traps(),
        *bag_folder_traps(),
        *option_traps(),
        *document_traps(seed=seed, rounds=rounds),
        *campaign_traps(seed=seed, rounds=rounds),
        *description_traps(),
    ]
