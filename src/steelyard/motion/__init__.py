"""Motions: joint references with exact derivatives in time and in their coefficients."""

from steelyard.motion.extent import Extent, extent
from steelyard.motion.files import read_motion, write_motion
from steelyard.motion.fourier import FourierBasis, FourierMotion, fourier_basis
from steelyard.motion.motion import Motion, MotionSample
from steelyard.motion.random_fourier import UNLIMITED_SLIDE, UNLIMITED_TURN, random_fourier
from steelyard.motion.rest import rest_to_rest

__all__ = [
    "UNLIMITED_SLIDE",
    "UNLIMITED_TURN",
    "Extent",
    "FourierBasis",
    "FourierMotion",
    "Motion",
    "MotionSample",
    "extent",
    "fourier_basis",
    "random_fourier",
    "read_motion",
    "rest_to_rest",
    "write_motion",
]
