"""The assignment in `kernel_kit`, behind runners: what the tests of kernels in workers share."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.calls.faults import Fault
from grader.calls.submission import Submission

KIT = Path(__file__).parent / "kernel_kit"
SOLUTION = (KIT / "solutions" / "kernel_kit" / "vector.py").read_text(encoding="utf-8")
X, Y = torch.arange(100.0), torch.linspace(-1, 1, 100)

on_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="triton and its workers need Linux"
)


@dataclass
class Worked:
    """A submission behind a runner, at a check of an exercise."""

    submission: Submission

    def at(self, exercise: str) -> Any:
        self.submission.begin_check(f"kernel_kit.{exercise}")
        return self.submission.kernel_kit

    def fault(self, function: str, *args: Any, exercise: str = "add", verb: str = "", **kwargs: Any) -> Fault:
        call = getattr(self.at(exercise), function)
        with pytest.raises(Fault) as caught:
            (getattr(call, verb) if verb else call)(*args, **kwargs)
        return caught.value
