"""Watches the interpreter from inside: trace and profile functions, audit hooks, hooks on imports and on the end.

Seen: Python's own debugger hooks, which see every local of every caller too.
Stopped by: the worker has nothing to see; a hook may slow its own submission down and no more.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "trace_spy"

TRACE = """
import sys, threading
def spy(frame, event, argument):
    if "expected" in frame.f_locals:
        SEEN.append(frame.f_locals["expected"])
    return spy
sys.settrace(spy)
sys.setprofile(spy)
threading.settrace(spy)
here = sys._getframe()
while here is not None:
    here.f_trace = spy
    here = here.f_back
if SEEN:
    return SEEN[-1]
"""
AUDIT = """
import sys
def hook(event, arguments):
    if event.startswith(("socket", "open", "exec", "import")):
        SEEN.append(arguments)
sys.addaudithook(hook)
sys.excepthook = sys.unraisablehook = sys.breakpointhook = lambda *rest: SEEN.append(rest)
for each in SEEN:
    if type(each).__name__ == "StateBytes":
        return each
"""
IMPORTS = """
import builtins, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        SEEN.append(name)
sys.meta_path.insert(0, Finder())
sys.path_hooks.insert(0, lambda path: SEEN.append(path))
sys.path_importer_cache.clear()
real = builtins.__import__
builtins.__import__ = lambda *a, **k: SEEN.append(a[0]) or real(*a, **k)
if any("solution" in str(each) for each in SEEN):
    return right(recipe)
"""

VARIANTS = (
    Variant("trace", state(top="SEEN = []", call=TRACE), Expected(says="weights")),
    Variant("audit", state(top="SEEN = []", call=AUDIT), Expected(says="weights")),
    Variant("imports", state(top="SEEN = []", call=IMPORTS), Expected(says="weights")),
)
