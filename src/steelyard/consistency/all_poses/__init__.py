"""Is the mass matrix positive definite at every pose? Proven, checked in exact arithmetic, and made so."""
