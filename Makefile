# Two commands: `make app` opens the playground, `make test` runs every test. `make` alone lists the rest.

PYTHON ?= python3
VENV   ?= .venv
PORT   ?=
TESTS  ?= tests
WORKERS ?= 2
CPU    ?=

comma := ,
BIN := $(VENV)/bin
# Where Python may not keep what it has compiled, each of the many processes of the tests compiles everything anew.
unexport PYTHONDONTWRITEBYTECODE
# Installed packages are renewed when the content of these two files changes, not when their date does.
KEY := $(shell cat pyproject.toml constraints.txt | cksum | tr ' ' '-')
FIND_CHROMIUM := $(PYTHON) tests/chromium.py
# In a container root is often the only user; without this option Jupyter does not start as root.
ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
NO_BROWSER := $(if $(filter no false 0 none no-browser,$(BROWSER))$(filter true 1,$(CI)),--no-browser)
CPU_BUILDS := $(if $(CPU),--extra-index-url https://download.pytorch.org/whl/cpu)
INSTALL = PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
	$(BIN)/python -m pip install --no-input $(if $(CI),--quiet) $(CPU_BUILDS) --constraint constraints.txt --editable

.DEFAULT_GOAL := help
.PHONY: help app lab docs test test-all quick check mutants clean chromium

help: ## Show this list
	@echo "Pretraining Playground"
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | awk -F'|' '{ printf "%-15s %s\n", $$1, $$2 }'
	@echo
	@echo "Settings: PORT=5007  BROWSER=no  PYTHON=python3.12  CPU=1 (small CPU builds of torch on Linux)"

app: $(VENV)/app-$(KEY) ## Open the playground in the browser (PORT=5007, BROWSER=no)
	@exec $(BIN)/playground app $(if $(PORT),--port $(PORT)) $(NO_BROWSER)

lab: $(VENV)/lab-$(KEY) ## Open the tutorial notebooks in JupyterLab
	@exec $(BIN)/jupyter lab --notebook-dir=notebooks --LabApp.default_url=/lab/tree/00_start_here.ipynb \
		$(if $(PORT),--port=$(PORT)) $(NO_BROWSER) $(ROOT)

docs: $(VENV)/docs-$(KEY) ## Build the documentation site below build/site
	@$(BIN)/python docs/pages.py build/pages
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "Open build/site/index.html, or with its search: $(BIN)/python -m http.server --directory build/site"

# A slip of style does not hide what the tests say: all three run, and any of them fails the target.
test test-all: export OMP_NUM_THREADS = 1
# A file stays together on one worker, which makes once what its tests share; what needs a browser or a kernel is one
# group, so that there is one Chromium at a time beside one worker of other tests. It comes first, as the longest.
test test-all: $(if $(filter tests tests/browser%,$(TESTS)),chromium) $(VENV)/test-$(KEY)
test: ## Run the checks and the tests; laws are sampled (TESTS=tests/playground for a part)
test-all: ALL = --all
test-all: ## Run every case of every test: 20 minutes and more
test test-all:
	@failed=0; \
	echo "Import contracts"; $(BIN)/lint-imports --no-logo || failed=1; \
	echo "Style"; $(BIN)/ruff check || failed=1; \
	echo "Tests: $(TESTS)"; \
	CHROMIUM="$$($(FIND_CHROMIUM))" $(BIN)/python -m pytest $(ALL) --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder $(TESTS) || failed=1; \
	exit $$failed

quick: export OMP_NUM_THREADS = 1
quick: $(VENV)/test-$(KEY) ## Run one case of every test that neither opens a page nor trains (under a minute)
	@$(BIN)/python -m pytest --quick --quiet --numprocesses=$(WORKERS) --dist=worksteal $(TESTS)

check: $(VENV)/dev-$(KEY) ## Check style, imports and types (what you run before a commit)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-logo
	$(BIN)/pyright
	@if command -v npm >/dev/null; then npm install --silent --no-audit --no-fund && npm run --silent check; \
	else echo "Node is not here: the JavaScript was not checked (types, style)."; fi

mutants: export OMP_NUM_THREADS = 1
mutants: $(VENV)/test-$(KEY) ## Seed faults into the objectives and see that the tests catch them
	@$(BIN)/python tests/mutants.py

clean: ## Remove the environment and every cache, never a run
	rm -rf $(VENV) node_modules build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache .shots test-results
	find playground widgets tests notebooks examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each set of packages; a larger set includes the smaller ones. The stamps of other versions of the two
# files go before anything is installed: where that is stopped half way, no later make takes it for whole.
$(VENV)/app-$(KEY): | $(VENV)/made
	$(call install,.[app],app)

$(VENV)/lab-$(KEY): | $(VENV)/made
	$(call install,.[app$(comma)lab],app lab)

$(VENV)/docs-$(KEY): | $(VENV)/made
	$(call install,.[docs],docs)

$(VENV)/test-$(KEY): | $(VENV)/made
	$(call install,.[test],app lab test)

$(VENV)/dev-$(KEY): | $(VENV)/made
	$(call install,.[dev],app lab test dev)

define install
@echo "Installing the packages of '$(1)' into $(VENV) (the first time takes a few minutes) ..."
@rm -f $(filter-out %-$(KEY),$(wildcard $(VENV)/*-*-*))
@$(INSTALL) '$(1)'
@touch $(addprefix $(VENV)/,$(addsuffix -$(KEY),$(2)))
endef

$(VENV)/made:
	@command -v $(PYTHON) >/dev/null || { \
		echo "There is no '$(PYTHON)' here; install Python 3.11 or newer, or name it: make app PYTHON=/path/to/python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "'$(PYTHON)' is $$($(PYTHON) --version 2>&1); the playground needs 3.11 or newer: make app PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "'$(PYTHON)' cannot make an environment, because its venv part is missing;" \
			"on Debian or Ubuntu: sudo apt-get install python3-venv"; exit 1; }
	@echo "Making the environment $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# The browser tests drive a Chromium of the system; on a Debian machine that we may change, we install it: the one
# without windows, which takes a quarter less of the processor, or the whole one where the system has no such package.
chromium:
	@($(FIND_CHROMIUM)) >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ]; then as=env; elif sudo -n true 2>/dev/null; then as="sudo -n env"; fi; \
	if [ -n "$$as" ] && command -v apt-get >/dev/null; then \
		echo "Installing Chromium for the browser tests ..."; \
		$$as DEBIAN_FRONTEND=noninteractive apt-get update --quiet=2 </dev/null; \
		for package in chromium-headless-shell chromium; do \
			$$as DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --yes --no-install-recommends $$package \
				</dev/null && break; \
		done; \
	fi; \
	($(FIND_CHROMIUM)) >/dev/null || { \
		echo "The browser tests need Chromium or Chrome, and there is none on the path. Install it" \
			"(Debian: sudo apt-get install chromium; macOS: brew install --cask chromium)," \
			"or name it: make test CHROMIUM=/path/to/chromium, or leave them out: make test TESTS=tests/playground"; exit 1; }
