"""What the memory handout works out, recomputed by the reference solutions, for test_handout.py.

`WORKED` is what the paragraphs of a section that begin with `Worked:` print in bold, in their order, and
`introduction` what the page opens with.
"""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import torch

from grader.checks.mistakes import load_solution
from specs import DTYPE_BYTES, gpu, model, recipe

SOLUTIONS = Path(__file__).parents[2] / "solutions"


def solution(file: str) -> ModuleType:
    return load_solution(SOLUTIONS, "memory", file)


state, parameters = solution("state.py"), solution("parameters.py")
activations, budget = solution("activations.py"), solution("budget.py")


def gb(bytes_: float, digits: int = 1) -> str:
    return f"{bytes_ / 1e9:.{digits}f} GB"


def lost(update: float) -> str:
    return "lost" if state.bf16_update_lost(1.0, update) else "not lost"


def per_parameter(name: str) -> float:
    return float(state.state_bytes_per_parameter(recipe(name)).total)


def shape(parameter_count: int) -> list[str]:
    found = parameters.shape_from_parameter_count(parameter_count)
    return [f"{found.layers} layers", f"d = {found.hidden}"]


def gpt2_parts() -> list[str]:
    count = parameters.parameter_count(model("gpt2"))
    assert count.output_head == 0
    parts = (
        count.token_embedding,
        count.position_embedding,
        count.attention,
        count.mlp,
        count.norms,
        count.total,
    )
    return [f"{each:,}" for each in parts]


def mixtral() -> list[str]:
    count = parameters.expert_parameter_counts(model("mixtral-8x7b"))
    return [f"{each:,}" for each in (count.routed, count.always_used, count.total, count.active)]


def deepseek() -> list[str]:
    """One layer's attention is what a dense layer adds, less its MLP of three matrices and its two norms."""
    whole = model("deepseek-v3")
    assert whole.experts is not None
    assert whole.mlp is not None
    fewer = whole.model_copy(
        update={
            "layers": whole.layers - 1,
            "experts": whole.experts.model_copy(update={"dense_layers": whole.experts.dense_layers - 1}),
        }
    )
    count, without = (parameters.expert_parameter_counts(each) for each in (whole, fewer))
    dense_layer = count.always_used - without.always_used
    attention = dense_layer - 3 * whole.hidden * whole.mlp.intermediate - 2 * whole.hidden
    return [f"{attention:,}", f"{count.total:,}"]


def kept(layers: int, recomputation: str) -> float:
    return float(activations.activation_bytes(layers, 4224, 33, 2048, 1, recomputation).total)


def llama_cache() -> list[str]:
    llama = model("llama3.1-405b")
    wide = llama.model_copy(
        update={"attention": llama.attention.model_copy(update={"kv_heads": llama.attention.heads})}
    )
    token, sequence, per_head = (
        activations.kv_cache_bytes(each, tokens, 1, "bf16").total
        for each, tokens in ((llama, 1), (llama, 131_072), (wide, 131_072))
    )
    return [f"{token:,.0f} bytes", gb(sequence), f"{per_head / 1e12:.2f} TB"]


def deepseek_cache() -> list[str]:
    return [f"{activations.kv_cache_bytes(model('deepseek-v3'), 1, 1, 'bf16').total:,.0f} bytes"]


def adapters() -> list[str]:
    base = 65_000_000_000
    once, twice = (
        state.adapter_state_bytes(base, [(8192, 8192)], 64, recipe(name))
        for name in ("qlora-nf4", "qlora-nf4-double")
    )
    first, second = once.quantization_constants, twice.quantization_constants
    return [
        gb(once.frozen_weights), gb(first, 2), f"{8 * first / base:g} bits",
        gb(second, 2), f"{8 * second / base:.3f} bits", gb(first - second, 2),
    ]  # fmt: skip


def zero() -> list[str]:
    stages = (state.zero_state_bytes(7_500_000_000, recipe("adamw-fp16"), 64, stage) for stage in range(4))
    return [gb(each.total) for each in stages]


def bill() -> list[str]:
    one_parameter = state.state_bytes_per_parameter(recipe("adamw-bf16"))
    whole = budget.training_memory(7_000_000_000, one_parameter, kept(33, "none"))
    h100, h200 = gpu("h100-sxm"), gpu("h200-sxm")
    assert budget.surviving_gpus(whole.total, [h100, h200]) == ["h200-sxm"]
    return [
        gb(whole.total - whole.activations), gb(whole.activations), gb(whole.total),
        str(budget.gpus_needed(whole.total, h100)), gb(h200.memory_bytes),
    ]  # fmt: skip


def saved_kib() -> list[str]:
    """What autograd holds after forward, without and with the checkpoint, each storage once."""
    checkpoint = solution("checkpoint.py").checkpoint
    inputs = [torch.ones(rows, 16, dtype=torch.float64, requires_grad=True) for rows in (128, 16, 16)]

    def two_layers(x: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        gelu = torch.nn.functional.gelu
        return gelu(gelu(x @ first) @ second)

    def held(forward: Callable[[], torch.Tensor]) -> str:
        storages: dict[int, torch.UntypedStorage] = {}

        def keep(tensor: torch.Tensor) -> torch.Tensor:
            storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            output = forward()
        assert output.requires_grad
        return f"{sum(each.nbytes() for each in storages.values()) / 1024:g} KiB"

    return [held(lambda: two_layers(*inputs)), held(lambda: checkpoint(two_layers, *inputs))]


def introduction() -> list[str]:
    """The chapter's figure 1: the whole, the state, and the weights alone."""
    held, _, whole, *_ = bill()
    return [held, whole, gb(7e9 * DTYPE_BYTES["bf16"])]


WORKED: dict[int, Callable[[], list[str]]] = {
    1: lambda: [
        f"{per_parameter('adamw-bf16'):g} bytes",
        gb(7e9 * per_parameter("adamw-bf16")),
        f"{per_parameter('inference-bf16'):g} bytes",
    ],
    2: lambda: [lost(0.001), lost(0.005)],
    3: lambda: [*shape(7_000_000_000), *shape(175_000_000_000)],
    4: gpt2_parts,
    5: lambda: [*mixtral(), *deepseek()],
    6: lambda: [
        gb(kept(1, "none"), 2),
        gb(kept(33, "none")),
        gb(kept(33, "selective")),
        gb(kept(33, "full"), 2),
    ],
    7: lambda: [*llama_cache(), *deepseek_cache()],
    8: adapters,
    9: zero,
    10: bill,
    11: saved_kib,
}
PROSE: dict[int, Callable[[], list[str]]] = {}
TOPICS = ("params", "state", "zero", "activation", "kv", "units")
"""Topics of published values; those that mislead are in the table of traps."""
