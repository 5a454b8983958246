"""Is right in one term and wrong in another, or has the right sum of wrong terms: earns what it did, no more.

Seen: graders that looked at a sum of terms, or at the last of several answers.
Stopped by: each term is compared and each check is a case of its own.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "half_right"

SWAPPED = """
terms = right(recipe)
return terms.model_copy(update={"weights": terms.gradients + 1, "gradients": terms.weights - 1})
"""

VARIANTS = (
    Variant("same_sum", state(call=SWAPPED), Expected(says="weights")),
    Variant("constant", state(answer="{'weights': 2, 'gradients': 2, 'master': 4, 'moments': 8}"), Expected(says="weights")),
)
