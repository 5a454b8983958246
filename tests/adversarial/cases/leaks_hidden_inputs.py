"""Carries hidden inputs out in what it raises, returns or prints, to hand in a table of answers next time.

Seen: students who raised an exception with the arguments in it and read them in the feedback.
Stopped by: in a hidden check neither an exception's text nor a returned string or key is shown.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "leaks_hidden_inputs"

# In two parts, lest the source line that a message may show holds it.
TOP = "MARK = 'LE' + 'AK'"
NO_LEAK = Expected(never_in_hidden="LEAK")

VARIANTS = (
    Variant("in_exception", state(TOP, "raise ValueError(f'{MARK} {recipe.name}')"), NO_LEAK),
    Variant("in_exception_type", state(TOP, "raise type(f'{MARK} {recipe.name}', (ValueError,), {})()"), NO_LEAK),
    Variant("in_string", state(TOP, answer="f'{MARK} {recipe.name}'"), NO_LEAK),
    Variant("in_key", state(TOP, answer="{f'{MARK} {recipe.name}': 1}"), NO_LEAK),
    Variant("in_unsendable", state(TOP, answer="type(f'{MARK} {recipe.name}', (), {})()"), NO_LEAK),
    Variant(
        "in_source_line",
        state(
            TOP,
            "import linecache\nlinecache.updatecache = linecache.checkcache = lambda *a: None\n"
            "linecache.getline = lambda *a: f'{MARK} {recipe.name}'\nraise ValueError"
        ),
        NO_LEAK,
    ),
)
