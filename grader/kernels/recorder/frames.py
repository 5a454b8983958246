"""Reads the Python stack: the student's line that makes an access, and what the student's functions call a tensor."""

import itertools
import linecache
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from functools import cache
from types import CodeType, FrameType, ModuleType
from typing import Any

import torch

from ..evidence import Place
from .torch_caller import locals_of


# An interpreted kernel runs as ordinary Python with the line numbers of its file, so frames tell lines.
@cache
def _libraries() -> tuple[str, ...]:
    """Folders of Python, of installed packages and of the kit: no line there is the student's."""
    triton = sys.modules.get("triton")
    folders = {
        *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
        os.path.dirname(torch.__file__),
        os.path.dirname(getattr(triton, "__file__", None) or torch.__file__),
        os.path.dirname(os.path.dirname(__file__)),
    }
    return tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)


@cache
def _is_library(file: str) -> bool:
    return file.startswith("<") or os.path.realpath(file).startswith(_libraries())


def student_frames(until: CodeType) -> Iterator[FrameType]:
    """Frames of code that is no library's, innermost first, up to the frame that runs `until`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not until:
        if not _is_library(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def access_frame() -> FrameType | None:
    """The student's innermost frame; inside a kernel, the line that makes the access."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def place_of_access() -> Place:
    """The line of `access_frame`; an empty place outside any."""
    frame = access_frame()
    return Place() if frame is None else place_at(frame.f_code.co_filename, frame.f_lineno)


def call_of_access() -> str:
    """The source of the call that makes the access, which may be one of several on its line; "" where unknown."""
    frame = access_frame()
    if frame is None:
        return ""
    first, last, start, end = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    lines = linecache.getlines(frame.f_code.co_filename)[(first or 1) - 1 : last]
    if not lines or start is None or end is None:
        return ""
    encoded = [line.encode() for line in lines]  # columns count bytes
    encoded[-1] = encoded[-1][:end]
    encoded[0] = encoded[0][start:]
    return b"".join(encoded).decode(errors="replace")


def place_at(file: str, line: int) -> Place:
    """A line with its source, which is empty where the file cannot be read."""
    return Place(file=file, line=line, source=linecache.getline(file, line).strip())


def through(*methods: str) -> bool:
    """Whether the access in progress came by one of these methods of the interpreter's builder."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_library(frame.f_code.co_filename):
        if frame.f_code.co_name in methods:
            return True
        frame = frame.f_back
    return False


class Names:
    """What the student's functions call tensors during one call.

    The parameters of the called function come first, then locals of its frames, outermost first: a tensor that
    `attention(q, k, v)` hands on as `x` is q.
    """

    def __init__(self, arguments: Mapping[str, Any], until: CodeType) -> None:
        """`arguments` by parameter of the called function; frames are looked at inside the one running `until`."""
        self._arguments = arguments
        self._until = until
        self._seen: dict[Any, str] = {}

    def _layers(self) -> Iterator[list[tuple[str, torch.Tensor]]]:
        """Named tensors: the arguments, then the locals of each frame, outermost first."""
        yield list(_tensors(self._arguments))
        for frame in reversed(list(student_frames(self._until))):
            yield list(_tensors(locals_of(frame)))

    def of(self, tensors: list[torch.Tensor]) -> list[str]:
        """A name for each tensor, "" where the student's code has none.

        The same elements in the same shape are the same tensor; failing that, contiguous memory in another shape.
        """
        names: dict[Any, str] = {}
        for layer in self._layers():
            here: dict[Any, str] = {}
            for name, tensor in layer:
                outer = _named(names, tensor)
                for key in _keys(tensor):
                    here.setdefault(key, outer or name)
            names = here | names
        self._seen |= names
        return [_named(names, tensor) for tensor in tensors]

    def seen(self, tensor: torch.Tensor) -> str:
        """What a tensor was last called when `of` looked, "" if it was not there."""
        return _named(self._seen, tensor)

    def tensor_at(self, address: int) -> tuple[str, torch.Tensor] | None:
        """A tensor of the student's whose elements span that address, with its name."""
        for name, tensor in itertools.chain.from_iterable(self._layers()):
            span = 1 + sum(
                (size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
            )
            start = tensor.data_ptr()
            if tensor.numel() and start <= address < start + span * tensor.element_size():
                return name, tensor
        return None


def _tensors(values: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors among named values, then those inside their lists, tuples, dicts and modules.

    Exact types only: asking an object of the student's class would run the student's code from here.
    """
    values = dict(values)
    yield from _plain_tensors(values)
    for name, value in values.items():
        if type(value) in (list, tuple):
            yield from _plain_tensors({f"{name}[{at}]": item for at, item in enumerate(value)})
        elif type(value) is dict:
            yield from _plain_tensors(
                {f"{name}[{key!r}]": item for key, item in value.items() if type(key) is str}
            )
        elif isinstance(value, torch.nn.Module):
            held = {**vars(value).get("_parameters", {}), **vars(value).get("_buffers", {})}
            yield from _plain_tensors({f"{name}.{key}": item for key, item in held.items()})


_elsewhere: dict[str, set[str]] = {}
"""By root, the modules that are not below it: looking at all of them takes as long as a small launch."""


def held_by_modules(root: str) -> Iterator[tuple[str, torch.Tensor]]:
    """Tensors that the student's modules have made at import, or keep: globals of files under `root`."""
    elsewhere = _elsewhere.setdefault(root, set())
    for name in (sys.modules.keys() - elsewhere) if root else ():
        module = sys.modules.get(name)
        values = vars(module) if type(module) is ModuleType else {}
        file = values.get("__file__")
        if type(file) is str and file.startswith(os.path.join(root, "")):
            yield from _tensors(values)
        else:
            elsewhere.add(name)


def _plain_tensors(values: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    for name, value in values.items():
        if type(value) not in (torch.Tensor, torch.nn.Parameter):
            continue
        if value.layout == torch.strided and value.device.type == "cpu":
            yield name, value


def _named(names: Mapping[Any, str], tensor: torch.Tensor) -> str:
    return next((names[key] for key in _keys(tensor) if key in names), "")


def _keys(tensor: torch.Tensor) -> list[tuple[Any, ...]]:
    """What identifies a tensor, the closest match first."""
    exact = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)
    if not tensor.is_contiguous():
        return [exact]
    return [exact, (tensor.data_ptr(), tensor.numel(), tensor.dtype)]
