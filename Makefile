# Needs git, make, and either uv or a Python with pip. Every target sets up what it needs, once.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

PORT ?= 8000
DEMO ?= 1
PYTEST_ARGS ?=
PYTHON := .venv/bin/python
# A virtual environment that is active elsewhere must not be mistaken for ours.
unexport VIRTUAL_ENV

.PHONY: help run quick test lint fix bench lab messages

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 20

run: .venv/ready-to-run  ## everything on http://127.0.0.1:8000 with a demo fleet; DEMO=0 starts empty, PORT=8001 elsewhere
	@exec .venv/bin/flotilla run --port $(PORT) $(if $(filter 0,$(DEMO)),--no-demo)

quick: .venv/ready  ## the tests that need no server: a minute or two
	@$(PYTHON) -m pytest -q -n auto --dist worksteal -m "not testbed" $(PYTEST_ARGS)

# One process: real servers want both cores, and one summary tells everything.
test: .venv/ready  ## everything, on real servers; the first time builds them (about 15 minutes, 8 GB of caches)
	@$(PYTHON) -m tests.testbed.build
	@HYPOTHESIS_PROFILE=full FLOTILLA_SCHEMA_EXAMPLES=10 $(PYTHON) -m pytest --cov --cov-report=term:skip-covered $(PYTEST_ARGS)

lint: .venv/ready  ## everything that can be checked without running the product
	.venv/bin/ruff check --quiet --output-format concise .
	.venv/bin/ruff format --quiet --check --output-format concise .
	.venv/bin/lint-imports --no-logo
	.venv/bin/mypy
	.venv/bin/djlint --quiet --lint templates
	.venv/bin/check-jsonschema --quiet --builtin-schema vendor.compose-spec docker-compose.yml
	.venv/bin/dockerfile-doctor --quiet --ignore DD022,DD069,DD078 Dockerfile
	$(PYTHON) -m tests.catalogues check

fix: .venv/ready  ## let the linters repair what they can
	@.venv/bin/ruff check --quiet --fix . || true
	@.venv/bin/ruff format --quiet .

bench: .venv/ready  ## measure; prints a table and writes bench/results.json
	@$(PYTHON) -m bench

lab: .venv/ready  ## the product beside three real clusters with Flux and Gitea, to play with
	@$(PYTHON) -m tests.testbed.build
	@exec $(PYTHON) -m tests.testbed.lab --port $(PORT)

messages: .venv/ready  ## bring the catalogues of translations up to date with the code
	@$(PYTHON) -m tests.catalogues update

# Without --inexact this would remove what the tests need from an environment that has it.
.venv/ready-to-run: pyproject.toml uv.lock
	@.ci/uv sync --quiet --locked --no-dev --inexact
	@touch $@

.venv/ready: pyproject.toml uv.lock
	@.ci/uv sync --quiet --locked
	@touch $@ .venv/ready-to-run
