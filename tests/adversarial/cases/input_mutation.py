"""Changes its inputs, so that a reference computed from them afterwards agrees, or so that the next call differs.

Seen: q, k and v zeroed in place and zeros returned: the reference was zero as well.
Stopped by: the judge owns the inputs, the worker has copies; a recipe is frozen there, and what is thawed stays there.
"""

from tests.adversarial.case import Expected, Variant, state
from tests.adversarial.softmax import SAFE, softmaxed

ATTACK = "input_mutation"

THAWED = """
object.__setattr__(recipe, "weights", "fp8")
recipe.__dict__.update(gradients=None, master=None, moments=(), gradient_accumulation=None)
return right(recipe)
"""

VARIANTS = (
    Variant("zeroed_tensor", softmaxed("x.fill_(-math.inf)\nreturn torch.zeros_like(x)"), Expected(says="off by"), SAFE, takes_s=6),
    Variant("resized_tensor", softmaxed("x.resize_(0)\nreturn torch.empty_like(x)"), Expected(says="shape"), SAFE, takes_s=6),
    Variant("thawed_recipe", state(call=THAWED), Expected(says="weights")),
)
