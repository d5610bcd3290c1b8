"""The page of a motion."""
