# Two commands for a newcomer: `make demo` and `make test`. Each makes what it needs.
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
WORKERS ?= 2

.PHONY: help demo test lint docs bench lowest newest browser clean

help:  ## List the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/:/' | column -t -s:

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(PIP) install --editable ".[agents,sql]"
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) install --editable ".[dev]"
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo  ## Run a scripted agent on a small budget: no key, no network
	$(BIN)/python examples/agent_session.py

test: $(VENV)/.dev  ## Run all tests, with branch coverage
	$(BIN)/pytest -n $(WORKERS) --cov --cov-report=term --pyargs tests langchain_memkit

lint: $(VENV)/.dev  ## Run the linters, the type checker and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

browser: $(VENV)/.dev  ## Look at the page of `memkit compare` in headless Chromium, light and dark
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null 2>&1; } || true
	$(BIN)/python benchmarks/browser.py $(FILES)

docs: $(VENV)/.dev  ## Build the documentation, warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir site

bench: $(VENV)/.bench  ## Regenerate all figures from DATA=FOLDER (see benchmarks/all.py)
	$(BIN)/python benchmarks/all.py $(DATA)

$(VENV)/.bench: pyproject.toml | $(VENV)/.dev
	$(PIP) install --editable ".[bench]"
	@touch $@

lowest:  ## Run the tests with the lowest direct versions, which leave event loops open
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install -qq uv
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --editable ".[test]"
	.venv-lowest/bin/pytest -n $(WORKERS) -W ignore::pytest.PytestUnraisableExceptionWarning --ignore tests/integration_tests/test_docs.py --pyargs tests langchain_memkit

newest:  ## Run the tests with the newest versions of everything
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/python -m pip install -qq --upgrade pip
	.venv-newest/bin/python -m pip install -qq --upgrade --upgrade-strategy eager --editable ".[dev]"
	.venv-newest/bin/pytest -n $(WORKERS) --pyargs tests langchain_memkit

clean:  ## Remove what the other targets made
	rm -rf .venv* .build build dist site .coverage* .*_cache
