"""Grades submissions against the clock of a GPU; nobody has run it on one yet."""

import textwrap
from collections.abc import Mapping
from pathlib import Path

from grader.cohort import Row, grade
from grader.judges import Order
from grader.kit import find_kit
from tests.adversarial.case import Build, write
from tests.adversarial.clock import slowly

FAST = "flash_attention.performance"
SLOW = slowly(8)
"""Behind a right solution: so slow that it earns nothing for its speed."""


def kernels(text: str, base: str = SLOW) -> Build:
    """The course's own solution, slow unless `base` says otherwise, with `text` behind both of its files."""

    def build(folder: Path, solutions: Path) -> Path:
        texts = {}
        for name, other in (("forward", "flash_backward"), ("backward", "flash_forward")):
            right = (solutions / "flash_attention" / f"{name}.py").read_text(encoding="utf-8")
            absent = f"\n\n{other} = globals().get({other!r})\n"
            texts[f"flash_attention/{name}.py"] = right + absent + base + "\n\n" + textwrap.dedent(text)
        return write(folder, texts)

    return build


def grade_on_a_gpu(variants: Mapping[str, Build], folder: Path) -> dict[str, Row]:
    """The rows of submissions, by name, each graded in the exercise on speed alone."""
    kit = find_kit()
    paths = []
    for name, build in variants.items():
        (folder / "submissions" / name).mkdir(parents=True)
        paths.append(build(folder / "submissions" / name, kit.solutions))
    order = Order(
        kit, folder / "out", "sandbox", b"s" * 32, 1, (FAST,), clock="gpu", accept_unmeasured=True, alone=True
    )
    return dict(zip(variants, grade(order, paths), strict=True))
