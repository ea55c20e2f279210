# Two commands do everything on a fresh machine with Python 3.11 and pip:
#   make demo   installs Roundtable and holds a council on the embedded model, without a key
#   make test   installs what the checks need and runs them all: types, lint, layers, tests. Tests
#               whose tools cannot be installed are skipped; with CI set they fail

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# The tests start hundreds of processes: without bytecode each would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE
# Each file of tests is one process's, and they are taken in order: what is costly to start (Chromium
# and its server, PostgreSQL) is started once by each of them. Two for each core, because many wait for
# others; WORKERS=0 is one process.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(min(8, 2 * (os.cpu_count() or 1)))')
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --inline-snapshot=disable
QUESTION ?= Should a team of five build its product on microservices or on a monolith?

.PHONY: demo test check types lint layers tests tools bytecode requirements requirements-table reference bench evals clean

demo: $(VENV)/.installed
	$(BIN)/roundtable "$(QUESTION)" --procedure council --quick

# While the quick checks run, what the tests need is fetched and their bytecode made: each process
# of theirs would make all of it for itself. Types are checked beside the tests, which wait now and
# then, and told after them.
test: $(VENV)/.installed-dev
	$(MAKE) --jobs=2 --output-sync=target lint layers tools bytecode
	@$(MAKE) --no-print-directory types >$(VENV)/types.log 2>&1 & types=$$!; \
	$(PYTEST); tested=$$?; \
	wait $$types; typed=$$?; cat $(VENV)/types.log; exit $$((tested || typed))

check: lint layers types

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

layers: $(VENV)/.installed-dev
	$(BIN)/lint-imports --no-cache

types: $(VENV)/.installed-dev
	$(BIN)/mypy

tests: $(VENV)/.installed-dev tools
	$(PYTEST)

# What the tests need and pip does not bring: Chromium, axe-core, MCP's own checkers from npm, PgBouncer.
# Where something cannot be had, its own tests say so: the others must run all the same.
tools: $(VENV)/.installed-dev
	-$(BIN)/python -m tests.browser.tools
	-$(BIN)/python -m tests.npm_tools
	-$(BIN)/python -m tests.pgbouncer

bytecode: $(VENV)/.installed-dev
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null

requirements: $(VENV)/.installed-dev
	$(PYTEST) --requirements

requirements-table: $(VENV)/.installed-dev
	$(PYTEST) --requirements-table=docs/requirements.md

# The pages of all options and commands, from their declarations.
reference: $(VENV)/.installed-dev
	$(BIN)/python -m roundtable.surfaces.options_reference > docs/reference/options.md
	$(BIN)/python -m roundtable.surfaces.commands_reference > docs/reference/commands.md

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks

evals: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.evals

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Roundtable needs Python 3.11 or newer; this is %s" % sys.version)'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e '.[demo]'
	$(BIN)/python -m compileall -q $(VENV)/lib >/dev/null || true
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install -c constraints.txt -e '.[cluster,demo,dev,documents,mcp,notify,postgres,sign,telemetry,web]'
	$(BIN)/python -m compileall -q $(VENV)/lib >/dev/null || true
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis build dist
