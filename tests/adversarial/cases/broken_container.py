"""Hands in something that is no ordinary folder: zip bombs, paths and links that lead out, devices, a heap of files.

Seen: Zip Slip (CVE-2018-1000117 and its kin), 42.zip, a state.py that is a link to the solution.
Stopped by: a zip is listed under caps and read member by member, nothing is extracted; links and devices are never
opened; sizes are limited before anything is read.
"""

import os
import stat
import zipfile

from tests.adversarial.case import Expected, Variant, right_text, state

ATTACK = "broken_container"

WRONG = state()


def zipped(*members):
    """A zip of (name or ZipInfo, content)."""

    def build(folder, solutions):
        path = folder / "work.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members:
                archive.writestr(name, content)
        return path.rename(folder.parent / f"{folder.name}.zip")

    return build


def link_in_zip(target):
    info = zipfile.ZipInfo("memory/state.py")
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16

    def build(folder, solutions):
        return zipped((info, target.format(solutions=solutions)))(folder, solutions)

    return build


def linked_file(folder, solutions):
    (folder / "memory").mkdir()
    (folder / "memory" / "state.py").symlink_to(solutions / "memory" / "state.py")
    return folder


def linked_folder(folder, solutions):
    (folder / "memory").symlink_to(solutions / "memory")
    return folder


def fifo(folder, solutions):
    (folder / "memory").mkdir()
    os.mkfifo(folder / "memory" / "state.py")
    return folder


def sparse(folder, solutions):
    (folder / "memory").mkdir()
    with open(folder / "memory" / "state.py", "wb") as file:
        file.truncate(10 << 30)
    return folder


def heap(folder, solutions):
    WRONG(folder, solutions)
    for number in range(100_000):
        os.close(os.open(folder / f"{number}.py", os.O_CREAT | os.O_WRONLY))
    return folder


def strange_names(folder, solutions):
    WRONG(folder, solutions)
    for name in (b"caf\xe9.py", b"new\nline.py", b"\x1b[2J.py", b"memory/\xff\xfe.py"):
        with open(os.path.join(os.fsencode(folder), name), "w") as file:
            file.write("raise SystemExit\n")
    return folder


def hidden_bomb(folder, solutions):
    """Its table of contents says 100 bytes, its content unpacks to 64 MiB."""
    path = zipped(("memory/state.py", bytes(1 << 26)))(folder, solutions)
    content = path.read_bytes()
    path.write_bytes(content.replace((1 << 26).to_bytes(4, "little"), (100).to_bytes(4, "little")))
    return path


STUB_TEXT = "def state_bytes_per_parameter(recipe):\n    raise NotImplementedError\n"
MISSING = Expected(("todo",), notes=("memory/state.py: counts as missing",))

VARIANTS = (
    Variant("bomb", zipped(("memory/state.py", bytes(1 << 26))), Expected(("todo",), notes=("larger than 1 MiB",))),
    Variant("hidden_bomb", hidden_bomb, Expected(refused="zip the folder again")),
    Variant("climbs_out", zipped(("memory/state.py", STUB_TEXT), ("../../../pwned.py", "")), Expected(refused="points outside")),
    Variant("absolute", zipped(("memory/state.py", STUB_TEXT), ("/tmp/pwned.py", "")), Expected(refused="points outside")),
    Variant("climbs_as_windows", zipped(("memory/state.py", STUB_TEXT), ("..\\..\\pwned.py", "")), Expected(refused="points outside")),
    Variant("link_in_zip", link_in_zip("{solutions}/memory/state.py"), MISSING),
    Variant("linked_file", linked_file, MISSING),
    Variant("linked_folder", linked_folder, Expected(refused="links are not followed")),
    Variant("fifo", fifo, MISSING),
    Variant("sparse_10_gb", sparse, Expected(("todo",), notes=("larger than 1 MiB",))),
    Variant("100000_files", heap, Expected(refused="holds more than 20,000 files")),
    Variant("strange_names", strange_names, Expected(says="weights", notes=("not copied",))),
)


def in_zip_beside(folder, solutions):
    """The right file twice, so that one reader sees the right one and another the wrong one."""
    build = zipped(("memory/state.py", STUB_TEXT), ("memory/./state.py", right_text(solutions)))
    return build(folder, solutions)


VARIANTS += (Variant("twice", in_zip_beside, Expected(refused="is in the zip twice")),)
