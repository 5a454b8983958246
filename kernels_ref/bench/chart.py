"""The bench's chart: TFLOP/s against T, a panel for each head width and mask, a line for each contender."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernels_ref.bench.cases import CONVENTION, LENGTHS, WIDTHS, Direction
from kernels_ref.bench.measure import Row


def draw(rows: Sequence[Row], direction: Direction, gpu_name: str, path: Path) -> None:
    """Write one direction's chart; bars are 95 % intervals. The file's suffix gives the format.

    Raises:
        ModuleNotFoundError: matplotlib is not installed.
    """
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    masks = (False, True)
    figure, axes = plt.subplots(
        len(masks), len(WIDTHS), figsize=(4 * len(WIDTHS), 6.5), sharex=True, sharey=True, squeeze=False
    )
    names = list(dict.fromkeys(row.contender for row in rows if row.median_s))
    for line, causal in enumerate(masks):
        for column, width in enumerate(WIDTHS):
            panel = axes[line][column]
            for number, name in enumerate(names):
                taken = [
                    row
                    for row in rows
                    if row.median_s and row.contender == name and _in(row, direction, causal, width)
                ]
                if not taken:
                    continue
                flops = [row.case.flops / 1e12 for row in taken]
                middle = [row.tflops for row in taken]
                below = [mid - work / row.high_s for mid, work, row in zip(middle, flops, taken, strict=True)]
                above = [work / row.low_s - mid for mid, work, row in zip(middle, flops, taken, strict=True)]
                panel.errorbar(
                    [row.case.queries for row in taken], middle, yerr=(below, above),
                    label=name, color=f"C{number}", marker="o", markersize=3.5, linewidth=1.5, capsize=2,
                )  # fmt: skip
            panel.set_xscale("log", base=2)
            panel.set_xticks(LENGTHS, [f"{each // 1024}k" if each >= 1024 else str(each) for each in LENGTHS])
            panel.set_title(f"D = {width}, {'causal' if causal else 'full'}", fontsize=10)
            panel.grid(alpha=0.3)
    for panel in axes[-1]:
        panel.set_xlabel("T (16k tokens)")
    for row_of_panels in axes:
        row_of_panels[0].set_ylabel("TFLOP/s")
    axes[0][0].set_ylim(bottom=0)
    handles: dict[str, Any] = {}
    for panel in axes.flat:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        list(handles.values()), list(handles), loc="lower center", ncols=max(1, len(handles)), frameon=False
    )
    figure.suptitle(f"Attention {direction} on {gpu_name}\n{CONVENTION}", fontsize=11)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _in(row: Row, direction: Direction, causal: bool, width: int) -> bool:
    case = row.case
    return (case.direction, case.causal, case.width) == (
        direction,
        causal,
        width,
    ) and case.queries == case.keys
