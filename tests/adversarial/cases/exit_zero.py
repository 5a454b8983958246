"""Ends the process with exit code 0, which a grader may take for "all tests passed".

Seen: in-process graders that read pytest's exit code (os._exit(0) at import gave "passed"); pygpubench.
Stopped by: no exit code is a verdict; a worker that ends without an answer has crashed.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "exit_zero"
CRASHED = Expected(outcome=("crashed",), says="ended itself with exit code 0")

VARIANTS = (
    Variant("at_import", state(top="import os\nos._exit(0)"), Expected(("crashed",), says="while importing state.py")),
    Variant("in_call", state(call="import os\nos._exit(0)"), CRASHED),
    Variant(
        "in_thread_later",
        state(call="import os, threading, time\nthreading.Timer(0.05, os._exit, [0]).start()\ntime.sleep(2)"),
        CRASHED,
    ),
    Variant("in_child", state(call="import os\nos.fork() or os._exit(0)"), Expected(says="weights")),
    Variant("from_atexit", state(top="import atexit, os\natexit.register(os._exit, 0)"), Expected(says="weights")),
)
