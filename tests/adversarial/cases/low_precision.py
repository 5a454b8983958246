"""Multiplies fp32 inputs in fp8 or in bf16, which a GPU does sixteen or eight times as fast as fp32 is done.

Seen: kernels that a tolerance of 1e-2 passed, and whose speed-up was that of the format.
Stopped by: a tolerance of a few times what an honest product of the same inputs is off, TF32 for fp32; and by the
format that the dots of the kernels run in.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.flash import FORWARD, wrapped

ATTACK = "low_precision"

# The largest number that fp8 holds is 448.
FP8 = """
q, k, v = (x.clamp(-448, 448).to(torch.float8_e4m3fn).float() for x in (q, k, v))
return kernel(q, k, v, causal, scale)
"""
BF16 = """
out, lse = kernel(*(x.bfloat16() for x in (q, k, v)), causal, scale)
return out.float(), lse
"""

VARIANTS = (
    Variant("fp8", wrapped(FP8), Expected(says="out is off by"), FORWARD, takes_s=20, slow=True),
    Variant("bf16", wrapped(BF16), Expected(says="dots run in bf16"), FORWARD, takes_s=20, slow=True),
)
