"""`grader hint` and `grader next`: one more hint each time; what to do now and where it is explained."""

import contextlib
import json
import os
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from grader import plugin
from grader.calls.runner import LocalRunner
from grader.checks.verdicts import Judge
from grader.kit import Kit, no_work_in
from grader.refusal import BadInput
from grader.report import Outcome, SubmissionInfo, write_atomically
from grader.session import Installed, run_quietly, why_not
from grader.table import points
from specs.assignment import Assignment, Exercise

HINTS_SEEN = ".rooflab/hints-seen.json"


def show_hint(
    kit: Kit, spec: Assignment, exercise: Exercise, again: bool, submission: Path | None = None
) -> None:
    """Print the hints seen so far and, unless `again`, the next one; remember how far the student is.

    How far that is stands beside the student's work: in `submission`, where several work with one kit.

    Raises:
        BadInput: `submission` is nobody's work.
    """
    if submission is not None:
        _work(kit, submission)
    path = (submission or kit.root) / HINTS_SEEN
    name = f"{spec.name}.{exercise.id}"
    seen = _seen(path)
    already = min(seen.get(name, 0), len(exercise.hints))
    stage = already if again else min(already + 1, len(exercise.hints))
    for index, text in enumerate(exercise.hints[:stage], start=1):
        print(f"hint {index} of {len(exercise.hints)}: {text}")
    if stage == 0:
        command = f"grader hint {name}{_option(submission) if submission else ''}"
        print(f"no hint of {name} seen yet; {command} shows the first of {len(exercise.hints)}")
    if already == len(exercise.hints) and not again:
        print(f"that was all; read section '{exercise.section}' of assignments/{spec.name}/README.md")
    if stage != already:
        seen[name] = stage
        with contextlib.suppress(OSError):  # a read-only folder: the hint was shown, only the count is lost
            write_atomically(path, json.dumps(seen, indent=1) + "\n")


def _work(kit: Kit, submission: Path | None) -> Path:
    """The folder of the student's work: `submission`, else the kit's own assignments.

    Raises:
        BadInput: it is nobody's work.
    """
    root = (submission or kit.assignments).resolve()
    problem = no_work_in(root, kit.editable())
    if problem:
        raise BadInput(f"--submission {submission or root}: {problem}")
    return root


def _option(submission: Path) -> str:
    return f" --submission {shlex.quote(str(submission))}"


def _seen(path: Path) -> dict[str, int]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in data.items() if type(v) is int and v >= 0} if isinstance(data, dict) else {}


def show_next(kit: Kit, only: str | None, submission: Path | None, track: str) -> None:
    """Run the visible checks and print the first exercise, in teaching order, that has not passed.

    Raises:
        BadInput: `only` is no assignment of this kit, or `submission` is nobody's work.
    """
    shown = kit.available()
    if only is not None:
        if only not in shown:
            raise BadInput(f"assignment {only!r}: not here, choose one of {', '.join(shown)}")
        shown = {only: shown[only]}
    root = _work(kit, submission)
    # pytest keeps what is written to the terminal while a check runs, so this goes past it.
    with open(os.dup(2), "w", encoding="utf-8") as terminal:
        say = partial(print, file=terminal, flush=True)
        report = visible_session(kit, root, list(shown), say=say).report()
    results = {exercise.id: exercise for exercise in report.exercises}
    for name, spec in shown.items():
        for exercise in spec.exercises:
            result = results.get(f"{name}.{exercise.id}")
            if (
                track not in exercise.tracks
                or result is None
                or result.outcome is Outcome.PASSED
                or result.outcome.pending
            ):
                continue
            extra = " extra credit" if exercise.extra_credit else ""
            state = (
                "not begun"
                if result.outcome is Outcome.TODO
                else f"{points(result.points)} of {points(result.max_points)} so far"
            )
            worth = f"{points(exercise.points)} points{extra}, {exercise.minutes} minutes, {state}"
            print(f"{name}.{exercise.id}: {exercise.title} ({worth})")
            folder, theirs = ("assignments", "") if submission is None else (root, _option(root))
            where = f"{', '.join(exercise.functions)} in {folder}/{name}/{exercise.file}"
            print(f"  write    {where}: {exercise.todo}")
            print(f"  read     assignments/{name}/README.md, section '{exercise.section}'")
            print(f"  check    pytest assignments/{name} --exercise {name}.{exercise.id}{theirs}")
            print(f"  stuck?   grader hint {name}.{exercise.id}{theirs}")
            if Path.cwd().resolve() != kit.root:
                print(f"  from     {kit.root}, where these paths begin")
            return
    print("all visible checks pass: nothing is left to do on this track")


def visible_session(
    kit: Kit,
    root: Path,
    names: Sequence[str],
    only: Sequence[str] = (),
    say: Callable[[str], None] | None = None,
) -> Judge:
    """The judge after the visible checks of these assignments, or of these exercises, ran against the code in `root`.

    `say` tells who waits that a check is still running, and which one ran when they stopped it.

    Raises:
        BadInput: the tests cannot be run; pytest's reason is in the message.
        KeyboardInterrupt: a check was stopped.
    """
    info = SubmissionInfo(id=root.name)
    judge = Judge(kit, LocalRunner(root), info, only=tuple(only), on_report=lambda report: None)
    tests = [path for name in names for path in kit.visible_tests(name)]
    code, output = run_quietly(kit.root, tests, [Installed(judge, say), plugin])
    if judge.stopped_in:
        if say is not None:
            say(f"stopped while {judge.stopped_in} ran")
        raise KeyboardInterrupt
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise BadInput(f"the visible tests cannot be run: {why_not(judge, output)}")
    return judge
