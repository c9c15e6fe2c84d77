.PHONY: run test suite test-latest nightly check javascript fix types fast js fuzz mutate install bench locked tools lock sbom audit
VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
CORES = $(shell $(PYTHON) -c "import os; print(os.cpu_count() or 1)")
JOBS ?= $(shell expr $(CORES) + 1)  # a browser test waits half of its time
FAST_JOBS ?= $(CORES)
SEED ?= $(shell printf '%d' 0x$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0))  # a commit always runs in one order
FUZZ ?= 50000
OPTIONS ?=
LOCK ?= locks/linux-x86_64-cpu.txt
TORCH ?= cpu
TORCH_CPU = https://download.pytorch.org/whl/cpu
TORCH_INDEX = $(if $(filter cpu,$(TORCH)),--extra-index-url $(TORCH_CPU))
CYCLONEDX = 7.5.0
PEERS = edsnlp==0.23.0 flair==0.15.1 stanza==1.15.0 TorchCRF==1.1.0 \
  nbgrader==0.9.6 rapidfuzz==3.14.6 otter-grader==7.0.0 dill==0.4.1 fica==0.4.1 ipylab==1.1.0 python-frontmatter==1.3.0
COMPILE = uv pip compile -q --no-header --no-annotate --python-version 3.11 --generate-hashes
export PYTHONDONTWRITEBYTECODE =  # what is imported is compiled once, by whoever imports it first
PYTEST = $(BIN)/pytest --maxprocesses 3 --dist worksteal

# $(1) a Python, $(2) what to do if it is too old; else pip lists two hundred versions of Streamlit that do not fit
define require_python
found=$$($(1) -c 'import sys; sys.stdout.write("%d.%d.%d" % sys.version_info[:3]); sys.exit(sys.version_info < (3, 11))' 2>/dev/null) \
  || { echo "crfviz needs Python 3.11 or newer, and $(1) is $${found:-not there}; $(2)" >&2; exit 1; }
endef

run: $(VENV)/installed
	$(BIN)/streamlit run app.py $(OPTIONS)

test: $(VENV)/installed-dev
	$(MAKE) -j 2 check suite  # side by side: types are checked by one core

suite: $(VENV)/compiled
	$(PYTEST) -n $(JOBS) --durations 10 --randomly-seed $(SEED)

$(VENV)/compiled: $(VENV)/installed-dev  # else each worker compiles the tests and the libraries, all at the same time
	$(BIN)/pytest --collect-only -q -p no:randomly -p no:cacheprovider >/dev/null || true  # `suite` reports an error
	touch $@

test-latest: $(VENV)/installed-dev  # the app and browser tests with the newest Streamlit, in a venv of its own
	$(PYTHON) -m venv --clear $(VENV)/latest
	$(VENV)/latest/bin/pip install --disable-pip-version-check -q --no-compile --no-deps $(TORCH_INDEX) $$(grep '^torch==' requirements.txt)
	$(VENV)/latest/bin/pip install --disable-pip-version-check -q --no-compile -c requirements.txt -c requirements-dev.txt -e ".[dev]"
	$(VENV)/latest/bin/pip install --disable-pip-version-check -q --no-compile --upgrade "streamlit[auth]<2"
	$(VENV)/latest/bin/pip list --disable-pip-version-check | grep -i '^streamlit '
	$(VENV)/latest/bin/pytest --maxprocesses 3 --dist worksteal -n $(JOBS) tests/app tests/browser tests/unit/ui

nightly: check  # all of tests/matrix, of which `make test` runs the tenth that the commit chooses
	HYPOTHESIS_PROFILE=nightly $(PYTEST) -n $(JOBS) --durations 10 --randomly-seed $(SEED) --matrix all

check: $(VENV)/installed-dev
	$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/biome check --error-on-warnings && $(BIN)/dprint check
	@$(MAKE) --no-print-directory javascript

ifeq ($(shell command -v npm),)
javascript:
	@echo "The types of the JavaScript were not checked: this needs Node and npm (Debian: apt-get install nodejs npm)."
	@test -z "$$CRFVIZ_REQUIRE_BROWSER"
else
javascript: node_modules/installed
	node_modules/.bin/tsc
endif

node_modules/installed: package-lock.json
	npm ci --no-audit --no-fund --silent
	touch $@

fix: $(VENV)/installed-dev
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .
	$(BIN)/biome check --write ; $(BIN)/dprint fmt

types: $(VENV)/installed-dev  # the payload's declaration for JavaScript, from Python's
	$(BIN)/python -m tests.support.payload_types

fast: $(VENV)/installed-dev
	HYPOTHESIS_PROFILE=fast $(PYTEST) -n $(FAST_JOBS) -q tests/unit

js:  # these need Node alone
	node --test --test-reporter spec tests/unit/js/*.test.js

fuzz: $(VENV)/installed-dev
	CRFVIZ_FUZZ=$(FUZZ) $(BIN)/pytest -q -s --timeout 0 tests/matrix/test_fuzz.py tests/matrix/test_brought_fuzz.py

mutate: $(VENV)/installed-dev
	$(BIN)/python -m tests.support.mutate $(OPTIONS)

install: $(VENV)/installed-dev
	$(BIN)/pre-commit install

bench: $(VENV)/installed-dev
	$(BIN)/python benchmarks/latency.py

locked: | $(VENV)/bin/python
	$(BIN)/pip install --disable-pip-version-check -q --no-compile --retries 0 --require-hashes --extra-index-url $(TORCH_CPU) -r $(LOCK)

tools: | $(VENV)/bin/python  # no package of `locked`: the two may fill the folder side by side
	$(BIN)/pip install --disable-pip-version-check -q --no-compile --retries 0 --no-deps --require-hashes -r .ci/tools.txt

lock:
	$(COMPILE) --universal -o locks/any-platform.txt requirements.txt
	$(COMPILE) --python-platform x86_64-manylinux_2_28 --extra-index-url $(TORCH_CPU) \
	  --index-strategy unsafe-best-match -o locks/linux-x86_64-cpu.txt requirements.txt
	$(COMPILE) --python-platform x86_64-manylinux_2_28 --extra-index-url $(TORCH_CPU) \
	  --index-strategy unsafe-best-match -c locks/linux-x86_64-cpu.txt -c requirements-dev.txt --extra dev \
	  $$(sed -nE 's/^([a-z0-9.-]+)==.*/--no-emit-package \1/p' locks/linux-x86_64-cpu.txt) -o .ci/tools.txt pyproject.toml
	printf '%s\n' $(PEERS) | $(COMPILE) --universal --no-deps -o .ci/peers.txt -

sbom: | $(VENV)/bin/python  # the tool is kept apart: it brings twenty packages that nothing else needs
	$(BIN)/python -m venv $(VENV)/sbom
	$(VENV)/sbom/bin/pip install --disable-pip-version-check -q cyclonedx-bom==$(CYCLONEDX)
	$(VENV)/sbom/bin/cyclonedx-py requirements --output-reproducible --of JSON $(LOCK) \
	  | $(PYTHON) -m json.tool --compact > $(LOCK:.txt=.cdx.json)

audit:
	$(PYTHON) .ci/audit.py

$(VENV)/bin/python:  # the pip that Python 3.11 brings takes half as long again; where there is no other, it does
	@$(call require_python,$(PYTHON),name another: make $(MAKECMDGOALS) PYTHON=python3.13)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --disable-pip-version-check -q --retries 0 --require-hashes -r .ci/pip.txt || true

$(VENV)/installed: requirements.txt | $(VENV)/bin/python
	@$(call require_python,$(BIN)/python,remove $(VENV) and name another: make $(MAKECMDGOALS) PYTHON=python3.13)
ifeq ($(TORCH),cpu)
	@echo "torch without CUDA, where $(TORCH_CPU) answers; TORCH=cuda takes that of PyPI"
	$(BIN)/pip install --disable-pip-version-check -q --no-compile --retries 0 --no-deps --extra-index-url $(TORCH_CPU) \
	  $$(grep '^torch==' requirements.txt)
endif
	$(BIN)/pip install --disable-pip-version-check -q --no-compile -r requirements.txt
	touch $@

$(VENV)/peers/installed: .ci/peers.txt | $(VENV)/bin/python  # apart from all else: nothing that they need is there
	$(BIN)/pip install --disable-pip-version-check -q --no-compile --no-deps --only-binary :all: --require-hashes \
	  --upgrade --target $(@D) -r $<
	touch $@

$(VENV)/installed-dev: requirements-dev.txt pyproject.toml $(VENV)/installed $(VENV)/peers/installed
	$(BIN)/pip install --disable-pip-version-check -q --no-compile -c requirements.txt -c requirements-dev.txt -e ".[dev]"
	touch $@
