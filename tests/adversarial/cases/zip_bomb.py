"""Hands in a zip that is small and unpacks to much, says so or lies about it, or hides another zip.

Seen: 42.zip; an archive whose table of contents said 100 bytes.
Stopped by: a zip is listed under caps and read member by member, never one byte beyond the limit; a zip in a zip is
a file like any other that is no .py file.
"""

import io
import zipfile

from tests.adversarial.case import Expected, Variant, write
from tests.adversarial.containers import STUB_TEXT, TOO_LARGE, zipped

ATTACK = "zip_bomb"


def lies(content):
    """Its table of contents says 100 bytes, its content unpacks to 64 MiB."""
    return content.replace((1 << 26).to_bytes(4, "little"), (100).to_bytes(4, "little"))


def layers(depth):
    """Each layer holds sixteen copies of the next one."""
    content = bytes(1 << 20)
    for _ in range(depth):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(16):
                archive.writestr(f"{number}.zip", content)
        content = stream.getvalue()
    return content


VARIANTS = (
    Variant("bomb", zipped(("memory/state.py", bytes(1 << 26))), TOO_LARGE),
    Variant(
        "lies_about_its_size",
        zipped(("memory/state.py", bytes(1 << 26)), change=lies),
        Expected(refused="zip the folder again"),
    ),
    Variant("in_layers", zipped(("memory/state.py", STUB_TEXT), ("memory/more.zip", layers(3))), Expected(("todo",))),
)
