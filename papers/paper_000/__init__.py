"""Experiments (a), (b) and (c) of paper 000 in simulation: dumbbells stacked and carried by every method."""
