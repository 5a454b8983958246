"""Opens what has the answers or is none of its business: solutions, hidden tests, published values, neighbours, home.

Seen: every self-written grader that runs submissions as its own user.
Stopped by: the sandbox has the interpreter, the libraries, the code of specs, models, GPUs, recipes and this one
submission; the kit, the solutions, the output folder and the home folder are not mounted, the kit's packages among
the libraries are covered.
"""

import sys
from pathlib import Path

import grader
from tests.adversarial.case import Expected, Variant, breach

ATTACK = "read_solution"

BY_PATH = """
import os
places = @PLACES@
return any(os.path.exists(place) for place in places)
"""
BY_SEARCH = """
import os
for folder, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/submission")]
    if {"hidden", "mistakes"} & set(folders) and "memory" in folder or folder.endswith("/specs/published"):
        return True
    for name in files:
        if name in ("state.py", "test_state.py", "course-seed", "report.json", "plugin.py") and "site" not in folder:
            text = open(os.path.join(folder, name), errors="replace").read()
            if "BEGIN SOLUTION" in text or "memory.state_bytes_per_parameter" in text:
                return True
"""
PRIVATE = """
import os
for path in ("/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/ssh", "/root", "/home", "/var", "/run", "/srv",
             "/proc/self/root/etc/passwd", "/proc/1/root/etc/passwd", "/kit/../etc/passwd"):
    try:
        if os.path.isdir(path):
            if any(not @PREFIX@.startswith(os.path.join(path, name)) for name in os.listdir(path)):
                return True
        else:
            open(path).read()
            return True
    except OSError:
        pass
"""
LIBRARIES = """
import os, sys
for folder in sys.path:
    for name in ("specs", "grader", "solutions", "assignments"):
        path = os.path.join(folder, name)
        if folder != "/kit" and os.path.isdir(path) and os.listdir(path):
            return True
        if folder == "/kit" and name != "specs" and os.path.isdir(path) and os.listdir(path):
            return True
kit = {entry for _, folders, files in os.walk("/kit") for entry in (*folders, *files)}
return bool(kit & {"published", "published.py", "assignments", "assignment.py", "hidden", "mistakes", "memory.yaml", "judge.py"})
"""


def places(folder: Path, solutions: Path) -> dict[str, str]:
    """Where the answers really are: in this copy of the kit, in the one it was made from, beside this submission."""
    kit, original = solutions.parent, Path(grader.__file__).resolve().parent.parent
    inside = ("solutions/memory/state.py", "solutions/memory/hidden", "specs/published", "assignments/memory", "grader")
    found = [base / path for base in (kit, original) for path in inside]
    found += [folder.parent, folder, kit.parent, original / ".git", original / "pyproject.toml"]
    # An interpreter in a home folder is shown, and with it the folders that lead there.
    home = [path for path in Path.home().iterdir() if not Path(sys.base_prefix).is_relative_to(path)]
    return {"PLACES": repr([str(path) for path in (*found, *home)]), "PREFIX": repr(sys.base_prefix)}


def of_this_grading(folder: Path, solutions: Path) -> dict[str, str]:
    """The kit that grades, and what lies beside the submission."""
    kit = solutions.parent
    inside = (solutions / "memory" / "state.py", kit / "specs" / "published", kit / "grader", folder.parent, folder)
    return {"PLACES": repr([str(path) for path in inside])}


FAILED = Expected(says="weights")

VARIANTS = (
    Variant("of_this_grading", breach(BY_PATH, of_this_grading), FAILED, needs_sandbox=True),
    Variant("by_path", breach(BY_PATH, places), FAILED, needs_sandbox=True),
    Variant("by_search", breach(BY_SEARCH), FAILED, takes_s=8),
    Variant("private_files", breach(PRIVATE, places), FAILED, needs_sandbox=True),
    Variant("in_libraries", breach(LIBRARIES), FAILED),
)
