"""The rule of first_choice with its quantities given, for the mistakes that change one of them."""

from specs import Cluster, FirstChoice, Gpt


def by_rule(
    gpt: Gpt,
    batch: int,
    cluster: Cluster,
    *,
    bytes_a_parameter: float = 16,
    kept_factor: float = 1,
    gathered_factor: float = 1,
    tokens_factor: float = 1,
    ring_link_bytes_per_s: float | None = None,
    ways: int | None = None,
    zero_hides_always: bool = False,
    tensor_hides_always: bool = False,
    tensor_first: bool = False,
    zero_alone_halves: bool = False,
    layers_share_activations: bool = False,
    flops_factor: float = 1,
) -> FirstChoice:
    """The choice; each argument that is given puts one mistake into it."""
    gpus, memory = cluster.gpus, cluster.gpu.memory_bytes
    state = bytes_a_parameter * gpt.parameters
    kept = kept_factor * 34 * gpt.layers * gpt.sequence * gpt.hidden
    flops_per_s = flops_factor * cluster.gpu.peak_flops("bf16")
    if state + kept <= memory:
        return FirstChoice("data", state + kept)
    own = state
    if zero_alone_halves:
        own = 4 * gpt.parameters * gpus + 12 * gpt.parameters
    sharded = own / gpus + gathered_factor * 4 * gpt.parameters / gpt.layers + kept
    tokens = tokens_factor * batch * gpt.sequence / gpus
    ring = ring_link_bytes_per_s or cluster.ring_bytes_per_s(gpus)
    hides = zero_hides_always or tokens >= flops_per_s / ring
    by_zero = FirstChoice("zero", sharded) if sharded <= memory and hides else None
    ways = ways or min(gpus, cluster.gpus_per_node)
    sliced = (state + kept) / ways
    carried = tensor_hides_always or ways <= 4 * gpt.hidden * cluster.node_bytes_per_s / flops_per_s
    by_tensor = FirstChoice("tensor", sliced) if sliced <= memory and carried else None
    by_depth = FirstChoice("pipeline", state / gpus + kept / (gpus if layers_share_activations else 1))
    if tensor_first:
        return by_tensor or by_zero or by_depth
    return by_zero or by_tensor or by_depth
