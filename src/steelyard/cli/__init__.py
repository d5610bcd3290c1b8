"""The command line: parses, calls, prints, and maps errors to exit codes; the only room that prints."""

from steelyard.cli.app import main

__all__ = ["main"]
