"""`python -m steelyard` is the command."""

from steelyard.cli import command

command()
