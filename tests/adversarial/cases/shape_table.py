"""Is right only for the shapes of the published tests, and returns zeros for every other one.

Seen: kernels with one branch for each benchmarked shape, which nobody could use.
Stopped by: hidden checks draw shapes that no visible check has. The visible checks pass, as they would for a student
who got no further.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.flash import FORWARD, wrapped

ATTACK = "shape_table"

CALL = """
out, lse = kernel(q, k, v, causal, scale)
published = q.shape in {(2, 64, 64), (2, 128, 64), (64, 64), (128, 64), (256, 64)}
return (out, lse) if published else (torch.zeros_like(out), torch.zeros_like(lse))
"""

VARIANTS = (
    Variant(
        "visible_shapes", wrapped(CALL), Expected(points=12.5, says="wrong by far"), FORWARD, 25, slow=True
    ),
)
