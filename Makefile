# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
WORKERS ?= auto
CORE ?= .venv-core

.PHONY: demo quick test docs coverage test-core test-long lint types benchmark reproduce clean

demo: $(VENV)/.core
	$(BIN)/python -m markovize.cli.demo demo

# for the daily loop, less than a minute: the rooms from episodes to learning, without the tests that take seconds each
QUICK := episodes conflicts machine product learning io worlds gym
quick: $(VENV)/.all lint types
	$(BIN)/python -m pytest -n $(WORKERS) -q -m "not long and not slow" $(QUICK:%=tests/%) tests/test_*.py

# without the tests that take seconds each, which `make coverage` and so `make test-long` run as well; comparisons with the
# oracles and of warm solvers with fresh ones are among those that run here
test: $(VENV)/.all lint types
	$(BIN)/python -m pytest -n $(WORKERS) -q -m "not long and not slow"

# the same, with what it covers; first the kernels without compilation, where their lines can be seen (and where numbers
# that wrap around, as they do when compiled, are no reason to warn)
coverage: $(VENV)/.all
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n $(WORKERS) -q -m kernels -W "ignore:overflow encountered" \
		--cov --cov-report=
	$(BIN)/python -m pytest -n $(WORKERS) -q --cov --cov-append --cov-report=term --cov-fail-under=95

# the core alone, in an environment without any extra
test-core: $(CORE)/.dev
	$(CORE)/bin/python -m pytest -n $(WORKERS) -q --doctest-ignore-import-errors

test-long: coverage
	$(BIN)/python -m pytest -n $(WORKERS) -q -m long
	$(BIN)/python -m pytest -n $(WORKERS) -q -m "hypothesis and not long" --hypothesis-profile=long
	$(BIN)/python tests/helpers/agreement.py 6000 100000

lint: $(VENV)/.all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.all
	$(BIN)/mypy

# the site; open docs/_build/html/index.html
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

benchmark: $(VENV)/.all
	$(BIN)/python benchmarks/solve.py
	$(BIN)/python benchmarks/certificates.py
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/anytime.py
	$(BIN)/python benchmarks/alphabets.py
	$(BIN)/python benchmarks/runs.py
	$(BIN)/python benchmarks/overshoot.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/files.py
	$(BIN)/python benchmarks/steps.py
	$(BIN)/python benchmarks/act.py
	$(BIN)/python benchmarks/cycles.py
	$(BIN)/python benchmarks/random_worlds.py
	$(BIN)/python benchmarks/unique.py
	$(BIN)/python benchmarks/anywhere.py
	$(BIN)/python benchmarks/guards.py
	$(BIN)/python benchmarks/guards_replay.py
	$(BIN)/python benchmarks/noise.py --copies 3
	$(BIN)/python benchmarks/random_rewards.py --null 20
	$(BIN)/python benchmarks/deep.py
	$(BIN)/python benchmarks/sb3.py

reproduce: $(VENV)/.core
	for name in exp1 exp3 ablation; do $(BIN)/markovize reproduce $$name --resume --out results/$$name; done

clean:
	rm -rf $(VENV) $(CORE) demo docs/_build docs/_generated .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) -e .
	touch $@

$(CORE)/.dev: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(CORE)
	$(CORE)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

$(VENV)/.all: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) -e ".[gurobi,ray,deep,sb3,data,envs,dev]"
	touch $(VENV)/.core $@

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(INSTALL) -e ".[deep,sb3,docs]"
	touch $@
