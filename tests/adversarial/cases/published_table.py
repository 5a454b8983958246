"""Is right for what the visible tests ask and wrong for everything else: a table of published answers.

Seen: every course whose tests are handed out.
Stopped by: hidden checks draw cases that nobody has published; and visible ones, where an exercise has hidden ones, count
only as far as those are passed.
"""

from tests.adversarial.case import Expected, Variant, state
from tests.adversarial.softmax import SAFE, softmaxed

ATTACK = "published_table"

# What the visible tests are about has a name; hidden recipes are called otherwise.
VISIBLE = "right(recipe) if not recipe.name.startswith(('random-', 'weights only', 'one moment', 'three')) else wrong(recipe)"
FEW_SHAPES = """
published = {(2, 3), (4,), (1, 4), (2, 2), (3, 4), (2, 4), (1, 3), (5,), (3,), (2, 5), (4, 1000), (1, 70000), (2, 3, 5)}
return right(x) if tuple(x.shape) in published else torch.zeros_like(x)
"""

VARIANTS = (
    Variant("recipes", state(answer=VISIBLE), Expected(says="weights")),
    Variant("shapes", softmaxed(FEW_SHAPES), Expected(), SAFE, takes_s=6),
)
