"""Crashes the interpreter: a wild pointer, an abort, C's stack used up.

Seen: a submission that took the grader's process along.
Stopped by: the worker is a process of its own; its end is an outcome, and the next exercise gets a new one.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "segfault"

SEGFAULT = Expected(("crashed",), says="died of signal 11")
DEEP_C = """
import sys
sys.setrecursionlimit(2**31 - 1)
one, other = [], []
for _ in range(2 * 10**5):
    one, other = [one], [other]
one == other
"""

VARIANTS = (
    Variant("in_call", state(call="import ctypes\nctypes.string_at(0)"), SEGFAULT),
    Variant(
        "at_import",
        state(top="import ctypes\nctypes.string_at(0)"),
        Expected(("crashed",), says="while importing state.py: the process died of signal 11"),
    ),
    Variant("c_stack_overflow", state(call=DEEP_C), SEGFAULT, takes_s=5),
    Variant("abort", state(call="import os\nos.abort()"), Expected(("crashed",), says="died of signal 6")),
    Variant("recursion", state(call="def down():\n    down()\ndown()"), Expected(says="RecursionError")),
)
