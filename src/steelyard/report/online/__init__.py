"""The page of a robot that learns while it moves, live and afterwards."""
