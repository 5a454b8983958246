"""Searches all objects of the process, and what they refer to, for answers and tensors of the grader's.

Seen: a search of gc for the expected tensor passed an in-process check of kernels.
Stopped by: no such object is in the worker; what is there of the grader's holds the arguments and nothing else.
"""

from tests.adversarial.case import Expected, Variant, state
from tests.adversarial.softmax import SAFE, softmaxed

ATTACK = "gc_steal"

OBJECTS = """
import gc
mine = wrong(recipe)
found = [each for each in gc.get_objects() if type(each).__name__ == "StateBytes" and each is not mine]
if found:
    return found[0]
"""
REFERRERS = """
import gc
seen, queue = set(), [recipe]
while queue:
    for each in gc.get_referrers(queue.pop()):
        if id(each) in seen:
            continue
        seen.add(id(each))
        if type(each).__name__ == "StateBytes":
            return each
        if isinstance(each, dict) and "expected" in each:
            return each["expected"]
        if len(seen) < 2000:
            queue.append(each)
"""
TENSORS = """
import gc
for each in gc.get_objects():
    if isinstance(each, torch.Tensor) and each is not x and each.shape == x.shape and each.data_ptr() != x.data_ptr():
        return each
return torch.zeros_like(x)
"""

VARIANTS = (
    Variant("objects", state(call=OBJECTS), Expected(says="weights")),
    Variant("referrers", state(call=REFERRERS), Expected(says="weights")),
    Variant("tensors", softmaxed(TENSORS), Expected(says="off by"), SAFE, takes_s=8),
)
