"""Draws the handout's figures: `python -m solutions.flash_attention.figures [FOLDER]`.

Every result drawn comes from the reference solutions beside this file; none is typed in. What the figures look
like is in solutions/drawing.py.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from solutions.drawing import (
    BLUE,
    CORAL,
    FAINT,
    GREEN,
    GREY,
    INK,
    SKY,
    YELLOW,
    axes,
    bars,
    canvas,
    draw,
    legend,
)
from solutions.flash_attention.softmax import online_softmax
from solutions.flash_attention.traffic import (
    attention_hbm_bytes,
    attention_temporary_bytes,
    paper_hbm_elements,
)
from specs.gpu import gpu

FOLDER = Path(__file__).parents[2] / "assignments" / "flash_attention" / "figures"
MB, GB = 1e6, 1e9
CHAPTER_TOKENS, HEAD_DIM = 32_768, 128


def attention_temporary_bytes_figure() -> Figure:
    """What one bf16 head holds, naive and flash, by the number of tokens."""
    tokens = [2**power for power in range(9, 18)]
    figure = canvas(3.0)
    target = axes(figure, left=0.75, bottom=0.5, right=1.5, top=0.15)
    for algorithm, colour in (("naive", CORAL), ("flash", BLUE)):
        held = [attention_temporary_bytes(algorithm, each, HEAD_DIM, "bf16").total for each in tokens]  # type: ignore[arg-type]
        target.plot(tokens, held, "o-", color=colour, markersize=3.5)
        target.text(tokens[-1] * 1.15, held[-1], f"{algorithm}: ∝ T{'²' if algorithm == 'naive' else ''}",
                    color=colour, va="center")  # fmt: skip
        there = held[tokens.index(CHAPTER_TOKENS)]
        text = f"{there / GB:.1f} GB" if there > GB else f"{there / MB:.0f} MB"
        target.plot(CHAPTER_TOKENS, there, "o", color=colour, markersize=8)
        target.annotate(
            text, (CHAPTER_TOKENS, there), (-8, 7), textcoords="offset points", ha="right", color=colour
        )
    target.axvline(CHAPTER_TOKENS, color=FAINT, linewidth=1, linestyle=":")
    target.set(
        xscale="log",
        yscale="log",
        ylim=(5e4, 1e11),
        xlabel="tokens T; one head, bf16, D = 128",
        ylabel="held in HBM",
    )
    target.set_xticks(tokens[::2], [f"{each:,}" for each in tokens[::2]])
    target.set_xticks([], minor=True)
    target.set_yticks([1e5, 1e6, 1e7, 1e8, 1e9, 1e10], ["100 kB", "1 MB", "10 MB", "100 MB", "1 GB", "10 GB"])
    target.set_yticks([], minor=True)
    return figure


def attention_hbm_bytes_figure() -> Figure:
    """Forward traffic of one head, by what it is of; and the square matrices far off the page."""
    tokens = 4096
    parts = {"queries": YELLOW, "keys_values": BLUE, "output": GREEN, "statistics": CORAL}
    cases = {
        "flash, compulsory": attention_hbm_bytes("flash", "forward", tokens, HEAD_DIM, "bf16"),
        **{
            f"tiles of {rows} queries": attention_hbm_bytes(
                "flash", "forward", tokens, HEAD_DIM, "bf16", rows=rows
            )
            for rows in (256, 128, 64)
        },
    }
    rows = {name: [getattr(moved, part) / MB for part in parts] for name, moved in cases.items()}
    figure = canvas(2.6)
    target = axes(figure, left=1.4, bottom=0.5)
    bars(target, rows, list(parts.values()), [f"{moved.total / MB:.1f}" for moved in cases.values()])
    legend(target, {"Q": YELLOW, "K and V": BLUE, "O": GREEN, "logsumexp": CORAL})
    naive = attention_hbm_bytes("naive", "forward", tokens, HEAD_DIM, "bf16")
    first = 2 * paper_hbm_elements(tokens, HEAD_DIM, 100_000)
    note = (
        f"naive: {naive.total / MB:.0f} MB, of which {naive.scores / MB:.0f} are scores\n"
        f"the first FlashAttention, M = 100,000: {first / MB:.0f} MB"
    )
    target.text(0.99, 0.72, note, transform=target.transAxes, ha="right", va="center", color=CORAL)
    target.set(xlim=(0, 170), xlabel=f"MB moved forward, one head, T = {tokens}, D = {HEAD_DIM}, bf16")
    return figure


def online_softmax_figure() -> Figure:
    """One row of scores in blocks: the running maximum, and the running sum with its rescalings."""
    width, blocks = 8, 8
    generator = torch.Generator().manual_seed(5)
    row = torch.randn(width * blocks, generator=generator) + torch.tensor(
        [0.0, 1.5, 1.0, 3.0, 0.5, 2.0, 3.5, 1.0]
    ).repeat_interleave(width)
    tiles = row.reshape(1, -1).split(width, 1)
    # What is carried after each block is what the whole function returns for the blocks so far.
    carried = [online_softmax(iter(tiles[: count + 1])) for count in range(blocks)]
    maxima = [float(largest) for largest, _ in carried]
    sums = [float(total) for _, total in carried]
    figure = canvas(3.9)
    above = axes(figure, left=0.75, bottom=2.15, top=0.15)
    above.plot(range(width * blocks), row, ".", color=INK, markersize=4, label="score")
    above.step([width * each for each in range(blocks + 1)], [*maxima, maxima[-1]], where="post", color=CORAL,
               linewidth=1.8, label="running maximum m")  # fmt: skip
    above.set(ylabel="score", xlim=(-1, width * blocks), ylim=(-4, 5.5), xticks=[])
    above.legend(loc="lower right", ncols=2)
    below = axes(figure, left=0.75, bottom=0.5, top=1.95)
    before = 0.0
    for count, (total, largest) in enumerate(zip(sums, maxima, strict=True)):
        shrunk = before * (1.0 if not count else float(torch.exp(torch.tensor(maxima[count - 1] - largest))))
        left = width * count + 0.6
        below.bar(left, before, 1.6, align="edge", color=GREY)
        below.bar(left + 2.2, shrunk, 1.6, align="edge", color=SKY)
        below.bar(left + 4.4, total, 1.6, align="edge", color=BLUE)
        before = total
    handles = {"l before": GREY, "rescaled by exp(old m − new m)": SKY, "block added": BLUE}
    below.legend(handles=[Rectangle((0, 0), 1, 1, color=each) for each in handles.values()], labels=list(handles),
                 loc="upper left", ncols=3, borderaxespad=0)  # fmt: skip
    below.set(xlim=(-1, width * blocks), ylim=(0, 1.45 * max(sums)), ylabel="running sum l")
    below.set_xticks([width * each for each in range(blocks + 1)])
    below.set_xlabel("keys, in blocks of 8")
    for target in (above, below):
        for each in range(blocks + 1):
            target.axvline(width * each, color=FAINT, linewidth=0.5, zorder=0)
    return figure


def _matrix(target: Axes, tiles: int, colour_of: Callable[[int, int], str]) -> None:
    """A square of tiles, the first row on top."""
    for row in range(tiles):
        for column in range(tiles):
            place = (column, tiles - 1 - row)
            target.add_patch(
                Rectangle(place, 1, 1, facecolor=colour_of(row, column), edgecolor=FAINT, linewidth=0.7)
            )
    target.set(xlim=(-1.8, tiles + 0.4), ylim=(-0.6, tiles + 1.6), aspect="equal")
    target.axis("off")


def _strip(target: Axes, tiles: int, marked: int, name: str, across: bool, colour: str) -> None:
    """A tensor beside the square, cut like its rows (or, `across`, like its columns), one tile of it marked."""
    for index in range(tiles):
        place = (index, tiles + 0.35) if across else (-1.05, tiles - 1 - index)
        size = (1, 0.7) if across else (0.7, 1)
        face = colour if index == marked else "white"
        target.add_patch(Rectangle(place, *size, facecolor=face, edgecolor=FAINT, linewidth=0.7))
    if across:
        target.text(-0.15, tiles + 0.7, name, ha="right", va="center")
    else:
        target.text(-0.7, -0.35, name, ha="center", va="center")


def tiled_attention_figure() -> Figure:
    """One tile of scores and what it is made of; and which tiles a causal mask leaves."""
    tiles, row, column = 6, 3, 2
    figure = canvas(3.1)
    left = axes(figure, left=0.1, bottom=0.1, right=3.9, top=0.3)
    _matrix(
        left,
        tiles,
        lambda i, j: CORAL if (i, j) == (row, column) else SKY if i == row and j < column else "white",
    )
    _strip(left, tiles, row, "Q, O", False, YELLOW)
    _strip(left, tiles, column, "K, V", True, GREEN)
    left.annotate("", (tiles - 0.1, tiles - row - 0.5), (column + 1.05, tiles - row - 0.5),
                  arrowprops={"arrowstyle": "->", "color": INK})  # fmt: skip
    left.set_title("one tile of queries goes through all keys", fontsize=9)
    right = axes(figure, left=3.7, bottom=0.1, right=0.1, top=0.3)
    _matrix(right, tiles, lambda i, j: BLUE if j < i else YELLOW if i == j else "white")
    right.set_title("causal: whole tiles, cut tiles, tiles nobody visits", fontsize=9)
    for name, colour, place in (
        ("all pairs", BLUE, 0),
        ("mask inside", YELLOW, 2.3),
        ("skipped", "white", 5),
    ):
        right.add_patch(Rectangle((place - 0.6, tiles + 0.45), 0.4, 0.4, facecolor=colour, edgecolor=FAINT))
        right.text(place - 0.05, tiles + 0.65, name, va="center")
    return figure


def tiled_backward_figure() -> Figure:
    """Which tiles of dS add to one tile of dQ, and which to one of dK and dV."""
    tiles, row, column = 6, 3, 2
    figure = canvas(3.1)
    left = axes(figure, left=0.1, bottom=0.1, right=3.9, top=0.3)
    _matrix(left, tiles, lambda i, j: SKY if i == row else "white")
    _strip(left, tiles, row, "dQ", False, CORAL)
    _strip(left, tiles, -1, "K, V", True, GREEN)
    left.set_title("dQ of a tile: along its row", fontsize=9)
    right = axes(figure, left=3.7, bottom=0.1, right=0.1, top=0.3)
    _matrix(right, tiles, lambda i, j: SKY if j == column else "white")
    _strip(right, tiles, -1, "Q, dO", False, YELLOW)
    _strip(right, tiles, column, "dK, dV", True, CORAL)
    right.set_title("dK and dV of a tile: along its column", fontsize=9)
    return figure


def flash_forward_figure() -> Figure:
    """What each program of a causal launch visits, at sizes that no tile divides: in elements, not in tiles."""
    tile, queries, keys = 64, 200, 300
    figure = canvas(3.0)
    target = axes(figure, left=1.5, bottom=0.45, right=2.0, top=0.1)
    across, down = -(-keys // tile), -(-queries // tile)
    for row in range(down):
        first = row * tile + keys - queries  # the last key that the tile's first query sees
        end = min(keys, (row + 1) * tile + keys - queries)
        for column in range(across):
            start, stop = column * tile, (column + 1) * tile
            whole = stop - 1 <= first and stop <= keys
            face = "white" if start >= end else BLUE if whole else YELLOW
            target.add_patch(
                Rectangle((start, row * tile), tile, tile, facecolor=face, edgecolor=FAINT, linewidth=0.7)
            )
        target.text(-8, (row + 0.5) * tile, f"program {row}", ha="right", va="center")
    target.plot([keys - queries, keys], [0, queries], color=INK, linewidth=1.2)
    target.add_patch(
        Rectangle((0, 0), keys, queries, fill=False, edgecolor=CORAL, linewidth=1.6, zorder=3, clip_on=False)
    )
    notes = (
        (BLUE, "no mask needed"),
        (YELLOW, "mask: diagonal or end"),
        ("white", "not visited"),
    )
    for index, (face, name) in enumerate(notes):
        place = (across * tile + 14, 12 + 34 * index)
        target.add_patch(
            Rectangle(place, 16, 16, facecolor=face, edgecolor=FAINT, linewidth=0.7, clip_on=False)
        )
        target.text(place[0] + 24, place[1] + 8, name, va="center")
    target.text(
        across * tile + 14, 12 + 34 * 3 + 8, f"{queries} queries, {keys} keys", color=CORAL, va="center"
    )
    target.set(xlim=(0, across * tile), ylim=(down * tile, 0), aspect="equal", xlabel="key", anchor="W")
    target.set_xticks([column * tile for column in range(across + 1)])
    target.set_yticks([])
    for side in ("left", "bottom"):
        target.spines[side].set_visible(False)
    return figure


def flash_decode_figure() -> Figure:
    """The keys of one head on one program or on several, and how many of a GPU's SMs that keeps busy."""
    kv_heads, splits, sms = 8, 16, gpu("h100-sxm").sms or 0
    figure = canvas(2.6)
    shown = 4  # of the parts, so that their labels fit
    for index, parts in enumerate((1, splits)):
        left = axes(figure, left=0.2, bottom=1.35 - 1.3 * index, right=3.3, top=0.05 + 1.3 * index)
        drawn = 1 if parts == 1 else shown
        for part in range(drawn):
            width = 8 / drawn
            face = BLUE if parts == 1 else (BLUE, SKY, GREEN, YELLOW)[part]
            left.add_patch(Rectangle((part * width, 1.1), width, 0.6, facecolor=face, edgecolor="white"))
            if parts > 1:
                centre = (part + 0.5) * width
                left.annotate("", (4 + (centre - 4) * 0.25, 0.42), (centre, 1.05),
                              arrowprops={"arrowstyle": "->", "color": INK})  # fmt: skip
                left.text(
                    centre,
                    1.4,
                    "out, lse",
                    ha="center",
                    va="center",
                    color="white" if face in (BLUE, GREEN) else INK,
                )
        if parts > 1:
            left.text(4, 0.2, "merged by lse", ha="center", va="center")
        else:
            left.annotate("", (4, 0.42), (4, 1.05), arrowprops={"arrowstyle": "->", "color": INK})
            left.text(4, 0.2, "out", ha="center", va="center")
        name = (
            "one program goes through all keys of a head"
            if parts == 1
            else "each part of the keys has a program"
        )
        left.text(0, 1.95, name, va="center")
        left.set(xlim=(0, 8), ylim=(0, 2.2))
        left.axis("off")
        right = axes(figure, left=4.5, bottom=1.35 - 1.3 * index, right=0.2, top=0.05 + 1.3 * index)
        columns = 22
        busy = min(sms, kv_heads * parts)
        # Markers and not patches: a marker is in the file once.
        for face, chosen in ((BLUE, range(busy)), ("white", range(busy, sms))):
            places = [(sm % columns + 0.4, sm // columns + 0.4) for sm in chosen]
            right.plot(*zip(*places, strict=True), "s", color=face, markersize=6.5, markeredgecolor=FAINT,
                       markeredgewidth=0.5)  # fmt: skip
        right.text(
            0,
            -0.9,
            f"{kv_heads} heads, {parts} part{'s' if parts > 1 else ''}: {busy} of {sms} SMs busy",
        )
        right.set(xlim=(-0.2, columns), ylim=(sms // columns + 0.2, -1.8), aspect="equal", anchor="W")
        right.axis("off")
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "attention_temporary_bytes": attention_temporary_bytes_figure,
    "attention_hbm_bytes": attention_hbm_bytes_figure,
    "online_softmax": online_softmax_figure,
    "tiled_attention": tiled_attention_figure,
    "tiled_backward": tiled_backward_figure,
    "flash_forward": flash_forward_figure,
    "flash_decode": flash_decode_figure,
}

if __name__ == "__main__":
    draw(FIGURES, Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
