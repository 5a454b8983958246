"""Numbers as people read them, and what a wrong ratio gives away: GiB for GB, bits for bytes."""

import math

_BYTES = ("bytes", "B")
_OF_BYTES: tuple[tuple[float, str], ...] = (
    (1.024**3, "GiB and GB mixed up (2^30 against 1e9)"),
    (1.024**2, "MiB and MB mixed up (2^20 against 1e6)"),
    (1.024, "KiB and kB mixed up (1024 against 1000)"),
    (8.0, "a factor of 8: bits and bytes mixed up, or something counted 8 times, or once instead of 8 times"),
    (
        4.0,
        "a factor of 4: bytes and fp32 numbers mixed up, or something counted 4 times, or once instead of 4 times",
    ),
    (1e9, "a factor of 1e9: bytes and GB"),
    (1024.0, "a factor of 1024: bytes, KiB, MiB and GiB"),
    (1024.0**2, "a factor of 2^20: bytes and MiB"),
    (1024.0**3, "a factor of 2^30: bytes and GiB"),
)
_OF_ANY: tuple[tuple[float, str], ...] = (
    (2.0, "twice or half the right value: something counted twice, or once instead of twice"),
    (100.0, "a factor of 100: per cent and shares"),
    (1e3, "a factor of 1000: kilo, mega and giga"),
    (1e6, "a factor of a million: kilo, mega and giga"),
    (1e9, "a factor of 1e9: kilo, mega and giga"),
)
"""What a ratio gives away where no unit narrows it down: 3, 4 or 8 may as well be a number of layers or of GPUs."""


def show(value: object, unit: str = "") -> str:
    """A value for a message: thousands grouped, large byte counts with GB beside, at most 200 characters."""
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, int):
        text = (
            f"{value:,}"
            if abs(value) < 10**21
            else f"{float(value):.6g}"
            if abs(value) < 10**300
            else "a huge number"
        )
    elif isinstance(value, float):
        text = f"{int(value):,}" if value.is_integer() and abs(value) < 1e15 else f"{value:.9g}"
    else:
        try:
            text = repr(value)
        except Exception:  # an integer of thousands of digits inside, or nesting without end
            return f"a {type(value).__name__} that is too large to show"
        return text if len(text) <= 200 else text[:197] + "..."
    if unit == "bytes" and isinstance(value, int | float) and 1e9 <= abs(value) < 1e18:
        return f"{text} bytes ({value / 1e9:.4g} GB)"
    return f"{text} {unit}" if unit else text


def off_by(got: float, expected: float) -> str:
    """How far off, in words: the ratio, or the difference where one side is 0."""
    if expected == 0 or got == 0:
        return "it should be 0" if expected == 0 else "it is 0"
    ratio = _ratio(got, expected)
    if ratio < 0:
        return _sign(ratio, got)
    if abs(ratio - 1) < 1e-9:
        return "very near, and not equal"
    if abs(ratio - 1) < 5e-4:
        return f"off by {(ratio - 1) * 100:+.2g} %"
    return f"{ratio:.4g} × the right value"


def roughly_off(got: float, expected: float) -> str:
    """How far off, too coarsely to give a hidden value away: a known answer and an exact ratio would tell it."""
    if expected == 0 or got == 0:
        return off_by(got, expected)
    ratio = _ratio(got, expected)
    if ratio < 0:
        return _sign(ratio, got)
    direction = "too large" if ratio > 1 else "too small"
    factor = max(ratio, 1 / ratio) if ratio else math.inf
    if factor < 1.01:
        return f"{direction}, by less than 1 %"
    if factor < 1.5:
        return f"{direction}, by less than half"
    return f"{direction}, several times over" if factor > 3 else direction


def unit_mistake(got: float, expected: float, unit: str = "") -> str:
    """The likely confusion behind a ratio of two numbers of this unit, or an empty string."""
    if not expected or not got:
        return ""
    ratio = _ratio(got, expected)
    for factor, cause in (*(_OF_BYTES if unit in _BYTES else ()), *_OF_ANY):
        if math.isclose(ratio, factor, rel_tol=1e-6) or math.isclose(ratio, 1 / factor, rel_tol=1e-6):
            return cause
    return ""


def _sign(ratio: float, got: float) -> str:
    """A sign alone is wrong only where the size is right."""
    return "the sign is wrong" if abs(ratio + 1) < 1e-9 else f"it is {'below' if got < 0 else 'above'} 0"


def _ratio(got: float, expected: float) -> float:
    """`got / expected`, infinite where it is beyond a float: a submission's integer has no bound."""
    try:
        return got / expected
    except OverflowError:
        return math.inf if (got > 0) == (expected > 0) else -math.inf
