# Every target makes .venv and installs what it needs by itself; the second time that takes no time.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
DOCS := .venv/.docs-installed
RUN := runs/walker2d_uni/dcrl_me/seed-0
CORES := $(shell nproc 2>/dev/null || echo 2)
# one process more than cores, since tests also wait, and at most 8: each takes 1 to 3 GiB; the tests of a file share servers and runs; conftest.py has their order
PYTEST := $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder --numprocesses $(shell echo $$(($(CORES) < 8 ? $(CORES) + 1 : 8)))

.DEFAULT_GOAL := help
.PHONY: help install train test test-all check docs dist dist-check bench clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(INSTALLED): pyproject.toml constraints.txt src/dcrl/version.py
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing into .venv (some minutes the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(DOCS): pyproject.toml constraints.txt src/dcrl/version.py
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -e $(INSTALLED) && test ! $(INSTALLED) -ot pyproject.toml || \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	@touch $@

install: $(INSTALLED) ## create .venv with the package and everything for development

train: $(INSTALLED) ## train DCRL-MAP-Elites on the walker (about four minutes on 2 cores), or resume the run
	@if test -e $(RUN)/checkpoints; then $(BIN)/dcrl resume $(RUN); else $(BIN)/dcrl train walker2d_uni --preset fast; fi

test: $(INSTALLED) ## run the tests
	DCRL_QUICK_COMPILATION=1 $(PYTEST)

test-all: $(INSTALLED) ## run the tests, also those that take minutes each
	$(PYTEST) -m ''

check: $(INSTALLED) ## format, lint, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	DCRL_QUICK_COMPILATION=1 $(PYTEST)

docs: $(DOCS) ## build the documentation site into build/docs; a broken link or a missing docstring is an error
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --jobs auto -b html docs build/docs
	@echo "open build/docs/index.html"

dist: $(INSTALLED) ## build a wheel and an sdist into dist
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

dist-check: dist ## install both into empty environments in build/dist-check, check the installation and train a little
	@for file in dist/*.whl dist/*.tar.gz; do \
	  rm -rf build/dist-check && $(PYTHON) -m venv build/dist-check && echo "trying $$file" && \
	  build/dist-check/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "$$file" && \
	  (cd build/dist-check && bin/dcrl doctor && bin/dcrl train point_omni --evaluations 512) || exit 1; \
	done

bench: $(INSTALLED) ## measure speed against the machine's own limits
	$(BIN)/dcrl bench rollout

clean: ## remove .venv and caches
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache build src/*.egg-info
