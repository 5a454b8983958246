"""Never answers and cannot be asked to stop: every signal ignored and blocked, an alarm again and again, or stopped.

Seen: graders that end a submission with SIGTERM, and wait for a process that has stopped itself.
Stopped by: SIGKILL from outside the namespace, which nothing blocks and which a stopped process obeys.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "blocks_signals"

HUNG = Expected(("timed_out",), says="took longer than 3 s")
BLOCKED = """
import signal
for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
ALARM = """
import signal
def again(*ignored):
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, again)
again()
"""

VARIANTS = (
    Variant("all_of_them", state(call=BLOCKED), HUNG, takes_s=9),
    Variant("stops_itself", state(call="import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"), HUNG, takes_s=9),
    Variant("alarm", state(call=ALARM), Expected(("failed", "crashed"))),
)
