"""Prints what became of every case: `python -m tests.adversarial [name ...]`."""

import sys
import tempfile
from pathlib import Path

from grader.cohort import Row
from grader.sandbox import available
from tests.adversarial.case import Variant, load_cases
from tests.adversarial.grading import grade_cases, id_of, problems


def main(names: list[str]) -> int:
    """Grade the cases of these names, or all; exit 1 when one went otherwise than it must."""
    found = available()
    if not found.ok:
        print(f"the sandbox cannot start: {found.reason}; {found.remedy}", file=sys.stderr)
        return 2
    cases = [case for case in load_cases() if not names or case.name in names]
    with tempfile.TemporaryDirectory(prefix="rooflab-adversarial-") as folder:
        graded = grade_cases(cases, Path(folder).resolve())
    wrong = 0
    for case in cases:
        print(f"\n{case.summary}")
        for variant in case.variants:
            row = graded.rows[id_of(case, variant)]
            differs = problems(variant, row)
            wrong += bool(differs)
            print(f"  {'WRONG' if differs else 'ok':6}{variant.name:26}{_became(variant, row)}")
            for line in differs:
                print(f"        {line}")
    left = [*graded.processes_left, *graded.temporary_left, *graded.changed, *graded.stray_output]
    print(f"\n{len(graded.rows)} submissions in {graded.took_s:.0f} s, {wrong} otherwise than they must")
    print(f"left behind: {', '.join(left) or 'nothing'}")
    return 1 if wrong or left else 0


def _became(variant: Variant, row: Row) -> str:
    if row.report is None or not row.report.exercises:
        return f"refused         {row.note}"
    (exercise,) = row.report.exercises
    messages = [check.message for check in exercise.checks if check.message]
    said = variant.expect.says or next(iter(messages), "")
    shown = next((message for message in messages if said in message), "").splitlines()
    time_s = f"{row.report.duration_s:5.1f} s"
    earned = f"{exercise.points:3g} of {exercise.max_points:g}"
    return f"{exercise.outcome:10}{earned}  {time_s}  {shown[0][:90] if shown else ''}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
