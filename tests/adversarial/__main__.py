"""Grades every case and prints what became of it: `python -m tests.adversarial [options] [name ...]`.

Without an option all but the slow ones, which interpret Triton kernels, in the sandbox. With several levels there is a
table of what each withstands as well, which is the one in SECURITY.md. At the levels below the sandbox each submission
is graded in a container of its own, which takes root and some 20 minutes a level on two cores; with `--saved FILE` what
has been graded once is taken from there.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from grader.sandbox import Level, available
from tests.adversarial.case import Case, load_cases
from tests.adversarial.container import why_not
from tests.adversarial.grading import JOBS, Graded, grade_cases, untimed
from tests.adversarial.levels import grade_levels
from tests.adversarial.table import Line, levels_table, lines, text


def main(words: Sequence[str]) -> int:
    """Exit code 1 when a submission becomes something else than its case says in the sandbox, 2 without a level."""
    parser = argparse.ArgumentParser(prog="python -m tests.adversarial", description=__doc__.splitlines()[0])
    parser.add_argument("--level", action="append", choices=get_args(Level), help="repeatable [sandbox]")
    parser.add_argument("--slow", choices=("no", "too", "only"), default="no", help="the slow ones")
    parser.add_argument("--jobs", type=int, default=JOBS, help=f"of each of two cohorts at a time [{JOBS}]")
    parser.add_argument("--saved", type=Path, help="lines of the levels below the sandbox, read and added to")
    parser.add_argument("names", nargs="*", help="of cases [all]")
    told = parser.parse_args(words)
    levels: list[Level] = told.level or ["sandbox"]
    found = available()
    if "sandbox" in levels and not found.ok:
        print(f"the sandbox cannot start: {found.reason}; {found.remedy}", file=sys.stderr)
        return 2
    if levels != ["sandbox"] and why_not():
        print(f"the levels below the sandbox cannot be tried: {why_not()}", file=sys.stderr)
        return 2
    cases = _chosen(told.names, told.slow)
    by_level: dict[Level, list[Line]] = {}
    wrong = 0
    for level in levels:
        if level != "sandbox":
            by_level[level] = grade_levels(cases, level, told.jobs, told.saved)
            print(text(by_level[level]), end="\n\n")
            continue
        with tempfile.TemporaryDirectory(prefix="rooflab-adversarial-") as folder:
            graded = grade_cases(cases, Path(folder).resolve(), level, told.jobs)
        by_level[level] = lines(cases, graded.rows, level)
        print(text(by_level[level]))
        disturbed = _disturbed(graded)
        bad = [each for each in by_level[level] if each.verdict != "ok"]
        print(
            f"\n{level}: {len(by_level[level])} submissions of {len(cases)} cases in {graded.took_s:.0f} s with "
            f"{told.jobs} jobs in each of two cohorts at a time, {len(bad)} otherwise than expected\n"
            f"neighbours disturbed, or left behind: {', '.join(disturbed) or 'nothing'}\n"
        )
        wrong += len(bad) + len(disturbed)
    if len(levels) > 1:
        print(levels_table(by_level))
    return 1 if wrong else 0


def _chosen(names: Sequence[str], slow: str) -> list[Case]:
    """The cases to grade."""
    wanted = {"no": {False}, "too": {False, True}, "only": {True}}[slow]
    chosen = []
    for case in load_cases():
        variants = tuple(each for each in case.variants if each.slow in wanted)
        if variants and (not names or case.name in names):
            chosen.append(replace(case, variants=variants))
    return chosen


def _disturbed(graded: Graded) -> list[str]:
    """Controls that got another report among attackers than alone, and everything that the cohorts left."""
    controls = [
        f"{name} in {exercise}"
        for (exercise, name), alone in graded.alone.items()
        if untimed(graded.beside[exercise, name]) != untimed(alone)
    ]
    left = (graded.processes_left, graded.shared_memory_left, graded.temporary_left)
    return [*controls, *(each for found in left for each in found), *graded.changed, *graded.stray_output]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
