"""J. Oaki, K. Yamane, K. Inami, S. Sakaino (2026): identification of a low-cost arm, arXiv:2605.15949v2.

*A Reproducible and Physically Feasible Dynamic Parameter Identification Framework for a Low-Cost Robot Arm*.
What Steelyard does in another way stands here as the paper has it, on top of the library's public names;
`crane_x7_motions` are its motions at the postures of its own arm.
"""
