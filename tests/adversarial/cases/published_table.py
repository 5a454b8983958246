"""Is right for what the visible tests ask and wrong for everything else: a table of published answers.

Seen: every course whose tests are handed out.
Stopped by: hidden checks draw cases that nobody has published. The visible half is earned, as by a student who got no
further; SECURITY.md says why, and the audit names such a table.
"""

from tests.adversarial.case import Expected, Variant, state

ATTACK = "published_table"

# What the visible tests are about has a name; hidden recipes are called otherwise.
VISIBLE = "right(recipe) if not recipe.name.startswith(('random-', 'weights only', 'one moment', 'three')) else wrong(recipe)"

VARIANTS = (Variant("recipes", state(answer=VISIBLE), Expected(points=5, says="weights")),)
