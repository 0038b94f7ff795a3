# Weighbridge, from a fresh clone: `make demo`, `make page`, `make test`. Everything lands in .venv.

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The newest working one that is new enough and can create virtual environments; PYTHON=... overrides this.
PYTHON ?=
PYTHON_CANDIDATES := python3.13 python3.12 python3.11 python3
# Paths are relative throughout: the clone's own path may have spaces in it.
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-for
# The requirements of `make demo` and `make page`, which are faster to install.
RUN_STAMP := $(VENV)/.installed-to-run-for
# Additional requirements of `make docs` and `make docs-serve`.
DOCS_STAMP := $(VENV)/.installed-docs-for
# More processes than most machines have cores, because tests spend most of their time waiting for other processes.
# Otherwise xdist would hand out all groups first, and then the tests that wait, without those that compute.
PYTEST_ARGS ?= -n 5 --dist loadgroup --no-loadscope-reorder
# These only compute: more processes than cores only collect the tests more often.
FAST_ARGS ?= -n auto --dist worksteal -o timeout=0
PAGE_ARGS ?=
FAULTS_ARGS ?=
PACKAGES_ARGS ?=
BENCH_ARGS ?=
SECONDS ?= 1800
SEED ?= 1
SOAK_ARGS ?=
DEMO_CASES := examples/support_answers.jsonl
DEMO_RESULTS := build/demo_results.jsonl

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Compiled modules must be written, or else each of some hundred processes compiles them again.
unexport PYTHONDONTWRITEBYTECODE
# Suppresses Material's notice about its successor at each build.
export NO_MKDOCS_2_WARNING := 1

# An editable install contains the clone's path, so a moved clone is installed again.
ifneq ($(shell test -x $(BIN)/python && cat $(STAMP) 2>/dev/null),$(CURDIR))
.PHONY: $(STAMP)
endif
ifneq ($(shell test -x $(BIN)/python && cat $(RUN_STAMP) 2>/dev/null),$(CURDIR))
.PHONY: $(RUN_STAMP)
endif
ifneq ($(shell test -x $(BIN)/python && cat $(DOCS_STAMP) 2>/dev/null),$(CURDIR))
.PHONY: $(DOCS_STAMP)
endif

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /\1|/' | while IFS='|' read -r name what; do printf '  make %-10s %s\n' "$$name" "$$what"; done

.PHONY: demo
demo: $(RUN_STAMP) ## Grade the example answers with local workers and a private Redis
	@mkdir -p build
	@code=0; $(BIN)/weighbridge run $(DEMO_CASES) -o $(DEMO_RESULTS) || code=$$?; \
	if [ $$code -ne 0 ] && [ $$code -ne 100 ]; then exit $$code; fi; \
	printf 'Some of the examples are wrong on purpose. A CI job would end here, with this exit status.\n'; \
	printf '\nProve the verdicts:  $(BIN)/weighbridge verify $(DEMO_RESULTS) $(DEMO_CASES)\n'; \
	printf 'See the web UI:      make page\n'

.PHONY: page
page: $(RUN_STAMP) ## Serve the web UI with the example traces, and print the address of one that failed
	@$(BIN)/weighbridge serve --embedded --submit examples/traces --graders examples/trace_graders.yaml $(PAGE_ARGS)

.PHONY: test
test: $(STAMP) ## Run the whole test suite
	@# Compiled once here, or else by each process.
	@test -d tests/unit/__pycache__ || $(BIN)/python -m pytest --collect-only -q >/dev/null
	$(BIN)/python -m pytest $(PYTEST_ARGS)

.PHONY: test-fast
test-fast: $(STAMP) ## Run the quick unit tests, with few generated examples
	$(BIN)/python -m pytest tests/unit -m 'not slow and not long' --hypothesis-profile=fast $(FAST_ARGS)

.PHONY: packages
packages: $(STAMP) ## Install the wheel and the sdist in clean environments, and run them (minutes)
	$(BIN)/python -m pytest -m '' tests/acceptance/test_packages.py $(PACKAGES_ARGS)

.PHONY: faults
faults: $(STAMP) ## Cause each fault once, and test the guarantees (minutes)
	$(BIN)/python -m pytest -m '' tests/faults $(FAULTS_ARGS)

.PHONY: soak
soak: $(STAMP) ## Cause random faults for SECONDS from SEED, and report in build/soak.md
	PYTHONPATH=tests $(BIN)/python -m faults.soak --seconds $(SECONDS) --seed $(SEED) $(SOAK_ARGS)

.PHONY: check
check: $(STAMP) ## Lint, check formatting, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

.PHONY: bench
bench: $(STAMP) ## Measure speed and cost beside other ways to grade, and report in build/benchmarks (an hour)
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

.PHONY: bench-guard
bench-guard: $(STAMP) ## Fail if speed beside other ways fell by more than a tenth since it was last written down
	$(BIN)/python -m benchmarks.guard

.PHONY: docs
docs: $(DOCS_STAMP) ## Build the documentation into build/site, and fail on a dead link
	$(BIN)/python -m mkdocs build --strict

.PHONY: docs-serve
docs-serve: $(DOCS_STAMP) ## Serve the documentation on http://localhost:8001, and reload pages that change
	$(BIN)/python -m mkdocs serve --dev-addr localhost:8001

.PHONY: reference
reference: $(STAMP) ## Renew the generated tables of the reference
	PYTHONPATH=docs $(BIN)/python -m generators build/reference

HASHED := requirements-hashed.txt

.PHONY: hashes
hashes: $(RUN_STAMP) ## Update the images' requirements with hashes after changes to constraints.txt
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' | \
	$(BIN)/uv pip compile --quiet --no-config $${PIP_INDEX_URL:+--default-index "$$PIP_INDEX_URL"} --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command 'make hashes' --constraint constraints.txt \
	  --output-file $(HASHED) pyproject.toml - > /dev/null

# uv takes a tenth of pip's time, but reads none of pip's settings: pip's index is passed on, and where uv fails, pip may not.
define install
index=$${PIP_INDEX_URL:-$$($(BIN)/python -m pip config get global.index-url 2>/dev/null)}; \
{ test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet -c constraints.txt uv; } && \
$(BIN)/uv pip install --quiet --python $(BIN)/python $${index:+--default-index "$$index"} -c constraints.txt -e '$(1)' || \
{ echo 'uv cannot install this; trying pip'; $(BIN)/python -m pip install --quiet -c constraints.txt -e '$(1)'; }
endef
comma := ,

.PHONY: venv
venv: $(STAMP) ## Create .venv with all dependencies

$(RUN_STAMP): pyproject.toml constraints.txt
	@set -e; \
	if ! $(BIN)/python -c '' 2>/dev/null; then \
	  python=''; incomplete=''; \
	  for candidate in $(or $(PYTHON),$(PYTHON_CANDIDATES)); do \
	    "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    if "$$candidate" -c 'import ensurepip, venv' 2>/dev/null; then python=$$candidate; break; fi; \
	    incomplete=$${incomplete:-$$candidate}; \
	  done; \
	  if [ -z "$$python" ] && [ -n "$$incomplete" ]; then \
	    echo "make: $$incomplete cannot make a virtual environment: its venv module is missing (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; \
	  elif [ -z "$$python" ]; then \
	    echo "make: Weighbridge needs Python 3.11 or newer; none of these is one: $(or $(PYTHON),$(PYTHON_CANDIDATES)) (say which with PYTHON=/path/to/python)" >&2; exit 1; \
	  fi; \
	  echo "Making $(VENV) with $$("$$python" --version)"; \
	  "$$python" -m venv --clear $(VENV); \
	fi
	@echo "Installing Weighbridge and its libraries in $(VENV)"
	@$(call install,.)
	@printf '%s' "$$(pwd -P)" > $(RUN_STAMP)

$(STAMP): $(RUN_STAMP)
	@echo "Installing what the tests and the documentation need"
	@$(call install,.[dev$(comma)docs])
	@printf '%s' "$$(pwd -P)" > $(STAMP)

$(DOCS_STAMP): $(RUN_STAMP)
	@echo "Installing what the documentation needs"
	@$(call install,.[docs])
	@printf '%s' "$$(pwd -P)" > $(DOCS_STAMP)

.PHONY: clean
clean: ## Remove .venv, caches, builds and what the demo wrote
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage*
	find . -name __pycache__ -prune -exec rm -rf {} +
