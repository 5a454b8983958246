"""The pytest plugin: makes ordinary test files judge a submission and say what it is worth.

A test belongs to an exercise by `@pytest.mark.exercise("memory.parameter_count", weight=2)`, calls the
submission through the `submission` fixture and compares through `expect`. Its docstring is the claim that a
student reads.
"""

import bdb
import os
import random
import shlex
import threading
from collections import Counter
from collections.abc import Callable, Generator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from grader.calls.faults import Fault
from grader.calls.runner import STOPS, LocalRunner
from grader.calls.submission import Submission
from grader.checks.expect import Expect
from grader.checks.oracle import Oracle
from grader.checks.verdicts import Judge, marked
from grader.kit import KitNotFound, check_specs, find_exercise, find_kit, no_work_in
from grader.report import Outcome, SubmissionInfo
from grader.table import print_report
from specs.schema import SpecError

JUDGE = pytest.StashKey[Judge]()
NATIVE = pytest.StashKey[bool]()
ERROR = pytest.StashKey[BaseException | None]()
ALL_CHECKS = pytest.StashKey[dict[str, int]]()
"""How many checks each exercise has of which any is to run; kept where somebody typed `pytest assignments/...`."""
SAY = pytest.StashKey[Callable[[str], None]]()
"""Tells who waits that a check is still running, where pytest's own terminal is nobody's."""
TIMER = pytest.StashKey[threading.Timer]()

STILL_RUNNING_AFTER_S = 10.0


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
        config.stash[ALL_CHECKS] = {}
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
            raise pytest.UsageError(
                "--submission: no assignments/ here or above, run this inside the kit's folder"
            ) from None
        return None
    here = Path(str(config.invocation_params.dir))
    named = [(here / str(argument).split("::")[0]).resolve() for argument in config.args]
    if not any(path == kit.assignments or kit.assignments in path.parents for path in named):
        if given and not any(kit.solutions in path.parents for path in named):
            raise pytest.UsageError(
                "--submission: say which tests to run, e.g. pytest assignments/memory --submission DIR"
            )
        if not given:
            return None
    root = (here / given).resolve() if given else kit.assignments
    problem = no_work_in(root, kit.editable())
    if problem:
        raise pytest.UsageError(f"--submission {given or root}: {problem}")
    check_specs()
    only = _asked_for(config)
    for name in only:
        if not any(_has_checks(path, name) for path in named):
            under = ", ".join(os.path.relpath(path, here) for path in named)
            folder = os.path.relpath(kit.assignments / name.split(".")[0], here)
            raise pytest.UsageError(f"no check of {name} under {under}; try pytest {folder}")
    return Judge(kit, LocalRunner(root), SubmissionInfo(id=root.name), only=only)


def _has_checks(path: Path, exercise: str) -> bool:
    files = [path] if path.is_file() else path.rglob("test_*.py")
    return any(
        f'exercise("{exercise}"' in file.read_text(encoding="utf-8", errors="replace") for file in files
    )


def _asked_for(config: pytest.Config) -> tuple[str, ...]:
    names = []
    for name in config.getoption("--exercise"):
        try:
            spec, exercise = find_exercise(name)
        except SpecError as error:
            raise pytest.UsageError(f"--exercise: {error}") from None
        names.append(f"{spec.name}.{exercise.id}")
    return tuple(names)


_ASK_FOR_MORE = (
    "--tb",
    "-r",
    "--pdb",
    "--trace",
    "-s",
    "--capture",
    "-l",
    "--showlocals",
    "--collect",
    "--full-trace",
    "--setup-",
)


def _quieten(config: pytest.Config) -> None:
    """Leave the terminal to our table, unless the caller asked pytest for more."""
    arguments = [str(argument) for argument in config.invocation_params.args]
    native = config.option.verbose > 0 or any(a == "--co" or a.startswith(_ASK_FOR_MORE) for a in arguments)
    config.stash[NATIVE] = native
    if not native:
        config.option.verbose = -2
        config.option.tbstyle = "no"
        config.option.reportchars = ""


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A test file that does not import is an error of the kit's, never a smaller grade."""
    report = yield
    judge = collector.config.stash.get(JUDGE, None)
    if judge is not None and report.failed:
        name = Path(report.nodeid).name or report.nodeid
        reasons = [line[1:].strip() for line in report.longreprtext.splitlines() if line.startswith("E ")]
        # What a hidden test says of itself is not for the report that a student may see.
        judge.collection_errors.append(
            f"{name} ({reasons[-1]})" if reasons and judge.kind == "self-check" else name
        )
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    judge = config.stash.get(JUDGE, None)
    if judge is None:
        lost = next((item for item in items if _wants_a_judge(item)), None)
        if lost is not None and not config.option.collectonly:
            raise pytest.UsageError(_not_the_kits(lost))
        return
    for item in items:
        if item.get_closest_marker("exercise") is not None:
            try:
                find_exercise(marked(item)[0])
            except SpecError as error:
                raise pytest.UsageError(f"{item.nodeid}: {error}") from None
    if judge.only:
        keep = [
            item for item in items if item.get_closest_marker("exercise") and marked(item)[0] in judge.only
        ]
        config.hook.pytest_deselected(items=[item for item in items if item not in keep])
        items[:] = keep
    if ALL_CHECKS in config.stash:
        config.stash[ALL_CHECKS].update(_all_checks(items))


def _wants_a_judge(item: pytest.Item) -> bool:
    return item.get_closest_marker("exercise") is not None and "judge" in getattr(item, "fixturenames", ())


def _not_the_kits(item: pytest.Item) -> str:
    """Why nobody judges a check in a run that names no assignment of the kit's, and what to run instead."""
    folder, name = item.path.parent, exercise_of(item).split(".")[0]
    command = f"pytest assignments/{name}"
    try:
        root = find_kit(folder).root
    except KitNotFound:
        root = None
    if root is not None and root in folder.parents:
        return f"{folder}: checks of submissions are run by themselves: {command}"
    work = shlex.quote(str(folder.parent)) if folder.name == name else f"DIR, your files in DIR/{name}"
    return (
        f"{folder}: a copy of the kit's checks, which run in the kit alone; "
        f"in {root or 'its folder'}: {command} --submission {work}"
    )


def _all_checks(items: list[pytest.Item]) -> Counter[str]:
    """How many checks the exercises of `items` have, those included that -k, -m or a node id left out."""
    modules = {module for item in items if (module := item.getparent(pytest.Module)) is not None}
    checks = [item for item in items if item.get_closest_marker("exercise") is not None]
    exercises = {marked(item)[0] for item in checks}
    every = [node for module in modules for node in module.collect() if isinstance(node, pytest.Item)]
    names = [marked(node)[0] for node in every if node.get_closest_marker("exercise") is not None]
    return Counter(name for name in names if name in exercises)


def exercise_of(item: pytest.Item) -> str:
    """The exercise that a check belongs to, `memory.parameter_count`."""
    return marked(item)[0]


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
    """Comparison: `expect.terms(got, expected)`, `.number(...)`, `.equal(...)`, `.that(holds, message)`."""
    return Expect(hidden=judge.is_hidden(request.node))


@pytest.fixture
def rng(judge: Judge, request: pytest.FixtureRequest) -> random.Random:
    """Random numbers of this check: the same in every run with the same course seed."""
    exercise = marked(request.node)[0]
    key = sha256(judge.seed + exercise.split(".")[0].encode() + request.node.name.encode()).digest()
    return random.Random(key)  # noqa: S311 - the key is secret, and what is drawn is shown to the submission


@pytest.fixture(scope="session")
def oracle(judge: Judge) -> Oracle:
    """The reference solution: `oracle.memory.parameter_count(model)`, in the judge. Hidden tests only."""
    return Oracle(judge.kit)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    judge = item.config.stash.get(JUDGE, None)
    if judge is None or item.get_closest_marker("exercise") is None:
        return (yield)
    item.stash[ERROR] = None
    timer = _say_still_running(item)
    try:
        judge.submission.begin_check(marked(item)[0], item.name)
        return (yield)
    except Fault as fault:
        item.stash[ERROR] = fault
        if item.config.stash.get(NATIVE, False):
            raise
        pytest.fail(fault.message, pytrace=False)  # spares pytest a traceback that nobody reads
    except bdb.BdbQuit:  # from a debugger that is not pytest's own, which exits by itself
        judge.stopped_in = marked(item)[0]
        pytest.exit("the debugger was quit")
    except BaseException as error:
        item.stash[ERROR] = error
        # With --pdb it is looked at, and the run goes on.
        if isinstance(error, STOPS) and not item.config.option.usepdb:
            judge.stopped_in = marked(item)[0]
        raise
    finally:
        timer.cancel()
        if timer.is_alive():  # it may be speaking: nobody else can write before the terminal is given back
            timer.join(timeout=5)


def _say_still_running(item: pytest.Item) -> threading.Timer:
    """The timer that tells who waits for a self-check what does not end; started unless a debugger is asked for."""
    config = item.config
    exercise = marked(item)[0].split(".")[1]
    claim = ((getattr(item, "function", item).__doc__ or "").strip() or item.name).splitlines()[0]

    def say() -> None:
        text = f"still running {exercise} after {STILL_RUNNING_AFTER_S:g} s ({claim}); Ctrl-C stops it"
        if SAY in config.stash:
            config.stash[SAY](text)
            return
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        capture = config.pluginmanager.get_plugin("capturemanager")
        if reporter is None or capture is None:
            return
        with capture.global_and_fixture_disabled():
            reporter.write_line(text)
            reporter.flush()

    timer = threading.Timer(STILL_RUNNING_AFTER_S, say)
    timer.daemon = True
    config.stash[TIMER] = timer
    heard = ALL_CHECKS in config.stash or SAY in config.stash
    if heard and not (config.option.usepdb or config.option.trace):
        timer.start()
    return timer


def pytest_enter_pdb(config: pytest.Config) -> None:
    """At a breakpoint the student waits for nothing."""
    if TIMER in config.stash:
        config.stash[TIMER].cancel()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    judge = item.config.stash.get(JUDGE, None)
    if judge is None or item.get_closest_marker("exercise") is None:
        return (yield)
    if not item.config.stash.get(NATIVE, False):
        # The judge's message takes its place, and pytest parses the file once for every frame to make it.
        vars(item)["repr_failure"] = lambda *_: ""
    report = yield
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
    judge.close()
    if judge.on_report is not None:
        judge.on_report(judge.report())


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    judge = config.stash.get(JUDGE, None)
    if judge is None or judge.on_report is not None:
        return
    stopped = f"stopped while {judge.stopped_in} ran"
    if not (judge.checks or judge.collection_errors):
        if judge.stopped_in:
            terminalreporter.write_line(stopped)
        elif not config.stash.get(NATIVE, False):
            terminalreporter.write_line(
                "no checks there: name a folder, `assignments/memory`, or `--exercise memory.kv_cache_bytes`"
            )
        return
    print_report(judge.report(), all_checks=config.stash.get(ALL_CHECKS, None))
    if judge.stopped_in:
        terminalreporter.write_line(stopped)
