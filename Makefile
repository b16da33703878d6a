# Everything a person does with this repository. `make help` lists it.
PYTHON ?= python3.11
UV ?= uv

VENV := .venv
BIN := $(VENV)/bin
INSTALL := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -qq --no-compile
# Stages call `python`: it must be the locked one. Some environments forbid it to keep what it compiles,
# and all stages together would compile the same libraries some eighty times.
IN_VENV := PYTHONDONTWRITEBYTECODE= PATH="$(CURDIR)/$(BIN):$$PATH"
# Stamps: a second call installs nothing unless a lock or the package's declaration changed.
STUDY := $(VENV)/.study-installed
RECORDER := $(VENV)/.recorder-installed
# Programs of others' libraries have an environment of their own: what they need pins other versions.
FIELD := .venv-field
CODE := src experiments tests examples docs
# What people read that is written by hand: the words of docs/words.txt are not in it.
DATA := $(addprefix src/failbench/,messages/data causes/data diagnose/data/courses.csv diagnose/data/checks.csv \
	diagnose/data/rank_signs.csv diagnose/data/code_patterns.csv diagnose/data/setting_rules.csv \
	neighbours/lenses/data/syntheses.json neighbours/peers/data publish/datacard/data \
	publish/reproduction/data cli/commands.csv)
PROSE := README.md CHANGELOG.md CONTRIBUTING.md zensical.toml params.yaml docs paper/sections paper/appendix \
	paper/captions data/reported/negative_results.yaml $(DATA)
# The commit whose results are compared with those in the working tree.
AGAINST ?= HEAD
# Where benchmarks write what they measured; give another path to keep a run.
COST ?= .benchmarks/cost.json
MILLION ?= .benchmarks/million.json
# Files of tests that run at a time; benchmarks measure, so nothing runs beside them.
WORKERS ?= 2
BESIDE := --numprocesses $(WORKERS) --dist loadfile
LOCK_OPTIONS := --quiet --python-version 3.11 --generate-hashes --no-header --no-annotate \
	--no-emit-index-url --prerelease disallow

.PHONY: help repro compare reruns test system-test long-test cost monitor-cost million lint record record-peers \
	record-field record-field-monitored record-healthy-ranks record-ranks record-notebooks record-crashes record-reasoning record-preflight llm paper readme release site tutorials lock clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(STUDY): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { \
		echo "$(PYTHON) was not found: install Python 3.11, or name one with PYTHON=..." >&2; exit 2; }
	@echo "Installing the locked environment into $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(INSTALL) --require-hashes -r requirements.lock
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

# torch comes before the lock and outside it: its wheel depends on the machine's accelerator. What
# follows needs it, and must not replace it.
$(RECORDER): $(STUDY) requirements-record.lock
	@echo "Installing the recorder's libraries (torch) ..."
	@$(INSTALL) torch==2.13.0
	@$(INSTALL) --no-deps --require-hashes -r requirements-record.lock
	@touch $@

$(FIELD)/.installed: requirements-field.lock
	@echo "Installing what the programs of the field train with into $(FIELD) ..."
	@test -x $(FIELD)/bin/python || $(PYTHON) -m venv $(FIELD)
	@$(FIELD)/bin/python -m pip install -qq --no-compile torch==2.13.0
	@$(FIELD)/bin/python -m pip install -qq --no-compile --no-deps --require-hashes -r requirements-field.lock
	@touch $@

repro: $(STUDY)  ## regenerate every result, print the table, compare with what is committed
	@$(IN_VENV) dvc repro --force
	@echo && cat paper/tables/intervals/headline.md && echo
	@$(MAKE) --no-print-directory compare

compare: $(STUDY)  ## compare the results with those of AGAINST, the last commit unless named
	@$(IN_VENV) failbench compare --against "$(AGAINST)"

reruns: $(STUDY)  ## print what a change of S runs again: S=section, or S=section.key
	@$(IN_VENV) failbench reruns $(or $(S),$(error Name a parameter, as in: make reruns S=features))

test: $(RECORDER)  ## run the tests, with real small recordings
	@$(IN_VENV) python -m pytest -q tests/benchmarks
	@$(IN_VENV) python -m pytest -q -rs --ignore tests/benchmarks $(BESIDE)

system-test: $(RECORDER)  ## run the end-to-end tests, which take minutes
	@$(IN_VENV) python -m pytest -q -rs -m system tests/benchmarks
	@$(IN_VENV) python -m pytest -q -rs -m system --ignore tests/benchmarks $(BESIDE)

long-test: $(RECORDER)  ## run the statistical simulations and 100,000 mutated logs, which take minutes
	@$(IN_VENV) python -m pytest -q -m long

cost: $(STUDY)  ## measure what features, methods and statistics cost as they grow (80 minutes)
	@mkdir -p $(dir $(COST))
	@$(IN_VENV) python -m pytest -q tests/benchmarks/test_costs.py -m cost \
		--benchmark-json=$(COST) --benchmark-columns=min,rounds

monitor-cost: $(RECORDER)  ## measure what each rung of the monitor's ladder costs, and a budget (15 minutes)
	@$(IN_VENV) MONITOR_COST=data/monitor/cost.csv MONITOR_BUDGET=data/monitor python -m pytest -q -m cost \
		tests/benchmarks/test_ladder_costs.py tests/benchmarks/test_budget_costs.py

million: $(STUDY)  ## diagnose a million runs in bounded memory (15 minutes, 8 GB of disk)
	@mkdir -p $(dir $(MILLION))
	@$(IN_VENV) python -m pytest -q tests/benchmarks/test_million_runs.py -m cost \
		--benchmark-json=$(MILLION) --benchmark-columns=min

lint: $(STUDY)  ## check style, types, and the words of prose
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/mypy
	@$(BIN)/codespell $(PROSE)

record: $(RECORDER)  ## record what is missing or out of date (a setting takes 35 to 50 minutes on 2 cores)
	@$(IN_VENV) failbench record

record-reasoning: $(RECORDER)  ## train the models of reasoning and record their answers
	@$(IN_VENV) failbench reasoning

record-field: $(RECORDER) $(FIELD)/.installed  ## run the programs of the field and their healthy twins (two hours on 2 cores)
	@for part in development test; do \
		$(IN_VENV) failbench field --part $$part --python $(FIELD)/bin/python || exit; done

record-field-monitored: $(RECORDER) $(FIELD)/.installed  ## run them once more with the monitor attached (three hours on 2 cores)
	@for part in development test; do \
		$(IN_VENV) failbench field --part $$part --python $(FIELD)/bin/python --monitor || exit; done

record-peers: $(RECORDER)  ## ask other tools about the logs of recorded runs, with the extra `peers` (REPORTS=FILE: and about public reports; INSIDE=1: and one that is called in trainings, an hour of a core)
	@$(INSTALL) --no-deps --editable '.[peers]' runmedic==0.1.1 'training-doctor==0.1.0'
	@$(IN_VENV) failbench peers $(if $(REPORTS),--reports $(REPORTS))
ifdef INSIDE
	@$(INSTALL) --no-deps 'defaultplusplus==0.4.1'
	@$(IN_VENV) failbench peers-inside --setting bert-adamw
	@$(IN_VENV) failbench peers-inside --setting distilbert-adamw
endif

record-healthy-ranks: $(RECORDER)  ## train what is missing of the healthy runs of two ranks (3 minutes on 2 cores)
	@$(IN_VENV) python -m failbench.recording.healthy_ranks data/healthy_ranks

record-notebooks: $(RECORDER)  ## execute the notebooks that are due in live kernels (15 minutes)
	@$(IN_VENV) failbench notebooks
	@$(IN_VENV) failbench notebooks --equal

record-crashes: $(RECORDER)  ## ask predictors of crashes about the notebooks, with the tools of the extra `crashes` (25 minutes)
	@$(INSTALL) 'pyright[nodejs]==1.1.414' 'pylint==4.1.4'
	@$(IN_VENV) failbench crashes
	@$(IN_VENV) failbench crashes --equal

record-ranks: $(RECORDER)  ## record trainings on two ranks that fail, and their healthy twins (35 minutes)
	@$(IN_VENV) failbench record-ranks

record-preflight: $(RECORDER)  ## ask a preflight about the runs of the reference setting (30 minutes on a core)
	@$(IN_VENV) failbench preflight-runs

llm: $(STUDY)  ## ask language models on an Ollama server, then regenerate what reads their answers
	@$(IN_VENV) failbench llm
	@$(IN_VENV) failbench llm --crashes
	@$(IN_VENV) dvc repro

paper: $(STUDY)  ## regenerate what changed, down to paper/paper.pdf and paper/report.html
	@$(IN_VENV) dvc repro

readme: $(STUDY)  ## put the findings and the tables into README.md, the skill and pages
	@$(IN_VENV) PYTHONPATH=docs python -m builder.numbers

release: $(STUDY)  ## build wheel and sdist in dist/, and try each alone
	@rm -rf dist
	@$(IN_VENV) python -m build --no-isolation --outdir dist .
	@$(IN_VENV) python -m pytest -q tests/release
	@$(IN_VENV) python -m pytest -q -m system tests/system/test_distributions.py

site: $(RECORDER)  ## build the documentation into site/, which opens from disk; a broken link ends it
	@$(IN_VENV) PYTHONPATH=docs python -m builder.build site

tutorials: $(RECORDER)  ## put into the tutorials what their commands print now (T=name: of one alone)
	@$(IN_VENV) PYTHONPATH=tests/system python tests/tutorials/refresh.py $(T)

# The override takes torch, and what it depends on, out of what the others need; and uvicorn, which
# serves by HTTP, as neither MLflow's file store nor mcp on standard input does.
# mlflow-skinny needs a library that exists as a beta alone, and says that it needs an older
# importlib-metadata than the pipeline's; its file store runs with this one, which a test shows.
lock:  ## resolve the lock files anew (needs uv)
	@$(UV) pip compile pyproject.toml --extra lab --extra dev --extra cluster $(LOCK_OPTIONS) \
		--output-file requirements.lock
	@printf "torch; sys_platform == 'never'\nimportlib-metadata>=8\n%s\n%s\n" \
		"google-auth; sys_platform == 'never'" "uvicorn; sys_platform == 'never'" | { \
		printf '%s\n' transformers tokenizers accelerate lightning tensorboard 'mlflow-skinny>=3.17' \
		'jupyter_client>=8.6' 'ipykernel>=7' 'nbformat>=5.10' 'time-machine>=3' \
		'zensical>=0.0.73,<0.1' 'mkdocstrings-python>=2.0' \
		'playwright>=1.49' 'axe-playwright-python>=0.1.4' 'mcp>=2.3,<3' | \
		$(UV) pip compile - $(subst disallow,if-necessary,$(LOCK_OPTIONS)) \
		--override /dev/fd/3 --constraint requirements.lock --output-file requirements-record.lock; } 3<&0
	@printf "torch; sys_platform == 'never'\n" | { \
		sed -n '/^field = \[/,/^\]/p' pyproject.toml | grep -o '"[^"]*"' | tr -d '"' | \
		$(UV) pip compile - $(subst disallow,if-necessary,$(LOCK_OPTIONS)) \
		--override /dev/fd/3 --output-file requirements-field.lock; } 3<&0

clean:  ## remove the environment and the caches; results stay
	@rm -rf $(VENV) $(FIELD) dist .dvc/tmp .dvc/cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks site
	@find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +
