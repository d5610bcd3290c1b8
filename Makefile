PYTHON ?= python3
BIN := .venv/bin

.PHONY: help install demo test lint format wheel bench acceptance attack clean

help:
	@echo "make demo        the whole line on a simulated Panda"
	@echo "make test        every test"
	@echo "make lint        ruff and strict types"
	@echo "make wheel       builds the wheel, installs it alone and runs it"
	@echo "make bench       benchmarks, as ratios to peers in the same run"
	@echo "make acceptance  the long studies; tables go to docs/results"
	@echo "make attack      tries to break what is promised, seed by seed; goes on where it was stopped"

# `make install COMPILE=1` also makes the machine code of every kernel, so that no command waits for it later.
install: .venv/installed
ifdef COMPILE
	$(BIN)/steelyard compile
endif

# Exact versions come from constraints.txt; the stamp makes repeated calls free.
.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Steelyard needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: install
	$(BIN)/steelyard demo

# As in the command: our own threads and two workers use the cores, BLAS threads would get in their way. Tests start
# hundreds of programs, which need not parse the sources each: bytecode is kept, wherever the machine says not to.
# Each worker begins with a run of whole files, so that what a file makes once is seldom made twice.
test: install
	OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal --durations=15

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel:
	PYTHON=$(PYTHON) .ci/wheel

bench: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,bench]'
	$(BIN)/python bench/run.py

acceptance: install
	$(BIN)/python bench/acceptance.py

# Some by name: `.venv/bin/python bench/attack.py kills --cases 20`.
attack: install
	$(BIN)/python bench/attack.py

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
