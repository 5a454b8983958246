"""Looks for the expected value in callers' locals, among all objects, and in modules.

Seen: `sys._getframe(1).f_locals["expected"]` passed every test of an in-process grader; so did a search of gc.
Stopped by: the expected value, the tests and the oracle are in another process; the worker has none of them.
"""

from tests.adversarial.case import Expected, Variant, breach, state

ATTACK = "frame_walk"

# Whatever is found is returned, in the hope that it is the answer.
FRAMES = """
import sys
here = sys._getframe()
while here is not None:
    for name, found in {**here.f_globals, **here.f_locals}.items():
        if name in ("expected", "wanted", "right_answer", "oracle", "golden") or type(found).__name__ == "Oracle":
            return found
    here = here.f_back
"""
OBJECTS = """
import gc
mine = wrong(recipe)
found = [each for each in gc.get_objects() if type(each).__name__ == "StateBytes" and each is not mine]
if found:
    return found[0]
"""
# Python's own opcode trace and debugger hooks see every local of every caller too.
TRACE = """
import sys, threading
def spy(frame, event, argument):
    if "expected" in frame.f_locals:
        SEEN.append(frame.f_locals["expected"])
    return spy
sys.settrace(spy)
sys.setprofile(spy)
here = sys._getframe()
while here is not None:
    here.f_trace = spy
    here = here.f_back
if SEEN:
    return SEEN[-1]
"""
MODULES = """
import importlib, sys
for name in ("solutions.memory.state", "grader", "grader.checks.expect", "grader.plugin", "grader.judge", "specs.published",
             "specs.assignment", "kernels_ref", "assignments.memory.test_state", "conftest", "pytest_rooflab"):
    try:
        importlib.import_module(name)
        return True
    except ImportError:
        pass
return any("solution" in name or "_pytest" in name for name in sys.modules)
"""

VARIANTS = (
    Variant("frames", state(call=FRAMES), Expected(says="weights")),
    Variant("objects", state(call=OBJECTS), Expected(says="weights")),
    Variant("tracing", state(top="SEEN = []", call=TRACE), Expected(says="weights")),
    Variant("modules", breach(MODULES), Expected(says="weights")),
)
