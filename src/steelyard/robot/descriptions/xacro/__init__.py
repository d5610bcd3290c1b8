"""Xacro, the macro language of robot descriptions, expanded without running any of its text as a program."""
