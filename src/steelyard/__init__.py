"""Steelyard weighs a robot with its own arm: identification that says which numbers can be known."""

__version__ = "0.1.0"
