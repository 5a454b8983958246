"""Honest: a pool of threads, one of processes, a child that is waited for, temporary files that are removed or not.

Seen: graders that took any child process for a fork bomb, or a temporary file for an attack.
Passes because: a dozen processes are within the limits, and the folder for temporary files is the submission's own.
"""

from tests.adversarial.case import Expected, Variant, state

HONEST = "honest_processes"

FULL = Expected(("passed",), 10)
THREADS = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    return list(pool.map(right, [recipe] * 8))[-1]
"""
FORKS = """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    return right(recipe) if pool.map(abs, [-1, -2]) == [1, 2] else None
"""
FILES = """
import json, os, tempfile
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "notes.json"), "w") as file:
        json.dump(recipe.model_dump(), file)
open(os.path.join(tempfile.gettempdir(), "left-behind"), "w").close()
"""
CHILD = """
import subprocess, sys
if "child" not in SEEN:
    SEEN["child"] = subprocess.run([sys.executable, "-c", "print(2)"], capture_output=True, text=True).stdout
"""

VARIANTS = (
    Variant("threads", state(call=THREADS), FULL),
    Variant("forks", state(call=FORKS), FULL),
    Variant("temporary_files", state(call=FILES, answer="right(recipe)"), FULL),
    Variant("child", state("SEEN = {}", CHILD, "right(recipe)"), FULL),
)
