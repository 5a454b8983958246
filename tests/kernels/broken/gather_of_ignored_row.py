"""An id of -100 marks a row to leave out, and is looked up all the same."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from tests.kernels.corpus import Broken, Inputs, randn


@triton.jit
def embedding_kernel(ids_ptr, table_ptr, out_ptr, D, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    row = tl.load(ids_ptr + token)
    d = tl.arange(0, BLOCK)
    x = tl.load(table_ptr + row * D + d, mask=d < D)  # fault
    tl.store(out_ptr + token * D + d, x, mask=d < D)


def embedding(ids: Tensor, table: Tensor) -> Tensor:
    D = table.shape[1]
    out = torch.empty((ids.numel(), D), dtype=table.dtype, device=table.device)
    embedding_kernel[(ids.numel(),)](ids, table, out, D, BLOCK=triton.next_power_of_2(D))
    return out


def inputs(dtype: torch.dtype, seed: int) -> Inputs:
    return (torch.tensor([3, -100, 10, 7]), randn(11, 50, dtype=dtype, seed=seed)), {}


CASE = Broken(
    name="gather_of_ignored_row",
    function=embedding,
    make_inputs=inputs,
    kind="out_of_bounds_load",
    message=r"program \(1, 0, 0\).*row -100 of 11 of \btable\b.*row >= 0",
)
