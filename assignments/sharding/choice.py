# %% [markdown]
# # Which cut, and when communication hides
#
# Section 4 of the handout, `README.md`: the rules and one worked number each.

# %%
"""When communication hides behind compute, which cut to reach for first, and the fastest plan that fits."""

from specs import Cluster, FirstChoice, Gpt, Plan, plan_cost


# %%
def dp_critical_batch_tokens(
    flops_per_s: float, link_bytes_per_s: float, replicas: int | None = None, stages: int = 1
) -> float:
    """Tokens that a GPU needs in a step for the gradients' all-reduce to hide behind the backward pass.

    Of a matrix of P parameters a GPU's backward takes 4·P FLOPs a token. Its gradients, 2 bytes each, are
    all-reduced meanwhile: around a ring of n replicas a GPU sends 2·(n − 1)/n times their bytes. The two times
    are equal at the critical batch; it does not depend on P. ZeRO-3 gathers and scatters as much traffic behind
    as much arithmetic, and so needs as many tokens.

    Args:
        flops_per_s: what a GPU computes, in FLOP/s.
        link_bytes_per_s: what a GPU sends in one direction, in bytes a second.
        replicas: n, at least 2; None for so many that (n − 1)/n is 1.
        stages: stages of the pipeline that every replica is. A GPU then holds 1/stages of the parameters, and
            its replica's tokens all pass through it. Tokens are counted a GPU all the same: those of the
            replica over `stages`.

    Returns:
        Tokens of a step over all GPUs; a fraction where it is one.

    Source: Austin et al. 2025, How to Scale Your Model, chapters 5 and 12.
    """
    raise NotImplementedError("write me")


# %%
def tp_limit(intermediate: int, flops_per_s: float, link_bytes_per_s: float) -> float:
    """How many ways an MLP can be cut by tensor parallelism before its communication takes longer than its work.

    The MLP has two matrices, (hidden, intermediate) and back. Cut Y ways, a GPU computes 1/Y of both for all
    tokens. In the forward the inputs of all tokens are gathered and the outputs reduced and scattered: each
    moves 2·hidden bytes a token over a GPU's link, (Y − 1)/Y taken as 1. At the limit the two times are equal;
    neither tokens nor hidden matter.

    Args:
        intermediate: width of the MLP, the whole of it.
        flops_per_s: what a GPU computes, in FLOP/s.
        link_bytes_per_s: what a GPU sends in one direction, in bytes a second.

    Returns:
        Y at which the times are equal; not rounded, below 1 where even two GPUs are too many.

    Source: Austin et al. 2025, How to Scale Your Model, chapters 5 and 12.
    """
    raise NotImplementedError("write me")


# %%
def ring_attention_min_block(
    flops_per_s: float,
    link_bytes_per_s: float,
    heads: int = 1,
    kv_heads: int = 1,
    value_bytes: float = 2,
) -> float:
    """Tokens of a block from which on ring attention hides its sends.

    Every GPU holds the queries, keys and values of one block of c tokens. In each turn it attends from its
    queries to the keys and values that it has at the moment, 4·c²·head_dim FLOPs for each query head; meanwhile
    it sends these keys and values to the next GPU, c·head_dim values of either for each of the `kv_heads`. The
    two times are equal at the least block. No causal mask.

    Args:
        flops_per_s: what a GPU computes, in FLOP/s.
        link_bytes_per_s: what a GPU sends in one direction, in bytes a second.
        heads: query heads.
        kv_heads: key heads, and as many value heads.
        value_bytes: bytes of one value that is sent; 2 for bf16.

    Returns:
        c at which the times are equal, not rounded.

    Source: Ring Attention (Liu et al. 2023), section 3 and table 2.
    """
    raise NotImplementedError("write me")


# %%
def first_choice(gpt: Gpt, batch: int, cluster: Cluster) -> FirstChoice:
    """The cut to reach for first: the first of four that works.

    Let N be `gpt.parameters`, n `cluster.gpus`, M `cluster.gpu.memory_bytes`, and C `cluster.gpu.peak_flops("bf16")`.
    State costs 16 bytes a parameter. A, the activations of one sequence under selective recomputation, is
    34·layers·sequence·hidden bytes. In this order:
    1. "data", the default: works if a GPU holds everything, 16·N + A, within M.
    2. "zero", ZeRO-3 over all n GPUs: works if a GPU's share 16·N/n, one layer gathered with its gradient,
       4·N/layers, and A are together within M, and the traffic hides: the tokens of a step over n are at least
       C/W, where W is what the ring of all n carries, `cluster.ring_bytes_per_s(n)`.
    3. "tensor", over the t = min(n, `cluster.gpus_per_node`) GPUs of one node: works if (16·N + A)/t is within M,
       and the traffic hides: t is at most F·W/C, where F = 4·hidden is the width of the MLP and W the link in the
       node, `cluster.node_bytes_per_s`.
    4. "pipeline", over all n GPUs: what is left, and sends the least. A GPU's share is 16·N/n, and A: the first
       stage keeps n microbatches of 1/n of the layers.
    "Within" includes equal. Nothing is rounded.

    Args:
        gpt: the network.
        batch: sequences of one step, over all GPUs; each has `gpt.sequence` tokens.
        cluster: the GPUs and their links; `specs/pipelines.py` says how they are written down.

    Returns:
        FirstChoice(cut, gpu_bytes): the cut's name, and the bytes that the rule above gives one GPU under it.

    Source: the chapter's section 4, with the conditions of Austin et al. 2025, chapter 12.
    """
    raise NotImplementedError("write me")


# %%
def plan(gpt: Gpt, batch: int, cluster: Cluster) -> Plan:
    """The plan whose step is the shortest among those that fit, by the published cost model.

    `plan_cost(gpt, batch, cluster, plan)` of `specs` says what a plan costs: its `problem` is empty where the
    plan can run, `fits` is True where it can and the card has the memory, and `step_s` is the time. Its docstring
    has every formula, and it is the same that the check uses. It takes some ten microseconds, so trying all
    plans that can run is a matter of a second.

    Args:
        gpt: the network.
        batch: sequences of one step, over all GPUs.
        cluster: the GPUs and their links.

    Returns:
        Plan(data, tensor, pipeline, context, zero, recomputation, microbatch). Scored by the best step's time
        over yours, averaged over several jobs: 50, 80, 95 and 100 % earn more and more. A plan that cannot run
        or does not fit counts 0. Of plans that take equally long any will do. There is always one that fits.
    """
    raise NotImplementedError("write me")
