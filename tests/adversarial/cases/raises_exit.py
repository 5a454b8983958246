"""Raises what a careless grader does not catch: SystemExit, KeyboardInterrupt, GeneratorExit.

Seen: a SystemExit at import ended the grader with exit code 0; a KeyboardInterrupt stopped the whole class.
Stopped by: in the worker everything that can be raised is an answer.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "raises_exit"

KINDS = ("SystemExit", "KeyboardInterrupt", "GeneratorExit")

VARIANTS = (
    *(
        Variant(f"{kind.lower()}_at_import", state(top=f"raise {kind}"), Expected(says=f"cannot be imported: {kind}"))
        for kind in KINDS
    ),
    *(
        Variant(f"{kind.lower()}_in_call", state(call=f"raise {kind}"), Expected(says=f"raised {kind}"))
        for kind in KINDS
    ),
)
