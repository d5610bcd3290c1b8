"""What can be known: the combinations of parameters that joint torques determine."""

from steelyard.identifiability.base_parameters import BaseParameters, numerical_base

__all__ = ["BaseParameters", "numerical_base"]
