"""Grades submissions on the clock of a core: `grade.py KIT OUT JOBS SUBMISSION...`, from a kit with `clock_kit`."""

import sys
from pathlib import Path

from grader.cohort import grade
from grader.judges import Order
from grader.kit import find_kit

if __name__ == "__main__":
    kit, out, jobs, *submissions = sys.argv[1:]
    order = Order(
        find_kit(Path(kit)), Path(out), "sandbox", b"s" * 32, int(jobs), ("clock_kit.fast",), "cpu", True
    )
    for row in grade(order, [Path(each) for each in submissions]):
        print(row.id, "graded" if row.graded else "not graded", row.note)
