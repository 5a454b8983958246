"""The mended interpreter computes with bf16 as PyTorch on a CPU does, which rounds once to nearest even."""

import pytest
import torch
import triton
import triton.language as tl

from grader.kernels import interpreter
from tests.kernels._interpreted import interpreted

SIZE = 1 << 16


@triton.jit
def copy_kernel(source, target, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(target + at, tl.load(source + at).to(target.dtype.element_ty))


@triton.jit
def cut_kernel(source, target, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(target + at, tl.cast(tl.load(source + at), target.dtype.element_ty, fp_downcast_rounding="rtz"))


@triton.jit
def binary_kernel(left, right, target, OPERATION: tl.constexpr, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    a = tl.load(left + at)
    b = tl.load(right + at)
    if OPERATION == "add":
        c = a + b
    elif OPERATION == "sub":
        c = a - b
    elif OPERATION == "mul":
        c = a * b
    elif OPERATION == "div":
        c = a / b
    elif OPERATION == "maximum":
        c = tl.maximum(a, b)
    elif OPERATION == "minimum":
        c = tl.minimum(a, b)
    elif OPERATION == "where":
        c = tl.where(a > b, a, b)
    elif OPERATION == "neg":
        c = -a
    else:
        c = tl.abs(a)
    tl.store(target + at, c.to(target.dtype.element_ty))


@triton.jit
def constants_kernel(target, VALUE: tl.constexpr):
    at = tl.arange(0, 16)
    made = tl.full((16,), VALUE, tl.bfloat16) + tl.zeros((16,), tl.bfloat16)
    tl.store(target + at, made)


@triton.jit
def masked_kernel(source, target, count, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(target + at, tl.load(source + at, mask=at < count, other=-1.5), mask=at < count + 2)


@triton.jit
def bitcast_kernel(source, target, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(target + at, tl.load(source + at).to(target.dtype.element_ty, bitcast=True))


@triton.jit
def descriptor_kernel(source, target, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    load = tl.make_tensor_descriptor(source, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    store = tl.make_tensor_descriptor(target, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    first = tl.program_id(0) * ROWS
    store.store([first, 0], load.load([first, 0]) * 2)


@triton.jit
def block_pointer_kernel(source, target, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    first = tl.program_id(0) * ROWS
    load = tl.make_block_ptr(source, (rows, columns), (columns, 1), (first, 0), (ROWS, COLUMNS), (1, 0))
    store = tl.make_block_ptr(target, (rows, columns), (columns, 1), (first, 0), (ROWS, COLUMNS), (1, 0))
    value = tl.load(load, boundary_check=(0, 1), padding_option="zero")
    tl.store(store, value * 2, boundary_check=(0, 1))


@triton.jit
def exp_kernel(source, target):
    at = tl.arange(0, 16)
    tl.store(target + at, tl.exp(tl.load(source + at)))


@triton.jit
def fma_kernel(x, y, z, target):
    at = tl.arange(0, 16)
    tl.store(target + at, tl.fma(tl.load(x + at), tl.load(y + at), tl.load(z + at)))


@triton.jit
def clamp_kernel(source, target):
    at = tl.arange(0, 16)
    x = tl.load(source + at)
    tl.store(target + at, tl.clamp(x, -1.0, 1.0).to(target.dtype.element_ty))


@triton.jit
def flag_kernel(target, flag):
    at = tl.arange(0, 16)
    if flag:
        tl.store(target + at, at)


def every_bf16():
    """All 65536 bit patterns."""
    return torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)


def same(got, expected):
    """Equal in every bit, whatever the bits of a NaN."""
    return bool(((got == expected) | (got.isnan() & expected.isnan())).all())


def either(a, b, first):
    """The one that is no NaN; torch.fmax gives NaN for a signalling one, the device does not."""
    return torch.where(b.isnan() | (first & ~a.isnan()), a, b)


def launch(kernel, *arguments, grid=(1,), **options):
    interpreter.install()
    kernel[grid](*arguments, **options)


@interpreted
def test_every_bf16_survives_load_and_store():
    """All 65536 patterns, NaN payloads too."""
    source, target = every_bf16(), torch.zeros(SIZE, dtype=torch.bfloat16)
    launch(copy_kernel, source, target, SIZE=SIZE)
    assert torch.equal(source.view(torch.int16), target.view(torch.int16))


@interpreted
def test_every_bf16_widens_exactly():
    """To fp32, all 65536 of them."""
    target = torch.zeros(SIZE)
    launch(copy_kernel, every_bf16(), target, SIZE=SIZE)
    assert same(target, every_bf16().float())


@interpreted
def test_fp32_is_rounded_to_the_nearest_even_bf16():
    """Ties, their neighbours, overflow to infinity, NaN, subnormals."""
    high = torch.arange(SIZE, dtype=torch.int64) << 16
    for low in (0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF):
        source = (high + low).to(torch.int32).view(torch.float32)
        target = torch.zeros(SIZE, dtype=torch.bfloat16)
        launch(copy_kernel, source, target, SIZE=SIZE)
        assert same(target, source.to(torch.bfloat16)), hex(low)


@interpreted
def test_fp32_is_cut_where_rtz_is_asked_for():
    """The upper half of the bits."""
    source = torch.randn(1024) * 3
    target = torch.zeros(1024, dtype=torch.bfloat16)
    launch(cut_kernel, source, target, SIZE=1024)
    upper = (source.view(torch.int32) >> 16).to(torch.int16)
    assert torch.equal(target.view(torch.int16), upper)


@pytest.mark.parametrize("value", [1.0 + 2**-8 + 2**-30, 1.0 + 2**-8 - 2**-40, -1.5 - 2**-8 - 2**-34])
@interpreted
def test_fp64_is_rounded_once_on_its_way_to_bf16(value):
    """Through fp32, a number a little over a tie would fall on the tie and then to even."""
    target = torch.zeros(16, dtype=torch.bfloat16)
    launch(copy_kernel, torch.full((16,), value, dtype=torch.float64), target, SIZE=16)
    steps = target[0].double() + torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64) * 2**-7
    assert abs(target[0].double() - value) == (steps - value).abs().min()


@interpreted
def test_an_integer_is_rounded_once_on_its_way_to_bf16():
    """2^24 + 2^16 + 1 lies over a tie; in fp32 it would lie on it."""
    source = torch.full((16,), 2**24 + 2**16 + 1, dtype=torch.int32)
    target = torch.zeros(16, dtype=torch.bfloat16)
    launch(copy_kernel, source, target, SIZE=16)
    assert target[0].item() == 2**24 + 2**17


@interpreted
def test_fp32_is_rounded_to_the_nearest_even_fp16():
    """Ties both ways, and beyond 65504."""
    source = torch.cat(
        [torch.randn(1000), torch.tensor([1 + 2**-11, 1 + 3 * 2**-11, 65519.0, 65520.0, 1e-8])]
    )
    source = torch.cat([source, torch.zeros(1024 - len(source))])
    target = torch.zeros(1024, dtype=torch.float16)
    launch(copy_kernel, source, target, SIZE=1024)
    assert same(target, source.half())


@pytest.mark.parametrize(
    "operation", ["add", "sub", "mul", "div", "maximum", "minimum", "where", "neg", "abs"]
)
@interpreted
def test_arithmetic_on_bf16_equals_torch(operation):
    """Every first operand, against ordinary, huge, tiny and special second ones."""
    functions = {
        "add": torch.add,
        "sub": torch.sub,
        "mul": torch.mul,
        "div": lambda a, b: a.float() / b.float(),
        "maximum": lambda a, b: either(a, b, a > b),
        "minimum": lambda a, b: either(a, b, a < b),
        "where": lambda a, b: torch.where(a > b, a, b),
        "neg": lambda a, b: -a,
        "abs": lambda a, b: a.abs(),
    }
    for second in (1.0078125, -1e38, float("inf"), float("nan")):
        a, b = every_bf16(), torch.full((SIZE,), second, dtype=torch.bfloat16)
        target = torch.zeros(SIZE, dtype=torch.float32 if operation == "div" else torch.bfloat16)
        launch(binary_kernel, a, b, target, OPERATION=operation, SIZE=SIZE)
        assert same(target, functions[operation](a, b)), second


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, -2.7182, 3, 1e30])
@interpreted
def test_constants_are_rounded_to_bf16(value):
    """tl.full and tl.zeros."""
    target = torch.ones(16, dtype=torch.bfloat16)
    launch(constants_kernel, target, VALUE=value)
    assert same(target, torch.full((16,), value, dtype=torch.bfloat16))


@interpreted
def test_masked_elements_take_other_and_stay_unwritten():
    """`other` is a bf16 too."""
    source, target = torch.randn(16).bfloat16(), torch.full((16,), 7.0, dtype=torch.bfloat16)
    launch(masked_kernel, source, target, 9, SIZE=16)
    expected = torch.cat([source[:9], torch.tensor([-1.5, -1.5] + [7.0] * 5, dtype=torch.bfloat16)])
    assert torch.equal(target, expected)


@interpreted
def test_a_bitcast_keeps_the_bits():
    """bf16 to int16 and back."""
    source, middle = every_bf16(), torch.zeros(SIZE, dtype=torch.int16)
    target = torch.zeros(SIZE, dtype=torch.bfloat16)
    launch(bitcast_kernel, source, middle, SIZE=SIZE)
    launch(bitcast_kernel, middle, target, SIZE=SIZE)
    assert torch.equal(middle, source.view(torch.int16))
    assert torch.equal(target.view(torch.int16), source.view(torch.int16))


@interpreted
def test_descriptors_of_bf16_pad_and_clip():
    """20 rows in tiles of 16."""
    x = torch.randn(20, 16).bfloat16()
    target = torch.zeros(20, 16, dtype=torch.bfloat16)
    launch(descriptor_kernel, x, target, 20, 16, grid=(2,), ROWS=16, COLUMNS=16)
    assert torch.equal(target, x * 2)


@interpreted
def test_block_pointers_of_bf16_pad_and_clip():
    """20 × 12 in tiles of 16 × 16; triton 3.8 has none."""
    if not hasattr(tl, "make_block_ptr"):
        return
    x = torch.randn(20, 12).bfloat16()
    target = torch.zeros(20, 12, dtype=torch.bfloat16)
    launch(block_pointer_kernel, x, target, 20, 12, grid=(2,), ROWS=16, COLUMNS=16)
    assert torch.equal(target, x * 2)


@interpreted
def test_exp_of_bf16_is_refused_as_the_compiler_refuses_it():
    """tl.exp takes fp32 and fp64 only."""
    source, target = torch.zeros(16).bfloat16(), torch.zeros(16).bfloat16()
    with pytest.raises(Exception, match=r"Expected dtype .*fp32.* but got bf16"):
        launch(exp_kernel, source, target)


@interpreted
def test_fma_rounds_once():
    """(1 + 2^-7)² - 1 in bf16 keeps the 2^-14 that a rounded product loses; the same in fp32 with 2^-23."""
    for dtype, step in ((torch.bfloat16, 2**-7), (torch.float32, 2**-23), (torch.float16, 2**-10)):
        x = torch.full((16,), 1 + step, dtype=dtype)
        z = torch.full((16,), -1 - 2 * step, dtype=dtype)
        target = torch.zeros(16, dtype=dtype)
        launch(fma_kernel, x, x, z, target)
        assert target[0].item() == step * step, dtype


@interpreted
def test_clamp_of_bf16_and_of_nan():
    """A NaN becomes the lower bound, as without propagate_nan on the device."""
    source = torch.tensor([-3.0, 0.5, 2.0, float("nan")] * 4).bfloat16()
    target = torch.zeros(16)
    launch(clamp_kernel, source, target)
    assert target.tolist()[:4] == [-1.0, 0.5, 1.0, -1.0]


@pytest.mark.parametrize("flag", [True, False])
@interpreted
def test_a_plain_bool_is_an_argument(flag):
    """3.7.1's own interpreter refuses it."""
    target = torch.full((16,), -1, dtype=torch.int32)
    launch(flag_kernel, target, flag)
    assert target.tolist() == (list(range(16)) if flag else [-1] * 16)


@interpreted
def test_floats_saturate_on_their_way_to_integers():
    """cvt.rzi: toward zero, the limits beyond them, NaN to 0."""
    source = torch.tensor([1.9, -1.9, 3e9, -3e9, float("nan"), float("inf"), 2147483520.0, 0.0] * 2)
    target = torch.zeros(16, dtype=torch.int32)
    launch(copy_kernel, source, target, SIZE=16)
    top = 2**31 - 1
    assert target.tolist()[:8] == [1, -1, top, -(2**31), 0, top, 2147483520, 0]
