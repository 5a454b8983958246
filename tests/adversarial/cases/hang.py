"""Never answers: a loop, one endless call in C, with signals blocked, stopped, byte by byte, or with children left.

Seen: signal.alarm in the grader, which code that blocks signals or sits in C never notices.
Stopped by: the judge's own clock, and the end of the whole process namespace from outside, by SIGKILL.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "hang"


def hung(name: str, call: str, says: str = "took longer than 3 s") -> Variant:
    return Variant(name, state(call=call), Expected(("timed_out",), says=says), takes_s=9)


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
TRICKLE = """
import os, struct, time
for descriptor in range(3, 64):
    try:
        os.fstat(descriptor)
        os.write(descriptor, struct.pack("!4sIQ", b"RLW1", 1 << 20, 0))
    except OSError:
        pass
while True:
    time.sleep(0.05)
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b" ")
        except OSError:
            pass
"""
# In a session of its own, without its parent, with its output elsewhere, and blind to SIGHUP and SIGTERM.
OUTLIVES = """
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

VARIANTS = (
    Variant(
        "at_import",
        state(top="import time\ntime.sleep(10**6)"),
        Expected(("timed_out",), says="while importing state.py: took longer than 20 s"),
        takes_s=22,
    ),
    hung("in_c", "import re\nre.match('(a+)+$', 'a' * 60 + 'b')"),
    hung("signals_blocked", BLOCKED),
    hung("stopped_itself", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"),
    hung("trickles", TRICKLE),
    Variant("alarm", state(call=ALARM), Expected(("failed", "crashed"))),
    Variant(
        "children_outlive",
        state(call=OUTLIVES, fill_in=lambda folder, solutions: {"HERE": str(folder)}),
        Expected(("failed", "crashed")),
    ),
)
