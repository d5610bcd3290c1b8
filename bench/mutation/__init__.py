"""The parts of `bench/mutants.py`: where code can be changed, a sample of it, the tests near it, trials."""
