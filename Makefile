# `make demo` and `make test` do all the set-up; nothing else has to be installed by hand.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DOCS_READY := .venv/.docs-ready
DEMO := .venv-demo/.ready
OLDEST ?= .venv-oldest
PEERS := .venv-peers/.ready
RIVALS := .venv-rivals/.ready
TABPFN := .venv-tabpfn/.ready
BARGAIN := .venv-bargain/.ready
# Whoever names an interpreter of the peers has their environment already.
PEERS_READY := $(if $(HEDGECLIPPER_PEERS),,$(PEERS))

.PHONY: help demo docs test test-slow test-oldest test-kernels stress lint check bench table rivals votes-table bounds-table labeling figure dist clean

help:            ## list the targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[dev,docs]'
	touch $@

# Snorkel and crowd-kit have an environment of their own. Where pip would take a torch with CUDA, the
# CPU build comes with PEERS_PIP='--extra-index-url https://download.pytorch.org/whl/cpu'.
$(PEERS): benchmarks/votes/peers/requirements.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --upgrade pip
	.venv-peers/bin/python -m pip install --quiet $(PEERS_PIP) --requirement $<
	touch $@

# AutoGluon has one, too, or HEDGECLIPPER_RIVALS names its interpreter.
$(RIVALS): benchmarks/rivals/requirements-autogluon.txt
	$(PYTHON) -m venv .venv-rivals
	.venv-rivals/bin/python -m pip install --quiet --upgrade pip
	.venv-rivals/bin/python -m pip install --quiet --requirement $<
	touch $@

# So has TabPFN v1 (HEDGECLIPPER_TABPFN): the code of one release, and the weights out of the source
# archive of an earlier one, whose hash is checked.
$(TABPFN): $(wildcard benchmarks/rivals/*-tabpfn.txt benchmarks/rivals/*-weights.txt)
	$(PYTHON) -m venv .venv-tabpfn
	.venv-tabpfn/bin/python -m pip install --quiet --upgrade pip
	.venv-tabpfn/bin/python -m pip install --quiet $(PEERS_PIP) \
	  --requirement benchmarks/rivals/requirements-tabpfn.txt --editable '.[io]'
	mkdir -p .venv-tabpfn/weights
	.venv-tabpfn/bin/python -m pip download --quiet --no-deps --no-binary tabpfn \
	  --dest .venv-tabpfn --build-constraint benchmarks/rivals/constraints-weights.txt \
	  --requirement benchmarks/rivals/requirements-weights.txt
	tar -xzf .venv-tabpfn/tabpfn-0.1.tar.gz --strip-components 2 -C .venv-tabpfn/weights \
	  tabpfn-0.1/tabpfn/models_diff
	touch $@

# And BARGAIN (HEDGECLIPPER_BARGAIN).
$(BARGAIN): benchmarks/rivals/requirements-bargain.txt
	$(PYTHON) -m venv .venv-bargain
	.venv-bargain/bin/python -m pip install --quiet --upgrade pip
	.venv-bargain/bin/python -m pip install --quiet --requirement $<
	touch $@

# what the demo needs, and no development tools
$(DEMO): pyproject.toml
	$(PYTHON) -m venv .venv-demo
	.venv-demo/bin/python -m pip install --quiet --upgrade pip
	.venv-demo/bin/python -m pip install --quiet --editable '.[cli]'
	touch $@

demo: $(DEMO)    ## what it does for you on the bundled data, in a minute, and a report
	.venv-demo/bin/python -m hedgeclipper.cli demo

docs: $(DOCS_READY)  ## the documentation, in docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going --quiet -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

DEFAULT_TESTS := -m pytest -n auto --dist worksteal -m "not slow" --durations 15

# as many processes as there are cores, and so one thread for each
test test-slow test-oldest: export OMP_NUM_THREADS ?= 1

test: $(READY)   ## the tests, without the slow ones
	$(BIN)/python $(DEFAULT_TESTS)

test-slow: $(READY)  ## the slow tests: simulations, large inputs, benchmarks, many random games
	$(BIN)/python -m pytest -n auto --dist loadfile -m "slow or hypothesis" \
	  --hypothesis-profile thorough --durations 15

test-oldest: $(READY)  ## the tests with the lowest versions that pyproject.toml allows
	$(BIN)/python tools/oldest.py $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --no-deps --editable .
	$(OLDEST)/bin/python $(DEFAULT_TESTS)

STRESS_JOBS ?= 2
STRESS_RESULTS := benchmarks/results/stress.jsonl

stress: export OMP_NUM_THREADS ?= 1
stress: $(READY)  ## generated input, damaged and hostile files, kills; writes docs/benchmarks.md
	rm -f $(STRESS_RESULTS)
	HEDGECLIPPER_STRESS=$(CURDIR)/$(STRESS_RESULTS) $(BIN)/python -m pytest -n $(STRESS_JOBS) \
	  --dist worksteal --durations 10 tests/stress tests/labeling/test_kills.py; \
	  code=$$?; $(BIN)/python tools/stress_page.py $(STRESS_RESULTS) docs/benchmarks.md && exit $$code

test-kernels: $(READY)  ## the tests with other BLAS kernels, CPU features and numbers of threads
	$(BIN)/python tools/kernels.py $(DEFAULT_TESTS)

lint: $(READY)   ## style, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test  ## what CI runs

bench: $(READY) $(PEERS_READY)  ## speed as ratios to peers in one run
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.label_latency
	$(BIN)/python -m benchmarks.votes.speed --again --results benchmarks/results/speed_quick.csv
	$(BIN)/python -m benchmarks.out_of_core

table: $(READY)  ## the paper's table and other data: runs what is missing, writes docs and README
	$(BIN)/python -m benchmarks.run_table paper
	$(BIN)/python -m benchmarks.run_table other
	$(BIN)/python -m benchmarks.run_table rare
	$(BIN)/python -m benchmarks.run_table csv
	$(BIN)/python -m benchmarks.table_page
	$(BIN)/python -m benchmarks.csv_files

RIVALS_READY := $(if $(HEDGECLIPPER_RIVALS),,$(RIVALS)) $(if $(HEDGECLIPPER_TABPFN),,$(TABPFN))

rivals: $(READY) $(RIVALS_READY)  ## AutoGluon, TabPFN and others: runs what is missing, writes docs
	$(BIN)/python -m benchmarks.run_table rivals --jobs 1
	$(BIN)/python -m benchmarks.rivals.page
	$(BIN)/python -m benchmarks.table_page

votes-table: $(READY) $(PEERS_READY)  ## votes beside Snorkel and crowd-kit: runs what is missing, writes docs
	$(BIN)/python -m benchmarks.votes.run_votes
	$(BIN)/python -m benchmarks.votes.crowds
	$(BIN)/python -m benchmarks.votes.rates
	$(BIN)/python -m benchmarks.votes.speed
	$(BIN)/python -m benchmarks.votes.page

labeling: $(READY)  ## labels by hand that finish a file, with simulated annotators: runs what is missing
	$(BIN)/python -m benchmarks.labeling cost
	$(BIN)/python -m benchmarks.labeling validity

bounds-table: $(READY) $(if $(HEDGECLIPPER_BARGAIN),,$(BARGAIN))  ## finished files, automatic labels and estimates on real data
	$(BIN)/python -m benchmarks.bounds_table
	$(BIN)/python -m benchmarks.estimates bias
	$(BIN)/python -m benchmarks.estimates shift

figure: $(READY)  ## the paper's Figure 2, on covtype, and the guide's drawings
	$(BIN)/python -m benchmarks.margin_figure
	$(BIN)/python -m benchmarks.drawings

define TRY
from hedgeclipper import HedgeClipperClassifier
from hedgeclipper.datasets import load_adult
X, y = load_adult(return_X_y=True)
model = HedgeClipperClassifier(n_estimators=10, random_state=0)
print(model.fit(X[:200], y[:200], X_unlabeled=X[200:1000]).certificate_.describe())
endef
export TRY

dist: $(READY)   ## wheel and sdist in dist/, each installed in an empty environment and tried there
	rm -rf dist .venv-dist
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build --outdir dist > /dev/null
	for built in dist/*.whl dist/*.tar.gz; do \
	  rm -rf .venv-dist && $(PYTHON) -m venv .venv-dist && \
	  .venv-dist/bin/python -m pip install --quiet "$$built[cli]" && \
	  (cd .venv-dist && bin/python -c "$$TRY" && bin/hedgeclipper --version) || exit 1; \
	done
	rm -rf .venv-dist

clean:           ## remove everything that can be made again
	rm -rf .venv .venv-demo .venv-dist .venv-oldest .venv-peers .venv-rivals .venv-tabpfn .venv-bargain dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -rf docs/_build docs/generated docs/auto_examples hedgeclipper-demo.html
