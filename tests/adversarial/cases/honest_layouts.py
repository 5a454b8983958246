"""Honest: a zip as a Mac or Windows makes it, files wrapped in one folder, or flat beside each other.

Seen: graders that refused __MACOSX, .DS_Store or a folder that wraps the others.
Passes because: what surely is no student's work is passed over, and one wrapping folder is seen through.
"""

from tests.adversarial.case import Expected, Variant, right_text, write
from tests.adversarial.containers import zipped

HONEST = "honest_layouts"

FULL = Expected(("passed",), 10)


def in_zip(*names, more=()):
    def build(folder, solutions):
        return zipped(*((name, right_text(solutions)) for name in names), *more)(folder, solutions)

    return build


def in_folder(name):
    return lambda folder, solutions: write(folder, {name: right_text(solutions)})


MAC = (("__MACOSX/memory/._state.py", b"\x00\x05\x16\x07"), (".DS_Store", b"\x00"), ("memory/.DS_Store", b"\x00"))

VARIANTS = (
    Variant("mac", in_zip("memory/state.py", more=MAC), FULL),
    Variant("windows", in_zip("work\\memory\\state.py"), FULL),
    Variant("wrapped", in_folder("homework-1/memory/state.py"), FULL),
    Variant("flat_zip", in_zip("state.py"), FULL),
    Variant("with_a_cache", in_zip("memory/state.py", more=(("memory/__pycache__/state.cpython-311.pyc", b"\x00"),)), FULL),
)
