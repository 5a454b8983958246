"""Numbers as a report writes them: bytes, counts, times, shapes."""

from collections.abc import Sequence

DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "float64": "fp64"}


def shape_text(shape: Sequence[int]) -> str:
    """(2, 256, 64) as 2×256×64."""
    return "×".join(map(str, shape)) or "scalar"


def bytes_text(count: int) -> str:
    """Bytes to three digits, decimal units."""
    return f"{count} B" if count < 1000 else f"{count_text(count)}B"


def kib_text(count: int) -> str:
    """Shared memory, which everybody counts in KiB."""
    return f"{count} B" if count < 1024 else f"{count / 1024:.4g} KiB"


def count_text(count: float) -> str:
    """1234567 as "1.23 M" (a unit may follow)."""
    for size, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size * 0.9995:
            return f"{count / size:.3g} {prefix}" if count / size < 999.5 else f"{count / size:.0f} {prefix}"
    return f"{count:.3g} "


def time_text(seconds: float) -> str:
    """Seconds to three digits with the unit that fits."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size * 0.9995:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def plural(count: int, word: str) -> str:
    """1 program, 2 programs."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
