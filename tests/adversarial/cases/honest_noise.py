"""Honest: prints megabytes, warns, logs and writes to stderr from a child process.

Seen: nbgrader scores a cell 0 for any output on stderr; a pipe that is read only at exit blocks a child at 64 KiB.
Passes because: output is drained all the time, its end kept for staff, and nothing of it is judged.
"""

from tests.adversarial.case import Expected, Variant, state

HONEST = "honest_noise"

TOP = """
import logging, os, subprocess, sys, warnings
logging.basicConfig(level=logging.DEBUG)
print("importing \\N{GREEK SMALL LETTER ALPHA} \\x1b[31mred\\x1b[0m")
warnings.warn("this is deprecated", DeprecationWarning)
"""
CALL = """
print(recipe, file=sys.stderr)
print("x" * 300_000)
warnings.warn(f"odd recipe {recipe.name}")
logging.error("computing %s", recipe)
os.write(1, b"\\xff\\xfe not UTF-8 \\x00")
if recipe.name == "adamw-bf16":
    subprocess.run([sys.executable, "-c", "print('child')"], check=False)
"""

VARIANTS = (Variant("all", state(TOP, CALL, "right(recipe)"), Expected(("passed",), 10)),)
