"""Draws the handout's rooflines by the reference solutions: `python solutions/roofline/figures.py [FOLDER]`.

A 7B model in prefill and in decode on three cards. The pictures are those of `grader roofline`, which draws the
same bytes with the same matplotlib; of each, the SVG is kept.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "assignments" / "roofline" / "figures"
CARDS = ("h100-sxm", "a100-sxm-80gb", "rtx-4090")
MODEL = "llama2-7b"
# Batch and sequence. Weights and cache of the decode step are 22.1 GB: they fit the smallest of the cards.
STEPS = {"prefill": (1, 4096), "decode": (16, 1024)}


def draw(card: str, phase: str, folder: Path) -> Path:
    """Draw one picture into `folder` and return its SVG.

    Raises:
        RuntimeError: `grader roofline` could not draw it; the message is its own.
    """
    stem = folder / f"{phase}-{card}"
    batch, sequence = STEPS[phase]
    asked = {
        "--gpu": card,
        "--model": MODEL,
        "--phase": phase,
        "--batch": str(batch),
        "--sequence": str(sequence),
        "--submission": str(ROOT / "solutions"),
        "--out": str(stem),
    }
    command = [sys.executable, "-m", "grader.cli", "roofline"]
    command += [word for pair in asked.items() for word in pair]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or done.stdout.strip())
    return stem.with_suffix(".svg")


def main(folder: Path) -> None:
    """Write all pictures into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as drawn:
        for phase in STEPS:
            for card in CARDS:
                path = draw(card, phase, Path(drawn))
                shutil.copyfile(path, folder / path.name)
                print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
