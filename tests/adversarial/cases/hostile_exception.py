"""Raises exceptions whose own methods raise, whose text steers a terminal, or that claim to be something else.

Seen: `str(error)` in a grader's except clause that raised SystemExit.
Stopped by: an exception's methods are not trusted; its text is cut and cleaned; a stub is told by the place of its
raise, not by the type.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "hostile_exception"

HOSTILE = """
class Hostile(Exception):
    def __str__(self): @DOES@
    __repr__ = __str__
"""
LYING_CLASS = """
class Hostile(Exception):
    __class__ = property(lambda self: NotImplementedError)
"""
NAMED = """
Hostile = type("<script>alert(1)</script>\\x1b[2J=1+1", (Exception,), {})
"""


def hostile(name: str, does: str, expect: Expected) -> Variant:
    return Variant(name, state(top=HOSTILE, call="raise Hostile", fill_in=lambda folder, solutions: {"DOES": does}), expect)


VARIANTS = (
    hostile("str_raises", "raise SystemExit(0)", Expected(says="raised Hostile")),
    hostile("str_interrupts", "raise KeyboardInterrupt", Expected(says="raised")),
    hostile("str_steers_terminals", "return '\\x1b[2J\\x1b]0;x\\x07\\u202e' * 10000", Expected(says="raised Hostile")),
    hostile("str_claims_todo", "raise NotImplementedError", Expected(says="raised Hostile")),
    hostile("str_never_ends", "return 'x' * 500_000_000", Expected(("failed", "crashed"), says="state_bytes")),
    Variant("lies_about_its_class", state(top=LYING_CLASS, call="raise Hostile"), Expected(says="raised Hostile")),
    Variant("name_is_markup", state(top=NAMED, call="raise Hostile"), Expected(says="raised <script>")),
    Variant("group", state(call="raise BaseExceptionGroup('many', [SystemExit(0), KeyboardInterrupt()])"), Expected(says="raised")),
)
