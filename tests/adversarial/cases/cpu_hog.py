"""Burns every core: a process for each, for as long as the call lasts.

Seen: submissions that slowed everybody else's down until those timed out.
Stopped by: CPU seconds of the whole tree are limited, a call's time is too, and both end all of its processes; a
neighbour that is graded at the same time keeps its report.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "cpu_hog"

HOG = """
import os
for _ in range(6):
    if os.fork() == 0:
        while True:
            pass
while True:
    pass
"""

VARIANTS = (
    Variant("all_cores", state(call=HOG), Expected(("timed_out",), says="took longer than 3 s"), takes_s=9),
)
