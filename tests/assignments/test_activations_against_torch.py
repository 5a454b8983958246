"""Holds the activation formula of section 6 against what PyTorch saves for the backward pass of a GPT.

Agreement: exact, term by term, but for two things that the paper leaves out, both measured to the byte here:
- layer norm saves a mean and a reciprocal deviation a token: on a CPU 8·s·b bytes a layer, where the layer's
  34·s·b·h is 50,000 times as much at GPT-3's width;
- masked_fill saves the causal mask: s² bytes, once for all layers, because they share it.
Two conditions. Dropout must be the fused one, native_dropout, whose mask is of bools: F.dropout is that on
CUDA, while on a CPU it multiplies by a mask of 16-bit numbers (the deviation is tested too). And attention
must not be fused: kernels like FlashAttention keep no scores at all.

Measured with saved_tensors_hooks on a CPU, in bf16 and fp16, each storage once and without the weights.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from grader.checks.mistakes import load_solution
from specs import ActivationBytes

SOLUTIONS = Path(__file__).parents[2] / "solutions"
activation_bytes = load_solution(SOLUTIONS, "memory", "activations.py").activation_bytes
checkpoint = load_solution(SOLUTIONS, "memory", "checkpoint.py").checkpoint

SHAPES = (
    {"layers": 1, "hidden": 128, "heads": 4, "sequence": 64, "batch": 2},
    {"layers": 3, "hidden": 96, "heads": 3, "sequence": 80, "batch": 1},
)


def fused_dropout(x: Tensor) -> Tensor:
    """What F.dropout is on CUDA: the mask that it keeps is of bools."""
    kept: Tensor = torch.native_dropout(x, 0.1, True)[0]
    return kept


def unfused_dropout(x: Tensor) -> Tensor:
    """What F.dropout is on a CPU: the mask that it keeps has the format of x."""
    return functional.dropout(x, 0.1, training=True)


class SavedBytes:
    """Bytes that autograd saves while it is active, by the part that is named at the time.

    Within attention, what has the shape s × s goes to the scores: their product with V saves them and V.
    """

    def __init__(self, weights: list[Tensor], sequence: int) -> None:
        self._part = ""
        self._scores = (sequence, sequence)
        self._weights = {each.untyped_storage().data_ptr() for each in weights}
        # Holding the storages keeps two of them from having one address.
        self._parts: dict[int, tuple[str, torch.UntypedStorage]] = {}

    @contextmanager
    def active(self) -> Iterator[None]:
        with torch.autograd.graph.saved_tensors_hooks(self._pack, lambda tensor: tensor):
            yield

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        before, self._part = self._part, name
        yield
        self._part = before

    def of(self, part: str) -> int:
        return sum(storage.nbytes() for name, storage in self._parts.values() if name == part)

    def _pack(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self._weights:
            is_scores = self._part == "attention" and tensor.shape[-2:] == self._scores
            part = "attention_scores" if is_scores else self._part
            self._parts.setdefault(storage.data_ptr(), (part, storage))
        return tensor


def measure(
    shape: dict[str, int],
    dtype: torch.dtype,
    dropout: Callable[[Tensor], Tensor] = fused_dropout,
    recomputation: str = "none",
) -> SavedBytes:
    """Run a pre-norm GPT without embedding and head forward and return what its layers saved.

    The parts are named as the terms of ActivationBytes, and "causal_mask" and "norm_statistics" besides.
    """
    sequence, batch, hidden, heads = shape["sequence"], shape["batch"], shape["hidden"], shape["heads"]
    widths: dict[str, tuple[int, ...]] = {"qkv": (hidden, 3 * hidden), "out": (hidden, hidden)}
    widths |= {"up": (hidden, 4 * hidden), "down": (4 * hidden, hidden)}
    widths |= {"scale": (hidden,), "shift": (hidden,)}
    layers = [
        {name: torch.randn(width, dtype=dtype, requires_grad=True) for name, width in widths.items()}
        for _ in range(shape["layers"])
    ]
    saved = SavedBytes([weight for layer in layers for weight in layer.values()], sequence)
    future = torch.ones(sequence, sequence, dtype=torch.bool).triu(1)

    def core_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.transpose(-1, -2) / math.sqrt(hidden // heads)
        with saved.part("causal_mask"):
            scores = scores.masked_fill(future, -math.inf)
        return dropout(scores.softmax(-1)) @ v

    def layer(x: Tensor, w: dict[str, Tensor]) -> Tensor:
        with saved.part("norms"):
            normed = functional.layer_norm(x, (hidden,), w["scale"], w["shift"])
        with saved.part("attention"):
            q, k, v = (normed @ w["qkv"]).view(batch, sequence, 3, heads, -1).permute(2, 0, 3, 1, 4)
            core = core_attention(q, k, v) if recomputation == "none" else checkpoint(core_attention, q, k, v)
            x = x + dropout(core.transpose(1, 2).reshape(batch, sequence, hidden) @ w["out"])
        with saved.part("norms"):
            normed = functional.layer_norm(x, (hidden,), w["scale"], w["shift"])
        with saved.part("mlp"):
            return x + dropout(functional.gelu(normed @ w["up"]) @ w["down"])

    x = torch.randn(batch, sequence, hidden, dtype=dtype, requires_grad=True)
    with saved.active():
        for weights in layers:
            if recomputation == "full":
                with saved.part("layer_inputs"):
                    x = checkpoint(lambda inner, weights=weights: layer(inner, weights), x)
            else:
                x = layer(x, weights)
    return saved


def norm_statistics(shape: dict[str, int]) -> int:
    """Two norms a layer save two 16-bit numbers a token each."""
    return shape["layers"] * 2 * 2 * 2 * shape["sequence"] * shape["batch"]


def formula(shape: dict[str, int], recomputation: str) -> ActivationBytes:
    terms: ActivationBytes = activation_bytes(**shape, recomputation=recomputation)
    return terms


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_the_formula_is_exact_but_for_norm_statistics_and_one_causal_mask(
    shape: dict[str, int], dtype: torch.dtype
) -> None:
    saved, terms = measure(shape, dtype), formula(shape, "none")
    assert saved.of("attention") == terms.attention
    assert saved.of("attention_scores") == terms.attention_scores
    assert saved.of("mlp") == terms.mlp
    assert saved.of("norms") == terms.norms + norm_statistics(shape)
    assert saved.of("causal_mask") == shape["sequence"] ** 2
    assert saved.of("") == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_a_dropout_that_is_not_fused_keeps_masks_of_two_bytes(shape: dict[str, int]) -> None:
    saved, terms = measure(shape, torch.bfloat16, unfused_dropout), formula(shape, "none")
    assert saved.of("attention") == terms.attention * 12 // 11
    assert saved.of("attention_scores") == terms.attention_scores * 6 // 5
    assert saved.of("mlp") == terms.mlp * 20 // 19


@pytest.mark.parametrize("shape", SHAPES)
def test_selective_recomputation_keeps_no_scores_and_all_the_rest(shape: dict[str, int]) -> None:
    saved = measure(shape, torch.bfloat16, recomputation="selective")
    terms = formula(shape, "selective")
    assert saved.of("attention_scores") + saved.of("causal_mask") == terms.attention_scores == 0
    assert saved.of("attention") == terms.attention
    assert saved.of("mlp") == terms.mlp
    assert saved.of("norms") == terms.norms + norm_statistics(shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_full_recomputation_keeps_the_inputs_of_the_layers(shape: dict[str, int]) -> None:
    saved = measure(shape, torch.bfloat16, recomputation="full")
    assert saved.of("layer_inputs") == formula(shape, "full").total
    assert all(saved.of(part) == 0 for part in ("attention", "attention_scores", "mlp", "norms"))
