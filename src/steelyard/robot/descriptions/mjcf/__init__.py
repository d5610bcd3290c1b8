"""MJCF, MuJoCo's description of robots, read with the line of everything that is wrong with it."""
