"""Honest: Windows line ends, a byte-order mark, tabs, non-ASCII comments, a `__main__` block with prints.

Seen: submissions written in Notepad on Windows; `exec(open(...).read())` stumbles over the mark.
Passes because: a file is copied byte for byte and compiled by Python's own import system.
"""

from tests.adversarial.case import Expected, Variant, right_text

HONEST = "honest_text"


def windows(folder, solutions):
    lines = ["# Überlegungen: 训练状态 ≈ 16 Б/параметр 🙂", *right_text(solutions).splitlines()]
    tabbed = [line.replace("    ", "\t") if line.startswith("    ") else line for line in lines]
    main = ['if __name__ == "__main__":', '\tprint("größe", state_bytes_per_parameter(None))', "\traise SystemExit(1)"]
    (folder / "memory").mkdir()
    text = "\ufeff" + "\r\n".join([*tabbed, *main])
    (folder / "memory" / "state.py").write_bytes(text.encode("utf-8"))
    return folder


VARIANTS = (Variant("windows", windows, Expected(("passed",), 10)),)
