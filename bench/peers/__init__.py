"""Peers as their own users call them, each run in a process of its own."""
