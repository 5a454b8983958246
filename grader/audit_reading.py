"""Reads a submission's source by its syntax, in a process of its own: `audit` starts this file as a script.

Standard library only, so that it starts in a twentieth of a second: there is one for each submission.
"""

import ast
import contextlib
import json
import resource
import sys
import warnings
from collections.abc import Collection, Iterator
from pathlib import Path

MOST_NOTES = 100
_MEMORY_BYTES = 2 << 30
_LARGE = 100_000  # numbers below it are sizes and shapes that honest code has too
_MANY_NAMES = 3

# A dotted name, or the beginning of one, to what to say of its import or call.
_LOOK = {
    "ctypes": "reaches memory by address",
    "cffi": "reaches memory by address",
    "gc.get_objects": "searches all objects of the process",
    "gc.get_referrers": "searches all objects of the process",
    "inspect.currentframe": "reads callers' frames",
    "inspect.stack": "reads callers' frames",
    "inspect.getouterframes": "reads callers' frames",
    "sys._getframe": "reads callers' frames",
    "sys._current_frames": "reads callers' frames",
    "sys.settrace": "watches the interpreter",
    "sys.setprofile": "watches the interpreter",
    "sys.addaudithook": "watches the interpreter",
    "sys.modules": "reaches or replaces other modules",
    "os.fork": "starts processes by hand",
    "os.forkpty": "starts processes by hand",
    "os._exit": "ends its process",
    "os.abort": "ends its process",
    "os.kill": "signals processes",
    "signal.pthread_sigmask": "blocks signals",
    "socket": "opens sockets",
    "asyncio.open_connection": "opens sockets",
    "http.client": "opens sockets",
    "urllib.request": "opens sockets",
    "requests": "opens sockets",
    "ssl": "opens sockets",
    "atexit": "runs code at the end",
    "torch.nn.functional.scaled_dot_product_attention": "calls the library's attention",
    "torch.nn.MultiheadAttention": "calls the library's attention",
    "torch.nn.attention": "calls the library's attention",
    "flash_attn": "calls the library's attention",
    "xformers": "calls the library's attention",
    "_rooflab_worker": "reaches for the grader",
    "grader": "reaches for the grader",
    "solutions": "reaches for the grader",
}
_NOTE = {
    "gc": "steers or searches the collector",
    "inspect": "inspects code",
    "importlib": "imports by name",
    "multiprocessing": "starts processes",
    "subprocess": "starts processes",
    "os.system": "starts processes",
    "os.popen": "starts processes",
    "threading": "starts threads",
    "concurrent.futures": "starts threads or processes",
    "signal": "handles signals",
    "pickle": "reads or writes pickles",
    "marshal": "reads or writes code",
    "resource": "changes limits",
}
_BUILTINS_THAT_RUN_TEXT = ("exec", "eval", "compile", "__import__")
_ATTRIBUTES = {
    "f_locals",
    "f_back",
    "__globals__",
    "__code__",
    "__subclasses__",
    "__reduce__",
    "__reduce_ex__",
}
_BY_ADDRESS = "__array_interface__"
_LIBRARIES = {
    *sys.stdlib_module_names,
    "numpy",
    "pydantic",
    "pydantic_core",
    "torch",
    "triton",
    "typing_extensions",
}
_SETTINGS = ("torch.backends.", "sys.path", "sys.stdout", "sys.stderr")
"""What of libraries is there to be set."""
_PLACES = ("/proc/", ".rooflab", "course-seed", "solutions/", "/hidden/")


Note = dict[str, str | int]


def notes_on(
    file: str, source: str | bytes, names: Collection[str] = (), numbers: Collection[float] = ()
) -> list[Note]:
    """The notes on one file's source, by line, each once: file, line, weight (look or note), what.

    `names` are those of published cases, `numbers` published answers of many digits.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of syntax: about the student's source, on our stderr
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 0
        return [_note(file, line, "note", f"cannot be parsed ({type(error).__name__})")]
    imported = _names(tree)
    found = {each for node in ast.walk(tree) for each in _on(node, imported)}
    found |= set(_like_a_table(tree, names, numbers))
    return [_note(file, *each) for each in sorted(found)]


def _note(file: str, line: int, weight: str, what: str) -> Note:
    return {"file": file, "line": line, "weight": weight, "what": what[:500]}


def _names(tree: ast.AST) -> dict[str, str]:
    """What a bare name stands for, as far as the imports say."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                names[each.asname or each.name.split(".")[0]] = (
                    each.name if each.asname else each.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                names[each.asname or each.name] = f"{node.module}.{each.name}"
    return names


def _on(node: ast.AST, names: dict[str, str]) -> Iterator[tuple[int, str, str]]:
    if isinstance(node, ast.Import):
        for each in node.names:
            yield from _known(node.lineno, each.name, "imports")
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for each in node.names:
            yield from _known(node.lineno, f"{node.module}.{each.name}", "imports")
    elif isinstance(node, ast.Attribute):
        if node.attr in _ATTRIBUTES:
            yield node.lineno, "look", f"reaches inside frames, functions or types: {node.attr}"
        if node.attr == _BY_ADDRESS:
            yield node.lineno, "look", f"reaches memory by address: {_BY_ADDRESS}"
        dotted = _dotted(node, names)
        if dotted:
            yield from _known(node.lineno, dotted, "uses")
            if not isinstance(node.ctx, ast.Load):
                yield from _replaced(node.lineno, dotted)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in ("setattr", "delattr") and node.args and isinstance(node.args[0], ast.Name):
            yield from _replaced(node.lineno, f"{names.get(node.args[0].id, '')}.*")
        if node.func.id in _BUILTINS_THAT_RUN_TEXT and node.func.id not in names:
            literal = bool(node.args) and isinstance(node.args[0], ast.Constant)
            how = "of a literal" if literal else "of built text"
            yield node.lineno, "note" if literal else "look", f"runs text as code: {node.func.id} {how}"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        if node.value == _BY_ADDRESS:
            yield node.lineno, "look", f"reaches memory by address: {_BY_ADDRESS}"
        for place in _PLACES:
            if place in node.value:
                yield node.lineno, "look", f"names a place that is none of its business: {place}"


def _replaced(line: int, dotted: str) -> Iterator[tuple[int, str, str]]:
    """The note on a name of a library that is set to something else, or deleted."""
    if dotted.split(".")[0] in _LIBRARIES:
        weight = "note" if dotted.startswith(_SETTINGS) else "look"
        yield line, weight, f"replaces a part of a library: {dotted}"


def _like_a_table(
    tree: ast.AST, names: Collection[str], numbers: Collection[float]
) -> Iterator[tuple[int, str, str]]:
    named: dict[str, int] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant):
            continue
        if isinstance(node.value, str) and node.value in names:
            named.setdefault(node.value, node.lineno)
        elif isinstance(node.value, int | float) and abs(node.value) >= _LARGE and node.value in numbers:
            yield node.lineno, "look", f"has a published answer as a number: {node.value:,}"
    if named:
        weight = "look" if len(named) >= _MANY_NAMES else "note"
        yield min(named.values()), weight, f"names published cases: {', '.join(sorted(named))}"


def _known(line: int, dotted: str, verb: str) -> Iterator[tuple[int, str, str]]:
    """The note on a dotted name, by its longest beginning that is listed."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        for weight, listed in (("look", _LOOK), ("note", _NOTE)):
            if name in listed:
                yield line, weight, f"{verb} {name}: {listed[name]}"
                return


def _dotted(node: ast.Attribute, names: dict[str, str]) -> str:
    """`os.fork` for an attribute of an imported name, "" for one of anything else."""
    parts = [node.attr]
    inner: ast.expr = node.value
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    if not isinstance(inner, ast.Name) or inner.id not in names:
        return ""
    return ".".join([names[inner.id], *reversed(parts)])


def main() -> None:
    """Read what to do from standard input, write the notes to standard output; both JSON."""
    with contextlib.suppress(OSError, ValueError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    task = json.loads(sys.stdin.read())
    root, found = Path(task["root"]), []
    for file in task["files"]:
        found += notes_on(file, (root / file).read_bytes(), task["names"], set(task["numbers"]))
    # Looks first, lest a submission hide one behind a hundred notes.
    found.sort(key=lambda each: (each["weight"] != "look", each["file"], each["line"]))
    sys.stdout.write(json.dumps(found[:MOST_NOTES]))


if __name__ == "__main__":
    main()
