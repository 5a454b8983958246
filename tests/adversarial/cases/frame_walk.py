"""Looks for the expected value in callers' locals, and among all modules.

Seen: `sys._getframe(1).f_locals["expected"]` passed every test of an in-process grader.
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
    Variant("modules", breach(MODULES), Expected(says="weights")),
)
