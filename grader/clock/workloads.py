"""What a timed shape asks for: secret inputs, and whether what came back is the answer to them.

The judge's side of `grader.worker.windows`: it draws pools once a run and windows for every call, keeps both to
itself until a call's clock starts, and computes the answer from its own copies.
"""

import random
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from grader.calls.faults import CheckFailed
from grader.clock import answers
from grader.worker import windows
from grader.worker.windows import Argument
from kernels_ref import naive
from kernels_ref.inputs import QUERY_SCALE, VALUE_OFFSET
from specs.timing import TimedShape

POOL_LENGTHS = 2
"""A pool is so many times as long as the largest window into it: two windows hardly overlap."""
_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}

Forward = Callable[[Tensor, Tensor, Tensor, bool], tuple[Tensor, ...]]
Backward = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, bool], tuple[Tensor, ...]]


@dataclass(frozen=True)
class Trusted:
    """Attention as the judge computes it, in the precision of the inputs, on the device that is timed."""

    forward: Forward
    backward: Backward


def in_pytorch() -> Trusted:
    """The trusted low-precision implementation of kernels_ref, whole score matrix and all: for small shapes."""

    def forward(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> tuple[Tensor, ...]:
        return naive.low_precision_attention(q, k, v, causal=causal)

    def backward(
        q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, grad_out: Tensor, causal: bool
    ) -> tuple[Tensor, ...]:
        return naive.low_precision_attention_backward(q, k, v, grad_out, causal=causal, saved=(out, lse))

    return Trusted(forward, backward)


def in_triton() -> Trusted:
    """The reference kernels on a GPU; each is held against `exact` before it judges anybody. Not run on a GPU yet."""
    from kernels_ref.timed import flash

    return Trusted(flash.flash_forward, flash.flash_backward)


@dataclass
class Pools:
    """Random numbers of every role and format that the shapes ask for, on the judge's device."""

    by_name: dict[str, Tensor] = field(default_factory=dict)

    def window(self, pool: str, start: int, shape: Sequence[int]) -> Tensor:
        """The judge's own copy of what a worker is told to take."""
        return windows.window(self.by_name[pool], start, shape)


def draw_pools(shapes: Sequence[TimedShape], device: str) -> Pools:
    """Pools for these shapes: queries scaled and values offset as `kernels_ref.inputs.peaked` has them."""
    sizes: dict[str, int] = {}
    for shape in shapes:
        q, kv = _shapes(shape)
        for role, wanted in (("q", q), ("k", kv), ("v", kv), ("grad", q), ("weights", q)):
            name = f"{role}.{shape.dtype}"
            sizes[name] = max(sizes.get(name, 0), _size(wanted))
    generator = torch.Generator(device).manual_seed(secrets.randbits(63))
    pools = Pools()
    for name, size in sizes.items():
        role, _, dtype = name.partition(".")
        numbers = torch.randn(POOL_LENGTHS * size + windows.GRAIN, generator=generator, device=device)
        numbers = QUERY_SCALE * numbers if role == "q" else VALUE_OFFSET + numbers if role == "v" else numbers
        pools.by_name[name] = numbers.to(_DTYPES[dtype])
    return pools


@dataclass(frozen=True)
class TimedCall:
    """One call: what the worker is told as the clock starts, and what the judge compares with."""

    arguments: tuple[Argument, ...]
    weights: tuple[Argument, ...]
    staged: Mapping[str, Tensor]
    """Handed over before the clock starts: what cannot be a window, since it follows from the others."""
    inputs: tuple[Tensor, ...]
    """q, k, v, and out, lse, grad_out for a backward pass: the judge's copies."""
    judged_weights: tuple[Tensor, ...]


class AttentionWorkload:
    """Calls of attention at one shape, forward or backward.

    Forward: (q, k, v, causal), all three secret until the clock starts. Backward: (q, k, v, out, lse, grad_out,
    causal) with grad_out secret until then; out and lse follow from q, k and v, and are handed over just before. Who
    uses that moment can have P ready, one of five products, at the price of the T × T bytes that the exercise forbids.
    """

    def __init__(self, shape: TimedShape, pools: Pools, trusted: Trusted) -> None:
        self.shape = shape
        self._pools, self._trusted = pools, trusted
        self._q, self._kv = _shapes(shape)
        self._names = ("dq", "dk", "dv") if shape.direction == "backward" else ("out", "lse")
        self._allowed: tuple[float, ...] = ()

    def draw(self, order: random.Random) -> TimedCall:
        """Inputs that nobody has seen: secret starts, a moment before the call."""
        backward = self.shape.direction == "backward"
        starts: dict[str, Argument] = {}
        for role, shape in (("q", self._q), ("k", self._kv), ("v", self._kv), ("grad", self._q)):
            starts[role] = self._window(order, role, shape)
        q, k, v, grad = (self._pools.window(*starts[role][1:]) for role in ("q", "k", "v", "grad"))
        sizes = (self._q, self._kv, self._kv) if backward else (self._q, self._q[:-1])
        weights = tuple(self._window(order, "weights", (_size(size),)) for size in sizes)
        causal: Argument = ("plain", self.shape.causal)
        arguments: tuple[Argument, ...] = (starts["q"], starts["k"], starts["v"])
        staged: dict[str, Tensor] = {}
        inputs: tuple[Tensor, ...] = (q, k, v)
        if backward:
            out, lse = self._trusted.forward(q, k, v, self.shape.causal)
            staged = {"out": out, "lse": lse}
            arguments = (*arguments, ("kept", "out"), ("kept", "lse"), starts["grad"])
            inputs = (q, k, v, out, lse, grad)
        return TimedCall(
            (*arguments, causal),
            weights,
            staged,
            inputs,
            tuple(self._pools.window(*each[1:]) for each in weights),
        )

    def check(self, call: TimedCall, outputs: Sequence[Tensor], sketched: Tensor, which: str) -> None:
        """Compare what a call returned; `which` names the call.

        Raises:
            CheckFailed: it is wrong (symptom `timed.wrong`), or was not there yet as the clock stopped
                (`timed.unfinished`).
        """
        if len(outputs) != len(self._names):
            raise CheckFailed(
                f"{which} returned {len(outputs)} tensors, not {', '.join(self._names)}",
                symptom="timed.wrong",
            )
        right = self._right(call)
        if not self._allowed:
            self._allowed = self._how_far(call, right)
        for name, got, wanted, most in zip(self._names, outputs, right, self._allowed, strict=True):
            found = answers.problem(name, _rows(got, name), _rows(wanted, name), most)
            if found:
                raise CheckFailed(
                    f"{which}: {found}; if it is right in the tests, it depends on the inputs, on what was cached, "
                    "or on how often it was called",
                    symptom="timed.wrong",
                )
        if answers.unfinished(outputs, sketched, call.judged_weights, windows.CHUNK):
            raise CheckFailed(
                f"{which}: the output changed after the call had returned: wait for your side streams and threads",
                symptom="timed.unfinished",
            )

    def _right(self, call: TimedCall) -> tuple[Tensor, ...]:
        if self.shape.direction == "forward":
            q, k, v = call.inputs
            return self._trusted.forward(q, k, v, self.shape.causal)
        q, k, v, out, lse, grad_out = call.inputs
        return self._trusted.backward(q, k, v, out, lse, grad_out, self.shape.causal)

    def _how_far(self, call: TimedCall, trusted: Sequence[Tensor]) -> tuple[float, ...]:
        """For each output, how far from the trusted answer an honest one may be: from its own error, once a shape."""
        exact = self._exact(call)
        found = tuple(
            answers.allowed(_rows(near, name), _rows(right, name))
            for name, near, right in zip(self._names, trusted, exact, strict=True)
        )
        del exact
        if trusted[0].is_cuda:
            torch.cuda.empty_cache()  # fp64 takes gigabytes, and the submission shares the card
        return found

    def _exact(self, call: TimedCall) -> tuple[Tensor, ...]:
        """In fp64, one batch after the other: the whole score matrix of all would not fit on a card."""
        parts: list[tuple[Tensor, ...]] = []
        for batch in range(self.shape.batch):
            q, k, v, *rest = (each[batch].double() for each in call.inputs)
            if rest:
                parts.append(naive.attention_backward(q, k, v, rest[2], causal=self.shape.causal))
            else:
                parts.append(naive.attention(q, k, v, causal=self.shape.causal))
        return tuple(torch.stack(each) for each in zip(*parts, strict=True))

    def _window(self, order: random.Random, role: str, shape: Sequence[int]) -> Argument:
        name = f"{role}.{self.shape.dtype}"
        room = self._pools.by_name[name].numel() - _size(shape)
        return ("window", name, order.randrange(room // windows.GRAIN + 1) * windows.GRAIN, tuple(shape))


def _rows(x: Tensor, name: str) -> Tensor:
    """As (..., rows, D): lse has one number a row."""
    return x[..., None] if name == "lse" else x


def _shapes(shape: TimedShape) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of q and of k and v."""
    q = (shape.batch, shape.heads, shape.tokens, shape.head_dim)
    return q, (shape.batch, shape.kv_heads, shape.tokens, shape.head_dim)


def _size(shape: Sequence[int]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size
