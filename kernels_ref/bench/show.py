"""The bench's tables as text, and its rows as JSON."""

from collections.abc import Iterable, Sequence
from typing import Any

from kernels_ref.bench.cases import (
    CONVENTION,
    LENGTHS,
    TOKENS,
    WIDTHS,
    Case,
    Direction,
    all_cases,
    speed_of_light,
)
from kernels_ref.bench.measure import Row
from kernels_ref.tuning import table
from specs.gpu import Gpu, gpus

HEADINGS = ("contender", "ms", "95 %", "TFLOP/s", "to fastest", "of light", "error")


def lines(headings: Sequence[str], cells: Iterable[Sequence[str]]) -> str:
    """A table in plain text: first column to the left, the others to the right."""
    rows = [tuple(headings), *map(tuple, cells)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(headings))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def measured(rows: Sequence[Row]) -> str:
    """One case: a line for each contender."""
    return f"{rows[0].case.label}\n{lines(HEADINGS, map(_cells, rows))}"


def _cells(row: Row) -> tuple[str, ...]:
    if not row.median_s:
        return (row.contender, "–", "–", "–", "–", "–", row.absent)
    return (
        row.contender,
        f"{row.median_s * 1e3:.3f}",
        f"{row.low_s * 1e3:.3f}–{row.high_s * 1e3:.3f}",
        f"{row.tflops:.0f}",
        f"{row.to_fastest:.2f}×",
        "–" if row.of_light is None else f"{row.of_light:.0%}",
        f"{row.error:.1e}",
    )


def as_json(rows: Iterable[Row], fingerprint: dict[str, str]) -> dict[str, Any]:
    """Everything that was measured, with what it was measured on."""
    return {
        "fingerprint": fingerprint,
        "convention": CONVENTION,
        "rows": [row._asdict() | {"case": row.case._asdict(), "tflops": row.tflops} for row in rows],
    }


def light_of_gpus() -> str:
    """Speed of light of one shape on every GPU of specs that has a bf16 rate."""
    cases = [Case(TOKENS // 4096, 16, 4096, 4096, 128, causal, direction) for causal, direction in _columns()]
    cells = [
        (each.name, *(_light(case, each) for case in cases)) for each in gpus() if "bf16" in each.dense_tflops
    ]
    title = "Least ms of T 4096, B 4, H 16, D 128 in bf16, by the data sheets, and the unit that needs it"
    return f"{title}\n{lines(('GPU', *_headings()), cells)}"


def light_of_cases(gpu: Gpu) -> str:
    """Speed of light of the bench's square shapes on one GPU."""
    square = {
        (each.width, each.queries, each.causal, each.direction): each
        for each in all_cases()
        if each.queries == each.keys
    }
    cells = [
        (f"D {width} T {length}", *(_light(square[width, length, *column], gpu) for column in _columns()))
        for width in WIDTHS
        for length in LENGTHS
    ]
    return (
        f"Least ms on {gpu.name}: {TOKENS} tokens, H·D = 2048, bf16\n{lines(('shape', *_headings()), cells)}"
    )


def _columns() -> list[tuple[bool, Direction]]:
    directions: tuple[Direction, ...] = ("forward", "backward")
    return [(causal, direction) for direction in directions for causal in (False, True)]


def _headings() -> list[str]:
    return [f"{direction} {'causal' if causal else 'full'}" for causal, direction in _columns()]


def _light(case: Case, gpu: Gpu) -> str:
    light = speed_of_light(case, gpu)
    return f"{light.time_s * 1e3:.3f} {light.limited_by}"


def compile_report() -> str:
    """What the compiler said of every config for an H100: the committed table, as text."""
    headings = (
        "kernel", "D", "mask", "loads", "tile", "warps", "stages", "registers", "spill B", "shared B", "blocks/SM",
        "occupancy", "limited by", "HGMMA", "fits",
    )  # fmt: skip
    return lines(headings, (_report_cells(row) for row in table()))


def _report_cells(row: dict[str, Any]) -> tuple[str, ...]:
    config = row["config"]
    sides = [config["rows"], config["columns"], *([config["depth"]] if config["depth"] else [])]
    return (
        row["kernel"],
        "any" if row["width"] == 1 else str(row["width"]),
        "causal" if row["causal"] else "full",
        "TMA" if row["descriptors"] else "pointers",
        "×".join(str(side or "group") for side in sides),
        str(config["warps"]),
        str(config["stages"]),
        str(row["registers"]),
        str(row["spill_bytes"]),
        str(row["shared_bytes"]),
        str(row["blocks_per_sm"]),
        f"{row['occupancy']:.0%}",
        row["limited_by"],
        str(row["hgmma"]),
        "yes" if row["fits"] else "no",
    )
