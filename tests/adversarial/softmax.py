"""Builds submissions of `safe_softmax`, the cheapest exercise on tensors: the solution's, changed or wrapped."""

import textwrap
from pathlib import Path

from tests.adversarial.case import Build, write

SAFE = "flash_attention.safe_softmax"
FILE = "flash_attention/softmax.py"


def softmaxed(call: str, top: str = "") -> Build:
    """A submission whose `safe_softmax(x)` is `call`; `right(x)` there is the right one."""

    def build(folder: Path, solutions: Path) -> Path:
        text = (
            (solutions / FILE).read_text(encoding="utf-8")
            + "\n\nright = safe_softmax\n"
            + textwrap.dedent(top)
            + "\n\ndef safe_softmax(x):\n"
            + textwrap.indent(textwrap.dedent(call).strip("\n"), "    ")
            + "\n"
        )
        return write(folder, {FILE: text})

    return build
