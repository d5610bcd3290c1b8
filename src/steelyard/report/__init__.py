"""What a person reads: pictures and pages of a result."""

from steelyard.report.torque_figure import torque_figure

__all__ = ["torque_figure"]
