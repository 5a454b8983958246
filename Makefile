# Every target sets up .venv by itself; the second time it is there already.
VENV    := .venv
PYTHON  ?= python3
BIN     := $(VENV)/bin
READY   := $(VENV)/.ready
SAMPLES := tests/submissions
OUT     ?= reports

.PHONY: help setup grade test test-attacks attacks fuzz test-clock test-ranks test-course test-gpu test-slow test-tritons bench lint verify stubs figures clean
help:
	@echo "make grade    grade the sample submissions: table, reports/<id>/report.json, reports/summary.csv"
	@echo "make test     the kit's own tests"
	@echo "make test-attacks  hostile, broken and odd submissions, graded in the sandbox; and where there is none"
	@echo "make test-clock  real processes and attacks under the judge's clock; on an idle machine"
	@echo "make test-ranks  collectives, sharded layers and training on real processes"
	@echo "make test-gpu  what needs an NVIDIA card: the reference kernels, attacks on the clock"
	@echo "make attacks  the same as a table: what became of each, in the sandbox"
	@echo "make fuzz     a hundred thousand malformed replies to the judge, and two minutes of atheris"
	@echo "make test-course  a course of eight students through nbgrader, from notebooks to exports"
	@echo "make test-slow  the slow ones: more attacks in Triton, and the bundle in a fresh venv, which needs the network"
	@echo "make test-tritons  the kernel tests on the other tritons that are supported"
	@echo "make bench    what the kernel evidence and reading a trace cost; on an idle machine"
	@echo "make lint     ruff and mypy"
	@echo "make verify   stubs earn 0, solutions full marks, every mistake is caught with its own hint"
	@echo "make stubs    write assignments/ stubs anew from solutions/"
	@echo "make figures  draw the handouts' figures anew"

setup: $(READY)
$(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) (a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[kernels,instructor,dev]'
	@touch $@

grade: $(READY)
	@level=sandbox; $(BIN)/grader doctor --sandbox || { level=process; \
	echo "grading the shipped samples, which are known, with --isolation process" >&2; }; \
	$(BIN)/grader grade $(SAMPLES)/*/ $(SAMPLES)/*.zip --out $(OUT) --isolation $$level

test: $(READY)
	$(BIN)/python -m pytest tests -m 'not slow and not attacks and not clock and not ranks and not course and not gpu'

test-attacks: $(READY)
	$(BIN)/python -m pytest tests/adversarial tests/grader/sandbox -m 'attacks and not slow'

test-clock: $(READY)
	$(BIN)/python -m pytest tests/clock tests/adversarial -m 'clock and not slow'

test-ranks: $(READY)
	$(BIN)/python -m pytest tests/grader -m 'ranks and not slow'

test-gpu: $(READY)
	$(BIN)/python -m pytest tests -m gpu

attacks: $(READY)
	$(BIN)/python -m tests.adversarial

fuzz: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check coverage atheris
	$(BIN)/coverage run --branch --include="*/grader/worker/*" -m tests.fuzz --inputs 100000 --seconds-of-atheris 120
	$(BIN)/coverage report --include="*/worker/wire.py,*/worker/decoding.py,*/worker/canonical.py,*/worker/values.py"

test-course: $(READY)
	$(BIN)/python -m pytest tests/course -m 'course and not slow'

test-slow: $(READY)
	$(BIN)/python -m pytest tests -m 'slow and not gpu'

# The wheels only, beside the venv: torch stays what it is. The interpreter cannot be mended on 3.6, compiling works.
TRITONS := $(VENV)/tritons
$(TRITONS)/%: $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $@ 'triton==$*.*'

test-tritons: $(TRITONS)/3.6 $(TRITONS)/3.8
	ROOFLAB_TRITON_PATH=$(CURDIR)/$(TRITONS)/3.8 $(BIN)/python -m pytest tests/kernels -m 'not slow' -k 'interpreter or recorder or corpus'
	ROOFLAB_TRITON_PATH=$(CURDIR)/$(TRITONS)/3.6 $(BIN)/python -m pytest tests/kernels/test_compiled_report.py

bench: $(READY)
	@for script in tests/benchmarks/bench_*.py; do $(BIN)/python $$script; done

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

verify: $(READY)
	$(BIN)/grader verify

stubs: $(READY)
	$(BIN)/grader stubs

figures: $(READY)
	$(BIN)/python -m solutions.memory.figures
	$(BIN)/python -m solutions.roofline.handout_figures
	$(BIN)/python -m solutions.roofline.figures
	$(BIN)/python -m solutions.flash_attention.figures
	$(BIN)/python -m solutions.sharding.figures_of_numbers
	$(BIN)/python -m solutions.sharding.figures_of_pipelines
	$(BIN)/python -m solutions.sharding.figures_of_training
	$(BIN)/python -m solutions.profiling.figures

clean:
	rm -rf $(OUT) .pytest_cache .mypy_cache .ruff_cache
