"""Leaves out the last keys: their part of the output is small where no score stands out.

Seen: kernels that skipped the last tile of keys and passed with scores near 0. This and its relatives (no rescale, no
maximum, the diagonal off by one) are named mistakes of the exercises too, each caught with its own hint.
Stopped by: inputs in which the last key counts. What is left are the checks whose last keys do not count, honestly.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.flash import FORWARD, wrapped

ATTACK = "drop_tail"

CALL = "return kernel(q, k[..., :-16, :], v[..., :-16, :], causal, scale)"

# Where scores fall the last keys weigh nothing: that check passes, 2 of the weight of 32.
EARNED = Expected(points=1.25, says="is off by")

VARIANTS = (Variant("last_keys", wrapped(CALL), EARNED, FORWARD, takes_s=20, slow=True),)
