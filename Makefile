# make demo | make lab | make test | make long | make soak | make wheel | make lint | make docs | make bench
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# what is imported is compiled then: half a minute less for each environment
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile
PIP := $(BIN)/python $(INSTALL)
CACHE := $(CURDIR)/.numba_test_cache
JOBS ?= 2
# a file at a time: what its tests need is compiled by one process; in the order of the folders
# after the first, see tests/conftest.py; doctests, which are short, come last
DIST := --dist loadfile --no-loadscope-reorder
# what shows that the wheel holds all it needs: each door, each page; the rest is the same source
PACKED := tests/test_imports.py tests/test_cli*.py tests/test_model_file.py tests/test_export.py \
	tests/show tests/lectures

.PHONY: demo lab test long soak wheel lint docs bench clean

$(VENV)/.venv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rosenblatt needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.base: $(VENV)/.venv pyproject.toml
	@echo "installing rosenblatt into $(VENV) (about a minute the first time) ..."
	$(PIP) -e .
	touch $@

$(VENV)/.test: $(VENV)/.base
	$(PIP) -e '.[test]'
	touch $@

$(VENV)/.dev: $(VENV)/.test
	$(PIP) -e '.[dev]'
	touch $@

$(VENV)/.bench: $(VENV)/.base
	$(PIP) -e '.[bench]'
	touch $@

demo: $(VENV)/.base
	@$(BIN)/rosenblatt demo

$(VENV)/.lab: $(VENV)/.base
	$(PIP) -e '.[lab]'
	touch $@

lab: $(VENV)/.lab
	@echo "starting the lab; Ctrl-C ends it ..."
	@$(BIN)/rosenblatt lab

test: $(VENV)/.test
	rm -rf $(CACHE)
	SCIPY_ARRAY_API=1 NUMBA_CACHE_DIR=$(CACHE) $(BIN)/python -m pytest -q -n $(JOBS) $(DIST) -m 'not long and not threads'
	SCIPY_ARRAY_API=1 NUMBA_CACHE_DIR=$(CACHE) $(BIN)/python -m pytest -q -n $(JOBS) $(DIST) -m 'not long and threads'

long: $(VENV)/.test
	SCIPY_ARRAY_API=1 NUMBA_CACHE_DIR=$(CACHE) $(BIN)/python -m pytest -q -n $(JOBS) $(DIST) -m 'long and not threads' tests
	SCIPY_ARRAY_API=1 NUMBA_CACHE_DIR=$(CACHE) $(BIN)/python -m pytest -q -n $(JOBS) $(DIST) -m 'long and threads' tests

soak: $(VENV)/.test
	rm -rf $(CACHE)
	SCIPY_ARRAY_API=1 NUMBA_CACHE_DIR=$(CACHE) HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -q -n $(JOBS) $(DIST) -m 'not threads' tests
	SCIPY_ARRAY_API=1 NUMBA_CACHE_DIR=$(CACHE) HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -q -n $(JOBS) $(DIST) -m threads tests

wheel: $(VENV)/.dev
	rm -rf dist build/wheel
	$(BIN)/python -m build --wheel --outdir dist
	$(BIN)/python .ci/same_files.py dist/*.whl src
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python $(INSTALL) "$$(echo dist/*.whl)[test]"
	cp -r tests build/wheel/tests
	cd build/wheel && SCIPY_ARRAY_API=1 HYPOTHESIS_PROFILE=quick NUMBA_CACHE_DIR=$(CURDIR)/build/wheel/cache \
		bin/python -m pytest -q -n $(JOBS) $(DIST) -c $(CURDIR)/pyproject.toml --rootdir=. -m 'not threads' $(PACKED)
	cd build/wheel && SCIPY_ARRAY_API=1 HYPOTHESIS_PROFILE=quick NUMBA_CACHE_DIR=$(CURDIR)/build/wheel/cache \
		bin/python -m pytest -q -n $(JOBS) $(DIST) -c $(CURDIR)/pyproject.toml --rootdir=. -m threads $(PACKED)
	build/wheel/bin/rosenblatt --version

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.dev
	$(BIN)/python docs/make_api.py

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) $(CACHE) build dist docs/api .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
