"""The page of a weighed payload."""

from steelyard.report.payload.content import GainAnswer, TrialOutcome, payload_content_of, payload_trace
from steelyard.report.payload.page import payload_page

__all__ = [
    "GainAnswer",
    "TrialOutcome",
    "payload_content_of",
    "payload_page",
    "payload_trace",
]
