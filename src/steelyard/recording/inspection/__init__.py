"""Defects of a recording that its numbers reveal, and whether two recordings show the same motion."""
