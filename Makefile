# make run | validate | score-quick | test | check | slow | lint | site | coverage | bench | counts | soak | fuzz | mutations |
# truth | docs-outputs | docs-slow | licences | package | notebooks | class: each first makes the environment in .venv, once.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUNS   := $(VENV)/.runs
READY  := $(VENV)/.ready
# What nobody imports need not be compiled: Python keeps what it has compiled of the rest.
PIP    := --disable-pip-version-check --no-compile --constraint constraints.txt

# Where the environment forbids it, too, Python keeps what it has compiled: the programs that tests
# start, and the workers, would parse everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: ready run validate score-quick test check slow lint lint-style lint-mypy lint-pyright site coverage \
        format bench bench-details bench-quick \
        counts soak fuzz mutations truth docs-outputs docs-slow licences package notebooks class clean

# Installs what a run needs, and the compiler of its core: some 400 MB.
run: $(RUNS)
	$(BIN)/xc40io run theta-headline

# Published measurements beside simulated ones: a few minutes, and seconds when nothing has changed.
validate: $(READY)
	$(BIN)/xc40io validate

# How far the numbers of the fast claims are off, and which differ from the kept ones: seconds.
score-quick: $(READY)
	$(BIN)/xc40io validate --score --fast --against validation/kept.json

# The tests of a file run in one process: what they share is made once.
test: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder \
	    -m "not benchmark and not slow"

# What takes long, once more in full: all shipped scenarios explained, Theta's curves drawn. Minutes.
slow: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadfile -m slow

# What one wants to know before a commit, in a minute or two: style, types, and the tests of what has changed
# since SINCE.
SINCE ?= HEAD

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	tests="$$($(BIN)/python tools/changed_tests.py $(SINCE))"; test -z "$$tests" || \
	    $(BIN)/python -m pytest -q -n auto --dist loadfile -m "not benchmark and not slow" $$tests

lint: lint-style lint-mypy lint-pyright

lint-style: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	PYTHONPATH=.house $(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/python tools/check_imports.py

lint-mypy: $(READY)
	$(BIN)/mypy
	$(BIN)/mypy tools

lint-pyright: $(READY)
	$(BIN)/pyright
	$(BIN)/python tools/python_examples.py build/examples
	$(BIN)/pyright build/examples

# The documents as a site, build/site/index.html: without a network, and a warning is an error.
site: $(READY)
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env --jobs auto \
	    --conf-dir docs --doctree-dir build/doctrees . build/site

# Which lines the tests run. Compiled code is not seen, so the tests of its packages run as plain Python,
# with few examples each; the others as always. Half an hour.
UNCOMPILED := $(addprefix tests/,engine plane network node lustre storage mpi machine)
COVER      := $(BIN)/coverage run -m pytest -q -n auto -m "not benchmark"

coverage: $(READY)
	$(BIN)/coverage erase
	-NUMBA_DISABLE_JIT=1 $(COVER) --hypothesis-profile=coverage $(UNCOMPILED)
	-$(COVER) --ignore=tests/notebooks --ignore=tests/docs --hypothesis-profile=coverage tests
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Every budget of the design as one table; what it is made of, and a warning where a ratio has fallen.
bench: $(READY)
	$(BIN)/python tests/benchmarks/speed_table.py --keep

bench-details: $(READY)
	$(BIN)/python -m pytest tests/benchmarks -m benchmark -s -q

bench-quick: $(READY)
	$(BIN)/python tests/benchmarks/speed_table.py --quick

# What an event costs in instructions and misses of caches, by Valgrind: the same on every machine.
counts: $(READY)
	$(BIN)/python tests/benchmarks/cache_counts.py

# Random scenarios: what must hold of every run, 1,000 times (SOAK); 200 pairs of which one does more, or
# has a slower part; then whatever holds always, with other examples each time. A quarter of an hour.
SOAK ?= 1000

soak: $(READY)
	XC40IO_SOAK=$(SOAK) $(BIN)/python -m pytest tests/run/test_chaos.py tests/run/test_monotony.py -q
	$(BIN)/python -m pytest -n auto -q -m "not benchmark and not slow" --hypothesis-profile=xc40io \
	    $(UNCOMPILED) tests/workloads tests/config tests/topology

# Hostile input on every way in, 300 times each; prints a table as docs/hostile-input.csv. Minutes.
fuzz: $(READY)
	$(BIN)/python tests/fuzz

# Each rule of tests/mutations/rules.yaml broken in a copy: which of them no test notices. Half an hour.
mutations: $(READY)
	$(BIN)/python tests/mutations/mutate.py

# What IOR, mdtest, h5bench and their libraries really call, recorded anew for tests/real: on Debian, with the
# programs in a folder (tests/real/README.md); then as many drawn cases of each kind, others each day.
# Eleven minutes the first time, then six.
PROGRAMS ?= build/real/bin
DRAWN    ?= 40
SEED     ?= $(shell date +%Y%j)

truth: $(READY)
	tests/real/rig/build.sh build/real
	$(BIN)/python tests/real/record.py --programs $(PROGRAMS)
	$(BIN)/python tests/real/beside.py
	$(BIN)/python tests/real/drawn.py --programs $(PROGRAMS) --cases $(DRAWN) --seed $(SEED)

# What commands print and what the validation found, as README.md and docs/ show it.
docs-outputs: $(READY)
	$(BIN)/python -m xc40io.validation.trust_page
	$(BIN)/python tools/docs_outputs.py
	$(BIN)/python tools/docs_pictures.py
	$(BIN)/python tools/assistant_page.py
	$(BIN)/python tests/real/real_page.py

# Source distribution and wheel in dist/, installed in a clean environment and run from elsewhere.
package: $(READY)
	$(BIN)/python tools/package_check.py $(ALSO)

# What the documents show and takes minutes: run, compared, written anew with the day. Half an hour.
docs-slow: $(READY)
	$(BIN)/python tools/docs_outputs.py --slow

# docs/licences.md and licences.csv: what the installed libraries say of their licences.
licences: $(READY)
	$(BIN)/python tools/licences_page.py

# The notebooks, run again and kept with what comes out: a minute or two.
notebooks: $(READY)
	$(BIN)/python tools/run_notebooks.py

# The explorer and the lessons for others on the network, each with a token: until Ctrl-C.
class: $(RUNS)
	$(BIN)/python -m pip install --quiet $(PIP) --editable ".[compile,lessons,web]"
	$(BIN)/xc40io lessons --address 0.0.0.0 & trap "kill $$!" EXIT; \
	    $(BIN)/xc40io web --address 0.0.0.0 --token new

ready: $(READY)

$(RUNS): setup.cfg setup.py pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	@echo "xc40io: installing what a run needs into $(VENV)"
	$(BIN)/python -m pip install $(PIP) --editable ".[compile]"
	$(BIN)/xc40io compile
	touch $@

# What tests, checks and documents need besides: once, with the first of them.
$(READY): $(RUNS)
	$(BIN)/python -m pip install --quiet $(PIP) --editable ".[test]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
