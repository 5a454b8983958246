"""Functions that launch Triton kernels, and what the H100 report says of each, printed as JSON.

Run by the tests in a child without TRITON_INTERPRET: `python compiled_kernels.py`.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import torch
import triton
import triton.language as tl
from triton.runtime import driver
from triton.runtime.jit import JITFunction
from triton.tools.tensor_descriptor import TensorDescriptor

from grader.kernels.compiled import changed, compile_call


def tensor(*shape, dtype=torch.bfloat16):
    """An aligned tensor; no value of it is ever read."""
    return torch.zeros(*shape, dtype=dtype)


@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, T, scale, head, row, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.arange(0, D)
    start = tl.program_id(1) * head
    here = start + rows[:, None] * row + columns[None, :]
    q = tl.load(q_ptr + here, mask=rows[:, None] < T, other=0.0)
    total = tl.zeros((BM, D), tl.float32)
    most = tl.full((BM,), float("-inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    for first in range(0, T, BN):
        keys = first + tl.arange(0, BN)
        there = start + keys[:, None] * row + columns[None, :]
        k = tl.load(k_ptr + there, mask=keys[:, None] < T, other=0.0)
        v = tl.load(v_ptr + there, mask=keys[:, None] < T, other=0.0)
        s = tl.where(keys[None, :] < T, tl.dot(q, tl.trans(k)) * scale, float("-inf"))
        now = tl.maximum(most, tl.max(s, 1))
        p = tl.exp(s - now[:, None])
        again = tl.exp(most - now)
        weight = weight * again + tl.sum(p, 1)
        total = total * again[:, None] + tl.dot(p.to(v.dtype), v)
        most = now
    tl.store(o_ptr + here, (total / weight[:, None]).to(tl.bfloat16), mask=rows[:, None] < T)


def attention(q, k, v, BM=128, BN=64, num_warps=8, num_stages=3):
    heads, T, D = q.shape
    o = torch.empty_like(q)
    attention_kernel[(triton.cdiv(T, BM), heads)](
        q,
        k,
        v,
        o,
        T,
        D**-0.5,
        q.stride(0),
        q.stride(1),
        D=D,
        BM=BM,
        BN=BN,
        num_warps=num_warps,
        num_stages=num_stages,
    )
    return o


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        inner = first + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
        b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
        total = tl.dot(a, b, total, input_precision=PRECISION)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)


def matmul(a, b, BM=64, BN=64, BK=32, PRECISION="tf32", **options):
    c = torch.empty(a.shape[0], b.shape[1], dtype=torch.float32)
    grid = lambda meta: (triton.cdiv(a.shape[0], meta["BM"]), triton.cdiv(b.shape[1], meta["BN"]))  # noqa: E731
    matmul_kernel[grid](a, b, c, a.shape[1], b.shape[1], BM, BN, BK, PRECISION, **options)
    return c


@triton.jit
def product_without_dot_kernel(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    r = tl.arange(0, N)
    a = tl.load(a_ptr + r[:, None] * N + r[None, :]).to(tl.float32)
    b = tl.load(b_ptr + r[:, None] * N + r[None, :]).to(tl.float32)
    tl.store(c_ptr + r[:, None] * N + r[None, :], tl.sum(a[:, None, :] * b[None, :, :], 2))


def product_without_dot(a, b):
    c = torch.empty(32, 32, dtype=torch.float32)
    product_without_dot_kernel[(1,)](a, b, c, N=32)
    return c


@triton.jit
def softmax_kernel(x_ptr, y_ptr, row, D: tl.constexpr):
    columns = tl.arange(0, D)
    x = tl.load(x_ptr + tl.program_id(0) * row + columns)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(y_ptr + tl.program_id(0) * row + columns, e / tl.sum(e, 0))


def softmax(x):
    y = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, y, x.stride(0), D=x.shape[1])
    return y


@triton.jit
def weigh(p, v):
    return tl.dot(p, v)  # the line of the mixed operands


@triton.jit
def mixing_kernel(p_ptr, v_ptr, o_ptr, N: tl.constexpr):
    r = tl.arange(0, N)
    p = tl.load(p_ptr + r[:, None] * N + r[None, :])
    v = tl.load(v_ptr + r[:, None] * N + r[None, :])
    tl.store(o_ptr + r[:, None] * N + r[None, :], weigh(p, v))


def mixing(p, v):
    o = torch.empty(32, 32, dtype=torch.float32)
    mixing_kernel[(1,)](p, v, o, N=32)
    return softmax(torch.zeros(4, 64))


@triton.jit
def bogus_ptx_kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 32))
    y = tl.inline_asm_elementwise(
        "bogus.f32 $0, $1;", "=r,r", [x], tl.float32, True, 1
    )  # the line of the PTX
    tl.store(x_ptr + tl.arange(0, 32), y)


def bogus_ptx(x):
    bogus_ptx_kernel[(1,)](x)


def first_of_configs(nargs):
    """A hook that an autotuner calls before each configuration."""
    nargs["y_ptr"].zero_()


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_warps=1, pre_hook=first_of_configs),
        triton.Config({"BLOCK": 128}, num_warps=2),
        triton.Config({"BLOCK": 96}, num_warps=2),
        triton.Config({"BLOCK": 4096}, num_warps=8),
    ],
    key=["n"],
    prune_configs_by={
        "early_config_prune": lambda configs, named, **_: [c for c in configs if c.kwargs["BLOCK"] < 4096]
    },
    reset_to_zero=["y_ptr"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(y_ptr + r, tl.load(x_ptr + r))
    else:
        tl.store(y_ptr + r, tl.load(x_ptr + r, mask=r < n), mask=r < n)


def tuned(x):
    y = torch.ones_like(x)
    tuned_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y


@triton.jit
def described_kernel(x_desc, y_desc):
    tile = x_desc.load([tl.program_id(0) * 64, 0])
    y_desc.store([tl.program_id(0) * 64, 0], tile)


def host_descriptors(x):
    y = torch.empty_like(x)
    described_kernel[(1,)](
        TensorDescriptor.from_tensor(x, [64, 64]), TensorDescriptor.from_tensor(y, [64, 64])
    )
    return y


@triton.jit
def describing_kernel(x_ptr, y_ptr, M, N):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [64, 64])
    y = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [64, 64])
    y.store([0, 0], x.load([0, 0]))


def device_descriptors(x, allocate):
    if allocate:
        triton.set_allocator(
            lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda")
        )
    y = torch.empty_like(x)
    describing_kernel[(1,)](x, y, *x.shape)
    return y


def by_the_number_of_sms(x):
    """Asks as persistent kernels do, in both ways, and asks what a kernel takes before it launches it."""
    sms = triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"]
    again = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
    y = torch.empty_like(x)
    kernel = softmax_kernel.warmup(x, y, x.stride(0), D=64, grid=(1,))
    kernel._init_handles()
    fits = 65536 // (kernel.n_regs * 32 * kernel.metadata.num_warps)
    kernel[(min(sms, again), 1, 1)](x, y, x.stride(0), 64)
    return y if fits > 1 else None


def on_cuda(x):
    return torch.empty(4, device="cuda")


def insists_on_cuda(x):
    assert x.is_cuda, "x must be on the GPU"


def without_an_argument(x):
    softmax_kernel[(4,)](x, x, 64)


def with_a_huge_grid(x):
    softmax_kernel[(1, 70000)](x, x, 64, D=64)


def with_a_fractional_grid(x):
    softmax_kernel[(x.shape[0] / 2,)](x, x, 64, D=64)


def twice(x):
    softmax(x)
    softmax(x)
    raise ValueError("after two launches")


def keeps_its_sevens(x):
    y = torch.full_like(x, 7.0)
    softmax_kernel[(4,)](x, y, 64, D=64)
    assert bool((y == 7.0).all())


@triton.jit
def leaving_kernel(x_ptr, n):
    for i in range(n):
        if i > 3:
            break  # the line of the break
        tl.store(x_ptr + i, 1.0)


def leaving(x):
    leaving_kernel[(1,)](x, 5)


def cases():
    """Name, function, arguments, keywords, target."""
    half, single = tensor(512, 512), tensor(512, 512, dtype=torch.float32)
    x = tensor(4, 64, dtype=torch.float32)
    q = tensor(2, 512, 128)
    yield "attention", attention, (q, q, q), {}, "sm_90"
    yield "attention_sm_80", attention, (q, q, q), {}, "sm_80"
    yield "matmul_sm_89", matmul, (half, half), {}, "sm_89"
    big = {"BM": 128, "BN": 256, "BK": 128, "num_stages": 4, "num_warps": 8}
    yield "over_size", matmul, (half, half), big, "sm_90"
    spilling = {"BM": 128, "BN": 256, "BK": 32, "num_stages": 2, "num_warps": 4}
    yield "spills", matmul, (half, half), spilling, "sm_90"
    yield "ieee", matmul, (single, single), {"PRECISION": "ieee"}, "sm_90"
    yield "tf32", matmul, (single, single), {}, "sm_90"
    yield "small_rows", matmul, (half, half), {"BM": 32}, "sm_90"
    yield "without_dot", product_without_dot, (half, half), {}, "sm_90"
    unaligned = tensor(512 * 512 + 1)[1:].view(512, 512)
    yield "unaligned", matmul, (unaligned, half), {}, "sm_90"
    yield "not_a_power_of_two", softmax, (tensor(4, 96, dtype=torch.float32),), {}, "sm_90"
    yield "mixing", mixing, (single, tensor(32, 32, dtype=torch.float16)), {}, "sm_90"
    yield "bogus_ptx", bogus_ptx, (x,), {}, "sm_90"
    yield "tuned", tuned, (tensor(1000, dtype=torch.float32),), {}, "sm_90"
    yield "host_descriptors", host_descriptors, (tensor(64, 64),), {}, "sm_90"
    yield "device_descriptors", device_descriptors, (tensor(64, 64), False), {}, "sm_90"
    yield "device_descriptors_allocated", device_descriptors, (tensor(64, 64), True), {}, "sm_90"
    for function in (
        by_the_number_of_sms,
        on_cuda,
        insists_on_cuda,
        without_an_argument,
        with_a_huge_grid,
        with_a_fractional_grid,
        twice,
        keeps_its_sevens,
        leaving,
    ):
        yield function.__name__, function, (x,), {}, "sm_90"


def reports():
    """Return, by case, the launches and the host code's error."""
    found = {}
    for name, function, args, kwargs, target in cases():
        call = compile_call(function, args, kwargs, target=target)
        found[name] = {
            "launches": [launch.model_dump(mode="json") for launch in call.launches],
            "error": call.error and f"{type(call.error).__name__}: {call.error}",
        }
    return found


def refuse(*args, **kwargs):
    raise RuntimeError("compiled again")


def facts():
    """Return what can only be seen in the process that compiles."""
    found = {}
    x = tensor(4, 64, dtype=torch.float32)
    run, properties, scratch = JITFunction.run, torch.cuda.get_device_properties, Path(tempfile.gettempdir())
    before = {path.name for path in scratch.iterdir()}
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        first = compile_call(softmax, (x,), cache=cache).launches
        mistaken = compile_call(leaving, (x,), cache=cache).launches
        original, triton.compiler.compile = triton.compiler.compile, refuse
        found["second_is_read"] = (
            first == compile_call(softmax, (x,), cache=cache).launches and first[0].compiles
        )
        found["failure_is_read"] = mistaken == compile_call(leaving, (x,), cache=cache).launches
        wider = compile_call(softmax, (tensor(4, 128, dtype=torch.float32),), cache=cache).launches[0]
        found["another_constant_is_compiled"] = wider.message == "compiled again"
        half = compile_call(softmax, (x.bfloat16(),), cache=cache).launches[0]
        found["another_dtype_is_compiled"] = half.message == "compiled again"
        other = compile_call(softmax, (x,), cache=cache, target="sm_80").launches[0]
        found["another_target_is_compiled"] = other.message == "compiled again"
        elsewhere = compile_call(softmax, (x,), cache=cache / "other").launches[0]
        found["another_folder_is_compiled"] = elsewhere.message == "compiled again"
        triton.compiler.compile = original
        for path in cache.glob("*.json"):
            path.write_text("{")
        found["spoilt_is_compiled"] = first == compile_call(softmax, (x,), cache=cache).launches
    found["hooks_are_gone"] = JITFunction.run is run and torch.cuda.get_device_properties is properties
    found["driver_is_gone"] = driver._active is None
    found["nothing_is_left"] = {path.name for path in scratch.iterdir() if "rooflab" in path.name} <= before
    found["cache_variable_is_gone"] = "TRITON_CACHE_DIR" not in os.environ
    found["unchanged"] = not changed()

    def patches(x):
        JITFunction.run = lambda self, *args, **kwargs: None
        softmax(x)

    found["patched_sees_nothing"] = compile_call(patches, (x,)).launches == ()
    found["patch_is_seen"] = changed() and JITFunction.run is run
    return found


if __name__ == "__main__":
    json.dump({"reports": reports(), "facts": facts()}, sys.stdout)
