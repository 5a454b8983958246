"""Turns the code cells of a notebook into the assignment's files: for each file what its functions need, in order.

A notebook holds experiments beside the answers: a plot, a loop that was stopped by hand, a line that raised. A file
takes from all cells those statements alone that its functions need by name, and what these need in turn; magics and
bare calls are left out. So an experiment can neither break nor slow an answer, and a kernel has a source to compile.

Standard library only, and IPython for cells with magics: `apart` starts this file as a script.
"""

import ast
import builtins
import contextlib
import io
import json
import re
import symtable
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

MAX_CELL_CHARACTERS = 200_000
MAX_MAGICS_TIMES_CHARACTERS = (
    500_000  # IPython reads the whole cell again for each magic: 2 to 3 us a character
)

_RUN_AS_CELLS = ("%%time", "%%capture", "%%prun")  # the rest of the cell is code of the notebook
_MAGIC = re.compile(r"^[ \t]*[%!?,;/]|=[ \t]*[%!]|\?[ \t]*$", re.MULTILINE)
_DEFINED = re.compile(r"^(?:async\s+def|def|class)\s+(\w+)", re.MULTILINE)
_NOT_FOR_FILES = ("grader", "IPython", "google")  # there in a notebook, and not where a submission is graded


_SETTINGS = (
    "sys.setrecursionlimit",
    "sys.set_int_max_str_digits",
    "decimal.getcontext",
    "decimal.setcontext",
)
_SET_MODULES = ("sys", "decimal")
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True)
class Statement:
    """A top-level statement of a cell: its text, the names that it gives, and those that it takes."""

    text: str
    gives: frozenset[str]
    takes: frozenset[str]
    is_import: bool = False
    is_call: bool = False
    """`table.append(row)`, which gives what it may change."""
    sets: str = ""
    """What a call calls, or an assignment to an attribute of its result: `decimal.getcontext` of `.prec = 50`."""
    origins: tuple[tuple[str, str], ...] = ()
    """Of an import: each name that it gives and what this stands for."""


@dataclass(frozen=True)
class Broken:
    """A cell that is not Python: what it would have defined, and why it does not."""

    names: frozenset[str]
    why: str


@dataclass
class Code:
    """All that the cells say, in order."""

    statements: list[Statement] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    """Functions whose last cell is not Python, and why."""
    future: dict[str, None] = field(default_factory=dict)
    """Imports from `__future__`, which have to come first."""

    @property
    def names(self) -> frozenset[str]:
        """What is defined."""
        return frozenset[str]().union(*(each.gives for each in self.statements))


def modules(code: Code, files: Mapping[str, Sequence[str]], last_is_broken: bool = True) -> dict[str, str]:
    """The text of each file that any of whose functions is in the cells.

    Args:
        code: of the cells.
        files: names of functions (or classes) by file.
        last_is_broken: a function whose last cell is not Python raises that error; else the one before counts, as
            it does in a running kernel.
    """
    texts = {}
    for file, functions in files.items():
        broken = {name: why for name, why in code.broken.items() if name in functions and last_is_broken}
        kept = _needed(code.statements, functions)
        if not broken and not any(each.gives & set(functions) for each in kept):
            continue
        parts = [*code.future, *(each.text for each in kept)]
        parts += [
            f"def {name}(*args, **kwargs):\n    raise SyntaxError({why!r})" for name, why in broken.items()
        ]
        texts[file] = "\n\n\n".join(parts) + "\n"
    return texts


def read(cells: Iterable[str]) -> Code:
    """The statements of all cells; what is no Python is remembered by the functions that it would have defined."""
    code = Code()
    for cell in cells:
        found = statements(cell)
        if isinstance(found, Broken):
            code.broken.update(dict.fromkeys(found.names, found.why))
            continue
        for statement in found:
            if statement.text.startswith("from __future__"):
                code.future[statement.text] = None
                continue
            for name in statement.gives:
                code.broken.pop(name, None)
            code.statements.append(statement)
    code.statements = _first_and_last(list(_lasting(code.statements)))
    return code


def _lasting(found: Sequence[Statement]) -> Iterator[Statement]:
    """Without experiments; a setting of Python's own, which changes what any function does, is part of every file."""
    imported = {name for each in found if each.is_import for name in each.gives}
    origins: dict[
        str, str
    ] = {}  # of what stands before: a setting must not fail for an import that comes later
    for each in found:
        origins.update(each.origins)
        head, dot, rest = each.sets.partition(".")
        known = {name for name in each.takes if origins.get(name, "").split(".")[0] in _SET_MODULES}
        if f"{origins.get(head, '')}{dot}{rest}" in _SETTINGS and each.takes <= known | _BUILTINS:
            yield replace(each, gives=each.gives | {"*"}, is_call=False)
        # A call of a library's function, `torch.manual_seed(0)`, is an experiment like any other call.
        elif each.gives and not (each.is_call and each.gives & imported):
            yield each


def statements(cell: str) -> list[Statement] | Broken:
    """The statements of one cell that can be part of a file, or why there are none."""
    if len(cell) > MAX_CELL_CHARACTERS:
        return Broken(frozenset(), "")
    names = frozenset(_DEFINED.findall(cell))
    cell = _without_cell_magic(cell)
    try:
        try:
            return list(_kept(cell, ast.parse(cell)))
        except SyntaxError:
            if not re.search(r"[%!?]", cell):
                raise
        magics = len(_MAGIC.findall(cell))
        if magics * len(cell) > MAX_MAGICS_TIMES_CHARACTERS:
            return Broken(
                names, f"{magics} magics in a cell of {len(cell)} characters: give them cells of their own"
            )
        text = _without_magics(cell)
        return list(_kept(text, ast.parse(text)))
    except SyntaxError as error:
        where = f", line {error.lineno} of its cell" if error.lineno else ""
        shown = f": {error.text.strip()[:80]}" if error.text else ""
        return Broken(names, f"{error.msg}{where}{shown}")
    except (ValueError, RecursionError, MemoryError, RuntimeError) as error:
        return Broken(names, f"cannot be read ({type(error).__name__})")


def _without_cell_magic(cell: str) -> str:
    first, _, rest = cell.lstrip().partition("\n")
    if first.startswith(_RUN_AS_CELLS):
        return rest
    return "" if first.startswith("%%") else cell


def _without_magics(cell: str) -> str:
    """IPython turns them into calls, which are no part of a file."""
    from IPython.core.inputtransformer2 import TransformerManager

    text: str = TransformerManager().transform_cell(cell)
    return text


def _kept(text: str, tree: ast.Module) -> Iterator[Statement]:
    # Python's own line ends and no others; columns count the bytes of UTF-8.
    lines = [line.encode() for line in io.StringIO(text, newline="")]
    for node in tree.body:
        source = _source(lines, node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imports(node, source)
            continue
        gives = frozenset(_given(node))
        takes = _taken(source)
        sets = _set(node)
        if (gives or sets) and "get_ipython" not in takes:
            yield Statement(source, gives, takes, is_call=isinstance(node, ast.Expr), sets=sets)


def _taken(source: str) -> frozenset[str]:
    """The global names that a statement reads, in functions and classes too; a function's own names are none."""
    top = symtable.symtable(source, "cell", "exec")
    taken = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    pending = top.get_children()
    while pending:
        table = pending.pop()
        taken |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
        pending += table.get_children()
    return frozenset(taken)


def _imports(node: ast.Import | ast.ImportFrom, source: str) -> Iterator[Statement]:
    """Those of several modules apart: one that is missing where a submission is graded costs no other."""
    if isinstance(node, ast.ImportFrom):
        if not node.level and not _stays_behind(node.module or ""):
            origins = tuple((each.asname or each.name, f"{node.module}.{each.name}") for each in node.names)
            yield Statement(source, frozenset(_given(node)), frozenset(), is_import=True, origins=origins)
        return
    for each in node.names:
        if not _stays_behind(each.name):
            alone = source if len(node.names) == 1 else ast.unparse(ast.Import([each]))
            (name,) = _given(ast.Import([each]))
            origin = ((name, each.name if each.asname else name),)
            yield Statement(alone, frozenset([name]), frozenset(), is_import=True, origins=origin)


def _stays_behind(module: str) -> bool:
    return module.split(".")[0] in _NOT_FOR_FILES


def _given(node: ast.stmt) -> Iterator[str]:
    """Names that a statement binds at the top level, and those whose value it changes in place."""
    if isinstance(node, ast.Expr):
        # `table.append(row)`: a method of something that a function may read. A bare call is an experiment.
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            yield from _root(call.func)
        return
    pending: list[ast.AST] = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield each.name
        elif isinstance(each, ast.alias):
            yield (each.asname or each.name).split(".")[0]
        elif isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            yield each.id
        elif isinstance(each, ast.Attribute | ast.Subscript) and not isinstance(each.ctx, ast.Load):
            yield from _root(each)
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            pending += ast.iter_child_nodes(each)


def _set(node: ast.stmt) -> str:
    call: ast.expr | None = None
    if isinstance(node, ast.Expr):
        call = node.value
    elif isinstance(node, ast.Assign | ast.AugAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        call = target.value if isinstance(target, ast.Attribute) else None
    if not isinstance(call, ast.Call):
        return ""
    parts, inner = [], call.func
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    return ".".join([inner.id, *reversed(parts)]) if isinstance(inner, ast.Name) else ""


def _root(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _source(lines: Sequence[bytes], node: ast.stmt) -> str:
    last = node.end_lineno or node.lineno
    decorators = getattr(node, "decorator_list", [])
    if decorators:
        first = min(each.lineno for each in decorators)
        return b"".join(lines[first - 1 : last]).decode().rstrip()
    if last == node.lineno:
        return lines[last - 1][node.col_offset : node.end_col_offset].decode()
    between = lines[node.lineno : last - 1]
    parts = (lines[node.lineno - 1][node.col_offset :], *between, lines[last - 1][: node.end_col_offset])
    return b"".join(parts).decode()


def _first_and_last(found: Sequence[Statement]) -> list[Statement]:
    """Of a statement that was run many times the first and the last: what lies between adds nothing."""
    first: dict[str, int] = {}
    for index, each in enumerate(found):
        first.setdefault(each.text, index)
    last = {each.text: index for index, each in enumerate(found)}
    return [each for index, each in enumerate(found) if index in (first[each.text], last[each.text])]


def _needed(found: Sequence[Statement], functions: Iterable[str]) -> list[Statement]:
    """The statements that give one of the functions, or a name that one of those that are kept takes."""
    givers: dict[str, list[int]] = {}
    for index, each in enumerate(found):
        for name in each.gives:
            givers.setdefault(name, []).append(index)
    kept: set[int] = set()
    pending = [*functions, "*"]  # `from x import *` may give anything
    while pending:
        for index in givers.pop(pending.pop(), ()):
            if index not in kept:
                kept.add(index)
                pending += found[index].takes
    return [found[index] for index in sorted(kept)]


def code_cells(nb: Mapping[str, Any], locked: Mapping[str, str]) -> list[str]:
    """The sources of a notebook's code cells.

    `locked` are the sources of the cells that students cannot edit, by id: as nbgrader does it, they stand in for
    what is in the notebook.
    """
    cells = nb["cells"]
    last = {
        cell.get("metadata", {}).get("nbgrader", {}).get("grade_id"): index
        for index, cell in enumerate(cells)
    }  # of two cells with one id the first is a copy
    sources = {last[key]: source for key, source in locked.items() if key in last}
    found = []
    for index, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            found.append(sources.get(index, "".join(cell["source"])))
    return found


def _notebook(text: bytes) -> Mapping[str, Any]:
    nb: Mapping[str, Any] = json.loads(text)
    if not isinstance(nb, dict):
        raise ValueError("no JSON object")
    if nb.get("nbformat") != 4:  # an import of a second, which notebooks of ten years ago need
        import nbformat

        nb = nbformat.reads(text.decode(), as_version=4)
    return nb


def main() -> None:
    """Read limits, files and locked cells as a line of JSON, then a notebook; write the texts of the files as JSON."""
    import resource  # Windows has none, and a student's check() needs this file there

    task = json.loads(sys.stdin.buffer.readline())
    resource.setrlimit(resource.RLIMIT_CPU, (task["cpu_s"], task["cpu_s"] + 1))
    with contextlib.suppress(OSError, ValueError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (task["memory_bytes"], task["memory_bytes"]))
    try:
        cells = code_cells(_notebook(sys.stdin.buffer.read()), task["locked"])
        said: dict[str, Any] = {"texts": modules(read(cells), task["files"])}
    except MemoryError:
        said = {"unread": f"it takes more than {task['memory_bytes'] >> 20} MiB of memory"}
    except Exception as error:  # a notebook is what a student sent: it may be anything
        said = {"why": f"{type(error).__name__}: {error}"[:500]}
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main()
