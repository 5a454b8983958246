"""The pytest plugin: makes ordinary test files judge a submission and say what it is worth.

A test belongs to an exercise by `@pytest.mark.exercise("memory.parameter_count", weight=2)`, calls the submission
through the `submission` fixture and compares through `expect`. Its docstring is the claim that a student reads.
"""

import importlib.metadata
import platform
import random
import time
from collections.abc import Callable, Generator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.expect import Expect
from grader.faults import Fault
from grader.kit import Kit, KitNotFound, find_exercise, find_kit
from grader.mistakes import HintSource, LiveMistakes, StoredMistakes, find_hint, load_mistakes
from grader.oracle import Oracle
from grader.printable import printable
from grader.report import CheckResult, Environment, GradeReport, Outcome, SubmissionInfo
from grader.runner import LocalRunner, Runner
from grader.scoring import score_all
from grader.submission import Submission
from grader.table import print_report
from specs.schema import SpecError


class Judge:
    """One grading session inside pytest: the submission, the hidden seed, the results. Quiet unless it has checks."""

    def __init__(
        self,
        kit: Kit,
        runner: Runner,
        info: SubmissionInfo,
        *,
        kind: str = "self-check",
        seed: bytes = b"self-check",
        only: tuple[str, ...] = (),
        hints: HintSource | None = None,
        on_report: Callable[[GradeReport], None] | None = None,
    ) -> None:
        self.kit = kit
        self.submission = Submission(runner)
        self.info = info
        self.kind = kind
        self.seed = seed
        self.only = only
        self.on_report = on_report
        self.checks: dict[str, list[CheckResult]] = {}
        self.collection_errors: list[str] = []
        self.started = datetime.now(UTC)
        self._clock = time.monotonic()
        self._hints: dict[str, HintSource | None] = {}
        self._given_hints = hints

    def hints_of(self, assignment: str) -> HintSource | None:
        """Where hints for an assignment come from: its mistakes, or what the student's bundle stored of them."""
        if self._given_hints is not None:
            return self._given_hints
        if assignment not in self._hints:
            stored = self.kit.assignments / assignment / "wrong_values.json"
            source: HintSource | None = None
            if (self.kit.solutions / assignment / "mistakes").is_dir():
                source = LiveMistakes(load_mistakes(self.kit.solutions, assignment))
            elif stored.is_file():
                source = StoredMistakes(stored)
            self._hints[assignment] = source
        return self._hints[assignment]

    def judge(self, item: pytest.Item, error: BaseException | None, duration_s: float) -> CheckResult:
        """Turn what a test did into a check result and keep it."""
        exercise_id, weight = _mark(item)
        hidden = self.is_hidden(item)
        outcome, message, hint, mistake = Outcome.PASSED, "", "", ""
        if isinstance(error, Fault):
            outcome, message = error.outcome, error.hidden_message if hidden else error.message
            if outcome is Outcome.FAILED:
                mistake, hint = self._hint(exercise_id, error)
                if hint:
                    message = "\n".join(line for line in message.splitlines() if not line.startswith("likely cause:"))
        elif error is not None:
            outcome = Outcome.GRADER_ERROR
            message = "this check itself failed; it is not your fault" + ("" if hidden else f" ({_broke(error, item)})")
        claim = ((getattr(getattr(item, "function", None), "__doc__", "") or "").strip().splitlines() or [item.name])[0]
        result = CheckResult(
            name=item.name,
            claim=claim,
            outcome=outcome,
            weight=weight,
            hidden=hidden,
            message=message,
            hint=hint,
            mistake=mistake,
            duration_s=round(duration_s, 4),
        )
        self.checks.setdefault(exercise_id, []).append(result)
        return result

    def _hint(self, exercise_id: str, fault: Fault) -> tuple[str, str]:
        source = self.hints_of(exercise_id.split(".")[0])
        if source is None:
            return "", ""
        earlier = self.submission.calls_by_exercise.get(exercise_id, [])
        return find_hint(source, exercise_id, self.submission.calls, earlier, fault.symptom)

    def is_hidden(self, item: pytest.Item) -> bool:
        """True for a test of `solutions/<assignment>/hidden`."""
        return item.path.parent.name == "hidden" and self.kit.solutions in item.path.parents

    def report(self) -> GradeReport:
        """Everything found so far."""
        return GradeReport(
            kind=self.kind,  # type: ignore[arg-type]  # pydantic checks it
            submission=self.info,
            environment=environment(self.submission.runner.isolation, self.kit if self.kind == "official" else None, self.seed),
            exercises=score_all(self.kit.available(), self.checks),
            error=f"tests cannot be collected: {', '.join(self.collection_errors)}" if self.collection_errors else "",
            only=self.only,
            started_at=self.started.isoformat(timespec="seconds"),
            duration_s=round(time.monotonic() - self._clock, 3),
        )


def _broke(error: BaseException, item: pytest.Item) -> str:
    """Where a check broke, for its author. Not the text of an assertion: it holds the expected value."""
    text = "" if isinstance(error, AssertionError) else f": {error}"
    frame, line = error.__traceback__, 0
    while frame is not None:
        line = frame.tb_lineno if frame.tb_frame.f_code.co_filename == str(item.path) else line
        frame = frame.tb_next
    return printable(f"{type(error).__name__} at {item.path.name}, line {line}{text}", 300)


def environment(isolation: str, kit: Kit | None, seed: bytes) -> Environment:
    """Versions and identities that a grade depends on."""
    libraries = {}
    for name in ("torch", "triton", "numpy", "pydantic", "pytest"):
        try:
            libraries[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return Environment(
        isolation=isolation,  # type: ignore[arg-type]  # pydantic checks it
        kit_version=grader.__version__,
        kit_sha256=kit.sha256() if kit else "",
        seed_id=sha256(b"seed id" + seed).hexdigest()[:12],
        python=platform.python_version(),
        platform=platform.platform(terse=True),
        libraries=libraries,
    )


JUDGE = pytest.StashKey[Judge]()
NATIVE = pytest.StashKey[bool]()
ERROR = pytest.StashKey[BaseException | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rooflab")
    group.addoption(
        "--submission",
        metavar="DIR",
        nargs="?",
        const="",
        default=None,
        help="whose code runs: a folder with memory/state.py and so on (default: assignments/)",
    )
    group.addoption(
        "--exercise",
        metavar="NAME",
        action="append",
        default=[],
        help="run the checks of this exercise only, memory.parameter_count, say; repeatable",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "exercise(id, weight=1): this test is a check of an exercise")
    if JUDGE not in config.stash:
        try:
            judge = _self_check(config)
        except SpecError as error:
            raise pytest.UsageError(str(error)) from None
        if judge is None:
            return
        config.stash[JUDGE] = judge
    _quieten(config)


def _self_check(config: pytest.Config) -> Judge | None:
    """A judge for `pytest assignments/...`; None for any other pytest run, which this plugin leaves alone."""
    given = config.getoption("--submission")
    if given == "":
        raise pytest.UsageError("--submission: name a folder with memory/state.py and so on")
    try:
        kit = find_kit(Path(str(config.invocation_params.dir)))
    except KitNotFound:
        if given:
            raise pytest.UsageError("--submission: no assignments/ here or above, run this inside the kit's folder") from None
        return None
    here = Path(str(config.invocation_params.dir))
    wanted = [(here / str(argument).split("::")[0]).resolve() for argument in config.args]
    if not any(path == kit.assignments or kit.assignments in path.parents for path in wanted):
        if given and not any(kit.solutions in path.parents for path in wanted):
            raise pytest.UsageError("--submission: say which tests to run, e.g. pytest assignments/memory --submission DIR")
        if not given:
            return None
    root = (here / given).resolve() if given else kit.assignments
    if not root.is_dir():
        raise pytest.UsageError(f"--submission {given}: no such folder")
    editable = kit.editable()
    if not any((root / name / file).is_file() for name, files in editable.items() for file in files):
        raise pytest.UsageError(f"--submission {given}: holds no <assignment>/<file>, such as {_example(editable)}")
    return Judge(kit, LocalRunner(root), SubmissionInfo(id=root.name), only=_asked_for(config))


def _asked_for(config: pytest.Config) -> tuple[str, ...]:
    names = []
    for name in config.getoption("--exercise"):
        try:
            spec, exercise = find_exercise(name)
        except SpecError as error:
            raise pytest.UsageError(f"--exercise: {error}") from None
        names.append(f"{spec.name}.{exercise.id}")
    return tuple(names)


def _example(editable: dict[str, tuple[str, ...]]) -> str:
    return next((f"{name}/{files[0]}" for name, files in editable.items()), "memory/state.py")


_ASK_FOR_MORE = ("--tb", "-r", "--pdb", "--trace", "-s", "--capture", "-l", "--showlocals", "--co", "--full-trace", "--setup-")


def _quieten(config: pytest.Config) -> None:
    """Leave the terminal to our table, unless the caller asked pytest for more."""
    arguments = [str(argument) for argument in config.invocation_params.args]
    native = config.option.verbose > 0 or any(a.startswith(_ASK_FOR_MORE) for a in arguments)
    config.stash[NATIVE] = native
    if not native:
        config.option.verbose = -2
        config.option.tbstyle = "no"
        config.option.reportchars = ""


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A test file that does not import is an error of the kit's, never a smaller grade."""
    report = yield
    judge = collector.config.stash.get(JUDGE, None)
    if judge is not None and report.failed:
        judge.collection_errors.append(Path(report.nodeid).name or report.nodeid)
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    judge = config.stash.get(JUDGE, None)
    if judge is None:
        return
    for item in items:
        if item.get_closest_marker("exercise") is not None:
            try:
                find_exercise(_mark(item)[0])
            except SpecError as error:
                raise pytest.UsageError(f"{item.nodeid}: {error}") from None
    if judge.only:
        keep = [item for item in items if item.get_closest_marker("exercise") and _mark(item)[0] in judge.only]
        config.hook.pytest_deselected(items=[item for item in items if item not in keep])
        items[:] = keep


def exercise_of(item: pytest.Item) -> str:
    """The exercise that a check belongs to, `memory.parameter_count`."""
    return _mark(item)[0]


def _mark(item: pytest.Item) -> tuple[str, float]:
    marker = item.get_closest_marker("exercise")
    if marker is None or not marker.args:
        raise pytest.UsageError(f"{item.nodeid}: a check needs @pytest.mark.exercise('<assignment>.<exercise>')")
    return str(marker.args[0]), float(marker.kwargs.get("weight", 1.0))


@pytest.fixture(scope="session")
def judge(pytestconfig: pytest.Config) -> Judge:
    """The grading session; for the kit's own use."""
    return pytestconfig.stash[JUDGE]


@pytest.fixture
def submission(judge: Judge, request: pytest.FixtureRequest) -> Submission:
    """The student's work: `submission.memory.parameter_count(model)`."""
    return judge.submission


@pytest.fixture
def expect(judge: Judge, request: pytest.FixtureRequest) -> Expect:
    """Comparison: `expect.terms(got, expected)`, `expect.number(...)`, `expect.equal(...)`, `expect.that(...)`."""
    return Expect(hidden=judge.is_hidden(request.node))


@pytest.fixture
def rng(judge: Judge, request: pytest.FixtureRequest) -> random.Random:
    """Random numbers of this check: the same in every run with the same course seed."""
    exercise = _mark(request.node)[0]
    key = sha256(judge.seed + exercise.split(".")[0].encode() + request.node.name.encode()).digest()
    return random.Random(key)


@pytest.fixture(scope="session")
def oracle(judge: Judge) -> Oracle:
    """The reference solution, called in the judge: `oracle.memory.parameter_count(model)`. Hidden tests only."""
    return Oracle(judge.kit)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    judge = item.config.stash.get(JUDGE, None)
    if judge is None or item.get_closest_marker("exercise") is None:
        return (yield)
    item.stash[ERROR] = None
    try:
        judge.submission.begin_check(_mark(item)[0])
        return (yield)
    except Fault as fault:
        item.stash[ERROR] = fault
        if item.config.stash.get(NATIVE, False):
            raise
        pytest.fail(fault.message, pytrace=False)  # spares pytest a traceback that nobody reads
    except BaseException as error:
        item.stash[ERROR] = error
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    judge = item.config.stash.get(JUDGE, None)
    if judge is None or item.get_closest_marker("exercise") is None:
        return report
    if call.excinfo is not None and isinstance(call.excinfo.value, KeyboardInterrupt):
        return report
    if call.when == "call" or (call.when == "setup" and call.excinfo is not None):
        raised = call.excinfo.value if call.excinfo is not None else None
        error = item.stash.get(ERROR, None) if call.when == "call" else raised
        result = judge.judge(item, error, call.duration)
        if result.outcome.pending and result.outcome is not Outcome.GRADER_ERROR:
            report.outcome = "skipped"
            report.longrepr = (str(item.path), 0, result.message)
        elif result.outcome is not Outcome.PASSED and not item.config.stash.get(NATIVE, False):
            report.longrepr = result.message
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport, config: pytest.Config) -> tuple[str, str, str] | None:
    if JUDGE in config.stash and not config.stash.get(NATIVE, False):
        return report.outcome if report.when == "call" else "", "", ""
    return None


def pytest_sessionfinish(session: pytest.Session) -> None:
    judge = session.config.stash.get(JUDGE, None)
    if judge is None:
        return
    judge.submission.runner.close()
    if judge.on_report is not None:
        judge.on_report(judge.report())


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    judge = config.stash.get(JUDGE, None)
    if judge is None or judge.on_report is not None or not (judge.checks or judge.collection_errors):
        return
    print_report(judge.report())
