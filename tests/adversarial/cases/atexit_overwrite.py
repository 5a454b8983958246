"""Rewrites results when the process ends, or later: atexit, a finaliser, a thread, a child that waits.

Seen: a submission whose atexit handler overwrote results.json after the grader had written it.
Stopped by: the report is written by the judge where no submission can reach, and the worker ends by os._exit or
SIGKILL, after which nothing of it runs.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "atexit_overwrite"

OVERWRITE = """
import json, os
def overwrite(*ignored):
    perfect = json.dumps({"kind": "official", "points": 10, "score": 10, "outcome": "passed"})
    for folder in ("@OUT@", "/tmp", ".", "..", "/", os.path.expanduser("~")):
        for name in ("report.json", "results.json", "summary.csv"):
            try:
                with open(os.path.join(folder, name), "w") as file:
                    file.write(perfect)
            except OSError:
                pass
"""
AT_EXIT = OVERWRITE + "\nimport atexit\natexit.register(overwrite)\n"
FINALISER = OVERWRITE + """
import sys, weakref
class Late:
    __del__ = overwrite
sys.modules["late"] = Late()
weakref.finalize(Late, overwrite)
"""
THREAD = """
import threading, time
def later():
    for _ in range(1000):
        overwrite()
        time.sleep(0.01)
threading.Thread(target=later, daemon=False).start()
"""
CHILD = """
import time
if os.fork() == 0:
    os.setsid()
    for _ in range(1000):
        overwrite()
        time.sleep(0.01)
    os._exit(0)
"""


def out(folder, solutions):
    """Where a report of this submission may be written to, as far as somebody can guess it."""
    return {"OUT": str(folder.parent.parent)}


WRONG = Expected(says="weights")

VARIANTS = (
    Variant("atexit", state(top=AT_EXIT, fill_in=out), WRONG),
    Variant("finaliser", state(top=FINALISER, fill_in=out), WRONG),
    Variant("thread", state(top=OVERWRITE, call=THREAD, fill_in=out), WRONG),
    Variant("child", state(top=OVERWRITE, call=CHILD, fill_in=out), WRONG),
)
