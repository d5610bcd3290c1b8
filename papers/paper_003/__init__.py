"""H. Tian, M. Huber, C. E. Mower, Z. Han, C. Li, X. Duan, C. Bergeles: excitation with virtual constraints.

*Excitation Trajectory Optimization for Dynamic Parameter Identification Using Virtual Constraints in Hands-on
Robotic System*; the year is not printed in the text used. What Steelyard does in another way stands here as
the paper has it, on top of the library's public names; `hand_guiding` is its experiment V-C in simulation.
"""
