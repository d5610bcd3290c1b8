"""Whether data determines all that torques could tell, and if not, which motion is missing."""

from steelyard.identifiability.certificate.certify import certify_excitation
from steelyard.identifiability.certificate.verdict import Certificate

__all__ = [
    "Certificate",
    "certify_excitation",
]
