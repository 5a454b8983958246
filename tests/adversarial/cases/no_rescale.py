"""Forgets what makes a softmax safe or online: no maximum, no rescale, the mask ignored.

Seen: kernels that a case of 128 keys with scores near 0 accepted: one tile covers them, and nothing overflows.
Stopped by: inputs on which each of these is far off, in the exercises in PyTorch as in those in Triton.
"""

from tests.adversarial.case import Expected, Variant, write
from tests.adversarial.softmax import FILE, SAFE, softmaxed

ATTACK = "no_rescale"
ONLINE = "flash_attention.online_softmax"


def online(body, points):
    def build(folder, solutions):
        text = (solutions / FILE).read_text(encoding="utf-8")
        return write(folder, {FILE: f"{text}\n\nright = online_softmax\n\n\ndef online_softmax(blocks):\n{body}\n"})

    return Variant("no_rescale", build, Expected(points=points), ONLINE, takes_s=6)


NO_RESCALE = """
    largest = total = None
    for block in blocks:
        scores = block.to(torch.promote_types(block.dtype, torch.float32))
        if largest is None:
            largest, total = scores.new_full(scores.shape[:1], -math.inf), scores.new_zeros(scores.shape[:1])
        largest = torch.maximum(largest, scores.amax(-1))
        total = total + torch.exp(scores - largest.masked_fill(largest == -math.inf, 0.0)[:, None]).sum(-1)
    return largest, total
"""

VARIANTS = (
    # Right where nothing overflows, which one check asks for.
    Variant("no_maximum", softmaxed("e = torch.exp(x)\nreturn e / e.sum(-1, keepdim=True)"), Expected(points=0.5), SAFE, takes_s=6),
    Variant(
        "the_library_s",
        softmaxed("return torch.softmax(x.float(), -1).nan_to_num(0.0).to(x.dtype)"),
        Expected(says="torch's own softmax"),
        SAFE,
        takes_s=6,
    ),
    # Right where the maximum does not grow from block to block.
    online(NO_RESCALE, 0.625),
)
