# Two commands do all the set-up on a machine that has only Python 3.11+, make and git:
#   make reproduce    make test
SHELL := /bin/sh
WORKERS ?= 2
# Passed on, e.g.  make reproduce ARGS="--seed 1"   or   make test ARGS="-k verdict"
ARGS ?=
bin := .venv/bin
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE
export PYTHON

.PHONY: help reproduce test check docs lint constraints clean

help:
	@echo "make reproduce   install, verify every claim at quick scale, compare with the record, write report/index.html"
	@echo "make test        install what the tests need (Chromium where possible) and run them"
	@echo "make check       the loop of a change: form, lint, types, imports and the fast tests"
	@echo "make docs        build the documentation into build/docs, its examples executed; a warning is an error"
	@echo "make lint        form, style, types and the one-way flow inside a study and between the rooms"
	@echo "make constraints write constraints.txt from the versions installed in .venv"
	@echo "make clean       remove the environment, the report and every cache in this folder"

reproduce:
	@sh tools/setup.sh run
	@$(bin)/saccade reproduce --jobs $(WORKERS) $(ARGS)

# One thread per worker: two workers on two cores must not fight over them. A worker gets whole files, slow ones first (tests/conftest.py).
# A worker that crashed is not replaced: with loadgroup the rest would wait for ever.
pytest := NPROC=1 OMP_NUM_THREADS=1 $(bin)/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder --max-worker-restart 0 -q
test:
	@sh tools/setup.sh test
	@sh tools/browser.sh
	@$(pytest) $(ARGS)
	@echo "make test: all tests passed"

docs:
	@sh tools/setup.sh docs
	@rm -rf docs/api docs/gallery docs/studies
	@NPROC=1 $(bin)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/docs
	@echo "make docs: build/docs/index.html"

# What a change is held to before it is committed. Everything is run, whatever failed before.
lint:
	@sh tools/setup.sh test
	@failed=; \
	echo "-- form"; $(bin)/python tools/format.py --check || failed="$$failed format"; \
	echo "-- ruff"; $(bin)/ruff check --quiet . || failed="$$failed ruff"; \
	echo "-- pyright"; PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(bin)/pyright || failed="$$failed pyright"; \
	echo "-- import-linter"; $(bin)/lint-imports --no-logo || failed="$$failed import-linter"; \
	if [ -n "$$failed" ]; then echo "make lint: failed:$$failed"; exit 1; fi; \
	echo "make lint: clean"

check: lint
	@$(pytest) -m "not slow and not browser" $(ARGS)
	@echo "make check: all fast checks passed"

constraints:
	@$(bin)/python tools/constraints.py

clean:
	rm -rf .venv .venv.lock .venv.old.* report build dist docs/api docs/gallery docs/studies .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
