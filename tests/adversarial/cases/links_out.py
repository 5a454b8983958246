"""Hands in links instead of files: to the solution, to its folder, or to the zip's outside.

Seen: a state.py that was a link to the solution, which the grader copied.
Stopped by: nothing below a submission's folder is followed; a link counts as missing.
"""

import os
import stat
import zipfile

from tests.adversarial.case import Expected, Variant
from tests.adversarial.containers import MISSING, zipped

ATTACK = "links_out"


def link_in_zip(folder, solutions):
    info = zipfile.ZipInfo("memory/state.py")
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return zipped((info, f"{solutions}/memory/state.py"))(folder, solutions)


def linked_file(folder, solutions):
    (folder / "memory").mkdir()
    (folder / "memory" / "state.py").symlink_to(solutions / "memory" / "state.py")
    return folder


def linked_folder(folder, solutions):
    (folder / "memory").symlink_to(solutions / "memory")
    return folder


def hard_linked(folder, solutions):
    """A hard link is the file itself: this one is to a wrong file beside it, and is read as any file is."""
    (folder / "memory").mkdir()
    (folder / "wrong.py").write_text("def state_bytes_per_parameter(recipe):\n    return 16\n")
    os.link(folder / "wrong.py", folder / "memory" / "state.py")
    return folder


VARIANTS = (
    Variant("in_zip", link_in_zip, MISSING),
    Variant("file", linked_file, MISSING),
    Variant("folder", linked_folder, Expected(refused="links are not followed")),
    Variant("hard_link_to_its_own", hard_linked, Expected()),
)
