"""One case timed for every contender: inputs, a look at the results, turns at the clock, rows of the table."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from kernels_ref.bench.cases import Case, speed_of_light
from kernels_ref.bench.clock import Clock, take_turns
from kernels_ref.bench.contenders import Absent, Attention
from kernels_ref.naive import attention, attention_backward
from specs.gpu import Gpu

LARGEST_ERROR = 0.02
"""Relative L2 error above which a result is called wrong, not timed: five times that of bf16 attention."""


class Row(NamedTuple):
    """One contender in one case. Without times, `absent` says why there are none."""

    case: Case
    contender: str
    absent: str = ""
    median_s: float = 0.0
    low_s: float = 0.0
    high_s: float = 0.0
    error: float = 0.0
    """Relative L2 error of the first head, against fp32."""
    to_fastest: float = 0.0
    """Median over that of the fastest contender."""
    of_light: float | None = None
    """Speed-of-light time over the median: 1 is a kernel that cannot be beaten. None: the GPU is not in specs."""

    @property
    def tflops(self) -> float:
        """1e12 FLOPs a second by the convention of `cases`."""
        return self.case.flops / self.median_s / 1e12 if self.median_s else 0.0


def measure(
    case: Case,
    named: Mapping[str, Attention | Absent],
    clock: Clock,
    gpu: Gpu | None,
    *,
    device: str = "cuda",
    rounds: int = 30,
) -> list[Row]:
    """Time a case for all contenders in turns; those that fail, or are wrong, get a row that says so."""
    inputs = _inputs(case, device)
    calls: dict[str, Callable[[], object]] = {}
    rows: dict[str, Row] = {}
    for name, function in named.items():
        if isinstance(function, Absent):
            rows[name] = Row(case, name, absent=str(function))
            continue
        try:
            call, error = _prepare(case, function, inputs)
        except torch.OutOfMemoryError:
            rows[name] = Row(case, name, absent="out of memory")
        except (
            Exception
        ) as wrong:  # a library refuses a case in its own way: its column says so, the rest is timed
            rows[name] = Row(
                case, name, absent=f"{type(wrong).__name__}: {str(wrong).strip().splitlines()[0]}"
            )
        else:
            rows[name] = Row(case, name, error=error)
            if error <= LARGEST_ERROR:
                calls[name] = call
            else:  # NaN comes here too
                rows[name] = rows[name]._replace(absent=f"wrong result: relative error {error:.2g}")
    timings = take_turns(calls, clock, rounds)
    for name in calls.keys() - timings.keys():
        rows[name] = rows[name]._replace(absent="out of memory")
    fastest = min((each.median_s for each in timings.values()), default=0.0)
    light = speed_of_light(case, gpu).time_s if gpu else None
    for name, timed in timings.items():
        rows[name] = rows[name]._replace(
            **timed._asdict(),
            to_fastest=timed.median_s / fastest,
            of_light=light / timed.median_s if light else None,
        )
    return list(rows.values())


def _inputs(case: Case, device: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """q, k, v and the gradient of the output, bf16, N(0, 1), stored (B, T, H, D) as a projection leaves them."""
    generator = torch.Generator(device).manual_seed(0)

    def normal(length: int) -> Tensor:
        stored = torch.randn(
            case.batch,
            length,
            case.heads,
            case.width,
            generator=generator,
            device=device,
            dtype=torch.bfloat16,
        )
        return stored.transpose(1, 2)

    return normal(case.queries), normal(case.keys), normal(case.keys), normal(case.queries)


def _prepare(
    case: Case, function: Attention, inputs: tuple[Tensor, Tensor, Tensor, Tensor]
) -> tuple[Callable[[], object], float]:
    """The call to time, run once, and the error of what it returned. The backward's graph is built only once."""
    q, k, v, grad = inputs
    one_q, one_k, one_v, one_grad = (each[:1, :1] for each in inputs)
    if case.direction == "forward":

        def forward() -> Tensor:
            return function(q, k, v, case.causal)

        right, _ = attention(one_q, one_k, one_v, causal=case.causal)
        return forward, _relative_error(forward()[:1, :1], right)
    leaves = [each.detach().requires_grad_() for each in (q, k, v)]
    out = function(leaves[0], leaves[1], leaves[2], case.causal)

    def backward() -> tuple[Tensor, ...]:
        return torch.autograd.grad(out, leaves, grad, retain_graph=True)

    found = backward()
    exact = attention_backward(one_q, one_k, one_v, one_grad, causal=case.causal)
    return backward, max(_relative_error(x[:1, :1], y) for x, y in zip(found, exact, strict=True))


def _relative_error(found: Tensor, right: Tensor) -> float:
    return float((found.float() - right).norm() / right.norm())
