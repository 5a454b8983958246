"""Leaves children behind that outlive their parent, in sessions of their own, blind to signals.

Seen: miners on grading machines, started by submissions long graded.
Stopped by: the end of the process namespace ends all that is in it; the suite looks for what is left.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "outlives"

# In a session of its own, without its parent, with its output elsewhere, and blind to SIGHUP and SIGTERM.
DAEMON = """
import os, signal, sys
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            for descriptor in range(64):
                try:
                    os.close(descriptor)
                except OSError:
                    pass
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", "outlives-@HERE@"])
        os._exit(0)
"""


def here(folder, solutions):
    return {"HERE": str(folder)}


VARIANTS = (
    Variant("daemons", state(call=DAEMON, fill_in=here), Expected(("failed", "crashed"))),
    Variant("daemon_then_dies", state(call=DAEMON + "os._exit(0)", fill_in=here), Expected(("crashed",))),
)
