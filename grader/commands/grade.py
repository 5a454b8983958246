"""`grader grade`: grades a cohort, prints the table, says what could not be graded and why."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from grader import cohort
from grader.clock import nvml
from grader.clock.device import DeviceError
from grader.graded_again import WHY_AGAIN, graded_again, reports_before
from grader.judges import Order
from grader.kit import Kit
from grader.output import folder
from grader.printable import printable
from grader.refusal import SOME_NOT_GRADED, BadInput
from grader.sandbox import Level, available, other_user
from grader.sandbox.tree import lock_own_memory
from grader.seeds import SEED_FILE, SeedUnreadable, course_seed
from grader.summary import Row
from grader.table import print_cohort

LEVELS: dict[str, tuple[Level, str]] = {
    "sandbox": ("sandbox", ""),
    "user": (
        "user",
        "forged results and readers of the judge's files, not the network nor what is open to every user; "
        "what ranks sent is not counted from outside",
    ),
    "process": (
        "process",
        "crashes, hangs and forged results, not code that reads your files, uses the network or ends your "
        "processes, the grader among them; what ranks sent is not counted from outside",
    ),
}
"""Levels by name, and what one that is weaker than the sandbox withstands."""


@dataclass(frozen=True)
class Timed:
    """How functions are timed, where there is a GPU."""

    accept_unmeasured: bool = False
    alone: bool = False


def run(
    kit: Kit,
    submissions: Sequence[Path],
    out: Path,
    only: tuple[str, ...],
    isolation: str,
    jobs: int | None,
    seed_file: Path | None,
    timed: Timed | None,
) -> int:
    """Grade and print; the exit code: 0 all graded, 3 some not."""
    for path in submissions:
        if not path.exists():
            raise BadInput(f"{printable(str(path))}: no such file or folder")
    folder(out)
    level = _level(isolation, kit, out, submissions)
    try:
        seed = course_seed(seed_file or kit.root / SEED_FILE)
    except SeedUnreadable as error:
        raise BadInput(str(error)) from None
    before = reports_before(submissions, out)
    order = Order(kit, out, level, seed, jobs or cohort.cores(), only)
    if timed is not None and _has_gpu():
        order = replace(order, clock="gpu", accept_unmeasured=timed.accept_unmeasured, alone=timed.alone)
    progress = Progress(
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with progress:
        task = progress.add_task("", total=len(submissions))
        try:
            rows = cohort.grade(
                order,
                submissions,
                lambda row: progress.update(task, advance=1, description=printable(row.id, 40)),
            )
        except cohort.CohortRefused as error:
            raise BadInput(str(error)) from None
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
    print_cohort([(row.id, row.report, row.note) for row in rows], console)
    return _conclude(rows, out, level, graded_again(rows, before))


def _has_gpu() -> bool:
    try:
        return nvml.find_card() is not None
    except DeviceError as error:
        raise BadInput(f"the GPU cannot be timed on: {error}; or grade with --no-timing") from None


def _level(isolation: str, kit: Kit, out: Path, submissions: Sequence[Path]) -> Level:
    if isolation not in LEVELS:
        raise BadInput(f"--isolation {isolation}: no such level, choose one of {', '.join(LEVELS)}")
    level, _ = LEVELS[isolation]
    if level == "sandbox":
        state = available()
        if not state.ok:
            raise BadInput(f"no sandbox here: {state.reason}; {state.remedy}")
    if level == "user":
        out.mkdir(mode=0o700, parents=True, exist_ok=True)  # closed to others from the start
        neighbours = submissions if len(submissions) > 1 else ()  # alone, it could read itself
        secrets = [kit.root, kit.solutions, out, Path.home(), *neighbours]
        problem = other_user.why_not() or other_user.exposed(secrets)
        if problem:
            raise BadInput(f"--isolation user: {problem}")
    if level == "process":
        lock_own_memory()  # as the judges do; this process holds the seed, and who may trace it can stop it for ever
    return level


def _conclude(rows: Sequence[Row], out: Path, level: Level, again: int) -> int:
    graded = sum(row.graded for row in rows)
    kept = sum(row.graded and not row.fresh for row in rows)
    text = f"{graded} of {len(rows)} graded"
    notes = [f"{kept} unchanged since the last time"] if kept else []
    if again:
        notes.append(f"{again} graded again: {WHY_AGAIN}")
    if notes:
        text += f" ({'; '.join(notes)})"
    folder = printable(str(out))
    print(f"\n{text}; isolation: {level}; reports in {folder}/<submission>/report.json, {folder}/summary.csv")
    withstands = LEVELS[level][1]
    if withstands:
        print(f"isolation level {level} withstands {withstands}")
    for row in rows:
        looks = [each for each in row.report.review if each.weight == "look"] if row.report else []
        if looks:
            more = f" and {len(looks) - 1} more" if len(looks) > 1 else ""
            where = f"{looks[0].file}, line {looks[0].line}: {looks[0].what}"
            print(f"worth a look, no verdict: {row.id}: {printable(where, 200)}{more} (report.json, review)")
    missing = [row for row in rows if not row.graded]
    for row in missing:
        # A refusal names the submission itself.
        why = row.note if row.report is None else f"{row.id}: {row.note}"
        print(f"not graded: {printable(why, 2000)}", file=sys.stderr)
        if row.displaced:
            earlier = f"{folder}/{row.id}/{cohort.BEFORE}"
            print(f"{row.id}: its earlier grade no longer counts, and is kept in {earlier}", file=sys.stderr)
    return SOME_NOT_GRADED if missing else 0
