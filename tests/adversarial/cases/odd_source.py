"""Hands in a file that breaks who reads Python: no UTF-8, zero bytes, brackets in brackets, one endless line.

Seen: `ast.parse` that ended the interpreter on source nested a hundred thousand deep.
Stopped by: only the worker compiles a submission; what reads sources in the judge's house does so in a process that
may die.
"""

from tests.adversarial.case import Expected, Variant

ATTACK = "odd_source"


def source(name, content, expect):
    def build(folder, solutions):
        (folder / "memory").mkdir()
        (folder / "memory" / "state.py").write_bytes(content)
        return folder

    return Variant(name, build, expect)


CANNOT = ("failed",)

VARIANTS = (
    source("no_utf_8", b"x = '\xff\xfe'\n", Expected(CANNOT, says="cannot be imported: SyntaxError")),
    source("zero_bytes", b"x = 1\n\x00\x00\n", Expected(CANNOT, says="cannot be imported")),
    source("other_encoding", b"# coding: nonsense\nx = 1\n", Expected(CANNOT, says="cannot be imported: SyntaxError")),
    source("deep_brackets", b"x = " + b"(" * 100_000 + b")" * 100_000, Expected(CANNOT, says="cannot be imported")),
    source(
        "deep_minus", b"x = " + b"-" * 500_000 + b"1\n", Expected(("failed", "crashed"), says="state.py")
    ),
    source("one_long_line", b"x = [" + b"0," * 300_000 + b"]\n", Expected(CANNOT, says="no function")),
    source("empty", b"", Expected(CANNOT, says="no function")),
)
