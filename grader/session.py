"""Starts pytest for a judge, and runs one collection of checks against many variants of a submission."""

import contextlib
import io
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from grader import plugin
from grader.checks.verdicts import Judge
from grader.report import GradeReport

_NOT_NEEDED = (
    "cacheprovider",
    "logging",
    "junitxml",
    "pastebin",
    "doctest",
    "stepwise",
    "legacypath",
    "unraisableexception",  # collects garbage at the end, a tenth of a second
    "threadexception",
)
"""Plug-ins of pytest's own that no judge uses."""
_EXERCISE = re.compile(r'mark\.exercise\(\s*"([^"]+)"')


class CollectionBroken(RuntimeError):
    """The tests themselves cannot be collected; the text is pytest's reason, in one line."""


def arguments(root: Path, tests: Iterable[Path]) -> list[str]:
    """pytest's arguments for a judge: nothing of the host's configuration, no cache."""
    fixed = [
        *(word for name in _NOT_NEEDED for word in ("-p", f"no:{name}")),
        "-c",
        os.devnull,
        "--rootdir",
        str(root),
        "--import-mode=importlib",
        "--assert=plain",  # messages are the kit's own: nobody reads pytest's, and rewriting costs a tenth of a second
    ]
    return [*fixed, *map(str, tests)]


def that_may_check(only: Collection[str], tests: Iterable[Path]) -> list[Path]:
    """The test files that may have a check of an exercise of `only`; all of them where it is empty.

    A file is left out by its text, without being collected: only where every exercise that it marks is spelled out.
    """
    found = list(tests)
    if not only:
        return found
    kept = []
    for path in found:
        text = path.read_text(encoding="utf-8", errors="replace")
        named = _EXERCISE.findall(text)
        if len(named) != text.count("mark.exercise") or not set(named).isdisjoint(only):
            kept.append(path)
    return kept or found


class Installed:
    """Hands a judge that exists already to the plug-in, and `say`, which tells who waits."""

    def __init__(self, judge: Judge, say: Callable[[str], None] | None = None) -> None:
        self.judge, self._say = judge, say

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[plugin.JUDGE] = self.judge
        if self._say is not None:
            config.stash[plugin.SAY] = self._say


class Variants(Installed):
    """Runs the collected checks, all or those of `only`, once for each judge that `judges` yields."""

    def __init__(
        self,
        first: Judge,
        judges: Iterable[Judge],
        on_report: Callable[[Judge, GradeReport], None],
        enough: Callable[[Judge, str], bool],
    ) -> None:
        super().__init__(first)
        self._judges, self._on_report, self._enough = judges, on_report, enough
        self.exercises: dict[str, list[tuple[str, bool]]] = {}
        """Test functions by exercise, with True for hidden ones."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("collection failed")
        for item in session.items:
            marker = item.get_closest_marker("exercise")
            if marker is not None:
                function = getattr(item, "originalname", item.name)
                self.exercises.setdefault(str(marker.args[0]), []).append(
                    (function, self.judge.is_hidden(item))
                )
        for judge in self._judges:
            session.config.stash[plugin.JUDGE] = judge
            items = [
                item for item in session.items if not judge.only or plugin.exercise_of(item) in judge.only
            ]
            for item, following in zip(items, [*items[1:], None], strict=True):
                if self._enough(judge, plugin.exercise_of(item)):
                    session._setupstate.teardown_exact(
                        following
                    )  # of the item before, which took this one for its next
                    continue
                runtestprotocol(item, log=False, nextitem=following)  # as the plug-ins do that rerun tests
            self._on_report(judge, judge.report())
        session.testsfailed = 0
        return True


def run_quietly(root: Path, tests: Iterable[Path], plugins: list[object]) -> tuple[int, str]:
    """Run pytest in this process without the machine's other plug-ins; its exit code and what it printed."""
    output = io.StringIO()
    before = os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = pytest.main(arguments(root, tests), plugins=plugins)
    finally:
        del os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
        if before is not None:
            os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = before
    return int(code), output.getvalue()


def why_not(judge: Judge, output: str) -> str:
    """The reason for which pytest did not run the checks, in one line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return "; ".join(judge.collection_errors) or (lines or ["no output"])[-1]


def run_variants(
    root: Path,
    tests: Sequence[Path],
    first: Judge,
    judges: Iterator[Judge],
    on_report: Callable[[Judge, GradeReport], None],
    enough: Callable[[Judge, str], bool] = lambda judge, exercise: False,
) -> dict[str, list[tuple[str, bool]]]:
    """Collect `tests` once, run them for each judge, and hand over each report.

    Where `enough` says so of a judge and an exercise, that exercise's further checks are not run.

    Returns:
        The test functions by exercise, with True for hidden ones.

    Raises:
        CollectionBroken: a test file does not import, or names an exercise that does not exist.
    """
    variants = Variants(first, judges, on_report, enough)
    code, output = run_quietly(root, tests, [variants, plugin])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise CollectionBroken(why_not(first, output))
    return variants.exercises
