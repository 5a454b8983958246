"""Builds submissions that are no ordinary folder, for the cases about zips, links, sizes and names."""

import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.adversarial.case import Build, Expected, state

STUB_TEXT = "def state_bytes_per_parameter(recipe):\n    raise NotImplementedError\n"
WRONG = state()
"""The wrong state.py, in a folder to which a case adds something."""
MISSING = Expected(("todo",), notes=("memory/state.py: counts as missing",))
TOO_LARGE = Expected(("todo",), notes=("larger than 1 MiB",))


def zipped(
    *members: tuple[str | zipfile.ZipInfo, str | bytes],
    method: int = zipfile.ZIP_DEFLATED,
    change: Callable[[bytes], bytes] = lambda content: content,
) -> Build:
    """A zip of (name or ZipInfo, content), whose bytes `change` may spoil."""

    def build(folder: Path, solutions: Path) -> Path:
        path = folder / "work.zip"
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, content in members:
                archive.writestr(name, content)
        path.write_bytes(change(path.read_bytes()))
        return path.rename(folder.parent / f"{folder.name}.zip")

    return build
