"""The page of a weighed payload."""
