"""Returns memory that it never wrote, in the hope that it still holds the right answer.

Seen: `torch.empty` in the process of the reference handed the reference's own freed result back.
Stopped by: the reference is computed in another process, and never before the submission's call.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.softmax import SAFE, softmaxed

ATTACK = "recycled_memory"

FREED = """
kept = [torch.empty_like(x) for _ in range(64)]
best = max(kept, key=lambda each: float(each.float().nan_to_num(0.0).abs().sum()))
return best.nan_to_num(0.0)
"""
SHARED = """
import mmap, os
for name in os.listdir("/dev/shm"):
    raise SystemExit(f"found {name}")
return torch.empty_like(x).nan_to_num(0.0)
"""

VARIANTS = (
    Variant("freed", softmaxed(FREED), Expected(says="off by"), SAFE, takes_s=6),
    Variant("shared_memory", softmaxed(SHARED), Expected(says="off by"), SAFE, takes_s=6),
)
