"""What a kernel may name and be given: all that Triton takes, and no Python that only the interpreter would run."""

import collections
import dataclasses
import enum
import functools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.libdevice import erf

from grader.kernels import recorder
from tests.kernels import python_helpers
from tests.kernels._interpreted import interpreted

LOG2_E = math.log2(math.e)
SLOPE: tl.constexpr = tl.constexpr(0.5)
WIDTH = 32
TABLE = {"slope": 2.0}
Pair = collections.namedtuple("Pair", ["first", "second"])


class Strides(NamedTuple):
    row: int
    column: int


class Acting(NamedTuple):
    row: int

    def answer(self, x: Any) -> Any:
        return x


class Mode(enum.Enum):
    FAST = 1


@dataclasses.dataclass
class Config:
    slope: float = 2.0


@triton.constexpr_function
def halved(n):
    return max(1, n // 2)


@triton.constexpr_function
def looks_behind(x):
    return x.handle.data


@triton.jit
def doubled(x):
    return x * 2


@triton.jit
def applied(x, F: tl.constexpr):
    return F(x)


@triton.jit
def total(a, b):
    return a + b


def plain(x):
    return x * 2


def fault(kernel: Any, *arguments: Any, **keywords: Any) -> str:
    """The message of what a launch over WIDTH elements is refused for; empty where it runs."""
    x = torch.arange(WIDTH, dtype=torch.float32)

    def call() -> torch.Tensor:
        y = torch.empty_like(x)
        kernel[(1,)](x, y, *arguments, N=WIDTH, **keywords)
        return y

    done = recorder.call_recorded(call, (), {})
    found = [finding for finding in done.evidence.findings if finding.kind == "not_triton"]
    if found:
        assert type(done.error).__name__ == "KernelFault"
        return found[0].message
    assert done.error is None, repr(done.error)
    return ""


# honest


@triton.jit
def language_kernel(x_ptr, y_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at, mask=at < N, other=-float("inf"))
    tl.static_assert(N > 0, "a message")
    tl.device_assert(tl.sum(x, 0) > 0)
    for _ in tl.static_range(2):
        x = tl.where(x > 0, x, math.inf) if N > 64 else x + min(N, 2) * LOG2_E
    x = tl.math.exp2(x * 0.01) + tl.sigmoid(x) + libdevice.tanh(x) + erf(x)
    x = tl.cumsum(tl.sort(tl.softmax(x)), 0) + tl.reduce(x, 0, total) + tl.associative_scan(x, 0, total)
    print("a debugging line", len(x.shape), isinstance(x.dtype, tl.dtype), x.type.element_ty.is_fp32())
    tl.static_print(N)
    tl.store(
        y_ptr + at, x.to(y_ptr.dtype.element_ty) + halved(N) + tl.cdiv(N, 3) + triton.cdiv(N, 3) + SLOPE.value
    )


@triton.jit
def helpers_kernel(
    x_ptr, y_ptr, F: tl.constexpr, DTYPE: tl.constexpr, pair, strides, nothing, N: tl.constexpr
):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at).to(DTYPE)
    parts = [doubled(x), python_helpers.tripled(x)]
    x = applied(F(parts[0] + parts[1]), doubled) * pair.first + strides.row + pair[1]
    tl.store(y_ptr + at, x.to(tl.float32))


@interpreted
def test_what_triton_takes_runs() -> None:
    assert fault(language_kernel) == ""


@interpreted
def test_helpers_dtypes_and_tuples_may_be_given() -> None:
    assert fault(helpers_kernel, doubled, tl.float32, Pair(1, 2.0), Strides(3, 4), None) == ""
    assert fault(helpers_kernel, doubled, tl.float16, Pair(2, True), Strides(3, 4), "a text") == ""


@interpreted
def test_a_kernel_of_a_function_may_use_its_constants() -> None:
    width = 3

    @triton.jit
    def inner_kernel(x_ptr, y_ptr, N: tl.constexpr):
        tl.store(y_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)) * 2)

    assert width == 3
    assert fault(inner_kernel) == ""


# refused


@triton.jit
def calls_plain(x_ptr, y_ptr, N: tl.constexpr):
    tl.store(y_ptr + tl.arange(0, N), plain(tl.load(x_ptr + tl.arange(0, N))))


@triton.jit
def calls_numpy(x_ptr, y_ptr, N: tl.constexpr):
    tl.store(y_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)) * np.sqrt(4.0))


@triton.jit
def calls_torch(x_ptr, y_ptr, N: tl.constexpr):
    tl.store(y_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)) * torch.ones(1).item())


@triton.jit
def gets_behind(x_ptr, y_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    x.handle.data[...] = 1
    tl.store(y_ptr + tl.arange(0, N), x)


@triton.jit
def imports(x_ptr, y_ptr, N: tl.constexpr):
    import os  # that is what is refused

    tl.store(y_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)) + os.getpid())


@triton.jit
def asks_by_name(x_ptr, y_ptr, N: tl.constexpr):
    tl.store(y_ptr + tl.arange(0, N), getattr(tl.load(x_ptr + tl.arange(0, N)), "handle"))  # noqa: B009  # getattr is what is refused


@triton.jit
def calls_a_helper_that_does(x_ptr, y_ptr, N: tl.constexpr):
    tl.store(y_ptr + tl.arange(0, N), python_helpers.by_numpy(tl.load(x_ptr + tl.arange(0, N))))


@triton.jit
def looks_by_a_constant(x_ptr, y_ptr, N: tl.constexpr):
    tl.store(y_ptr + tl.arange(0, N), looks_behind(tl.load(x_ptr + tl.arange(0, N))))


@triton.jit
def reads_a_table(x_ptr, y_ptr, N: tl.constexpr):
    tl.store(y_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)) * TABLE["slope"])


@triton.jit
def walks_out_of_triton(x_ptr, y_ptr, N: tl.constexpr):
    tl.store(
        y_ptr + tl.arange(0, N),
        tl.load(x_ptr + tl.arange(0, N)) * tl.core.math.sqrt(4.0) * tl.core.inspect.ismodule(1),
    )


@triton.jit
def names_a_module(x_ptr, y_ptr, N: tl.constexpr):
    language = triton.runtime
    tl.store(y_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)) + language.interpreter.np.sqrt(4.0))


@triton.jit
def in_a_comprehension(x_ptr, y_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    doubles = [plain(each) for each in [x]]
    tl.store(y_ptr + tl.arange(0, N), doubles[0])


@triton.jit
def defines_a_class(x_ptr, y_ptr, N: tl.constexpr):
    class Inner:
        pass

    tl.store(y_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)))


@triton.jit
def is_given(x_ptr, y_ptr, EXTRA: tl.constexpr, N: tl.constexpr):
    tl.store(y_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)))


@triton.jit
def has_a_default(x_ptr, y_ptr, N: tl.constexpr, F: tl.constexpr = plain):
    tl.store(y_ptr + tl.arange(0, N), F(tl.load(x_ptr + tl.arange(0, N))))


REFUSED = {
    "calls_plain": "`plain` is a Python function: put @triton.jit above it",
    "calls_numpy": "`np.sqrt` is Python's, not Triton's: use triton.language",
    "calls_torch": "`torch.ones` is Python's, not Triton's: call it before the launch",
    "gets_behind": "`.handle` belongs to Python's side",
    "imports": "it imports a module",
    "asks_by_name": "`getattr` is Python's, not Triton's",
    "calls_a_helper_that_does": "`np.flip` is",
    "looks_by_a_constant": "`.handle` belongs to Python's side",
    "reads_a_table": "`TABLE` is Python's, not Triton's",
    "walks_out_of_triton": "`tl.core.inspect.ismodule` is a Python function",
    "names_a_module": "`triton.runtime` is a module",
    "in_a_comprehension": "`plain` is a Python function",
    "defines_a_class": "it defines a class",
    "has_a_default": "F is a function, which is nothing that a kernel can be given",
}


@interpreted
@pytest.mark.parametrize("kernel", list(REFUSED))
def test_what_a_gpu_would_refuse_is_refused_with_its_line(kernel: str) -> None:
    message = fault(globals()[kernel])
    assert REFUSED[kernel] in message
    assert message.startswith(f"{kernel} line ")
    assert "a GPU cannot" in message


@interpreted
def test_the_line_is_that_of_the_helper() -> None:
    assert "`return np.flip(x)`" in fault(calls_a_helper_that_does)


@interpreted
def test_what_a_kernel_cannot_be_given_is_refused() -> None:
    for value, kind in (
        (plain, "function"),
        (Mode.FAST, "Mode"),
        (Config(), "Config"),
        (Acting(1), "Acting"),
        ([doubled, plain], "list"),
        (np.zeros(3), "numpy.ndarray"),
        (np, "module"),
        (type("Fake", (), {"__triton_builtin__": True})(), "Fake"),
        (functools.partial(plain), "functools.partial"),
        (type("Number", (np.float64,), {"answer": plain})(1.0), "Number"),
    ):
        message = fault(is_given, value)
        assert "EXTRA is a " in message, kind
        assert f"{kind}, which is nothing that a kernel can be given" in message
    for value in (
        1,
        2.0,
        None,
        "text",
        True,
        (1, (2, 3)),
        tl.float32,
        doubled,
        torch.float16,
        np.float32(1),
        Strides(1, 2),
    ):
        assert fault(is_given, value) == ""
