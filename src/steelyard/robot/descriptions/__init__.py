"""Descriptions of robots: URDF, xacro and MJCF read, repaired and written."""
