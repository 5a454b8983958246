"""Starts processes or threads without an end, or a chain of short lives that no single look sees.

Seen: one student's `while True: os.fork()` ended a whole class's grading.
Stopped by: a watchdog over the whole process tree, and the end of the namespace.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "fork_bomb"

STOPPED = Expected(("crashed",), says="used more than it may (processes")
# Each lives for a moment, leaves a child and ends: never two at once.
CHAIN = """
import os
if os.fork() == 0:
    while True:
        if os.fork():
            os._exit(0)
import time
time.sleep(60)
"""

VARIANTS = (
    Variant("forks", state(call="import os\nwhile True:\n    os.fork()"), STOPPED, takes_s=5),
    # In the namespace its own first process buries the dead, and the call's limit ends the rest.
    Variant("chain", state(call=CHAIN), Expected(("crashed", "timed_out")), takes_s=9),
    # Which comes first depends on the stacks: the process's address space or the tree's number of threads.
    Variant(
        "threads",
        state(call="import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(60,)).start()"),
        Expected(("failed", "crashed")),
    ),
)
