"""A stage keeps its layers' activations of one microbatch."""

from specs import Cluster, FirstChoice, Gpt

from ._rule import by_rule

EXERCISE = "first_choice"
HINT = "You divide the activations by the stages. A stage has 1/n of the layers, but the first one keeps n microbatches of them."
FAILS = (
    "test_what_a_slow_link_or_a_node_cannot_carry_is_cut_by_depth",
    "test_any_clear_cut_job",
)


def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    return by_rule(gpt, batch, cluster, layers_share_activations=True)
