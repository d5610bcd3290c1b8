"""The page of a weighed payload, and its safety sheet."""

from typing import TYPE_CHECKING

from steelyard.door import open_door

if TYPE_CHECKING:
    from steelyard.report.payload.content import (
        GainAnswer,
        TrialOutcome,
        payload_content_of,
        payload_trace,
        wrench_trace,
    )
    from steelyard.report.payload.page import payload_page
    from steelyard.report.payload.sheet import safety_sheet

__all__ = [
    "GainAnswer",
    "TrialOutcome",
    "payload_content_of",
    "payload_page",
    "payload_trace",
    "safety_sheet",
    "wrench_trace",
]

open_door(__name__)
