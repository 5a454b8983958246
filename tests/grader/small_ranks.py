"""The assignment in rank_functions.py, behind runners: what the tests of ranks in workers share."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.calls.faults import Fault
from grader.calls.ranked import RankedCall
from grader.calls.submission import Submission
from specs.assignment import Assignment, Exercise, Limits

SOURCE = Path(__file__).parent / "rank_functions.py"
FUNCTIONS = tuple(
    line.split()[1].partition("(")[0]
    for line in SOURCE.read_text().splitlines()
    if line.startswith(("def ", "class "))
)
SPEC = Assignment(
    name="rank_kit",
    title="Ranks",
    order=9,
    files=("code.py",),
    limits=Limits(
        call_s=20,
        import_s=60,
        submission_s=600,
        memory_bytes=4 << 30,
        processes=64,
        disk_bytes=64 << 20,
        open_files=512,
        output_bytes=1 << 16,
    ),
    exercises=(
        Exercise(
            id="ranks",
            title="Ranks",
            file="code.py",
            functions=FUNCTIONS,
            points=1,
            minutes=1,
            needs=("torch", "ranks"),
            todo="none",
            section="none",
            hints=("one", "two"),
        ),
    ),
)


@dataclass
class Worked:
    """The functions of rank_functions.py behind a runner."""

    submission: Submission

    def __call__(self, function: str, ranks: int = 2, x: Any = None, **options: Any) -> RankedCall:
        submission = Submission(self.submission.runner)
        submission.begin_check("rank_kit.ranks")
        x = torch.arange(4.0) if x is None else x
        return getattr(submission.rank_kit, function).on_ranks([(x,)] * ranks, **options)

    def fault(self, function: str, ranks: int = 2, **options: Any) -> Fault:
        with pytest.raises(Fault) as caught:
            self(function, ranks, **options)
        return caught.value
