"""Benchmarks, one file per room; each gives rows of our time beside a peer's in the same run."""
