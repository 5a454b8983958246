"""Keys its answers by what is public: names of the published recipes, seeds of generators, the number of the call.

Seen: kernels that returned stored answers for torch.manual_seed(0) inputs; a table of a grader's published cases.
Stopped by: hidden cases come from a secret seed of 32 bytes, and the worker's generators are no source of them.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "seed_precompute"

SEEDS = """
import random
random.seed(0)
guesses = [random.Random(seed).random() for seed in range(100)]
TABLE = {round(recipe_weight, 6): number for number, recipe_weight in enumerate(guesses)}
"""
BY_SEED = """
import random
here = random.getstate()
for seed in range(2000):
    generator = random.Random(seed)
    if generator.choice(("fp32", "bf16")) == recipe.weights and f"random-{generator.randrange(12)}" == recipe.name + "?":
        return right(recipe)
random.setstate(here)
"""
COUNTER = """
calls.append(recipe.name)
if len(calls) > 10_000:
    return right(recipe)
"""

VARIANTS = (
    Variant("by_seed", state(top=SEEDS, call=BY_SEED), Expected(says="weights")),
    Variant("by_number_of_the_call", state(top="calls = []", call=COUNTER), Expected(says="weights")),
)
