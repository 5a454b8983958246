"""Functions of libdevice, by numpy: `tl.extra.libdevice.tanh` and its like, and `extern_elementwise` of their symbols.

libdevice's own are within 2 ulp of the exact value; these are computed in fp64 and rounded once.
"""

import importlib
import math
from collections.abc import Callable, Container, Mapping
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np

from .. import places
from ..faults import NeedsGpu
from . import patches
from .number_formats import FP32, FP64, Array

Function = Callable[..., Any]


def _each(function: Function) -> Function:
    return np.vectorize(function, otypes=[FP64])


def _gamma_of(function: Function) -> Function:
    def at(x: float) -> float:
        # Python raises at the poles; libdevice gives inf.
        try:
            return float(function(x))
        except (ValueError, OverflowError):
            return math.inf if x > -math.inf else math.nan

    return _each(at)


_erf = _each(math.erf)
_erfc = _each(math.erfc)

# By the symbol without "__nv_" and without the f of fp32.
FUNCTIONS: Mapping[str, Function] = MappingProxyType({
    "exp": np.exp, "exp2": np.exp2, "exp10": lambda x: np.power(10.0, x), "expm1": np.expm1, "log": np.log,
    "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "logb": lambda x: np.floor(np.log2(np.abs(x))),
    "pow": np.power, "powi": np.power, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "cbrt": np.cbrt,
    "rcbrt": lambda x: 1 / np.cbrt(x), "hypot": np.hypot, "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "atan2": np.arctan2, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "sinpi": lambda x: np.sin(np.pi * x),
    "cospi": lambda x: np.cos(np.pi * x), "erf": _erf, "erfc": _erfc,
    "erfcx": lambda x: np.exp(x * x) * _erfc(x), "normcdf": lambda x: 0.5 * _erfc(-x / math.sqrt(2)),
    "tgamma": _gamma_of(math.gamma), "lgamma": _gamma_of(math.lgamma), "fabs": np.abs, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "nearbyint": np.rint,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "fmax": np.fmax, "fmin": np.fmin,
    "fmod": np.fmod, "remainder": lambda x, y: x - y * np.rint(x / y),
    "fdim": lambda x, y: np.maximum(x - y, 0), "copysign": np.copysign, "fma": lambda x, y, z: x * y + z,
    "saturate": lambda x: np.fmin(np.fmax(x, 0), 1), "ldexp": lambda x, n: x * np.exp2(n),
    "scalbn": lambda x, n: x * np.exp2(n), "nextafter": np.nextafter, "isnan": np.isnan, "isinf": np.isinf,
    "finite": np.isfinite, "isfinited": np.isfinite, "signbit": np.signbit, "fast_exp": np.exp,
    "fast_exp10": lambda x: np.power(10.0, x), "fast_log": np.log, "fast_log2": np.log2,
    "fast_log10": np.log10, "fast_sin": np.sin, "fast_cos": np.cos, "fast_tan": np.tan, "fast_tanh": np.tanh,
    "fast_pow": np.power, "fast_fdivide": lambda x, y: x / y, "frcp": lambda x: 1 / x,
    "drcp": lambda x: 1 / x, "frsqrt": lambda x: 1 / np.sqrt(x), "fadd": lambda x, y: x + y,
    "dadd": lambda x, y: x + y, "fsub": lambda x, y: x - y, "dsub": lambda x, y: x - y,
    "fmul": lambda x, y: x * y, "dmul": lambda x, y: x * y, "fdiv": lambda x, y: x / y,
    "ddiv": lambda x, y: x / y, "fsqrt": np.sqrt, "dsqrt": np.sqrt, "fmaf": lambda x, y, z: x * y + z,
    "float2int": np.rint, "llrint": np.rint, "llround": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "abs": np.abs, "llabs": np.abs, "min": np.minimum, "max": np.maximum, "umin": np.minimum,
    "umax": np.maximum, "popc": np.bitwise_count, "popcll": np.bitwise_count,
})  # fmt: skip

_INTEGER = {"abs", "llabs", "min", "max", "umin", "umax", "popc", "popcll"}
_CLASSIFIES = {"isnan", "isinf", "finite", "isfinited", "signbit"}


def mend(interpreter: Any) -> list[tuple[Function, Function]]:
    """Make libdevice callable in interpreted kernels; returns triton's own functions, each with what replaces it."""
    handle = interpreter.TensorHandle

    def create_extern_elementwise(
        self: Any,
        lib_name: str,
        lib_path: str,
        symbol: str,
        arguments: list[Any],
        ret_type: Any,
        is_pure: bool,
    ) -> Any:
        target = interpreter._get_np_dtype(ret_type)
        return handle(call(symbol, [argument.data for argument in arguments], target), ret_type.scalar)

    patches.replace(interpreter.InterpreterBuilder, "create_extern_elementwise", create_extern_elementwise)
    replaced: list[tuple[Function, Function]] = []
    cuda = importlib.import_module("triton.language.extra.cuda.libdevice")
    general = importlib.import_module("triton.language.extra.libdevice")
    intrinsics = importlib.import_module("triton.language.extra.cuda")
    for module in (cuda, intrinsics):
        for name, function in _builtins(module):
            given = _with_semantic(function, interpreter.interpreter_semantic)
            replaced.append((function, given))
            patches.replace(module, name, given)
    for name, function in list(vars(general).items()):
        if callable(function) and hasattr(cuda, name):
            replaced.append((function, getattr(cuda, name)))
            patches.replace(general, name, getattr(cuda, name))
    return replaced


def call(symbol: str, arguments: list[Array], target: np.dtype[Any]) -> Array:
    """One libdevice function; raises NeedsGpu for one that is not on the list."""
    name = function_name(symbol, FUNCTIONS)
    if not name:
        raise NeedsGpu(f"{symbol} of libdevice cannot be emulated, only a GPU runs it ({where()})")
    function = FUNCTIONS[name]
    if name in _INTEGER:
        return np.asarray(function(*arguments)).astype(target)
    wide = [a.astype(FP64) if a.dtype.kind != "i" and a.dtype in (FP32, np.float16) else a for a in arguments]
    result = np.asarray(function(*arguments) if name == "nextafter" else function(*wide))
    return result.astype(target)


def function_name(symbol: str, known: Container[str]) -> str:
    """Which of the `known` functions a symbol is: `__nv_tanhf` is tanh, `__nv_fsqrt_rn` is fsqrt; "" for none."""
    name = symbol.removeprefix("__nv_")
    for ending in ("_rn", "_rz", "_rd", "_ru"):
        name = name.removesuffix(ending)
    names = (name, name.removesuffix("f"), name.removesuffix("l"))
    return next((each for each in names if each in known), "")


def where() -> str:
    """The line of the student's that is running, for a message."""
    place, _ = places.here()
    return f"line {place.line}: {place.source}"


def _builtins(module: ModuleType) -> list[tuple[str, Function]]:
    from triton.language import core

    return [
        (name, value) for name, value in vars(module).items() if callable(value) and core.is_builtin(value)
    ]


def _with_semantic(function: Any, semantic: Any) -> Function:
    """The interpreter gives its own builtins what the compiler would hand them, but not those of libdevice."""

    def given(*args: Any, **kwargs: Any) -> Any:
        kwargs["_semantic"] = semantic
        try:
            return function(*args, **kwargs)
        except KeyError as error:
            # The key is a tuple of triton's own kind.
            types = ", ".join(str(part) for part in error.args[0])
            name = function.__name__
            raise TypeError(f"libdevice has no {name} of ({types}): cast first, x.to(tl.float32)") from error

    given.__name__ = function.__name__
    given.__doc__ = function.__doc__
    return given
