"""Triton's compile errors in one line that a student can act on, at the line of theirs that caused it."""

import ast
import linecache
import re
import sys
import traceback
from typing import Any

from .. import places
from ..evidence import Place
from .machine_code import first_complaint

MESSAGE_LIMIT = 600

# What the compiler says, and what to do about it. The words are those of triton 3.6 to 3.8; what matches nothing
# is shown as the compiler put it.
ADVICE: tuple[tuple[str, str], ...] = (
    (
        r"arange's range must be a power of 2",
        "tl.arange needs a length that is a power of two: take triton.next_power_of_2(D) as the block and mask the "
        "columns past D",
    ),
    (
        r"Shape element (?P<axis>\d+) must be a power of 2",
        "every dimension of a block must be a power of two, and dimension {axis} of this one is not: round it up "
        "with triton.next_power_of_2 and mask the rest",
    ),
    (
        r"arange's arguments must be of type tl\.constexpr",
        "tl.arange needs bounds known to the compiler: declare the block size as a tl.constexpr parameter",
    ),
    (
        r"Both operands must be same dtype\. Got (?P<lhs>\w+) and (?P<rhs>\w+)",
        "tl.dot cannot multiply {lhs} by {rhs}: cast one operand, as p.to(v.dtype), and keep the sum in fp32",
    ),
    (
        r"Input shapes should have M >= (?P<m>\d+), N >= (?P<n>\d+) and K >= (?P<k>\d+)",
        "this tl.dot is too small for the tensor cores, which need M ≥ {m}, N ≥ {n}, K ≥ {k}: use a larger block and "
        "mask the rest",
    ),
    (
        r"Cannot access global variable (?P<name>\w+)",
        "a kernel cannot read the global {name}: pass it as an argument, or make it tl.constexpr({name})",
    ),
    (
        r"Loop-carried variable (?P<name>\w+) has initial type (?P<first>.+?) but is re-assigned to (?P<then>.+?) "
        r"in loop",
        "{name} enters the loop as {first} and leaves a turn as {then}: start it with that shape and dtype, or cast "
        "it back with .to() inside the loop",
    ),
    (
        r"numel \((?P<count>\d+)\) exceeds triton maximum tensor numel \((?P<most>\d+)\)",
        "a block of {count} elements is over triton's {most}: use smaller blocks and a loop",
    ),
    (
        r"incompatible dimensions at index (?P<axis>\d+): (?P<lhs>\d+) and (?P<rhs>\d+)",
        "dimension {axis} is {lhs} on one side and {rhs} on the other, and neither is 1: check the [:, None] and "
        "[None, :]",
    ),
    (
        r"(must have equal reduction dimensions|are not compatible for matmul)",
        "tl.dot(a, b) needs as many columns in a as rows in b: tl.trans turns one of them",
    ),
    (
        r"Boolean value of Tensor with more than one value is ambiguous",
        "an if on a block has no one answer: take tl.where for each element, or reduce first with tl.max",
    ),
    (
        r"unsupported AST node type: (?P<kind>Break|Continue)",
        "kernels have no break or continue: put the condition into the bounds of range, or into a while",
    ),
    (
        r"unsupported tensor index",
        "an element of a block cannot be picked by index: load it by its address, or mask and tl.sum",
    ),
    (
        r"num_warps must be a power of 2",
        "num_warps must be a power of two: 1, 2, 4, 8, 16 or 32",
    ),
    (
        r"missing \d+ required positional arguments?: (?P<names>.*)",
        "the launch lacks {names}: give every argument of the kernel that has no default",
    ),
    (
        r"Keyword argument (?P<name>\w+) was specified but unrecognised",
        "the launch gives {name}, which the kernel does not take",
    ),
    (
        r"num_ctas > 1 requires NVIDIA SM90\+",
        "num_ctas over 1 needs an H100 (sm_90) or later: leave it at 1 for this target",
    ),
    (
        r"type (?P<name>fp8\w+) not supported in this architecture",
        "{name} does not exist on this target: fp8e4nv needs sm_89 or later",
    ),
)


class Explained:
    """A message in one line, and the student's line that it is about."""

    def __init__(self, message: str, place: Place) -> None:
        self.message = message
        self.place = place


def one_line(text: str) -> str:
    """Join lines, drop triton's source excerpts, and keep the length readable."""
    return " ".join(text.split())[:MESSAGE_LIMIT]


def advise(complaint: str) -> str:
    """Return what the student should do, where we know the complaint; else the complaint itself in one line."""
    # Types come as <['16', '64'], fp32>.
    complaint = re.sub(r"<\[([\d', ]*)\], (\w+)>", lambda m: f"{m[2]}[{m[1]}]".replace("'", ""), complaint)
    for pattern, remedy in ADVICE:
        found = re.search(pattern, complaint)
        if found:
            return one_line(remedy.format(**found.groupdict()))
    # CompilationError keeps the repr of what the compiler raised: NameError('x is not defined').
    plain = re.fullmatch(r"(\w*Error|\w*Exception)\((['\"])(.*)\2,?\)", complaint.strip(), re.DOTALL)
    return one_line(plain.group(3) if plain else complaint) or "the compiler gives no reason"


def explain(error: BaseException, kernel: Any, output: str) -> Explained:
    """Turn an error of `triton.compile` into a line and a place.

    `kernel` is the JITFunction that was launched; `output` is what the compiler printed meanwhile, diagnostics of
    its passes and the PTX that ptxas refused included.
    """
    from triton.compiler.errors import CompilationError
    from triton.runtime.errors import PTXASError

    if isinstance(error, CompilationError):
        return _of_front_end(error, kernel)
    if isinstance(error, PTXASError):
        log = str(error)
        number = re.search(r"line (\d+)", log)
        place = _place_in_ptx(output, int(number.group(1))) if number else Place()
        stderr = log.partition("stderr:")[2].partition("Repro command")[0] or log
        return Explained(f"ptxas refuses the kernel's PTX: {first_complaint(stderr)}", place)
    if isinstance(error, RuntimeError) and "PassManager" in str(error):
        found = re.search(r'loc\("([^"]+)":(\d+):\d+\)|^(\S+\.py):(\d+):\d+: error', output, re.MULTILINE)
        place = Place()
        if found:
            place = places.line(found.group(1) or found.group(3), int(found.group(2) or found.group(4)))
        said = re.search(r"error: (.*)", output)
        reason = said.group(1) if said else "a pass failed and gives no reason"
        return Explained(one_line(f"triton cannot lower this kernel for the target: {reason}"), place)
    return Explained(advise(f"{error}" or type(error).__name__), Place())


def _of_front_end(error: BaseException, kernel: Any) -> Explained:
    """Follow the chain inwards: the innermost message counts, at the innermost line that is the student's."""
    complaint, place = "", Place()
    sources = functions_of(kernel)
    current: BaseException | None = error
    while current is not None and hasattr(current, "node"):
        complaint = str(getattr(current, "error_message", None) or "") or complaint
        start = sources.get(str(getattr(current, "src", "")))
        number = getattr(current.node, "lineno", None)
        if start is not None and number is not None and places.is_students(start[0]):
            place = places.line(start[0], start[1] + number - 1)
        current = current.__cause__
    return Explained(advise(complaint or _failed_check(current)), place)


def _failed_check(error: BaseException | None) -> str:
    """Return the compiler's own line where it gave up without a word: a bare assert."""
    frames = list(traceback.walk_tb(error.__traceback__)) if error is not None else []
    if not frames:
        return ""
    frame, number = frames[-1]
    source = linecache.getline(frame.f_code.co_filename, number).strip()
    return (
        f"the compiler expects of {frame.f_code.co_name}: {source.removeprefix('assert ')}" if source else ""
    )


def functions_of(kernel: Any) -> dict[str, tuple[str, int]]:
    """Return, by its source, the file and first line of every jit function that a kernel can reach."""
    found: dict[str, tuple[str, int]] = {}
    waiting = [kernel]
    while waiting:
        function = waiting.pop()
        if not hasattr(function, "raw_src") or function.src in found:
            continue
        found[function.src] = definition(function)
        scope = dict(getattr(function, "__globals__", {}))
        code, cells = function.fn.__code__, function.fn.__closure__ or ()
        for name, cell in zip(code.co_freevars, cells, strict=False):
            try:
                scope[name] = cell.cell_contents
            except ValueError:  # the name is not bound yet
                continue
        names = {node.id for node in ast.walk(ast.parse(function.src)) if isinstance(node, ast.Name)}
        modules = [scope[name] for name in names if isinstance(scope.get(name), type(sys))]
        attributes = {
            node.attr for node in ast.walk(ast.parse(function.src)) if isinstance(node, ast.Attribute)
        }
        waiting += [scope[name] for name in names if name in scope]
        waiting += [
            getattr(module, name) for module in modules for name in attributes if hasattr(module, name)
        ]
    return found


def definition(function: Any) -> tuple[str, int]:
    """Return the file of a jit function and the line of its `def`, decorators passed over."""
    skipped = next((n for n, text in enumerate(function.raw_src) if text.lstrip().startswith("def ")), 0)
    return function.fn.__code__.co_filename, function.starting_line_number + skipped


def _place_in_ptx(output: str, number: int) -> Place:
    """Return the Python line of a line of PTX, by the `.loc` before it."""
    _, _, ptx = output.partition("//\n// Generated by LLVM")
    lines = ("//\n// Generated by LLVM" + ptx).splitlines() if ptx else []
    files = dict(re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]+)"', output, re.MULTILINE))
    for text in reversed(lines[:number]):
        found = re.match(r"\s*\.loc\s+(\d+)\s+(\d+)", text)
        if found and found.group(1) in files and places.is_students(files[found.group(1)]):
            return places.line(files[found.group(1)], int(found.group(2)))
    return Place()
