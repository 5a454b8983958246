"""Crashes the interpreter, or raises what a careless grader does not catch.

Seen: a SystemExit at import ended the grader with exit code 0; a KeyboardInterrupt stopped the whole class.
Stopped by: the worker is a process of its own; in it everything that can be raised is an answer, and an exception's
own methods are not trusted.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "crash"

SEGFAULT = Expected(("crashed",), says="died of signal 11")

DEEP_C = """
import sys
sys.setrecursionlimit(2**31 - 1)
one, other = [], []
for _ in range(10**6):
    one, other = [one], [other]
one == other
"""
HOSTILE = """
class Hostile(Exception):
    def __str__(self): @DOES@
    __repr__ = __str__
"""


def hostile(name: str, does: str, expect: Expected) -> Variant:
    fill_in = {"DOES": does}
    return Variant(name, state(top=HOSTILE, call="raise Hostile", fill_in=lambda folder, solutions: fill_in), expect)


VARIANTS = (
    Variant("segfault", state(call="import ctypes\nctypes.string_at(0)"), SEGFAULT),
    Variant(
        "segfault_at_import",
        state(top="import ctypes\nctypes.string_at(0)"),
        Expected(("crashed",), says="while importing state.py: the process died of signal 11"),
    ),
    Variant("c_stack_overflow", state(call=DEEP_C), SEGFAULT, takes_s=5),
    Variant("recursion", state(call="def down():\n    down()\ndown()"), Expected(says="RecursionError")),
    Variant("abort", state(call="import os\nos.abort()"), Expected(("crashed",), says="died of signal 6")),
    Variant("exit_at_import", state(top="raise SystemExit(0)"), Expected(says="cannot be imported: SystemExit")),
    Variant("interrupt_at_import", state(top="raise KeyboardInterrupt"), Expected(says="cannot be imported: KeyboardInterrupt")),
    Variant("generator_exit_at_import", state(top="raise GeneratorExit"), Expected(says="cannot be imported: GeneratorExit")),
    Variant("exit_in_call", state(call="raise SystemExit(0)"), Expected(says="raised SystemExit")),
    Variant("interrupt_in_call", state(call="raise KeyboardInterrupt"), Expected(says="raised KeyboardInterrupt")),
    Variant("generator_exit_in_call", state(call="raise GeneratorExit"), Expected(says="raised GeneratorExit")),
    hostile("str_raises", "raise SystemExit(0)", Expected(says="raised Hostile")),
    hostile("str_interrupts", "raise KeyboardInterrupt", Expected(says="raised")),
    hostile("str_steers_terminals", "return '\\x1b[2J\\x1b]0;x\\x07\\u202e' * 10000", Expected(says="raised Hostile")),
    hostile("str_claims_todo", "raise NotImplementedError", Expected(says="raised Hostile")),
)
