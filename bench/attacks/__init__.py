"""Attacks on the promises of the package, each in a module of its own; `attack` says what one is."""
