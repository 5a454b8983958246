"""Imports a submission's files by path, shadowing nothing, and describes what they raise.

Used in the worker, and in this process by a self-check. Standard library only.
"""

import importlib
import importlib.machinery
import importlib.util
import linecache
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import TypedDict

_PREFIX = "_submission_"

MAX_MESSAGE_CHARS = 500
MAX_TYPE_CHARS = 100
MAX_LINE_CHARS = 200
FIRST_FRAMES, LAST_FRAMES = 3, 12  # of a recursion only its way in and its end are of interest


@dataclass
class _Loaded:
    """What loading from one root has changed in this interpreter."""

    root: str
    assignment: str = ""  # whose folder is on sys.path now
    appended: list[str] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    aside: dict[str, dict[str, ModuleType]] = field(default_factory=dict)  # of the other assignments


_loaded: dict[str, _Loaded] = {}  # by root; at most one entry


class _SourceOnly(importlib.machinery.SourceFileLoader):
    """Compiles the source each time: a `.pyc` can be stale within a second of an edit."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class _SubmissionFinder:
    """Finds the modules of the private packages, also for a relative import between the student's files."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(_PREFIX):
            return None
        stem = name.rpartition(".")[2]
        for folder in path or ():
            file = os.path.join(folder, f"{stem}.py")
            if os.path.isfile(file) and not os.path.isdir(os.path.join(folder, stem)):
                return importlib.util.spec_from_file_location(name, file, loader=_SourceOnly(name, file))
        return None  # a package: the ordinary finder looks on the same path


def load_module(root: Path, assignment: str, file: str) -> ModuleType:
    """Return the module of `root/assignment/file`, run on the first call and remembered until `unload`.

    The module is `_submission_<assignment>.<stem>`, so that `from .other import x` works between a student's
    files. `root` and `root/assignment` go to the end of `sys.path`: their extra modules can be imported and
    shadow nothing. One root at a time: loading from another one unloads the former. One assignment at a time:
    the folder and the helpers of another one wait aside until it is asked for again, so that memory/sizes.py and
    roofline/sizes.py are each the `sizes` of their own assignment, as in the official workers.

    Raises:
        FileNotFoundError: no such file.
        BaseException: whatever running the file raises, SystemExit included.
    """
    top = os.path.abspath(root)
    folder = os.path.join(top, assignment)
    if not os.path.isfile(os.path.join(folder, file)):
        raise FileNotFoundError(f"{assignment}/{file}: no such file in the submission")
    for other in [loaded for loaded in _loaded if loaded != top]:
        unload(Path(other))
    if not _loaded:
        _loaded[top] = _Loaded(top)
        sys.meta_path.insert(0, _SubmissionFinder)  # takes no other names
    if _loaded[top].assignment != assignment:
        _change_assignment(_loaded[top], assignment)
    for entry in (top, folder):
        if entry not in sys.path:
            sys.path.append(entry)
            _loaded[top].appended.append(entry)
    package = _PREFIX + assignment
    if package not in sys.modules:
        synthetic = ModuleType(package)
        synthetic.__path__ = [folder]
        sys.modules[package] = synthetic
        _loaded[top].packages.append(package)
    importlib.invalidate_caches()  # files may be younger than the import system's view of their folder
    return importlib.import_module(f"{package}.{file.removesuffix('.py').replace('/', '.')}")


def _change_assignment(loaded: _Loaded, assignment: str) -> None:
    """Put the former assignment's folder and helpers aside, and bring back those of `assignment`."""
    former = os.path.join(loaded.root, loaded.assignment)
    if loaded.assignment:
        tops = _tops(Path(former))
        helpers = {
            name: module
            for name, module in list(sys.modules.items())
            if not name.startswith(_PREFIX) and _belongs(name, module, tops)
        }
        loaded.aside[loaded.assignment] = helpers
        for name in helpers:
            del sys.modules[name]
        if former in loaded.appended:
            loaded.appended.remove(former)
            sys.path[:] = [entry for entry in sys.path if entry != former]
    loaded.assignment = assignment
    sys.modules.update(loaded.aside.pop(assignment, {}))


def unload(root: Path) -> None:
    """Forget all modules that lie under `root`, and take back what `load_module` did for it."""
    tops = _tops(root)
    loaded = _loaded.pop(os.path.abspath(root), None)
    if loaded is not None:
        for entry in loaded.appended:
            if entry in sys.path:
                sys.path.remove(entry)
        for name in list(sys.modules):
            if any(name == package or name.startswith(f"{package}.") for package in loaded.packages):
                del sys.modules[name]
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not _SubmissionFinder]
    for name, module in list(sys.modules.items()):
        if _belongs(name, module, tops):
            del sys.modules[name]
    for entry in list(sys.path_importer_cache):
        if _inside(os.path.join(str(entry), ""), tops) is not None:
            del sys.path_importer_cache[entry]
    linecache.checkcache()


def own_file(path: str, root: Path) -> str | None:
    """`path` relative to the submission, forward slashes; None when it is not one of its own files."""
    return _inside(path, _tops(root))


def _belongs(name: str, module: object, tops: tuple[str, ...]) -> bool:
    try:  # a module may be any object, and a lazy one runs code when asked
        names = object.__getattribute__(module, "__dict__")
        places = [names["__file__"]] if names.get("__file__") else list(names.get("__path__", ()))
    except Exception:  # an object that the submission put there: then it is none of its modules
        return False
    stem = name.rpartition(".")[2]
    if stem == "conftest" or stem.startswith("test_"):  # beside the stubs, but pytest's and not the student's
        return False
    return any(isinstance(place, str) and _inside(place, tops) is not None for place in places)


def _tops(root: Path) -> tuple[str, ...]:
    """How the path of a file of the submission may begin: as it was given, and with links followed."""
    return tuple(os.path.join(top, "") for top in (os.path.abspath(root), os.path.realpath(root)))


def _inside(path: str, tops: tuple[str, ...]) -> str | None:
    """`path` relative to the submission with forward slashes; None when it is not one of its own files."""
    for folder in tops:
        if path.startswith(folder):
            relative = path[len(folder) :].replace(os.sep, "/")
            return None if "site-packages" in relative.split("/") else relative
    return None


# ---- what went wrong in a student's file


class ExceptionDescription(TypedDict):
    """An exception as plain data that is safe to send and to print."""

    type: str
    message: str
    """At most 500 printable characters."""
    frames: list[tuple[str, int, str]]
    """File relative to the submission, line, source line; of the submission's files only, innermost last."""
    is_todo: bool
    """A stub's own `raise NotImplementedError`, and not one from a library or a subclass."""


def describe_exception(exc: BaseException, root: Path) -> ExceptionDescription:
    """Return what a student needs to know of `exc`; raises nothing, whatever the exception's methods do.

    A SyntaxError's own place is the innermost frame. Of many frames the first 3 and the last 12 are kept.
    """
    tops = _tops(root)
    frames: list[tuple[str, int, str]] = []
    innermost_is_own = False
    try:
        places = _places(exc.__traceback__)
        innermost_is_own = bool(places) and _inside(places[-1][0], tops) is not None
        names = {file: _inside(file, tops) for file in {file for file, _ in places}}
        own = [(name, line) for file, line in places if (name := names[file]) is not None]
        if len(own) > FIRST_FRAMES + LAST_FRAMES:
            own = own[:FIRST_FRAMES] + own[-LAST_FRAMES:]
        frames = [(_printable(name, MAX_LINE_CHARS), line, _source(tops, name, line)) for name, line in own]
        if isinstance(exc, SyntaxError):
            frames += _syntax_error_place(exc, tops)
    except Exception:  # properties of an exception class that was made to be awkward
        frames = frames or []
    return {
        "type": _printable(_type_name(exc), MAX_TYPE_CHARS),
        "message": _printable(_message(exc), MAX_MESSAGE_CHARS),
        "frames": frames,
        "is_todo": type(exc) is NotImplementedError and innermost_is_own,
    }


def _places(traceback: TracebackType | None) -> list[tuple[str, int]]:
    places = []
    while traceback is not None:
        places.append((traceback.tb_frame.f_code.co_filename, traceback.tb_lineno or 0))
        traceback = traceback.tb_next
    return places


def _syntax_error_place(exc: SyntaxError, tops: tuple[str, ...]) -> list[tuple[str, int, str]]:
    file, line, text = exc.filename, exc.lineno, exc.text
    if not isinstance(file, str) or not isinstance(line, int) or (name := _inside(file, tops)) is None:
        return []
    shown = text.strip() if isinstance(text, str) else _source(tops, name, line)
    return [(_printable(name, MAX_LINE_CHARS), int(line), _printable(shown, MAX_LINE_CHARS))]


def _source(tops: tuple[str, ...], name: str, line: int) -> str:
    path = tops[-1] + name
    linecache.checkcache(path)
    return _printable(linecache.getline(path, line).strip(), MAX_LINE_CHARS)


def _type_name(exc: BaseException) -> str:
    try:
        return str(type(exc).__name__)
    except Exception:  # a metaclass of the submission's own: its name may raise anything
        return "exception"


def _message(exc: BaseException) -> str:
    try:
        # str() of a SyntaxError repeats the place, which is a frame already
        text = exc.msg if isinstance(exc, SyntaxError) else str(exc)
        return str.__str__(text)
    except (Exception, SystemExit, GeneratorExit):
        return "(its message cannot be read)"


def _printable(text: str, limit: int) -> str:
    """`text`, at most `limit` long, without what steers a terminal or cannot be encoded; line ends stay."""
    shown = text if len(text) <= limit else text[: limit - 3] + "..."
    return "".join(c if c == "\n" or c.isprintable() else " " if c == "\t" else "?" for c in shown)
