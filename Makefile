# One word for each duty. Each target makes or refreshes .venv first; the second time that takes no time.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

# The first interpreter that starts and is new enough; name another with `make PYTHON=python3.12 …`.
IS_NEW_ENOUGH := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for candidate in python3 python3.13 python3.12 python3.11; do \
	if $$candidate -c '$(IS_NEW_ENOUGH)' >/dev/null 2>&1; then echo $$candidate; break; fi; done)

VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
INSTALLED_TO_RUN := $(VENV)/installed-to-run
INSTALLED_TO_DEVELOP := $(VENV)/installed-to-develop
CHECKED_FOLDERS := src $(wildcard benchmarks examples tools)
PYTEST_WORKERS ?= 2

# Tests and benchmarks measure one thread at a time, whatever the machine has.
export OMP_NUM_THREADS ?= 1
export MPLBACKEND ?= Agg

.PHONY: help train test check lint types imports format docs coverage others cluster bench bars clean

help:  ## Say what each target does
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 20

train: $(INSTALLED_TO_RUN)  ## Train PPO on CartPole-v1, evaluate it and write a report
	$(BIN)/rlightning train cartpole-ppo
	$(BIN)/rlightning report latest

test: check docs coverage others  ## Everything that must pass: checks, documentation, tests, coverage

check: lint types imports  ## Style, types and the direction of imports

lint: $(INSTALLED_TO_DEVELOP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED_TO_DEVELOP)
	$(BIN)/mypy $(CHECKED_FOLDERS)

imports: $(INSTALLED_TO_DEVELOP)
	$(BIN)/lint-imports --no-logo --no-cache

format: $(INSTALLED_TO_DEVELOP)  ## Lay the code out, write the reference pages anew
	$(BIN)/python tools/reference_pages.py
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(INSTALLED_TO_DEVELOP)  ## Build the documentation into site/; every warning is an error
	$(BIN)/zensical build --strict

# The tests that need Ray come by themselves, one Ray at a time; the longest ones by `make cluster` only.
coverage: $(INSTALLED_TO_DEVELOP)
	$(BIN)/python -m pytest --ignore tests/ray --numprocesses $(PYTEST_WORKERS) --cov --cov-report=
	$(BIN)/python -m pytest tests/ray -m 'not long' --cov --cov-append --cov-report= --durations=15
	$(BIN)/coverage report --fail-under=90 --format=total
	$(BIN)/coverage report --fail-under=100 --include='*/policy/utils/*,*/dispatch/*,*/algorithm/returns.py'

# What needs no torch, on every other Python that is declared and present.
TESTS_WITHOUT_TORCH := tests/unit/policy/utils tests/unit/dispatch tests/unit/runtime tests/unit/placement \
	tests/unit/env tests/unit/config tests/unit/test_env_id.py tests/contracts
others: $(INSTALLED_TO_DEVELOP)
	for candidate in python3.11 python3.12 python3.13; do \
		$$candidate -c 'import sys' >/dev/null 2>&1 || continue; \
		[ "$$($$candidate -V)" != "$$($(BIN)/python -V)" ] || continue; \
		echo "testing what needs no torch on $$($$candidate -V)"; \
		other=$(VENV)/others/$$candidate; \
		[ -d $$other ] || $$candidate -m venv $$other; \
		$$other/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
			$(PACKAGES_WITHOUT_TORCH); \
		PYTHONPATH=src $$other/bin/python -m pytest -q $(TESTS_WITHOUT_TORCH); \
	done
PACKAGES_WITHOUT_TORCH := numpy gymnasium pydantic omegaconf typer rich hypothesis pytest pytest-timeout \
	pytest-randomly

cluster: $(INSTALLED_TO_DEVELOP)  ## All tests that need Ray, also the longest
	$(BIN)/python -m pytest tests/ray --durations=15

bench: $(INSTALLED_TO_RUN)  ## Measure the router and the cost of a call
	set -e; for benchmark in router overhead; do \
		if [ -f benchmarks/$$benchmark.py ]; then $(BIN)/python -m benchmarks.$$benchmark; fi; done

bars: $(INSTALLED_TO_DEVELOP)  ## Repeat the measurements of README's table of numbers
	$(BIN)/python -m benchmarks.bars

clean:  ## Remove everything that can be made again, the virtual environment too
	rm -rf $(VENV) .venv-* site build dist htmlcov .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache \
		.hypothesis .import_linter_cache

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "expected Python 3.11 to 3.13, found none; name one: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(INSTALLED_TO_RUN): $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable .
	@touch $@

$(INSTALLED_TO_DEVELOP): $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[dev,docs,ray]'
	@touch $(INSTALLED_TO_RUN) $@
