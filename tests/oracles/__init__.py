"""The judges: short independent rewrites, and other people's code brought to our conventions."""
