# `make demo` and `make test` set everything up by themselves; they need make and Python 3.11 or later with its headers.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Neighbouring tests stay in one process, where they share what is made once per file or session. One process more than
# there are cores, since some tests wait.
CORES  := -n $(shell expr $$(nproc 2>/dev/null || echo 2) + 1) --dist worksteal
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Python compiles what it imports; compiled in advance, the environment would be a seventh larger.
GET    := $(PIP) install --no-compile

# Rewritten tests and compiled modules are kept: to make them again takes each process ten seconds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check check-tests test test-all costs texts lint hooks coverage test-models test-browser test-dice test-engines test-bounds test-asan test-oldest dist test-dist fuzz mutants mutants-sample bench soak clean

demo: $(VENV)/.base
	$(BIN)/safear demo

# Before every commit, in under a minute: lint, and the tests that take less than a fiftieth of a second. Which test runs
# in which lane follows from its measured cost, and a test that outgrows its lane fails: tests/shared/lanes.py.
check: $(VENV)/.test
	@$(MAKE) --no-print-directory --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync) lint check-tests

check-tests: $(VENV)/.test # hardly any of these waits for anything
	$(BIN)/python -m pytest -q -n auto --dist worksteal --lane check

# In four minutes on two cores: every promise and every exact figure, with a quarter of the examples.
test: $(VENV)/.test
	$(BIN)/python -m pytest -q $(CORES) --lane test

# Everything: `make test`, then the dear tests and all examples, new ones each time, or those of a SEED. Those that fail are
# kept in .hypothesis and tried first the next time.
test-all: test
	$(BIN)/python -m pytest -q $(CORES) --lane all --rest $(if $(SEED),--hypothesis-seed=$(SEED))

# What each test costs, measured and written to tests/costs.json.
costs: $(VENV)/.test
	$(BIN)/python -m pytest -q $(CORES) --note-costs

# The whole texts that tests compare with (__snapshots__), written again: look at what `git diff` shows. None is left
# over, since all are removed first.
texts: $(VENV)/.test
	find tests -name '*.ambr' -delete
	$(BIN)/python -m pytest -q $(CORES) -m syrupy_snapshot --snapshot-update $$(grep -rl SnapshotAssertion tests --include='test_*.py')

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The linters before each `git commit`.
hooks: $(VENV)/.test
	$(BIN)/pre-commit install

# The share of lines that the tests run, the worst files first; it fails if tests take fewer than 95% of the branches of a
# package that computes. Compiled loops are traced as their sources, by tests of tiny problems. Traced, some tests fail
# that kill processes or look at all that a program prints: what the others run counts.
TINY := $(addprefix tests/exact/,core mdp solvers evaluation population) tests/parts/recourse
coverage: $(VENV)/.test
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest -q $(CORES) --lane all --no-limits
	-SAFEAR_CORE=python $(BIN)/coverage run -m pytest -q $(CORES) --lane check --no-limits $(TINY)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --sort=cover --skip-covered
	$(BIN)/coverage json --quiet -o $(VENV)/coverage.json
	$(BIN)/python tools/branches.py $(VENV)/coverage.json

# Models of every source with its real library: CatBoost, ONNX, MLflow, whose dependencies are large.
test-models: $(VENV)/.models
	SAFEAR_REQUIRE_MODELS=1 $(BIN)/python -m pytest -q $(CORES) tests/parts/classifier

# The pages in Chromium, which must be there.
test-browser: $(VENV)/.browser
	$(BIN)/python -m pytest -q $(CORES) tests/promises/web/test_browser.py tests/promises/web/test_journey.py tests/promises/reports/test_printing.py

# The comparison with DiCE, whose dependencies are large, with the real dice-ml.
test-dice: $(VENV)/.dice
	$(BIN)/python -m pytest -q tests/parts/paper/test_dice.py

# Storm and QuantEcon on exported models.
test-engines: $(VENV)/.bench
	$(BIN)/python -m pytest -q tests/exact/solvers/test_engines.py

# The tests of compiled loops, with fewer examples of each property.
LOOPS     := $(addprefix tests/exact/,core evaluation mdp population) tests/parts/mdp \
	$(filter-out %test_engines.py,$(wildcard tests/exact/solvers/test_*.py)) $(addprefix tests/parts/recourse/test_,plan.py rules.py simplest.py)
TRY_LOOPS := $(BIN)/python -m pytest -q -p no:cacheprovider --no-limits --examples 10 $(LOOPS)

# With each index and each sum of whole numbers checked, which loops do not do by themselves: what goes wrong inside fails
# as an exception that nobody can raise.
test-bounds: $(VENV)/.test
	$(BIN)/python tools/build_core.py checked
	SAFEAR_CORE=checked $(TRY_LOOPS) $(CORES)

# With each byte checked that they touch, by gcc's AddressSanitizer. What Python and NumPy keep until the end is no leak.
test-asan: $(VENV)/.test
	$(BIN)/python tools/build_core.py asan
	LD_PRELOAD=$$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc SAFEAR_CORE=asan $(TRY_LOOPS) -s

# What is released, as a stranger gets it: the tests of the sdist on the installed wheel, with the oldest versions that
# pyproject.toml allows, in a folder without sources: with fewer examples of each property, all tests where the version
# of a library matters, and of the others those of `make check`.
OLDEST   := $(CURDIR)/$(VENV)-oldest
VERSIONS := $(wildcard $(foreach room,classifier datasets people population,tests/*/$(room)))
TRY      := $(OLDEST)/bin/python -m pytest -q $(CORES) -p no:cacheprovider --no-limits --examples 10
test-oldest: dist $(VENV)-oldest/.test
	$(OLDEST)/bin/python -m pip --quiet --disable-pip-version-check install --force-reinstall --no-deps dist/*.whl
	rm -rf $(OLDEST)/sdist && mkdir $(OLDEST)/sdist
	tar xzf dist/*.tar.gz --strip-components=1 -C $(OLDEST)/sdist
	cd $(OLDEST)/sdist && $(TRY) $(VERSIONS)
	cd $(OLDEST)/sdist && $(TRY) --lane check $(addprefix --ignore=,$(VERSIONS))

# Wheel and sdist in dist/, and which C library the wheel needs.
dist: $(VENV)/.dist
	rm -rf dist
	$(BIN)/python -m build --outdir dist . > /dev/null
	-$(BIN)/auditwheel show dist/*.whl

# The wheel in an empty environment far from the sources and any compiler, with what the container gets, and the demo
# there.
test-dist: dist
	$(BIN)/python tools/try_wheel.py dist/*.whl container/requirements.txt

# The property tests with many new examples.
fuzz: $(VENV)/.test
	$(BIN)/python -m pytest -q $(CORES) -m hypothesis --lane all --no-limits --examples 2000

# Does a test fail when an operator or a comparison in a formula of risk, solvers or evaluation, or in a loop of the core
# (CORE in tools/mutant_runs.py) is another? All of them take two hours or three, a sample less than a minute;
# tools/survivors.toml says why some may go unnoticed.
MUTATED := risk/ evaluation/adjoint evaluation/backward evaluation/forward core/figures core/sweeps solvers/hull solvers/sweep
mutants: $(VENV)/.mutants
	$(BIN)/python tools/mutants.py --formulas

mutants-sample: $(VENV)/.mutants
	$(BIN)/python tools/mutants.py --formulas --sample 60 --only $(MUTATED)

# Ratios beside other engines, printed and kept in benchmarks/results.json; some minutes.
bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

# The reliability run: broken inputs, kills, full disks, other users, races, the same bytes; about eleven minutes, nothing
# but this machine. Kept in soak/results.json, shown in docs/reliability.md; fails if a promise is broken.
soak: $(VENV)/.soak
	$(BIN)/python -m soak

# With what builds the compiled core, and a C compiler if there is none: an edited core is built again when it is imported.
$(VENV)/.base: pyproject.toml hatch_build.py tools/build_core.py
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "SafeAR needs Python 3.11 or later; try: make PYTHON=python3.11 $(MAKECMDGOALS)")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(GET) --upgrade "pip>=25.1"
	$(BIN)/python tools/build_core.py --needs | $(GET) --group build --requirement /dev/stdin
	$(GET) --no-build-isolation --editable .
	touch $@

$(VENV)/.test: $(VENV)/.base
	$(GET) --group test --group lint --group api
	touch $@

# Not on every system.
$(VENV)/.soak: $(VENV)/.test
	$(GET) --group soak || echo "atheris does not install here: make soak does without it"
	touch $@

$(VENV)/.models: $(VENV)/.test
	$(GET) --group models
	touch $@

$(VENV)/.browser: $(VENV)/.test
	$(GET) --group browser
	touch $@

$(VENV)/.dice: $(VENV)/.test
	$(GET) --group dice
	touch $@

$(VENV)/.bench: $(VENV)/.test
	$(GET) --group bench
	touch $@

$(VENV)/.dist: $(VENV)/.base
	$(GET) --group dist
	touch $@

# What the container installs, with hashes. Make it anew now and then, and look at what changed.
container/requirements.txt: pyproject.toml $(VENV)/.dist
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
		$(addprefix --extra ,audit http report skops web) pyproject.toml --output-file $@

$(VENV)/.mutants: $(VENV)/.test
	$(GET) --group mutants
	touch $@

$(VENV)-oldest/.test: pyproject.toml tools/oldest.py
	rm -rf $(VENV)-oldest
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip --quiet --disable-pip-version-check install --upgrade "pip>=25.1"
	$(VENV)-oldest/bin/python tools/oldest.py > $(VENV)-oldest/oldest.txt
	$(VENV)-oldest/bin/python -m pip --quiet --disable-pip-version-check install -r $(VENV)-oldest/oldest.txt
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-oldest src/safear/core/*/ src/safear/core/_renew.py build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .mutants .coverage .coverage.*
