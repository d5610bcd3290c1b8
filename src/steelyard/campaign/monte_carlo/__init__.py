"""Monte Carlo studies: sensors × noise × motions × methods, each tried several times on a simulated robot."""

__all__: list[str] = []
