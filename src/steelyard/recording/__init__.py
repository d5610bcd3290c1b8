"""Recordings: named, united, validated time series with their history; readers and writers of logs."""

from steelyard.recording.channels import CHANNELS, Channel
from steelyard.recording.files import SUFFIXES, read, write
from steelyard.recording.recording import Recording
from steelyard.recording.step import Step
from steelyard.recording.table import Defect

__all__ = ["CHANNELS", "SUFFIXES", "Channel", "Defect", "Recording", "Step", "read", "write"]
