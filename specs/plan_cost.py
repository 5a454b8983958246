"""The published cost model of plans: how long a step takes and what one GPU holds, under a plan of parallelism.

It is small on purpose, and exact: whoever searches it finds the plan that is scored best. GPUs are numbered with
tensor innermost, then context, data, pipeline: a tensor group lies in one node, stages may be far apart. Nothing
is rounded, everything is bf16 but for an optimizer of 12 bytes a parameter, and links are counted in one direction.
"""

from dataclasses import dataclass

from specs.pipelines import Cluster, Plan
from specs.sharding import GRADIENT_BYTES, OPTIMIZER_BYTES, WEIGHT_BYTES, Gpt

EFFICIENCY = 0.5
"""Share of the peak that matmuls and attention reach: what good training runs report as MFU, bubbles apart."""


@dataclass(frozen=True)
class PlanCost:
    """What a plan costs: seconds of one optimizer step, bytes on the fullest GPU; or the problem that forbids it."""

    problem: str = ""
    """Why the plan cannot run at all; empty where it can. All numbers are 0 where there is one."""
    memory_bytes: float = 0
    """The memory of the card: what `gpu_bytes` has to stay within."""
    # seconds of a step
    compute_s: float = 0
    """FLOPs of all microbatches of a stage, recomputation included."""
    tensor_s: float = 0
    """All-reduces of tensor parallelism: nothing hides them."""
    context_s: float = 0
    """What of ring attention's sends attention does not hide."""
    send_s: float = 0
    """Activations and their gradients on their way between stages."""
    bubble_s: float = 0
    data_s: float = 0
    """What of the gradients' (and at ZeRO-3 the weights') traffic the computation does not hide."""
    # bytes on the fullest GPU
    weights: float = 0
    gradients: float = 0
    optimizer: float = 0
    """Master copy and two moments."""
    gathered: float = 0
    """ZeRO-3: one layer's weights and gradients in full."""
    activations: float = 0

    @property
    def step_s(self) -> float:
        """Seconds of one optimizer step."""
        return self.compute_s + self.tensor_s + self.context_s + self.send_s + self.bubble_s + self.data_s

    @property
    def gpu_bytes(self) -> float:
        """Bytes on the fullest GPU, which is one of the first stage."""
        return self.weights + self.gradients + self.optimizer + self.gathered + self.activations

    @property
    def fits(self) -> bool:
        """Whether the plan can run: it has no problem, and the card has the memory."""
        return not self.problem and self.gpu_bytes <= self.memory_bytes


def plan_cost(gpt: Gpt, batch: int, cluster: Cluster, plan: Plan) -> PlanCost:
    """What a step of `batch` sequences costs under `plan`. With t, c, d, p GPUs by tensor, context, data, pipeline:

    A replica runs m = batch/(d·microbatch) microbatches. A GPU sees microbatch·sequence/c tokens of each, and
    holds 1/(t·p) of the parameters N.

    Time of one microbatch on one stage:
        forward    (2·N + 2·layers·hidden·sequence)·tokens/(t·p) FLOPs at `EFFICIENCY` of the bf16 peak; the
                   second term is causal attention. The backward takes twice that. Full recomputation adds a
                   forward, selective recomputation the second term once more.
        tensor     4 all-reduces a layer, 6 under full recomputation, each 2·(t − 1)/t · 2·tokens·hidden bytes
                   over the node's link.
        context    c − 1 sends a layer of the keys and values, 4·tokens·hidden/t bytes, in the forward, twice
                   that in the backward, and once more where attention is recomputed; the attention of the
                   same passes hides them. Over `cluster.hop_bytes_per_s(t·c)`.
        send       with more than one stage, 4·tokens·hidden/t bytes: activations there, gradients back. Over
                   `cluster.hop_bytes_per_s(gpus)`.
    A step takes m of these times, and p − 1 more for the bubble (1F1B). Then there is data parallelism, a ring of
    r = c·d GPUs that sends G = 2·N/(t·p) bytes of gradients or weights over `cluster.ring_bytes_per_s(r, t)`:
        ZeRO 0, 1  2·(r − 1)/r·G a step, hidden behind the backward of one microbatch
        ZeRO 2     (m + 1)·(r − 1)/r·G, hidden behind the backward of all
        ZeRO 3     3·m·(r − 1)/r·G, hidden behind all computation

    Memory:
        state      2, 2 and 12 bytes for each of N/(t·p) parameters: weights, gradients, optimizer. ZeRO 1 divides
                   the optimizer by r, ZeRO 2 the gradients too, ZeRO 3 the weights too, and it gathers 4·N/layers/t.
        activations (34 + 5·heads·sequence/hidden)·tokens·hidden/t bytes for a layer and a microbatch; 34 without
                   the second term under selective recomputation, 2 under full, which holds one layer at 34
                   besides. A GPU of the first stage keeps layers/p layers of min(p, m) microbatches.

    Returns:
        PlanCost. Its `problem` says why a plan cannot run: the product is not the number of GPUs; more stages than
        layers, or layers that stages do not divide; heads that t does not divide; a tensor group beyond a node; a
        sequence that 2·c does not divide; a batch that d·microbatch does not divide; ZeRO 2 or 3 with stages,
        where every microbatch would reduce gradients again.

    Source: Korthikanti et al. 2022 (activations; sequence parallelism is on), Narayanan et al. 2021 (bubble,
    sends), Rajbhandari et al. 2020 (ZeRO), Liu et al. 2023 (ring attention).
    """
    problem = _problem(gpt, batch, cluster, plan)
    if problem:
        return PlanCost(problem=problem)
    t, c, p = plan.tensor, plan.context, plan.pipeline
    ring = c * plan.data
    microbatches = batch // (plan.data * plan.microbatch)
    tokens = plan.microbatch * gpt.sequence / c
    layers = gpt.layers / p
    full, selective = plan.recomputation == "full", plan.recomputation == "selective"

    rate = EFFICIENCY * cluster.gpu.peak_flops("bf16")
    attention_s = 2 * gpt.layers * gpt.hidden * gpt.sequence * tokens / (t * p) / rate
    forward_s = 2 * gpt.parameters * tokens / (t * p) / rate + attention_s
    compute_s = 3 * forward_s + (forward_s if full else attention_s if selective else 0)
    reduced = (6 if full else 4) * layers * 2 * (t - 1) / t * 2 * tokens * gpt.hidden
    tensor_s = reduced / cluster.node_bytes_per_s
    passes = 4 if full or selective else 3
    turned = passes * layers * (c - 1) * 4 * tokens * gpt.hidden / t
    context_s = max(0.0, turned / cluster.hop_bytes_per_s(t * c) - passes * attention_s)
    send_s = 4 * tokens * gpt.hidden / t / cluster.hop_bytes_per_s(cluster.gpus) if p > 1 else 0.0
    one_s = compute_s + tensor_s + context_s + send_s

    once_s = 2 * gpt.parameters / (t * p) * (ring - 1) / ring / cluster.ring_bytes_per_s(ring, t)
    if plan.zero == 3:
        data_s = 3 * microbatches * once_s - microbatches * compute_s
    elif plan.zero == 2:
        data_s = (microbatches + 1) * once_s - microbatches * 2 * forward_s
    else:
        data_s = 2 * once_s - 2 * forward_s

    own = gpt.parameters / (t * p)
    kept = 2 if full else 34 if selective else 34 + 5 * gpt.heads * gpt.sequence / gpt.hidden
    rows = tokens * gpt.hidden / t
    return PlanCost(
        memory_bytes=cluster.gpu.memory_bytes,
        compute_s=microbatches * compute_s,
        tensor_s=microbatches * tensor_s,
        context_s=microbatches * context_s,
        send_s=microbatches * send_s,
        bubble_s=(p - 1) * one_s,
        data_s=max(0.0, data_s),
        weights=WEIGHT_BYTES * own / (ring if plan.zero >= 3 else 1),
        gradients=GRADIENT_BYTES * own / (ring if plan.zero >= 2 else 1),
        optimizer=OPTIMIZER_BYTES * own / (ring if plan.zero >= 1 else 1),
        gathered=(WEIGHT_BYTES + GRADIENT_BYTES) * gpt.parameters / gpt.layers / t if plan.zero == 3 else 0,
        activations=kept * rows * layers * min(p, microbatches) + (34 * rows if full else 0),
    )


def _problem(gpt: Gpt, batch: int, cluster: Cluster, plan: Plan) -> str:
    """Why the plan cannot run, or an empty string."""
    product = plan.data * plan.tensor * plan.pipeline * plan.context
    if product != cluster.gpus:
        return f"data · tensor · pipeline · context is {_shown(product)}, and there are {cluster.gpus} GPUs"
    if plan.pipeline > gpt.layers:
        return f"{plan.pipeline} stages are more than the {gpt.layers} layers"
    if gpt.layers % plan.pipeline:
        return f"{plan.pipeline} stages do not divide {gpt.layers} layers"
    if plan.tensor > cluster.gpus_per_node:
        return f"a tensor group of {plan.tensor} GPUs is larger than a node of {cluster.gpus_per_node}"
    if gpt.heads % plan.tensor:
        return f"a tensor group of {plan.tensor} does not divide {gpt.heads} heads"
    if plan.context > 1 and gpt.sequence % (2 * plan.context):
        return f"2 · context = {2 * plan.context} does not divide the sequence of {gpt.sequence} tokens"
    if batch % (plan.data * plan.microbatch):
        each = _shown(plan.data * plan.microbatch)
        return f"data · microbatch = {each} does not divide the batch of {batch} sequences"
    if plan.zero >= 2 and plan.pipeline > 1:
        return f"ZeRO-{plan.zero} with {plan.pipeline} stages would reduce gradients for every microbatch"
    return ""


def _shown(number: int) -> str:
    """The number for a message; Python writes none of thousands of digits, and nobody reads one."""
    return str(number) if number < 10**9 else "over 1e9"
