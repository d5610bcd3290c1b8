"""B. Zhang, Z. Zhou, R. Vasudevan: *Provably-Safe, Online System Identification*, in simulation.

Experiments (a), (b) and (c): dumbbells stacked and carried by every method, with the motions of least jerk of
VI-D3. `theorem13` is Theorem 13 in both forms, which `theorem13_comparison` holds beside the bounds of a run.
The year is not printed in the text used.
"""
