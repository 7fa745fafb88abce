# `make demo` and `make test` do all the set-up; nothing else has to be installed by hand.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help demo test test-slow lint check bench table ablations figure clean

help:            ## list the targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: $(READY)   ## play the game on the bundled data
	$(BIN)/python -m hedgeclipper.demo

test: $(READY)   ## the tests, without the slow ones
	$(BIN)/python -m pytest -n auto -m "not slow" src README.md tests

test-slow: $(READY)  ## the slow tests: simulations and large inputs
	$(BIN)/python -m pytest -m slow tests

lint: $(READY)   ## style, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test  ## what CI runs

bench: $(READY)  ## speed as ratios to peers in one run, and accuracy on real data
	$(BIN)/python -m benchmarks.game_speed
	$(BIN)/python -m benchmarks.forest_speed
	$(BIN)/python -m benchmarks.out_of_core
	$(BIN)/python -m benchmarks.covtype_everywhere
	$(BIN)/python -m benchmarks.dask_cost
	$(BIN)/python -m benchmarks.panel_speed

table: $(READY)  ## the paper's table on its real data: runs what is missing, writes docs and README
	$(BIN)/python -m benchmarks.run_table
	$(BIN)/python -m benchmarks.render_table
	$(BIN)/python -m benchmarks.other_data
	$(BIN)/python -m benchmarks.panel_study
	$(BIN)/python -m benchmarks.render_panel

ablations: $(READY)  ## what each part is worth: runs what is missing, writes docs/ablations.md
	$(BIN)/python -m benchmarks.run_ablations
	$(BIN)/python -m benchmarks.render_ablations

figure: $(READY)  ## the paper's Figure 2, on covtype
	$(BIN)/python -m benchmarks.margin_figure

clean:           ## remove everything that can be made again
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
