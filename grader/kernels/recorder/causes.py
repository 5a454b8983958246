"""Turns a refused access into one line: kernel, source line, program, tensor, index, likely cause, remedy.

Runs only once a fault is known, so it may look at the whole block of pointers and at the kernel's own variables.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..evidence import Finding, FindingKind, Place
from .frames import call_of_access, place_of_access, through
from .indices import Lane, index_of, lane_of
from .views import View

if TYPE_CHECKING:
    from .accesses import Access, BlockPointer
    from .launches import LaunchRecord

_FIRST_PAGE = 4096
"""Addresses below it are a null pointer plus an offset: nothing is ever mapped there."""


def outside(record: "LaunchRecord", view: View, active: NDArray[np.uint64], access: "Access") -> Finding:
    """An access outside the view: past an end, before its start, or between its elements.

    `active` holds the tagged pointers of the lanes that are not masked off.
    """
    offsets = (active - np.uint64(view.base)).view(np.int64)
    bad = (offsets < 0) | (offsets + access.size > view.extent * view.itemsize)
    if view.element_member is not None and not bad.any():
        bad = ~view.element_member[offsets >> view.shift]
    first = int(np.argmax(bad))
    element = int(offsets[first]) >> view.shift
    lane = lane_of(view, element, int(active[first]), access)
    # A mask of ones looks like none: the source tells whether there was one.
    masked = active.size < access.pointers.size or "mask" in call_of_access()
    where, remedy = _outside_words(view, element, lane, masked)
    words = f"{access.verb} {where} of {_described(view)}: {remedy}"
    return _finding(record, _out_of_bounds(access), view, lane.index, words)


def past_block(
    record: "LaunchRecord", view: View, access: "Access", block: "BlockPointer", dim: int
) -> Finding:
    """A block pointer that leaves its own shape in a dimension without a check, wherever the memory there belongs."""
    index = tuple(
        max(first, block.shape[at]) if at == dim and first >= 0 else first
        for at, first in enumerate(block.offsets)
    )
    where = f"{_at(block.shape, index, dim)} of {_described(view)} through a block pointer"
    remedy = f"mask the tail with boundary_check=({dim},), or check the loop and the offset that lead there"
    words = f"{access.verb} {where}: {remedy}"
    return _finding(record, _out_of_bounds(access), view, index, words)


def _out_of_bounds(access: "Access") -> FindingKind:
    return "out_of_bounds_load" if access.verb == "loads" else "out_of_bounds_store"


def _outside_words(view: View, element: int, lane: Lane, masked: bool) -> tuple[str, str]:
    """Where the access lies, and the likely cause with its remedy."""
    if view.extent == 0:
        return "an element", "the tensor is empty: launch no programs for it, or mask everything"
    over = [dim for dim, at in enumerate(lane.index) if at >= view.shape[dim]]
    under = [dim for dim, at in enumerate(lane.index) if at < 0]
    inside = 0 <= element < view.extent
    if lane.strange_step is not None and (inside or len(over) != 1 or not lane.near(over[0], view.shape)):
        axis, step = lane.strange_step
        place = "memory between the elements" if inside else f"memory {_distance(view, element)}"
        return place, (
            f"the block steps {step:,} elements along its axis {axis}, but the tensor's strides are {view.strides}: "
            "pass its own strides, in the right order"
        )
    if inside and not over and not under:
        return "memory between the elements", (
            f"its strides are {view.strides}: compute offsets with them, and keep to this tensor's part of the memory"
        )
    if under:
        return _at(
            view.shape, lane.index, under[0]
        ), f"the offset is below 0: {_mask(view, lane, under[0], masked, '>= 0')}"
    if element < 0:
        return (
            f"memory {_distance(view, element)}",
            "the offset is below 0: check the subtraction, and the strides",
        )
    if not over:
        return f"memory {_distance(view, element)}", "check the strides and the offset of the batch or head"
    return _at(view.shape, lane.index, over[0]), _past_the_end(view, lane, over[0], masked)


def _past_the_end(view: View, lane: Lane, dim: int, masked: bool) -> str:
    limit = f"< {lane.limit(dim, view.shape)}"
    if through("create_descriptor_load", "create_descriptor_store"):
        return "the descriptor covers more than the tensor: make it with the tensor's own shape"
    if dim not in lane.axes and not lane.irregular:
        if dim < len(view.shape) - 2:
            return (
                "check the grid, and how the head or batch index is made and which stride it is multiplied by"
            )
        return f"check the grid, and where that index comes from; {_mask(view, lane, dim, masked, limit)}"
    remedy = _mask(view, lane, dim, masked, limit)
    if lane.whole_block_past(dim, view.shape):
        remedy = f"the whole block lies past the end: check the grid or the loop's bound; {remedy}"
    elif lane.reversed_axes:
        remedy += "; or are the strides swapped? the block's axes run along the dimensions in reverse order"
    return remedy


def _mask(view: View, lane: Lane, dim: int, masked: bool, condition: str) -> str:
    """How the access would be masked; or why the mask that it has does not help."""
    variable = lane.variable(dim)
    example = f"{variable or 'offsets'} {condition}"
    if lane.irregular:
        return f"the index comes from data: clamp it, or mask it with {example}"
    if masked and not variable and lane.index[dim] >= 0:
        size = lane.limit(dim, view.shape)
        return f"the mask lets it through: it compares with another size than {size}, or an offset or stride is wrong"
    if masked:
        return f"the mask lets it through: it needs {example} as well"
    return f"mask the tail, e.g. mask={example}"


def nowhere(record: "LaunchRecord", address: int, access: "Access") -> Finding:
    """An access whose pointer belongs to no tensor at all: None, an integer, arithmetic far off."""
    if address < _FIRST_PAGE:
        words = "through a null pointer: a tensor argument is None; guard the access with a constexpr flag"
    else:
        words = (
            "through a pointer that belongs to no tensor of this launch: check where the address comes from"
        )
    return _finding(record, _out_of_bounds(access), None, (), f"{access.verb} {words}")


def unwritten(record: "LaunchRecord", view: View, element: int, verb: str) -> Finding:
    """A read of memory that neither PyTorch nor a kernel has written."""
    index = index_of(view, element)
    remedy = (
        "an atomic adds to what is there: make the tensor with torch.zeros"
        if verb == "updates"
        else "torch.empty holds whatever was there before: write it first, or make it with torch.zeros"
    )
    return _finding(
        record,
        "uninitialised_read",
        view,
        index,
        f"{verb} {_element(view, index)} of {_described(view)}, which nothing has written: {remedy}",
    )


def write_race(record: "LaunchRecord", view: View, element: int, number: int) -> Finding:
    """Two programs of a launch wrote one element with different values."""
    other = record.program_of(number)
    return _race(
        record,
        view,
        element,
        f"stores to {{element}}, where program {other} of the same launch wrote another value: the last to run wins; "
        "give each element one program, or add with tl.atomic_add",
    )


def overwrite_race(record: "LaunchRecord", view: View, element: int, number: int) -> Finding:
    """A program stored to an element that another program of the launch had loaded."""
    other = record.program_of(number)
    return _race(
        record,
        view,
        element,
        f"overwrites {{element}}, which program {other} of the same launch reads: on a GPU either may come first; "
        "write to another tensor",
    )


def read_race(record: "LaunchRecord", view: View, element: int, number: int) -> Finding:
    """A program loaded what another program of the launch stored."""
    other = record.program_of(number)
    return _race(
        record,
        view,
        element,
        f"loads {{element}}, which program {other} wrote in the same launch: on a GPU either may come first; "
        "add with tl.atomic_add, or split the work into two launches",
    )


def total_race(
    record: "LaunchRecord", view: View, element: int, reader: int, adder: int, place: Place
) -> Finding:
    """A program loaded, at `place`, what another program of the launch adds to by atomics, in no order."""
    words = (
        f"loads {{element}}, which program {record.program_of(adder)} updates atomically in the same launch: on a GPU "
        "some of the updates may come later; load it in a second launch, or in the last program to arrive"
    )
    return _race(record, view, element, words, place, record.program_of(reader))


def atomic_race(record: "LaunchRecord", view: View, element: int, number: int) -> Finding:
    """An atomic touched an element that another program of the launch stored plainly."""
    other = record.program_of(number)
    return _race(
        record,
        view,
        element,
        f"updates {{element}} atomically, where program {other} of the same launch does a plain store: on a GPU either "
        "may come first; fill the tensor before the launch",
    )


def lanes_race(record: "LaunchRecord", view: View, element: int) -> Finding:
    """Lanes of one store wrote one element with different values."""
    return _race(
        record,
        view,
        element,
        "stores different values to {element} in one tl.store: several lanes point there; "
        "check the strides of the block, or reduce it first",
    )


def _race(
    record: "LaunchRecord",
    view: View,
    element: int,
    words: str,
    place: Place | None = None,
    program: tuple[int, ...] = (),
) -> Finding:
    index = index_of(view, element)
    text = words.format(element=f"{_element(view, index)} of {_described(view)}")
    return _finding(record, "race", view, index, text, place, program)


def _finding(
    record: "LaunchRecord",
    kind: FindingKind,
    view: View | None,
    index: tuple[int, ...],
    words: str,
    place: Place | None = None,
    program: tuple[int, ...] = (),
) -> Finding:
    """Of the access in progress, unless place and program are those of an earlier one."""
    place, program = place or place_of_access(), program or record.program()
    line = f"line {place.line} `{place.source}`" if place.source else f"line {place.line}"
    return Finding(
        kind=kind,
        kernel=record.kernel,
        place=place,
        program=program,
        tensor="" if view is None else view.label,
        index=index,
        message=f"{record.kernel} {line}: program {program} {words}",
    )


def _described(view: View) -> str:
    return f"{view.label} (shape {view.shape})"


def _distance(view: View, element: int) -> str:
    if element < 0:
        return f"{-element:,} elements before the first"
    return f"{element - view.extent + 1:,} elements past the last"


def _at(shape: tuple[int, ...], index: tuple[int, ...], dim: int) -> str:
    """`row 130 of 128`."""
    size, at, rank = shape[dim], index[dim], len(shape)
    if rank == 1:
        return f"element {at} of {size}"
    if dim >= rank - 2:
        return f"{'column' if dim == rank - 1 else 'row'} {at} of {size}"
    return f"index {at} of {size} in dimension {dim}"


def _element(view: View, index: tuple[int, ...]) -> str:
    return f"element {index[0] if len(index) == 1 else index}"
