# %% [markdown]
# # What each cut replicates, shards and sends
#
# Section 2 of the handout, `README.md`: the table of cuts, the formulas and one worked number.
#
# Every function here returns a `GpuShare(held, replicated, sharded, collectives)`: what one GPU holds, the names of
# what is replicated and of what is sharded, and for each kind of collective and tensor that it carries a
# `CollectiveUse(kind, tensor, count, sent_bytes)`: how often, and what one GPU sends in all of them. The rules:
#
# - `Gpt` (in `specs/sharding.py`) counts the parameters for you, by what becomes of them in a cut.
# - State by the recipe `adamw-bf16`: of each parameter that a GPU holds, `WEIGHT_BYTES` = 2 for the weight,
#   `GRADIENT_BYTES` = 2 for the gradient, `OPTIMIZER_BYTES` = 12 for master copy and moments.
# - Activations by Korthikanti et al. 2022: without a cut, and with nothing recomputed, one layer keeps
#   s·b·(34·h + 5·a·s) bytes for a micro-batch of b sequences (s = sequence, h = hidden, a = heads). What lies
#   outside the layers keeps nothing. These are bytes already.
# - A tensor that is sent is in bf16: 2 bytes an element (`ACTIVATION_BYTES`, `GRADIENT_BYTES`, `WEIGHT_BYTES`).
# - A step is forward and backward of all micro-batches, one after the other, and the optimizer. Collectives are
#   counted over the whole step; only those that the docstring speaks of exist. What they send is what
#   `collective_bytes` gives for a ring.
# - `gpus` is the size of the group, `micro_batch` the sequences of one micro-batch, `microbatches` how many of them a
#   step has. A GPU keeps the activations of one micro-batch at a time, but in a pipeline.
# - Where sizes are uneven, the docstring says who gets what, or that a ValueError is due. A number below 1 (a stage of
#   a pipeline: below 0) is always a ValueError.
# - For a group of one GPU the formulas hold, `collectives` is empty, and the names are the same as for more.

# %%
"""What each cut replicates, shards and sends: data, tensor, sequence, pipeline, context and expert parallel; ZeRO."""

from specs import (
    ACTIVATION_BYTES,
    GRADIENT_BYTES,
    OPTIMIZER_BYTES,
    WEIGHT_BYTES,
    CollectiveUse,
    Gpt,
    GpuShare,
    HeldBytes,
)


# %%
def data_parallel(gpt: Gpt, batch: int, gpus: int) -> GpuShare:
    """Data parallel: every GPU has the whole model and some of the sequences.

    Args:
        batch: sequences of the step, over all GPUs. Each GPU takes its share in one micro-batch. Where gpus
            does not divide batch, some GPUs take one sequence more: the answer is for one of them.

    Returns:
        GpuShare. The names to sort: weights, gradients, optimizer, activations. Once a step, when the backward
        pass is through, the gradients of the whole model are all-reduced: one all_reduce of `gradients`.

    Source: ZeRO (Rajbhandari et al. 2020, arXiv 1910.02054), section 7.1.
    """
    raise NotImplementedError("write me")


# %%
def tensor_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    """Tensor parallel as in Megatron-LM: the matmuls of every layer are cut, attention by heads, the MLP by columns.

    The first linear of a block (q, k, v; MLP up) is cut by columns, with its bias; the second (attention's output;
    MLP down) by rows, and its bias is added when the sum is there, on every GPU. Norms and position embedding are
    on every GPU. The token embedding is cut by its rows.

    Activations of a layer: 24·s·b·h + 5·a·s²·b bytes lie inside the blocks, between first and second linear, and
    are cut (`block_activations`). The other 10·s·b·h, inputs of norms and blocks and the masks of the dropouts
    behind the blocks, lie on the residual stream, which every GPU has (`residual_activations`).

    Every GPU works on the same sequences. Forward, the second linear of each block leaves every GPU with a part of a
    sum, as large as the residual stream, s·b·h: it is all-reduced (tensor `activations`). Backward, the first
    linear of each block does the same to the gradient of its input (tensor `activation_gradients`).

    Args:
        gpus: must divide gpt.heads, else a ValueError. They need not divide gpt.vocab: every GPU then has
            ceil(vocab / gpus) rows of the token embedding, padded as in Megatron-LM.

    Returns:
        GpuShare. The names to sort: matrices, column_biases, row_biases, norms, token_embedding,
        position_embedding, block_activations, residual_activations. What lies outside the layers (embedding, head,
        loss) sends nothing here. Gradients of what is replicated come out the same on every GPU.

    Source: Megatron-LM (Shoeybi et al. 2019, arXiv 1909.08053), section 3; Korthikanti et al. 2022 (2205.05198),
    section 4.2.1.
    """
    raise NotImplementedError("write me")


# %%
def sequence_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    """Tensor parallel with sequence parallel: the residual stream is cut too, by tokens.

    Parameters lie as under `tensor_parallel`. Between the blocks each GPU has the residual stream of s / gpus tokens,
    and norms, dropouts and row biases work on these alone. So where tensor parallel has one all-reduce, there are two
    collectives of the same tensor, s·b·h: an all-gather in front of the first linear of each block and a
    reduce-scatter behind the second. Backward has the mirror image of each: a reduce-scatter for the all-gather, an
    all-gather for the reduce-scatter (tensor `activation_gradients`).

    The gathered input of a first linear is not kept, each GPU keeps its own tokens of it. Backward gathers it once
    more, to compute the gradient of the matrix (tensor `activations`). So all activations are cut.

    A norm and a row bias see only a part of the tokens on each GPU, so their gradients are parts of a sum: once a step
    they are all-reduced together, in one all_reduce (tensor `gradients`). Not so those of the position embedding,
    which lies outside the layers and is left as it is.

    Args:
        gpus: must divide gpt.heads and gpt.sequence, else a ValueError; gpt.vocab as for `tensor_parallel`.

    Returns:
        GpuShare. The names to sort: those of `tensor_parallel`.

    Source: Korthikanti et al. 2022 (arXiv 2205.05198), section 4.2.2; the all-reduce of the norms' gradients is in
    Megatron-LM's finalize_model_grads.
    """
    raise NotImplementedError("write me")


# %%
def pipeline_parallel(gpt: Gpt, micro_batch: int, microbatches: int, stages: int, stage: int) -> GpuShare:
    """Pipeline parallel: every GPU, a stage, has some of the layers; micro-batches pass through them in turn.

    The first stage has both embeddings. The last has the head, which is the token embedding again: it keeps a second
    copy of it, with all its state, and once a step first and last stage all-reduce its gradient between them, a
    group of two (tensor `gradients`). With one stage there is one copy, and nothing to all-reduce.

    Schedule 1F1B: stage i (from 0) has at most min(stages − i, microbatches) micro-batches between their forward and
    their backward, and keeps the activations of all of them. Forward, a stage sends the residual stream of each
    micro-batch, s·b·h, to the next stage (`send` of `activations`); backward, its gradient to the one before (`send`
    of `activation_gradients`).

    Args:
        stages: stages of the pipeline, and GPUs. Where they do not divide the layers, the first
            layers % stages of them take one layer more. More stages than layers are a ValueError.
        stage: whose share is asked for, 0 to stages − 1; any other is a ValueError.

    Returns:
        GpuShare of that stage; what it receives does not count. The names to sort: layers, token_embedding,
        activations. Replicated is here what more than one stage has a copy of.

    Source: Narayanan et al. 2021 (arXiv 2104.04473), section 2.2; Korthikanti et al. 2022, section 4.2.3.
    """
    raise NotImplementedError("write me")


# %%
def zero(gpt: Gpt, batch: int, gpus: int, stage: int) -> GpuShare:
    """ZeRO: data parallel whose GPUs also share the state of the model. Stage 3 is FSDP.

    The state is cut unit by unit: every layer is a unit, and both embeddings together are one more. A unit is
    flattened, padded to a multiple of gpus and cut into equal shards of ceil(unit / gpus) elements.

    - Stage 1 shards the optimizer state, stage 2 the gradients too, stage 3 the weights too. What is not sharded is
      whole on every GPU, without padding.
    - Stages 1 and 2: once a step the gradients of each unit are reduce-scattered, each GPU updates its shard, and the
      new weights of each unit are all-gathered.
    - Stage 3: the weights of each unit are gathered before its forward, dropped, and gathered again before its
      backward; the gradients are reduce-scattered. There is nothing to gather after the update.
    All these collectives are of padded units. The unit that stage 3 has gathered at the moment is not part of `held`.

    Args:
        batch: as for `data_parallel`, uneven shares included.
        stage: 1, 2 or 3; any other is a ValueError.

    Returns:
        GpuShare. The names to sort: weights, gradients, optimizer, activations. Collectives are counted unit by unit.

    Source: ZeRO (Rajbhandari et al. 2020, arXiv 1910.02054), sections 5 and 7; FSDP (Zhao et al. 2023, 2304.11277).
    """
    raise NotImplementedError("write me")


# %%
def context_parallel(gpt: Gpt, micro_batch: int, microbatches: int, gpus: int) -> GpuShare:
    """Context parallel by ring attention: every GPU has the whole model and s / gpus tokens of every sequence.

    Attention is computed block by block as in FlashAttention: no scores are kept (their 5·a·s²·b bytes a layer fall
    away, and the logsumexp does not count), and 34 bytes are kept for every token and channel that the GPU has.

    In every layer each GPU begins with its own block of keys and values, as wide as the residual stream each, and
    passes on to its neighbour what it has just used, keys and values in one message:
    - forward until every GPU has seen every block: gpus − 1 times (`send` of `keys_values`).
    - backward the same once more; and the gradients of a block's keys and values, in one message too, go along with
      it, are added to on every GPU, and take one hop more, home to their owner: gpus times (`send` of
      `keys_values_gradients`).

    All GPUs have the same weights and see other tokens, so once a step the gradients of the whole model are
    all-reduced (tensor `gradients`).

    Args:
        gpus: must divide gpt.sequence, else a ValueError.

    Returns:
        GpuShare. The names to sort: weights, gradients, optimizer, activations. Which tokens a GPU has (a stretch,
        or two of a zig-zag) changes nothing here.

    Source: Ring Attention (Liu et al. 2023, arXiv 2310.01889), section 3.
    """
    raise NotImplementedError("write me")


# %%
def expert_parallel(
    gpt: Gpt, experts: int, top_k: int, micro_batch: int, microbatches: int, gpus: int
) -> GpuShare:
    """Expert parallel: the MLP of every layer becomes `experts` MLPs, dealt out; all else is data parallel.

    Each expert is an MLP like the one that it stands in for (gpt.mlp parameters), and each layer gets a router,
    hidden × experts, without a bias. Every GPU has experts / gpus whole experts of each layer, and whole copies of
    everything else, the routers included.

    Every GPU has its own sequences. A router sends each token to top_k experts, evenly: what goes out of a GPU,
    s·b·top_k tokens of h, goes in equal parts to all GPUs, itself included, and as many tokens come in. That is one
    all-to-all; the experts' outputs go home by another. Backward has the mirror image of both.

    Activations: 18 bytes for every channel (of h) of every token that comes in, in the experts; and beside them
    16·s·b·h + 5·a·s²·b bytes a layer. The router keeps nothing.

    An expert is on one GPU, so its gradient is complete there. The gradients of everything else are all-reduced, once
    a step, in one all_reduce (tensor `gradients`).

    Args:
        gpt: the model as it is without experts.
        experts: experts of each layer. gpus must divide them, else a ValueError.
        top_k: experts that a token visits, at most `experts`, else a ValueError.
        micro_batch: sequences of one micro-batch, on each GPU.

    Returns:
        GpuShare. The names to sort: experts, everything_else, activations. The all-to-alls carry `activations` forward
        and `activation_gradients` backward.

    Source: GShard (Lepikhin et al. 2020, arXiv 2006.16668), section 3; Switch Transformers (Fedus 2021, 2101.03961).
    """
    raise NotImplementedError("write me")
