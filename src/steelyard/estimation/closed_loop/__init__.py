"""Closed-loop refinement: the parameters with which a simulated loop does what the real one did.

`fit` is the estimator. `run` holds what was commanded and measured, `response` simulates it with derivatives,
`search` is the Gauss-Newton method, `constraints` say where its steps may go, `delay` how late torques are.
"""
