"""Inline PTX and libdevice under the mended interpreter."""

import math

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda.libdevice import expm1

from grader.kernels import interpreter
from grader.kernels.faults import NeedsGpu
from grader.kernels.interpreter.ptx import run
from grader.kernels.interpreter.ptx_instructions import Unknown
from tests.kernels._interpreted import interpreted

F32, U32, I32 = np.dtype(np.float32), np.dtype(np.uint32), np.dtype(np.int32)


@triton.jit
def exp2_kernel(source, target, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    x = tl.load(source + at)
    y = tl.inline_asm_elementwise(
        "ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )
    tl.store(target + at, y)


@triton.jit
def bytes_kernel(source, other, ints, floats, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    integer, largest = tl.inline_asm_elementwise(
        asm="""
        {
            // Four bytes at a time.
            .reg .b8 part<4>;
            mov.b32 {part0, part1, part2, part3}, $8;
            cvt.u32.u8 $0, part0;
            cvt.u32.u8 $1, part1;
            cvt.u32.u8 $2, part2;
            cvt.u32.u8 $3, part3;
        }
        cvt.rn.f32.s32 $4, $0;
        cvt.rn.f32.s32 $5, $1;
        cvt.rn.f32.s32 $6, $2;
        cvt.rn.f32.s32 $7, $3;
        max.f32 $4, $4, $9;
        max.f32 $5, $5, $10;
        max.f32 $6, $6, $11;
        max.f32 $7, $7, $12;
        """,
        constraints="=r,=r,=r,=r,=r,=r,=r,=r,r,r,r,r,r",
        args=[tl.load(source + at), tl.load(other + at)],
        dtype=(tl.int32, tl.float32),
        is_pure=True,
        pack=4,
    )
    tl.store(ints + at, integer)
    tl.store(floats + at, largest)


@triton.jit
def pair_kernel(source, target, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    y = tl.inline_asm_elementwise(
        "fma.rn.bf16x2 $0, $1, $1, $1;",
        "=r,r",
        [tl.load(source + at)],
        dtype=tl.bfloat16,
        is_pure=True,
        pack=2,
    )
    tl.store(target + at, y)


@triton.jit
def unknown_kernel(target):
    y = tl.inline_asm_elementwise("mov.u32 $0, %smid;", "=r", [], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(target, y)


@triton.jit
def libdevice_kernel(source, target, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    x = tl.load(source + at)
    y = libdevice.tanh(x) + libdevice.pow(tl.abs(x), 1.5) + expm1(x) + tl.extra.cuda.libdevice.fast_expf(x)
    tl.store(target + at, y)


@triton.jit
def bessel_kernel(source, target):
    at = tl.arange(0, 16)
    tl.store(target + at, libdevice.j0(tl.load(source + at)))


@triton.jit
def half_tanh_kernel(source, target):
    at = tl.arange(0, 16)
    tl.store(target + at, libdevice.tanh(tl.load(source + at)))


def one(asm, *inputs, target=F32, constraints=None):
    """One instance for each element, one output."""
    letters = ",".join(["=r"] + ["r"] * len(inputs)) if constraints is None else constraints
    (result,) = run(asm, letters, list(inputs), [target], inputs[0].shape, 1)
    return result


@interpreted
def test_exp2_by_inline_ptx():
    """ex2.approx, the commonest."""
    interpreter.install()
    x, y = torch.randn(64) * 10, torch.zeros(64)
    exp2_kernel[(1,)](x, y, SIZE=64)
    assert torch.allclose(y, torch.exp2(x), rtol=1e-6)


@interpreted
def test_four_bytes_share_a_register():
    """pack=4, as in triton's own documentation of inline assembly."""
    interpreter.install()
    a = torch.arange(64, dtype=torch.int32).to(torch.uint8)
    b = torch.randn(64) * 40
    c, d = torch.zeros(64, dtype=torch.int32), torch.zeros(64)
    bytes_kernel[(1,)](a, b, c, d, SIZE=64)
    assert torch.equal(c, a.int())
    assert torch.equal(d, torch.maximum(a.float(), b))


@interpreted
def test_two_bf16_share_a_register():
    """fma.rn.bf16x2 rounds once."""
    interpreter.install()
    x = torch.randn(64).bfloat16()
    y = torch.zeros_like(x)
    pair_kernel[(1,)](x, y, SIZE=64)
    assert torch.equal(y, (x.double() * x.double() + x.double()).bfloat16())


@interpreted
def test_ptx_that_is_not_emulated_needs_a_gpu():
    """Names the instruction and the line."""
    interpreter.install()
    with pytest.raises(Exception, match="smid") as caught:
        unknown_kernel[(1,)](torch.zeros(1, dtype=torch.int32))
    needs = interpreter.explain(caught.value)
    assert isinstance(needs, NeedsGpu)
    assert "inline PTX `mov.u32 $0, %smid`" in str(needs)
    assert "y = tl.inline_asm_elementwise(" in str(needs)


@interpreted
def test_libdevice_is_called_however_it_was_imported():
    """The module, a name out of it, and the path through tl."""
    interpreter.install()
    x, y = torch.randn(64), torch.zeros(64)
    libdevice_kernel[(1,)](x, y, SIZE=64)
    expected = x.tanh() + x.abs() ** 1.5 + x.expm1() + x.exp()
    assert torch.allclose(y, expected, rtol=1e-6, atol=1e-6)


@interpreted
def test_libdevice_that_is_not_emulated_needs_a_gpu():
    """A Bessel function."""
    interpreter.install()
    with pytest.raises(Exception, match="j0") as caught:
        bessel_kernel[(1,)](torch.zeros(16), torch.zeros(16))
    needs = interpreter.explain(caught.value)
    assert isinstance(needs, NeedsGpu)
    assert "__nv_j0f of libdevice" in str(needs)
    assert "libdevice.j0(tl.load(source + at))" in str(needs)


@interpreted
def test_libdevice_of_halves_says_what_to_cast():
    """Triton's own error is KeyError: (fp16,)."""
    interpreter.install()
    x = torch.zeros(16).half()
    with pytest.raises(Exception, match=r"libdevice has no tanh of \(fp16\): cast first"):
        half_tanh_kernel[(1,)](x, x.clone())


@pytest.mark.parametrize(
    ("instruction", "function"),
    [
        ("ex2.approx.f32", np.exp2),
        ("lg2.approx.ftz.f32", np.log2),
        ("rcp.approx.f32", lambda x: 1 / x),
        ("sqrt.approx.f32", np.sqrt),
        ("rsqrt.approx.ftz.f32", lambda x: 1 / np.sqrt(x)),
        ("sin.approx.f32", np.sin),
        ("cos.approx.f32", np.cos),
        ("neg.f32", np.negative),
        ("abs.f32", np.abs),
    ],
)
def test_one_operand_instructions(instruction, function):
    """Against numpy."""
    x = np.linspace(0.1, 9, 64, dtype=np.float32)
    assert np.allclose(one(f"{instruction} $0, $1;", x), function(x), rtol=1e-6)


def test_tanh_approx_has_eleven_bits():
    """Largest relative error 2^-11, and not much less."""
    x = np.linspace(-4, 4, 1000, dtype=np.float32)
    error = np.abs(one("tanh.approx.f32 $0, $1;", x) / np.tanh(x.astype(np.float64)) - 1)
    assert 2.0**-13 < error.max() <= 2.0**-11


def test_two_operands_and_literals():
    """Registers of one's own, decimal and hexadecimal floats, predicates."""
    x, y = np.array([1.0, -2.0, 3.5], np.float32), np.array([2.0, 2.0, 0.5], np.float32)
    assert one("add.f32 $0, $1, $2;", x, y).tolist() == [3.0, 0.0, 4.0]
    assert one("div.rn.f32 $0, $1, $2;", x, y).tolist() == [0.5, -1.0, 7.0]
    assert one("mul.f32 $0, $1, 0f40000000;", x).tolist() == [2.0, -4.0, 7.0]
    assert one("{ .reg .f32 t; mul.f32 t, $1, $1; sub.f32 $0, t, 1.0; }", x).tolist() == [0.0, 3.0, 11.25]
    clamp = "{ .reg .pred p; setp.gt.f32 p, $1, 1.5; selp.f32 $0, $2, $1, p; @!p neg.f32 $0, $0; }"
    assert one(clamp, x, y).tolist() == [-1.0, 2.0, 0.5]


def test_an_input_may_share_the_outputs_register():
    """Constraint 0."""
    x, y = np.array([1.0], np.float32), np.array([2.0], np.float32)
    assert one("add.f32 $0, $0, $2;", x, y, constraints="=f,0,f").tolist() == [3.0]


def test_conversions_round_as_their_suffix_says():
    """Two fp32 into a register of bf16, the first in the upper half; to TF32; to integers."""
    x, y = np.array([1 + 2**-8 + 2**-20], np.float32), np.array([-2.0], np.float32)
    packed = one("cvt.rn.bf16x2.f32 $0, $1, $2;", x, y, target=U32)
    assert packed.tolist() == [0x3F81C000]
    packed = one(
        "cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", np.array([1e9], np.float32), y, target=np.dtype(np.uint16)
    )
    assert packed.tolist() == [0x7EC0]
    assert one("cvt.rna.tf32.f32 $0, $1;", np.array([1 + 2**-11], np.float32)).tolist() == [1 + 2**-10]
    for suffix, expected in (("rzi", -1), ("rni", -2), ("rmi", -2), ("rpi", -1)):
        assert one(f"cvt.{suffix}.s32.f32 $0, $1;", np.array([-1.5], np.float32), target=I32).tolist() == [
            expected
        ]


def test_integers_wrap_and_shift():
    """Words of 32 bits."""
    a, b = np.array([0xFFFFFFFF, 0x80000001], np.uint32), np.array([2, 4], np.uint32)
    assert one("add.u32 $0, $1, $2;", a, b, target=U32).tolist() == [1, 0x80000005]
    assert one("mul.lo.u32 $0, $1, $2;", a, b, target=U32).tolist() == [0xFFFFFFFE, 4]
    assert one("mul.hi.u32 $0, $1, $2;", a, b, target=U32).tolist() == [1, 2]
    assert one("shl.b32 $0, $1, $2;", a, b, target=U32).tolist() == [0xFFFFFFFC, 0x10]
    assert one("shr.u32 $0, $1, 40;", a, target=U32).tolist() == [0, 0]
    assert one("shr.s32 $0, $1, 40;", a, target=U32).tolist() == [0xFFFFFFFF, 0xFFFFFFFF]
    assert one("prmt.b32 $0, $1, $2, 0x5410;", a, b, target=U32).tolist() == [0x0002FFFF, 0x00040001]
    assert one("lop3.b32 $0, $1, $2, 0, 0x3C;", a, b, target=U32).tolist() == [0xFFFFFFFD, 0x80000005]


def test_ftz_flushes_small_numbers():
    """To a zero of the same sign."""
    x = np.array([1e-40, -1e-40], np.float32)
    assert one("add.ftz.f32 $0, $1, 0f00000000;", x).tolist() == [0.0, 0.0]
    assert one("add.f32 $0, $1, 0f00000000;", x).tolist() == x.tolist()


@pytest.mark.parametrize(
    "asm", ["bar.sync 0;", "add.rz.f32 $0, $1, $1;", "add.f32 $0, $1;", "ld.global.f32 $0, [$1];"]
)
def test_other_ptx_is_named_and_refused(asm):
    """Never a wrong number, never an exception of numpy's."""
    with pytest.raises(Unknown):
        one(asm, np.ones(2, np.float32))


def test_libdevice_functions_are_those_of_python():
    """By the symbol, in fp32."""
    from grader.kernels.interpreter.libdevice import call

    x = np.linspace(0.1, 0.9, 32, dtype=np.float32)
    for symbol, function in (
        ("__nv_erff", math.erf),
        ("__nv_lgammaf", math.lgamma),
        ("__nv_log1pf", math.log1p),
        ("__nv_fast_logf", math.log),
        ("__nv_fsqrt_rn", math.sqrt),
        ("__nv_atanhf", math.atanh),
        ("__nv_cbrtf", lambda value: value ** (1 / 3)),
    ):
        got = call(symbol, [x], F32)
        assert got.dtype == np.float32
        assert np.allclose(got, [function(float(value)) for value in x], rtol=1e-6), symbol
    assert call("__nv_powf", [x, x], F32)[3] == pytest.approx(float(x[3]) ** float(x[3]))
    assert call("__nv_isnanf", [np.array([np.nan, 1.0], np.float32)], I32).tolist() == [1, 0]
