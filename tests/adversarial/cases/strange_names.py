"""Hands in files whose names are no text, steer a terminal, or are one name for some file systems and two for others.

Seen: a name with an escape sequence that cleared the instructor's screen; one that was not UTF-8 and stopped a script.
Stopped by: what no import can spell is not copied, and its name is shown without what a terminal obeys; names that
clash refuse the submission.
"""

import os

from tests.adversarial.case import Expected, Variant, right_text
from tests.adversarial.containers import STUB_TEXT, WRONG, zipped

ATTACK = "strange_names"


def strange(folder, solutions):
    WRONG(folder, solutions)
    for name in (b"caf\xe9.py", b"new\nline.py", b"\x1b[2J.py", b"memory/\xff\xfe.py", b"memory/\xe2\x80\xae.py"):
        with open(os.path.join(os.fsencode(folder), name), "w") as file:
            file.write("raise SystemExit\n")
    return folder


def twice(folder, solutions):
    """The right file twice, so that one reader sees the right one and another the wrong one."""
    return zipped(("memory/state.py", STUB_TEXT), ("memory/./state.py", right_text(solutions)))(folder, solutions)


def cases(folder, solutions):
    return zipped(("memory/state.py", STUB_TEXT), ("memory/State.py", right_text(solutions)))(folder, solutions)


VARIANTS = (
    Variant("no_text", strange, Expected(says="weights", notes=("not copied",))),
    Variant("twice", twice, Expected(refused="is in the zip twice")),
    Variant("upper_and_lower", cases, Expected(refused="clash")),
)
