"""Puts markup, formulas and escapes where a report shows what a submission chose: types, keys, modules, files.

Seen: `=HYPERLINK(...)` in a gradebook; a script in a feedback page that an instructor opened.
Stopped by: what came from a submission is one short printable line wherever it is shown; the suite looks at every
message for what a terminal obeys.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "hostile_names"

MARKUP = "<img src=x onerror=alert(1)>\\x1b]0;owned\\x07\\u202e=cmd|' /C calc'!A0"

VARIANTS = (
    Variant("type", state(answer=f'type("{MARKUP}", (), {{}})()'), Expected(says="cannot be sent")),
    Variant("key", state(answer=f'{{"{MARKUP}": 1, "weights": 2}}'), Expected()),
    Variant("text", state(answer=f'{{"weights": "{MARKUP}", "gradients": 2, "master": 4, "moments": 8}}'), Expected(says="weights: a number is needed")),
    Variant("message", state(call=f'raise ValueError("{MARKUP}")'), Expected(says="raised ValueError")),
    Variant("module", state(call=f'import importlib\nimportlib.import_module("{MARKUP}")'), Expected(says="raised")),
    Variant("file_name", state(call=f'exec(compile("raise ValueError", "{MARKUP}", "exec"))'), Expected(says="raised ValueError")),
)
