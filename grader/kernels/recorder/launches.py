"""The running record of one launch: every access is judged before it happens and counted, every dot and exp counted.

An access costs a few passes over its pointers; sentences, source lines and indices are worked out for faults only.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..evidence import Finding, Launch, Place
from ..faults import KernelFault
from . import causes, totals
from .accesses import Access, BlockPointer, Lanes, Pointers
from .frames import place_of_access
from .ledger import Ledger
from .views import ADDRESS_MASK, ALL_WRITTEN, MAX_TAG, TAG_SHIFT, WORDS, Elements, View


class LaunchRecord:
    """What one launch has done so far; raises KernelFault from inside the kernel at a fault that must end it."""

    def __init__(
        self,
        kernel: str,
        place: Place,
        builder: Any,
        ledger: Ledger,
        found: Callable[[Finding], None],
        tensor_at: Callable[[int], tuple[str, torch.Tensor] | None],
        reached: Callable[[View], None],
        input_storages: frozenset[int],
        sanitize: bool,
    ) -> None:
        """`found` is told of every finding; `tensor_at` finds a tensor of the student's by an address in it.

        `reached` is told of a view that was found so, which is no argument of the launch.
        """
        self.kernel = kernel
        self.place = place
        self.builder = builder
        self.ledger = ledger
        self.found = found
        self.tensor_at = tensor_at
        self.reached = reached
        self.input_storages = input_storages
        self.sanitize = sanitize
        self.views: list[View] = []
        self.grid: tuple[int, ...] = ()
        self.config: dict[str, Any] = {}
        self.config_index = 0
        self.config_count = 1
        self.dot_flops: dict[str, int] = {}
        self.exps = 0
        self.input_stores: dict[int, tuple[Place, tuple[int, ...]]] = {}
        """By storage of an input: where the kernel first wrote into it, and which program."""
        self._of_storage: dict[int, list[View]] = {}
        self._ordering: dict[int, int] = {}
        """Program number + 1 to how many atomics it has done that order its accesses."""
        self._acquired = 0
        self._updated: list[tuple[View, Elements]] = []

    def add(self, tensor: torch.Tensor, parameter: str, name: str) -> View | None:
        """Give a tensor argument its tag; None when tags have run out (the access is then judged by address)."""
        if len(self.views) >= MAX_TAG:
            return None
        view = View(len(self.views) + 1, tensor, parameter, self.ledger)
        view.name = name
        self.views.append(view)
        self._of_storage.setdefault(view.storage, []).append(view)
        return view

    def program(self) -> tuple[int, ...]:
        """The running program's (x, y, z)."""
        return tuple(self.builder.grid_idx)

    def number(self) -> int:
        """The running program's number + 1, in the order in which the interpreter runs them."""
        x, y, z = self.builder.grid_idx
        _, height, depth = self.builder.grid_dim
        return int((x * height + y) * depth + z + 1)

    def program_of(self, number: int) -> tuple[int, ...]:
        """(x, y, z) of a program number + 1."""
        _, height, depth = self.builder.grid_dim
        rest, z = divmod(number - 1, depth)
        x, y = divmod(rest, height)
        return (int(x), int(y), int(z))

    # accesses

    def load(
        self, pointers: Pointers, mask: Lanes, size: int, block: BlockPointer | None, *, fresh: bool
    ) -> Pointers:
        """Judge and count a load of `size` bytes a lane; the addresses without tags.

        `fresh` True for a volatile load, as of a program that waits for what others add.
        """
        for view, elements, _ in self._touch(Access("loads", pointers, mask, size, block), None):
            if self.sanitize:
                self._check_written(view, elements, "loads")
                self._check_read_order(view, elements, fresh)
            view.read_bytes += elements.size * min(size, view.itemsize)
            view.was_read = True
            readers = view.first_reader
            seen = readers[elements]
            if not seen.all():
                readers[elements[seen == 0]] = self.number()
        return pointers & ADDRESS_MASK

    def store(
        self, pointers: Pointers, mask: Lanes, values: NDArray[Any], block: BlockPointer | None = None
    ) -> tuple[Pointers, list[Any]]:
        """Judge and count a store; the addresses without tags, and what `stored` must look at after it."""
        size = values.itemsize
        written = []
        for view, elements, bits in self._touch(Access("stores", pointers, mask, size, block), values):
            number = self.number()
            if self.sanitize:
                self._check_write_order(view, elements, bits, number)
                written.append((view, elements, bits))
            view.was_written = True
            view.last_writer[elements] = number
            if self._ordering:
                view.writer_epoch[elements] = self.ordering(number)
            self._wrote(view, elements, size)
        return pointers & ADDRESS_MASK, written

    def stored(self, written: list[Any]) -> None:
        """After a store: where lanes of it wrote one address, the last one's value is there, and others' is not."""
        for view, elements, bits in written:
            now = view.memory[elements]
            if view.kept is not None:
                view.kept[elements] = now
            if bits is None:
                continue
            lost = now != bits
            if lost.any():
                self.found(causes.lanes_race(self, view, int(elements[int(np.argmax(lost))])))

    def atomic(
        self, pointers: Pointers, mask: Lanes, size: int, *, reads: bool, adds: bool, ordering: bool
    ) -> Pointers:
        """Judge and count an atomic.

        `reads` False for an exchange, `adds` False for any exchange (flags, locks), `ordering` False for a relaxed one.
        """
        for view, elements, _ in self._touch(Access("updates", pointers, mask, size), None):
            number = self.number()
            if self.sanitize:
                if reads:
                    self._check_written(view, elements, "updates")
                self._check_atomic_order(view, elements, number, adds)
            if ordering:
                self._ordering[number] = self.ordering(number) + 1
                self._acquired = number
            view.atomics += elements.size
            view.had_atomics = True
            view.last_atomic[elements] = number
            if adds and self.sanitize:
                totals.keep(view, elements, number)
            self._wrote(view, elements, size)
            if view.kept is not None:
                self._updated.append((view, elements))
        return pointers & ADDRESS_MASK

    def updated(self) -> None:
        """After an atomic: the memory watch's copy has what it left."""
        for view, elements in self._updated:
            if view.kept is not None:
                view.kept[elements] = view.memory[elements]
        self._updated.clear()

    def _wrote(self, view: View, elements: Elements, size: int) -> None:
        view.written_bytes += elements.size * min(size, view.itemsize)
        if view.unwritten is not None:
            view.unwritten[elements] = ALL_WRITTEN[view.itemsize]
        if view.storage in self.input_storages and view.storage not in self.input_stores:
            self.input_stores[view.storage] = (place_of_access(), self.program())

    def _touch(
        self, access: Access, values: NDArray[Any] | None
    ) -> Iterator[tuple[View, Elements, NDArray[Any] | None]]:
        """Each view that an access touches, with its elements, and the bits stored there where there are values."""
        if access.mask.all():
            active, chosen = access.pointers.ravel(), None if values is None else values.ravel()
        else:
            lanes = np.broadcast_to(access.mask, access.pointers.shape)
            active, chosen = access.pointers[lanes], None if values is None else values[lanes]
        if not active.size:
            return
        low, high = int(active.min()), int(active.max())
        tag = low >> TAG_SHIFT
        if tag == high >> TAG_SHIFT and 0 < tag <= len(self.views):
            view = self.views[tag - 1]
            yield view, self._elements(view, active, low, high, access), _bits(view, chosen)
            return
        for view, lanes in self._split(active, access):
            part = active[lanes] & ADDRESS_MASK | np.uint64(view.tag << TAG_SHIFT)
            elements = self._elements(view, part, int(part.min()), int(part.max()), access)
            yield view, elements, _bits(view, None if chosen is None else chosen[lanes])

    def _elements(self, view: View, active: Pointers, low: int, high: int, access: Access) -> Elements:
        """Element numbers of an access through one view; a fault where one lies outside it."""
        if access.block is not None and self.sanitize:
            self._check_block(view, access, access.block)
        end = view.base + view.extent * view.itemsize
        if low < view.base or high + access.size > end:
            raise self._fault(causes.outside(self, view, active, access))
        elements = (active - np.uint64(view.base)).view(np.int64)
        elements >>= view.shift
        if view.element_member is not None and self.sanitize and not view.element_member[elements].all():
            raise self._fault(causes.outside(self, view, active, access))
        if access.size > view.itemsize:
            elements = (elements[:, None] + np.arange(access.size // view.itemsize)).ravel()
        return elements

    def _split(self, active: Pointers, access: Access) -> Iterator[tuple[View, Lanes]]:
        """Lanes by view where pointers of several tensors are mixed, or were loaded from memory and have no tag."""
        tags = active >> np.uint64(TAG_SHIFT)
        for tag in np.unique(tags):
            lanes = tags == tag
            if 0 < tag <= len(self.views):
                yield self.views[int(tag) - 1], lanes
                continue
            while lanes.any():
                address = int((active[lanes] & ADDRESS_MASK).min())
                # A tag that nobody has: the pointer has wandered over 2⁴⁸ bytes, and may look right by chance.
                view = None if tag else self._view_at(address)
                if view is None:
                    raise self._fault(causes.nowhere(self, address, access))
                addresses = active & ADDRESS_MASK
                inside = lanes & (addresses < np.uint64(view.address + view.extent * view.itemsize))
                yield view, inside
                lanes = lanes & ~inside

    def _view_at(self, address: int) -> View | None:
        """The view that holds an address which came without a tag: of this launch, or any the student holds."""
        for view in self.views:
            if view.address <= address < view.address + view.extent * view.itemsize:
                return view
        held = self.tensor_at(address)
        added = None if held is None else self.add(held[1], "", held[0])
        if added is not None:
            self.reached(added)
        return added

    # checks

    def _fault(self, finding: Finding) -> KernelFault:
        self.found(finding)
        return KernelFault(finding)

    def _check_block(self, view: View, access: Access, block: BlockPointer) -> None:
        """A block pointer past the shape that it was told, in a dimension that it does not check."""
        for dim, (first, size, length) in enumerate(
            zip(block.offsets, block.shape, block.block_shape, strict=True)
        ):
            if dim not in block.checked and not 0 <= first <= size - length:
                raise self._fault(causes.past_block(self, view, access, block, dim))

    def _check_written(self, view: View, elements: Elements, verb: str) -> None:
        if view.unwritten is None:
            return
        missing = view.unwritten[elements] != ALL_WRITTEN[view.itemsize]
        if missing.any():
            raise self._fault(causes.unwritten(self, view, int(elements[int(np.argmax(missing))]), verb))

    def _check_read_order(self, view: View, elements: Elements, fresh: bool) -> None:
        """A plain load of what another program stored in this launch depends on which runs first."""
        for other, there, _ in self._overlapping(view, elements, None):
            if other.was_written:
                writers = other.last_writer[there]
                bad = self.unordered(writers, self.number(), there, self._epochs(other))
                if bad is not None and other.had_atomics:
                    bad &= other.last_atomic[there] == 0
                if bad is not None and bad.any():
                    where = int(np.argmax(bad))
                    self.found(causes.read_race(self, other, int(there[where]), int(writers[where])))
            if other.had_adders and not fresh:
                totals.loaded(self, other, there)

    def _check_write_order(
        self, view: View, elements: Elements, bits: NDArray[Any] | None, number: int
    ) -> None:
        """A plain store of another value than a program wrote, or read, there before in this launch."""
        for other, there, stored in self._overlapping(view, elements, bits):
            if stored is None:
                continue
            for touched, by, words in (
                (other.was_written, "last_writer", causes.write_race),
                (other.had_atomics, "last_atomic", causes.write_race),
                (other.was_read, "first_reader", causes.overwrite_race),
            ):
                if not touched:
                    continue
                programs = getattr(other, by)[there]
                epochs = self._epochs(other) if by == "last_writer" else None
                bad = self.unordered(programs, number, there, epochs)
                if bad is None:
                    continue
                bad &= other.memory[there] != stored
                if bad.any():
                    where = int(np.argmax(bad))
                    self.found(words(self, other, int(there[where]), int(programs[where])))
                    break

    def _check_atomic_order(self, view: View, elements: Elements, number: int, adds: bool) -> None:
        """An atomic on what another program stored plainly in this launch: the store may come after it."""
        for other, there, _ in self._overlapping(view, elements, None):
            if other.was_written:
                writers = other.last_writer[there]
                bad = self.unordered(writers, number, there, self._epochs(other))
                if bad is not None:
                    where = int(np.argmax(bad))
                    self.found(causes.atomic_race(self, other, int(there[where]), int(writers[where])))
            if adds:
                totals.added(self, other, there, number)

    def ordering(self, number: int) -> int:
        """How many atomics that order its accesses a program has done."""
        return self._ordering.get(number, 0)

    def _epochs(self, view: View) -> NDArray[np.int32] | None:
        """Those of the view's writers; None, and no table made, where no atomic has ordered anything."""
        return view.writer_epoch if self._ordering else None

    def unordered(
        self,
        programs: NDArray[np.int32],
        number: int,
        there: Elements,
        epochs: NDArray[np.int32] | None,
    ) -> Lanes | None:
        """Lanes that another program touched with nothing to order the two; None for none.

        Two programs count as ordered when the first did an acquire-release atomic after it touched the element, and
        the second one before this access: locks, flags and last-arriver counters look so. `epochs` holds, for the
        elements `there`, how many the first had done when it touched them; None where any counts as after.
        """
        bad: Lanes = (programs != 0) & (programs != number)
        if not bad.any():
            return None
        if self._acquired == number:
            others, which = np.unique(programs[bad], return_inverse=True)
            done = np.array([self.ordering(int(other)) for other in others])[which]
            bad[bad] = done <= (0 if epochs is None else epochs[there][bad])
            if not bad.any():
                return None
        return bad

    def _overlapping(
        self, view: View, elements: Elements, bits: NDArray[Any] | None
    ) -> Iterator[tuple[View, Elements, NDArray[Any] | None]]:
        """Every view of the storage, with the same elements as that view numbers them."""
        for other in self._of_storage[view.storage]:
            if not (other.was_written or other.was_read or other.had_atomics):
                continue
            if other is view:
                yield view, elements, bits
                continue
            if other.itemsize != view.itemsize:
                continue
            there = elements + ((view.address - other.address) >> view.shift)
            inside = (there >= 0) & (there < other.extent)
            if inside.all():
                yield other, there, bits
            elif inside.any():
                yield other, there[inside], None if bits is None else bits[inside]

    # the other figures

    def dot(self, flops: int, dtype: str) -> None:
        self.dot_flops[dtype] = self.dot_flops.get(dtype, 0) + flops

    def evidence(self) -> Launch:
        """The record as data."""
        return Launch(
            kernel=self.kernel,
            place=self.place,
            grid=self.grid,
            config=self.config,
            config_index=self.config_index,
            config_count=self.config_count,
            tensors=tuple(view.traffic() for view in self.views),
            dot_flops=self.dot_flops,
            exps=self.exps,
            atomics=sum(view.atomics for view in self.views),
        )


def _bits(view: View, values: NDArray[Any] | None) -> NDArray[Any] | None:
    """Stored values as words; None where they are of another size than the tensor's elements."""
    if values is None or values.itemsize != view.itemsize:
        return None
    words: NDArray[Any] = np.ascontiguousarray(values).view(WORDS[view.itemsize])
    return words
