"""Finds the function that a user names, in a file of any origin: imported as Python would, errors in one line."""

import ast
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any


class Unusable(ValueError):
    """The file or the function is of no use; one line."""


def launchers(file: Path) -> list[str]:
    """Names of the functions and autograd Functions in a file that launch kernels, by its text alone.

    Empty where the file is no Python.
    """
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, OSError):
        return []
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and any(
            isinstance(each, ast.Call) and isinstance(each.func, ast.Subscript) for each in ast.walk(node)
        )
    ]


def load(file: Path, name: str) -> Callable[..., Any]:
    """Import the file and return something to call, with a signature to read.

    `name` may be that of a function, an autograd Function (or its `apply`), a module that is built without
    arguments, or a method of one: `RMSNorm.forward`.

    Raises:
        Unusable: there is no such function, or nothing that can be called as it is.
        Exception: whatever the file raises while it is imported.
    """
    module = _module(file)
    found: Any = module
    owner: Any = None
    for part in name.split("."):
        if inspect.isclass(owner := found) and not _is_function_class(owner) and _needs_instance(owner, part):
            owner = _instance(owner)
        found = getattr(owner, part, None)
        if found is None:
            raise Unusable(f"{file.name} has no function {name}{_instead(file)}")
    if _is_function_class(getattr(found, "__self__", None)) and found.__name__ == "apply":
        found = found.__self__  # `attention = Attention.apply`
    if _is_function_class(found):
        return _apply(found)
    if hasattr(found, "fn") and hasattr(found, "run"):
        raise Unusable(
            f"{name} is a Triton kernel itself: name the Python function that launches it{_instead(file)}"
        )
    if inspect.isclass(found):
        found = _instance(found)
    if not callable(found):
        raise Unusable(f"{name} in {file.name} is no function{_instead(file)}")
    # A module's own __call__ says (*args, **kwargs).
    function: Callable[..., Any] = found.forward if hasattr(found, "forward") else found
    return function


def _module(file: Path) -> ModuleType:
    package = _package(file)
    if package:
        sys.path.insert(0, str(file.parents[package.count(".")]))
        return importlib.import_module(package)
    sys.path.insert(0, str(file.parent))  # as `python FILE` would
    spec = importlib.util.spec_from_file_location(f"_kernels_of_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise Unusable(f"{file.name}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _package(file: Path) -> str:
    """The dotted name of a file that imports relatively, `ops.flash`; "" for any other."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return ""  # the import says it better
    if not any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree)):
        return ""
    parts = [file.stem, file.parent.name]
    for folder in file.parents:
        if not (folder / "__init__.py").is_file() or not (folder.parent / "__init__.py").is_file():
            break
        parts.append(folder.parent.name)
    return ".".join(reversed(parts))


def _is_function_class(value: Any) -> bool:
    import torch

    return inspect.isclass(value) and issubclass(value, torch.autograd.Function)


def _needs_instance(owner: type, part: str) -> bool:
    attribute = inspect.getattr_static(owner, part, None)
    return inspect.isfunction(attribute)


def _instance(owner: type) -> Any:
    try:
        return owner()
    except TypeError as error:
        raise Unusable(
            f"{owner.__name__} cannot be made without arguments ({error}): name a plain function that makes one and "
            "calls it"
        ) from None


def _apply(function: Any) -> Callable[..., Any]:
    """`apply` of an autograd Function with the signature of its forward, less the ctx."""
    import torch

    parameters = list(inspect.signature(function.forward).parameters.values())
    if function.setup_context is torch.autograd.function._SingleLevelFunction.setup_context:
        parameters = parameters[1:]  # the older form: forward(ctx, ...)

    def apply(*args: Any) -> Any:
        return function.apply(*args)

    apply.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions take any attribute
    apply.__name__ = f"{function.__name__}.apply"
    return apply


def _instead(file: Path) -> str:
    names = launchers(file)
    return f"; those that launch kernels: {', '.join(names)}" if names else ""


def traced(error: BaseException, file: Path) -> Iterator[int]:
    """Lines of the file that an exception passed, innermost last."""
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == str(file):
            yield traceback.tb_lineno
        traceback = traceback.tb_next


def described(error: BaseException | None, file: Path) -> str:
    """An exception in one line, with the line of the user's file that it came from."""
    from grader.kernels.faults import KernelFault, NeedsGpu, UnsupportedTriton

    if error is None:
        return ""
    if isinstance(error, KernelFault | NeedsGpu | UnsupportedTriton | Unusable):
        return str(error)
    if isinstance(error, SyntaxError):
        return (
            f"{type(error).__name__} at {Path(error.filename or file).name}, line {error.lineno}: {error.msg}"
        )
    lines = list(traced(error, file))
    where = f" at {file.name}, line {lines[-1]}" if lines else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{where}: {text[:400]}" if text else f"{type(error).__name__}{where}"
