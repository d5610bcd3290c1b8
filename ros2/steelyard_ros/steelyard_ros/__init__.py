"""Plays a motion of Steelyard on a robot of ROS 2, and records the log that Steelyard identifies from.

`goal` and `log` need no ROS: the file that is played, and the file that is recorded. `play` is the node.
"""
