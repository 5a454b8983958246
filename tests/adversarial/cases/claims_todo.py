"""Claims what is no failure: a stub not begun, a library that is missing, a GPU that is needed.

Seen: points left open "for want of a GPU" to whoever raised the right words.
Stopped by: a stub is told by the place of its own raise, and what a machine lacks by the machine, never by what a
submission says.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "claims_todo"

VARIANTS = (
    Variant("not_implemented", state(top="def later():\n    raise NotImplementedError\n", call="later()"), Expected(("failed", "todo"))),
    Variant("no_torch", state(call="raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')"), Expected(says="ModuleNotFoundError")),
    Variant("needs_gpu", state(call="raise RuntimeError('0 active drivers ([]). There should only be one.')"), Expected(says="RuntimeError")),
    Variant("grader_error", state(call="raise AssertionError('this check itself failed; it is not your fault')"), Expected(says="AssertionError")),
    Variant(
        "fakes_the_reply",
        state(call=(
            "import sys\nserve = sys.modules['__main__']\n"
            "serve._answer = lambda *a: ({'kind': 'broken', 'message': 'the kit is broken'}, [])"
        )),
        Expected(("integrity",), says="an answer of no known kind"),
    ),
)
