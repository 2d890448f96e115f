# make demo | make lab | make test | make long | make soak | make wheel | make lint | make docs | make bench
# make sanitize | make cross | make full | make stub
PYTHON ?= python3
# bytecode is cached: the tests start many processes
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
# bytecode is made when a module is first imported: half a minute less for each environment
INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile
PIP := $(BIN)/python $(INSTALL)
# `make` compiles the core itself, so pip only links src
EDITABLE := --no-build-isolation --config-settings=wheel.cmake=false --config-settings=editable.mode=inplace
CORE := build/core
CMAKE = $(BIN)/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python
JOBS ?= 2
# a file at a time, in the order of the folders; doctests, which are short, come last
DIST := --dist loadfile --no-loadscope-reorder
.PHONY: demo lab test long soak wheel lint sanitize fuzz cross full stub docs bench clean

$(VENV)/.venv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rosenblatt needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	touch $@

# what builds the core, as pyproject.toml lists it
$(VENV)/.tools: $(VENV)/.venv pyproject.toml
	@echo "installing rosenblatt into $(VENV) (about a minute the first time) ..."
	$(PIP) cmake ninja $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	@if [ -z "$$CXX" ] && ! { command -v c++ || command -v g++ || command -v clang++; } >/dev/null; then \
		echo "no C++ compiler found: using the one of the ziglang package (two minutes the first time)"; \
		$(PIP) ziglang; fi
	touch $@

# the module lies in src/rosenblatt; only what changed is compiled again
$(VENV)/.core: $(VENV)/.tools CMakeLists.txt $(wildcard core/* cmake/*)
	@echo "compiling the core (about 15 seconds the first time) ..."
	@$(CMAKE) -S . -B $(CORE) >$(VENV)/core.log 2>&1 || { cat $(VENV)/core.log; exit 1; }
	$(BIN)/cmake --build $(CORE)
	@rm -f src/rosenblatt/_core*.so
	@$(BIN)/cmake --install $(CORE) --prefix src >/dev/null
	touch $@

$(VENV)/.base: $(VENV)/.tools pyproject.toml | $(VENV)/.core
	$(PIP) $(EDITABLE) -e .
	touch $@

$(VENV)/.test: $(VENV)/.base
	$(PIP) $(EDITABLE) -e '.[test]'
	touch $@

$(VENV)/.docs: $(VENV)/.base
	$(PIP) $(EDITABLE) -e '.[docs]'
	touch $@

$(VENV)/.dev: $(VENV)/.test $(VENV)/.docs
	$(PIP) $(EDITABLE) -e '.[dev]'
	touch $@

# setuptools and wheel build LIBLINEAR, which has no wheel
$(VENV)/.bench: $(VENV)/.base
	$(PIP) setuptools wheel
	$(PIP) $(EDITABLE) -e '.[bench]'
	touch $@

# the demo writes a notebook, which needs jupytext; the tutorial reads tables with pyarrow
$(VENV)/.lectures: $(VENV)/.base
	$(PIP) $(EDITABLE) -e '.[lectures,files]'
	touch $@

demo: $(VENV)/.lectures $(VENV)/.core
	@$(BIN)/rosenblatt demo --out build/demo

$(VENV)/.lab: $(VENV)/.base
	$(PIP) $(EDITABLE) -e '.[lab]'
	touch $@

lab: $(VENV)/.lab $(VENV)/.core
	@echo "starting the lab; Ctrl-C ends it ..."
	@$(BIN)/rosenblatt lab

test: $(VENV)/.test $(VENV)/.core
	SCIPY_ARRAY_API=1 $(BIN)/python -m pytest -q -n $(JOBS) $(DIST) -m 'not long and not threads'
	SCIPY_ARRAY_API=1 $(BIN)/python -m pytest -q -n $(JOBS) $(DIST) -m 'not long and threads'

long: $(VENV)/.test $(VENV)/.core
	SCIPY_ARRAY_API=1 $(BIN)/python -m pytest -q -n $(JOBS) $(DIST) -m 'long and not threads' tests
	SCIPY_ARRAY_API=1 $(BIN)/python -m pytest -q -n $(JOBS) $(DIST) -m 'long and threads' tests

soak: $(VENV)/.test $(VENV)/.core
	$(MAKE) fuzz INPUTS=1000000
	SCIPY_ARRAY_API=1 HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -q -n $(JOBS) $(DIST) -m 'not threads' tests
	SCIPY_ARRAY_API=1 HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -q -n $(JOBS) $(DIST) -m threads tests

wheel: $(VENV)/.dev
	rm -rf dist build/wheel
	$(BIN)/python -m build --outdir dist
	$(BIN)/python .ci/same_files.py dist/*.whl .
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python $(INSTALL) "$$(echo dist/*.whl)[test]"
	cp -r tests build/wheel/tests
	cd build/wheel && SCIPY_ARRAY_API=1 HYPOTHESIS_PROFILE=quick \
		bin/python -m pytest -q -n $(JOBS) $(DIST) -c $(CURDIR)/pyproject.toml --rootdir=. -m 'not long and not threads' tests
	cd build/wheel && SCIPY_ARRAY_API=1 HYPOTHESIS_PROFILE=quick \
		bin/python -m pytest -q -n $(JOBS) $(DIST) -c $(CURDIR)/pyproject.toml --rootdir=. -m 'not long and threads' tests
	build/wheel/bin/rosenblatt --version

lint: $(VENV)/.dev $(VENV)/.core
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror core/*.cpp core/*.hpp tests/core/*.cpp benchmarks/*.cpp
	$(BIN)/python .ci/stub.py
	$(BIN)/python .ci/docstrings.py
	$(BIN)/python .ci/check_symbols.py $(CORE)

# the test programs of the core, with every read and every overflow checked
sanitize: fuzz
	$(CMAKE) -S . -B build/sanitize -DROSENBLATT_SANITIZE=ON -DROSENBLATT_TESTS=ON -DROSENBLATT_BINDINGS=OFF >/dev/null
	$(BIN)/cmake --build build/sanitize
	$(BIN)/ctest --test-dir build/sanitize --output-on-failure

# parsers with mutated input, under the same checks
INPUTS ?= 50000
fuzz: $(VENV)/.tools
	$(CMAKE) -S core/fuzz -B build/fuzz >/dev/null
	$(BIN)/cmake --build build/fuzz
	for format in libsvm vw csv number; do build/fuzz/fuzz_$$format $(INPUTS) || exit 1; done

# the core compiled for other systems
SYSTEMS := aarch64-linux-gnu aarch64-macos x86_64-windows-gnu
cross: $(VENV)/.tools
	$(PIP) ziglang
	for system in $(SYSTEMS); do \
		$(CMAKE) -S . -B build/$$system -DCMAKE_TOOLCHAIN_FILE=cmake/zig.cmake -DROSENBLATT_BINDINGS=OFF \
			-DROSENBLATT_ZIG_TARGET=$$system -DROSENBLATT_ZIG_FOLDER=$(CURDIR)/build/zig >/dev/null && \
		$(BIN)/cmake --build build/$$system || exit 1; done

# what takes too long for every change: no compiler, other systems, every Python, old dependencies
full: $(VENV)/.dev $(VENV)/.core sanitize cross
	$(BIN)/python .ci/without_compiler.py
	$(BIN)/python .ci/wheels.py
	$(BIN)/python .ci/wheels.py --oldest

# write src/rosenblatt/_core.pyi after a change of the bindings
stub: $(VENV)/.base $(VENV)/.core
	$(BIN)/python .ci/stub.py --write

# the site: docs/_build/html/index.html
docs: $(VENV)/.docs $(VENV)/.core
	@rm -rf docs/reference/generated
	$(BIN)/python -m sphinx -b html -W --keep-going -q -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python .ci/check_site.py docs/_build/html
	@echo "written: docs/_build/html/index.html"

bench: $(VENV)/.bench $(VENV)/.core
	$(BIN)/python benchmarks/run.py

clean:
	rm -rf $(VENV) src/rosenblatt/_core*.so build dist docs/_build docs/reference/generated .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
