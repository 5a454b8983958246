"""Never answers: sleeps at import, or is in one endless call in C.

Seen: signal.alarm in the grader, which code that sits in C never notices.
Stopped by: the judge's own clock, and the end of the whole process namespace from outside, by SIGKILL.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "hang"

VARIANTS = (
    Variant(
        "at_import",
        state(top="import time\ntime.sleep(10**6)"),
        Expected(("timed_out",), says="while importing state.py: took longer than 20 s"),
        takes_s=22,
    ),
    Variant(
        "in_c",
        state(call="import re\nre.match('(a+)+$', 'a' * 60 + 'b')"),
        Expected(("timed_out",), says="took longer than 3 s"),
        takes_s=9,
    ),
)
