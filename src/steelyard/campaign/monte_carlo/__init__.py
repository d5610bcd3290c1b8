"""Monte Carlo studies: sensors × noise × motions × methods, each tried several times on a simulated robot."""

from steelyard.campaign.monte_carlo.plan import monte_carlo

__all__ = ["monte_carlo"]
