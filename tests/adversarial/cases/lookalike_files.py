"""Hands in several files that could be the one that is asked for, or one that is almost called so.

Seen: `state (1).py` from a browser's second download; a folder and a zip in it with two versions.
Stopped by: one layout is looked for, what could be meant twice is refused in one line, and a near miss is named.
"""

from tests.adversarial.case import Expected, Variant, right_text, write
from tests.adversarial.containers import STUB_TEXT

ATTACK = "lookalike_files"


def files(*names):
    """A stub under the first name, the right file under the others."""

    def build(folder, solutions):
        texts = [STUB_TEXT] + [right_text(solutions)] * (len(names) - 1)
        return write(folder, dict(zip(names, texts, strict=True)))

    return build


VARIANTS = (
    Variant("two_wrappings", files("one/memory/state.py", "two/memory/state.py"), Expected(refused="holds 2 submissions, not one")),
    Variant("second_download", files("memory/state.py", "memory/state (1).py"), Expected(("todo",), notes=("(1).py: not graded, memory/state.py is there too",))),
    Variant("other_case", files("memory/notes.py", "memory/State.py"), Expected(refused="is expected: rename it")),
)
