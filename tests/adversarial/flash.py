"""Builds submissions of `flash_forward` for several cases: the solution's kernel, changed or wrapped."""

import textwrap
from pathlib import Path

from tests.adversarial.case import Build, write

FORWARD = "flash_attention.flash_forward"
EFFICIENCY = "flash_attention.efficiency"
FILE = "flash_attention/forward.py"


def wrapped(call: str, top: str = "") -> Build:
    """A submission whose `flash_forward(q, k, v, causal, scale)` is `call`; `kernel(...)` there is a right one."""

    def build(folder: Path, solutions: Path) -> Path:
        text = (
            (solutions / FILE).read_text(encoding="utf-8")
            + "\n\nkernel = flash_forward\n"
            + textwrap.dedent(top)
            + "\n\ndef flash_forward(q, k, v, causal=False, scale=None):\n"
            + textwrap.indent(textwrap.dedent(call).strip("\n"), "    ")
            + "\n"
        )
        return write(folder, {FILE: text})

    return build


def whole(text: str) -> Build:
    """A submission with this forward.py."""
    return lambda folder, solutions: write(folder, {FILE: textwrap.dedent(text).lstrip("\n")})
