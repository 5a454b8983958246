"""Hands in a hundred thousand files, in a folder and in a zip, or folders in folders without an end.

Seen: a submission with its node_modules in it; a virtual environment; a folder deeper than the longest path.
Stopped by: a listing stops at 20,000 entries and does not go deeper than an assignment needs.
"""

import os

from tests.adversarial.case import Expected, Variant
from tests.adversarial.containers import STUB_TEXT, WRONG, zipped

ATTACK = "heap_of_files"


def heap(folder, solutions):
    WRONG(folder, solutions)
    for number in range(100_000):
        os.close(os.open(folder / f"{number}.py", os.O_CREAT | os.O_WRONLY))
    return folder


def deep(folder, solutions):
    WRONG(folder, solutions)
    here = os.open(folder, os.O_RDONLY)
    for _ in range(200):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    return folder


MANY = [("memory/state.py", STUB_TEXT), *((f"{number}.py", "") for number in range(25_000))]

VARIANTS = (
    Variant("folder", heap, Expected(refused="holds more than 20,000 files")),
    Variant("zip", zipped(*MANY), Expected(refused="holds more than 20,000 files")),
    Variant("deep", deep, Expected(says="weights")),
)
