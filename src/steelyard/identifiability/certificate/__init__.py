"""Whether data determines all that torques could tell, and if not, which motion is missing."""

from steelyard.identifiability.certificate.certify import certify_compressed, certify_excitation
from steelyard.identifiability.certificate.verdict import Certificate, Missing

__all__ = ["Certificate", "Missing", "certify_compressed", "certify_excitation"]
