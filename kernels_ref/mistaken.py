"""What the usual mistakes make of attention, in fp64 and with the whole matrix: to tell which one an answer shows.

A check that finds a wrong answer asks which of these is near to it. Names are symptoms; a mistake file that lists
one is hinted at when its name comes up. Shapes are those of `naive`. Every value is computed when it is asked for.

torch is imported by the first call, so that tests can import this module where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    Suspects = dict[str, Callable[[], Tensor]]
    SuspectsByTile = dict[str, list[Callable[[], Tensor]]]


BY_TILE = frozenset(
    {
        "accumulator_in_half",
        "accumulator_not_rescaled",
        "accumulator_overwritten",
        "causal_bound_rounded_down",
        "divided_in_the_loop",
        "dq_of_last_tile",
        "last_tile_only",
        "never_rescaled",
        "p_cast_before_sum",
        "query_count_for_keys",
        "sum_not_rescaled",
        "tail_dropped",
        "tail_not_masked",
    }
)
"""Symptoms that come out otherwise in tiles of another size."""


def forward(
    q: Tensor, k: Tensor, v: Tensor, tile: int, *, causal: bool = False, scale: float | None = None
) -> dict[str, Suspects]:
    """What comes out where a tiled forward pass is wrong, as {"out": by symptom, "lse": by symptom}.

    `tile` is the number of keys in a tile, for what depends on it; q, k, v, causal and scale as in
    `naive.attention`.
    """
    import torch

    q, shared_k, shared_v = q.detach(), k.detach(), v.detach()
    k, v = _repeated(shared_k, q), _repeated(shared_v, q)
    right = 1 / math.sqrt(q.shape[-1])
    padded_width = 1 << (q.shape[-1] - 1).bit_length()
    factor = right if scale is None else scale
    ahead = _keys_ahead(q, k)
    queries, keys = ahead.shape
    # By symptom: the scale and which keys are hidden.
    variants = {
        "scale_missing": (1.0, 0),
        "scale_twice": (factor**2, 0),
        "base_two": (factor * math.log(2), 0),
    }
    if scale is not None:
        variants["scale_ignored"] = (right, 0)
    elif padded_width != q.shape[-1]:
        variants["scale_of_padded_width"] = (1 / math.sqrt(padded_width), 0)
    if causal:
        variants |= {
            "diagonal_hidden": (factor, -1),
            "one_key_too_many": (factor, 1),
            "not_masked": (factor, keys + queries),
        }
        if queries != keys:
            variants["aligned_top_left"] = (factor, queries - keys)
    found: dict[str, Suspects] = {"out": {}, "lse": {}}

    def add(symptom: str, part: int, compute: Callable[[], tuple[Tensor, Tensor]]) -> None:
        found[("out", "lse")[part]][symptom] = lambda: compute()[part]

    def seen(factor: float, distance: int) -> Callable[[], tuple[Tensor, Tensor]]:
        return lambda: _attend(q, k, v, factor, ahead > distance if causal else None)

    def both(symptom: str, compute: Callable[[], tuple[Tensor, Tensor]]) -> None:
        add(symptom, 0, compute)
        add(symptom, 1, compute)

    def attend_to(q: Tensor, k: Tensor, v: Tensor) -> Callable[[], tuple[Tensor, Tensor]]:
        return lambda: _attend(q, _repeated(k, q), _repeated(v, q), factor, hidden)

    for symptom, (wrong_factor, distance) in variants.items():
        both(symptom, seen(wrong_factor, distance))
    hidden = ahead > 0 if causal else None
    whole = keys // tile * tile
    if 0 < whole < keys and not causal:
        both("tail_dropped", lambda: _attend(q, k[..., :whole, :], v[..., :whole, :], factor, None))
        both("tail_not_masked", lambda: _padded(q, k, v, factor, tile))
    counted = -(-queries // tile) * tile
    if counted < keys and not causal:
        cut_short = (k[..., :counted, :], v[..., :counted, :])
        both("query_count_for_keys", lambda: _attend(q, *cut_short, factor, None))
    given = (q, shared_k, shared_v)
    contiguous = [torch.empty(each.shape, device="meta").stride() for each in given]
    for symptom, strides in (
        ("one_stride_for_all", [q.stride()] * 3),
        ("strides_of_contiguous", contiguous),
    ):
        if (read := _with_strides(given, strides)) is not None:
            both(symptom, attend_to(*read))
    if k is not shared_k:
        both("heads_modulo", lambda: _attend(q, _cycled(shared_k, q), _cycled(shared_v, q), factor, hidden))
    if causal:
        cut = _beyond_bound(queries, keys, min(tile, 64), tile)
        both("causal_bound_rounded_down", lambda: _attend(q, k, v, factor, (ahead > 0) | cut))

    def scores() -> Tensor:
        return _scores(q, k, factor, hidden)

    def running() -> tuple[Tensor, Tensor, Tensor]:
        """exp(score − running maximum of its tile), exp(score − last maximum), and V."""
        all_scores = scores()
        largest = all_scores.amax(-1, keepdim=True)
        return _exp(all_scores, _tile_maxima(all_scores, tile)), _exp(all_scores, largest), v.double()

    def over(numerator: Tensor, weights: Tensor) -> Tensor:
        return numerator / weights.sum(-1, keepdim=True)

    def first_and_last(part: int) -> Tensor:
        first, last, values = running()
        sums = (first, last) if part else (last, first)
        return over(sums[0] @ values, sums[1])

    def never_rescaled() -> Tensor:
        first, _, values = running()
        return over(first @ values, first)

    def not_divided() -> Tensor:
        _, last, values = running()
        return last @ values

    def divided_in_the_loop() -> Tensor:
        all_scores, (_, last, values) = scores(), running()
        ends = ((torch.arange(keys) // tile + 1) * tile - 1).clamp(max=keys - 1)
        sums = _exp(all_scores.logcumsumexp(-1)[..., ends], _tile_maxima(all_scores, tile))
        return (last / sums.masked_fill(sums == 0, 1.0)) @ values

    def accumulator_overwritten() -> Tensor:
        _, last, values = running()
        start = (keys - 1) // tile * tile
        return over(last[..., start:] @ values[..., start:, :], last)

    def accumulator_in_half() -> Tensor:
        first, last, values = running()
        maxima, total = _tile_maxima(scores(), tile), torch.zeros_like(q, dtype=torch.float64)
        for start in range(0, keys, tile):
            part, before = slice(start, start + tile), max(start - 1, 0)
            shrunk = total * _exp(maxima[..., before, None], maxima[..., start, None])
            total = shrunk + first[..., part].to(q.dtype).double() @ values[..., part, :]
            total = total.to(q.dtype).double()
        return over(total, last)

    def masked_late() -> Tensor:
        return _exp(scores(), _scores(q, k, factor, None).logsumexp(-1, keepdim=True)) @ v.double()

    def overflowed() -> tuple[Tensor, Tensor]:
        exponentials = scores().float().exp()
        total = exponentials.sum(-1, keepdim=True)
        # A row that sees no key is another mistake's.
        divisor = total.masked_fill((scores() == -math.inf).all(-1, keepdim=True), 1.0)
        return (exponentials @ v.float() / divisor).double(), total.log()[..., 0].double()

    def unseen_nan() -> tuple[Tensor, Tensor]:
        out, lse = _attend(q, k, v, factor, hidden)
        empty = lse == -math.inf
        return out.masked_fill(empty[..., None], math.nan), lse.masked_fill(empty, math.nan)

    def last_tile() -> tuple[Tensor, Tensor]:
        start = (keys - 1) // tile * tile
        later = None if hidden is None else hidden[:, start:]
        return _attend(q, k[..., start:, :], v[..., start:, :], factor, later)

    def rounded_sum() -> Tensor:
        first, last, _ = running()
        rounded = (first.to(q.dtype).double() * (last / first).nan_to_num(0.0)).sum(-1)
        return scores().amax(-1) + rounded.log()

    found["out"] |= {
        "never_rescaled": never_rescaled,
        "accumulator_not_rescaled": lambda: first_and_last(1),
        "sum_not_rescaled": lambda: first_and_last(0),
        "not_divided": not_divided,
        "divided_in_the_loop": divided_in_the_loop,
    }
    both("overflow", overflowed)
    both("unseen_nan", unseen_nan)
    if tile < keys:
        both("last_tile_only", last_tile)
        found["out"]["accumulator_overwritten"] = accumulator_overwritten
    found["lse"] |= {
        "lse_without_maximum": lambda: scores().logsumexp(-1) - scores().amax(-1),
        "lse_is_maximum": lambda: scores().amax(-1),
        "lse_in_base_two": lambda: scores().logsumexp(-1) / math.log(2),
    }
    if q.dtype in (torch.float16, torch.bfloat16):
        found["lse"]["p_cast_before_sum"] = rounded_sum
        found["out"]["accumulator_in_half"] = accumulator_in_half
    if causal:
        found["out"]["masked_after_exp"] = masked_late
        add("masked_after_exp", 1, lambda: _attend(q, k, v, factor, None))
    return found


def backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    grad_out: Tensor,
    query_tile: int,
    tile: int,
    *,
    causal: bool = False,
    scale: float | None = None,
) -> dict[str, Suspects]:
    """What comes out where a tiled backward pass is wrong, as {"dq", "dk", "dv": by symptom}.

    `query_tile` and `tile` are the numbers of queries and of keys in a tile; out and lse are the forward pass's.
    Heads are not shared here: k and v have q's leading dimensions.
    """
    import torch

    factor = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    q64, k64, v64, out64, lse64, grad64 = (each.detach().double() for each in (q, k, v, out, lse, grad_out))
    hidden = _keys_ahead(q, k) > 0 if causal else None

    def gradients(
        *, p_factor: bool = True, use_delta: bool = True, masked: bool = True, unscaled_scores: bool = False
    ) -> tuple[Tensor, Tensor, Tensor]:
        scores = _scores(q, k, 1.0 if unscaled_scores else factor, hidden if masked else None)
        p = _exp(scores, lse64[..., None])
        ds = grad64 @ v64.mT
        if use_delta:
            ds = ds - (out64 * grad64).sum(-1, keepdim=True)
        if p_factor:
            ds = p * ds
        return factor * (ds @ k64), factor * (ds.mT @ q64), p.mT @ grad64

    def unseen_nan(index: int) -> Tensor:
        wrong = gradients()[index]
        return (
            wrong.masked_fill((lse64 == -math.inf)[..., None], math.nan) if index == 0 else wrong * math.nan
        )

    def dq_of_last_tile() -> Tensor:
        start = (k.shape[-2] - 1) // tile * tile
        p = _exp(_scores(q, k, factor, hidden), lse64[..., None])
        ds = p * (grad64 @ v64.mT - (out64 * grad64).sum(-1, keepdim=True))
        return factor * (ds[..., start:] @ k64[..., start:, :])

    found: dict[str, Suspects] = {"dq": {}, "dk": {}, "dv": {}}
    for index, name in enumerate(found):

        def add(symptom: str, compute: Callable[[int], Tensor], index: int = index, name: str = name) -> None:
            found[name][symptom] = lambda: compute(index)

        add("backward_not_masked", lambda index: gradients(masked=False)[index])
        add("unseen_nan", unseen_nan)
        add("scores_not_scaled", lambda index: gradients(unscaled_scores=True)[index])
        if name != "dv":
            add("delta_missing", lambda index: gradients(use_delta=False)[index])
            add("p_missing", lambda index: gradients(p_factor=False)[index])
            add("gradient_scale_twice", lambda index: gradients()[index] * factor)
    found["dq"]["dq_without_scale"] = lambda: gradients()[0] / factor
    found["dk"]["dk_without_scale"] = lambda: gradients()[1] / factor
    found["dv"]["dv_scaled"] = lambda: gradients()[2] * factor

    def dv_in_half() -> Tensor:
        p, total = _exp(_scores(q, k, factor, hidden), lse64[..., None]), torch.zeros_like(v)
        for start in range(0, q.shape[-2], query_tile):
            rows = slice(start, start + query_tile)
            total += (p[..., rows, :].mT @ grad64[..., rows, :]).to(v.dtype)
        return total.double()

    if v.dtype in (torch.float16, torch.bfloat16):
        found["dv"]["gradients_in_half"] = dv_in_half
    if tile < k.shape[-2]:
        found["dq"]["dq_of_last_tile"] = dq_of_last_tile
    return found


def _repeated(shared: Tensor, q: Tensor) -> Tensor:
    """K or V with each head repeated for the query heads that share it."""
    if q.ndim < 3 or shared.shape[-3] == q.shape[-3]:
        return shared
    return shared.repeat_interleave(q.shape[-3] // shared.shape[-3], dim=-3)


def _with_strides(tensors: Sequence[Tensor], strides: Sequence[tuple[int, ...]]) -> list[Tensor] | None:
    """The tensors as somebody reads them who takes these for their strides; None where that is right, or outside."""
    read = []
    for tensor, wrong in zip(tensors, strides, strict=True):
        last = sum((size - 1) * stride for size, stride in zip(tensor.shape, wrong, strict=True))
        if tensor.storage_offset() + last >= tensor.untyped_storage().nbytes() // tensor.element_size():
            return None
        read.append(tensor.as_strided(tensor.shape, wrong))
    same = all(_addressed(each) == _addressed(tensor) for each, tensor in zip(read, tensors, strict=True))
    return None if same else read


def _addressed(tensor: Tensor) -> list[int]:
    """The strides that matter: those of dimensions with more than one element."""
    return [stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]


def _cycled(shared: Tensor, q: Tensor) -> Tensor:
    """K or V with its heads in turn: query head h reads head h modulo their number."""
    heads, shared_heads = q.shape[-3], shared.shape[-3]
    return shared[..., [head % shared_heads for head in range(heads)], :, :]


def _beyond_bound(queries: int, keys: int, rows: int, tile: int) -> Tensor:
    """(T_q, T_k): keys after the last one that a tile of `rows` queries sees, rounded down to whole tiles."""
    import torch

    last = (torch.arange(queries) // rows + 1) * rows + keys - queries
    return torch.arange(keys) >= (last // tile * tile)[:, None]


def _keys_ahead(q: Tensor, k: Tensor) -> Tensor:
    """(T_q, T_k): by how many places a key stands behind the last one that the query sees."""
    import torch

    queries, keys = q.shape[-2], k.shape[-2]
    return torch.arange(keys) - torch.arange(queries)[:, None] - (keys - queries)


def _scores(q: Tensor, k: Tensor, factor: float, hidden: Tensor | None) -> Tensor:
    scores = factor * (q.double() @ k.double().mT)
    return scores if hidden is None else scores.masked_fill(hidden, -math.inf)


def _exp(scores: Tensor, subtracted: Tensor) -> Tensor:
    """exp(scores − subtracted), where −inf less −inf is −inf."""
    return (scores - subtracted.masked_fill(subtracted == -math.inf, 0.0)).exp()


def _attend(q: Tensor, k: Tensor, v: Tensor, factor: float, hidden: Tensor | None) -> tuple[Tensor, Tensor]:
    scores = _scores(q, k, factor, hidden)
    lse = scores.logsumexp(-1)
    return _exp(scores, lse[..., None]) @ v.double(), lse


def _padded(q: Tensor, k: Tensor, v: Tensor, factor: float, tile: int) -> tuple[Tensor, Tensor]:
    """With rows of zeros behind the keys, which are counted as keys."""
    import torch

    missing = -k.shape[-2] % tile
    k, v = (torch.nn.functional.pad(each, (0, 0, 0, missing)) for each in (k, v))
    return _attend(q, k, v, factor, None)


def _tile_maxima(scores: Tensor, width: int) -> Tensor:
    """For each score the running maximum of its row once its tile has been seen."""
    import torch

    parts = (scores[..., start : start + width] for start in range(0, scores.shape[-1], width))
    tiles = [part.amax(-1, keepdim=True).expand_as(part) for part in parts]
    return torch.cat(tiles, -1).cummax(-1).values


def for_tiles(wrong: Callable[[int], dict[str, Suspects]], tiles: Sequence[int]) -> dict[str, SuspectsByTile]:
    """What the mistakes give with each of several tiles, where the size of a student's own is not known.

    `wrong` is `forward` or `backward` with all but the tile filled in.
    """
    merged: dict[str, SuspectsByTile] = {}
    for tile in tiles:
        for part, suspects in wrong(tile).items():
            for symptom, compute in suspects.items():
                found = merged.setdefault(part, {}).setdefault(symptom, [])
                if not found or symptom in BY_TILE:
                    found.append(compute)
    return merged
