"""Honest: optional imports with a real fallback, a memo called cache, bare `pass`, a helper thread that is joined.

Seen: graders that reject by searching the source for "try", "cache" or "threading".
Passes because: nothing is judged by the words of its source.
"""

from tests.adversarial.case import Expected, Variant, state

HONEST = "honest_fallback"

TOP = """
import threading
try:
    import a_module_that_nobody_has as helper
except ImportError:
    helper = None
try:
    from functools import cache
except ImportError:
    cache = lambda function: function
class Nothing:
    pass
_cache = {}
"""
CALL = """
if recipe.name not in _cache or _cache[recipe.name][0] != recipe:
    result = []
    thread = threading.Thread(target=lambda: result.append(right(recipe)))
    thread.start()
    thread.join()
    _cache[recipe.name] = (recipe, result[0])
try:
    if helper is not None:
        return helper.state_bytes(recipe)
except Exception:
    pass
"""

VARIANTS = (Variant("all", state(TOP, CALL, "_cache[recipe.name][1]"), Expected(("passed",), 10)),)
