# Everything below sets up what it needs: Python 3.11 or newer and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .stamps
STEPS ?= 3
GENRE ?= fantasy

.PHONY: story test lint bench setup clean

story: $(STAMPS)/run  ## Write the first passages of a novel.
	@$(BIN)/recurrentgpt write --genre "$(GENRE)" --steps $(STEPS)

test: $(STAMPS)/dev  ## Run every test that needs no model and no server.
	$(BIN)/pytest

lint: $(STAMPS)/dev  ## Check style and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMPS)/dev  ## Measure speed, disk, tokens and the small model's contract; takes about an hour.
	$(BIN)/python -m benchmarks.overhead --steps 10000 --embedder minilm
	$(BIN)/python -m benchmarks.crash --kills 200
	$(BIN)/python -m benchmarks.tokens --steps 20
	$(BIN)/python -m benchmarks.contract --steps 20

setup: $(STAMPS)/dev

clean:
	rm -rf $(VENV) $(STAMPS) build dist *.egg-info

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/run: $(STAMPS)/venv pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(STAMPS)/dev: $(STAMPS)/run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@
