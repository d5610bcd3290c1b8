"""Closed-loop refinement: the parameters with which a simulated loop does what the real one did."""
