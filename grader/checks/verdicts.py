"""Turns what each test did into a check result, and all results into the report of one submission."""

import importlib.metadata
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256

import pytest

import grader
from grader.calls.faults import Fault, Slow
from grader.calls.local_lanes import LocalLanes
from grader.calls.runner import Runner
from grader.calls.submission import Call, Submission, Timer
from grader.checks.expect import Expect
from grader.checks.mistakes import HintSource, LiveMistakes, find_hint, load_mistakes
from grader.checks.scoring import score_all
from grader.checks.stored_mistakes import StoredMistakes
from grader.kit import Kit
from grader.printable import printable
from grader.report import CheckResult, Environment, GradeReport, Outcome, SubmissionInfo


class Judge:
    """One grading session inside pytest: the submission, the hidden seed, the results."""

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
        timer: Timer | None = None,
        current: Environment | None = None,
    ) -> None:
        """`current` is what the grade depends on, where that is known already."""
        self.kit = kit
        self.submission = Submission(runner, timer)
        self.info = info
        self.kind = kind
        self.seed = seed
        self.only = only
        self.on_report = on_report
        self._environment = current
        self.checks: dict[str, list[CheckResult]] = {}
        self.collection_errors: list[str] = []
        self.stopped_in = ""
        """The exercise of the check that the person at the keyboard stopped."""
        self.started = datetime.now(UTC)
        self._clock = time.monotonic()
        self._hints: dict[str, HintSource | None] = {}
        self._given_hints = hints
        self._right_calls: dict[str, list[Call]] = {}
        self._solution_lanes: LocalLanes | None = None

    def close(self) -> None:
        """End all workers, those of the submission and those that mistakes ran in."""
        self.submission.runner.close()
        if self._solution_lanes is not None:
            self._solution_lanes.close()

    def hints_of(self, assignment: str) -> HintSource | None:
        """Where hints come from: an assignment's mistakes, or what the student's bundle stored of them."""
        if self._given_hints is not None:
            return self._given_hints
        if assignment not in self._hints:
            stored = self.kit.assignments / assignment / "wrong_values.json"
            source: HintSource | None = None
            if (self.kit.solutions / assignment / "mistakes").is_dir():
                self._solution_lanes = self._solution_lanes or LocalLanes(self.kit.solutions)
                source = LiveMistakes(load_mistakes(self.kit.solutions, assignment), self._solution_lanes)
            elif stored.is_file():
                source = StoredMistakes(stored)
            self._hints[assignment] = source
        return self._hints[assignment]

    def judge(self, item: pytest.Item, error: BaseException | None, duration_s: float) -> CheckResult:
        """Turn what a test did into a check result and keep it."""
        exercise_id, weight = marked(item)
        hidden = self.is_hidden(item)
        outcome, message, hint, mistake = Outcome.PASSED, "", "", ""
        if error is None:
            self._right_calls.setdefault(exercise_id, []).extend(self.submission.calls)
        elif isinstance(error, Fault):
            outcome, message = error.outcome, error.hidden_message if hidden else error.message
            if (outcome is Outcome.FAILED and not isinstance(error, Slow)) or error.symptom:
                mistake, hint = self._hint(exercise_id, error)
                if hint:
                    message = "\n".join(
                        line for line in message.splitlines() if not line.startswith("likely cause:")
                    )
        elif isinstance(error, OverflowError):
            outcome, message = Outcome.FAILED, "a number in the answer is too large to be computed with"
        else:
            outcome = Outcome.GRADER_ERROR
            message = "this check itself failed; it is not your fault" + (
                "" if hidden else f" ({_broke(error, item)})"
            )
        timing = self.submission.timing
        if timing is not None and timing.check_outcome is not outcome:
            timing = None  # something else decided after it was timed
        claim = (
            (getattr(getattr(item, "function", None), "__doc__", "") or "").strip().splitlines()
            or [item.name]
        )[0]
        expect = getattr(item, "funcargs", {}).get("expect")
        result = CheckResult(
            name=item.name,
            claim=claim,
            outcome=outcome,
            weight=weight,
            hidden=hidden,
            message=_safe(message),
            hint=hint,
            mistake=mistake,
            evidence=tuple(expect.evidence) if isinstance(expect, Expect) else (),
            duration_s=round(duration_s, 1 if hidden else 4),  # a hidden input could be told by waiting
            timing=timing,
        )
        self.checks.setdefault(exercise_id, []).append(result)
        return result

    def _hint(self, exercise_id: str, fault: Fault) -> tuple[str, str]:
        source = self.hints_of(exercise_id.split(".")[0])
        if source is None:
            return "", ""
        earlier = self.submission.calls_by_exercise.get(exercise_id, [])
        right = self._right_calls.get(exercise_id, [])
        return find_hint(source, exercise_id, self.submission.calls, right, earlier, fault.symptom)

    def is_hidden(self, item: pytest.Item) -> bool:
        """True for a test of `solutions/<assignment>/hidden`."""
        return item.path.parent.name == "hidden" and self.kit.solutions in item.path.parents

    def report(self) -> GradeReport:
        """Everything found so far."""
        return GradeReport(
            kind=self.kind,  # pydantic checks it
            submission=self.info,
            environment=self._environment
            or environment(
                self.submission.runner.isolation, self.kit if self.kind == "official" else None, self.seed
            ),
            exercises=score_all(self.kit.available(), self.checks),
            error=f"tests cannot be collected: {', '.join(self.collection_errors)}"
            if self.collection_errors
            else "",
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
        isolation=isolation,  # pydantic checks it
        kit_version=grader.__version__,
        kit_sha256=kit.sha256() if kit else "",
        seed_id=sha256(b"seed id" + seed).hexdigest()[:12],
        python=platform.python_version(),
        platform=platform.platform(terse=True),
        libraries=libraries,
    )


def marked(item: pytest.Item) -> tuple[str, float]:
    """The exercise that a check belongs to, and its weight there."""
    marker = item.get_closest_marker("exercise")
    if marker is None or not marker.args:
        raise pytest.UsageError(
            f"{item.nodeid}: a check needs @pytest.mark.exercise('<assignment>.<exercise>')"
        )
    return str(marker.args[0]), float(marker.kwargs.get("weight", 1.0))


def _safe(message: str) -> str:
    """A message whose every line a terminal can show, of bounded length: parts of it come from the submission."""
    lines = [printable(line, 1000) for line in message[:100_000].split("\n")[:12]]
    return "\n".join(lines)
