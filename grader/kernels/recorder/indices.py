"""From an address back to a tensor's index, by the tensor's strides and the shape of the block of pointers."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .frames import access_frame
from .torch_caller import locals_of
from .views import ADDRESS_MASK, View

if TYPE_CHECKING:
    from .accesses import Access

Index = tuple[int, ...]

_HALO = 8
"""An index that is so close to a variable of the kernel is that variable and a constant: a neighbour in a stencil."""


@dataclass(frozen=True)
class Lane:
    """One lane of a block of pointers: which element it means, and how the block's axes run over the tensor."""

    index: Index
    """Of the tensor's dimensions, as the kernel meant it: may lie outside them."""
    axes: dict[int, int] = field(default_factory=dict)
    """Tensor dimension to the axis of the block that runs along it."""
    lengths: tuple[int, ...] = ()
    """Of the block's axes."""
    variables: dict[int, str] = field(default_factory=dict)
    """Tensor dimension to the kernel's variable that holds the indices along it."""
    scalars: dict[str, int] = field(default_factory=dict)
    """The kernel's integers by name."""
    strange_step: tuple[int, int] | None = None
    """(axis, step in elements) of a block whose axis runs along no stride of the tensor."""

    coordinates: Index = ()
    """Of the lane in the block."""
    irregular: bool = False
    """Whether the block's pointers follow no strides at all, as in a gather."""

    def near(self, dim: int, shape: Index) -> bool:
        """Whether the index is past the end by less than one block."""
        axis = self.axes.get(dim)
        longest = max(self.lengths, default=1) if axis is None else self.lengths[axis]
        return 0 <= self.index[dim] - shape[dim] < longest

    def whole_block_past(self, dim: int, shape: Index) -> bool:
        """Whether the first index of the block along a dimension is past its end already."""
        return dim in self.axes and self.index[dim] - self.coordinates[self.axes[dim]] >= shape[dim]

    @property
    def reversed_axes(self) -> bool:
        """Whether the block's axes run along the tensor's dimensions in the opposite order."""
        order = [axis for _, axis in sorted(self.axes.items())]
        return len(order) > 1 and order != sorted(order)

    def variable(self, dim: int) -> str:
        """The indices along a dimension in the kernel's words, `offs_m[:, None]` for a block; "" for none."""
        name, axis = self.variables.get(dim, ""), self.axes.get(dim)
        if axis is None:
            same = [
                name
                for name, value in self.scalars.items()
                if value == self.index[dim] and not name.isupper()
            ]
            return name or min(same, key=len, default="")
        if len(self.lengths) < 2 or not name:
            return name
        name = f"({name})" if " " in name else name
        return f"{name}[{', '.join(':' if at == axis else 'None' for at in range(len(self.lengths)))}]"

    def limit(self, dim: int, shape: Index) -> str:
        """The size of a dimension in the kernel's words: `M`, or the number where no variable has that value."""
        index = self.variable(dim)
        names = [name for name, value in self.scalars.items() if value == shape[dim] and name != index]
        # Strides often have the same value; sizes are mostly written in capitals, or with "n" in front.
        likely = [name for name in names if "stride" not in name.lower() and not name.startswith("s")]
        return min(likely, key=lambda name: (not name.isupper(), len(name)), default=str(shape[dim]))


def index_of(view: View, element: int) -> Index:
    """The index of an element number: largest stride first; what is left over goes into that dimension."""
    index = [0] * len(view.shape)
    rest = element
    for dim in _by_stride(view):
        index[dim], rest = divmod(rest, view.strides[dim])
    return tuple(index)


def _by_stride(view: View) -> list[int]:
    """Dimensions that can hold an index above 0, largest stride first; all of them where none can."""
    dims = [dim for dim, size in enumerate(view.shape) if size > 1 and view.strides[dim] > 0]
    dims = dims or [dim for dim, stride in enumerate(view.strides) if stride > 0]
    return sorted(dims, key=lambda dim: -view.strides[dim])


def lane_of(view: View, element: int, pointer: int, access: "Access") -> Lane:
    """What the lane that holds `pointer` means in the tensor.

    Division by strides alone calls row 130 of the last of two heads "head 2": where the kernel's variables, or the
    first lane of the block, tell the index along an axis, they are believed.
    """
    pointers = access.pointers
    if not view.shape:
        return Lane(index=(), lengths=pointers.shape)
    # A lane that is masked off may point at the same address.
    here = ((pointers & ADDRESS_MASK) == np.uint64(pointer & int(ADDRESS_MASK))) & access.mask
    lanes = np.argwhere(here)
    coordinates = tuple(int(at) for at in lanes[0]) if len(lanes) else (0,) * pointers.ndim
    axes, strange, irregular = _axes(view, pointers)
    scalars, blocks = _kernel_variables()
    along = _along(view, pointers, coordinates, axes, blocks)
    index = (
        _by_variables(view, element, {dim: at for dim, (_, at) in along.items()})
        or _by_first_lane(view, element, coordinates, axes, pointers)
        or index_of(view, element)
    )
    variables = {
        dim: words
        for dim, axis in axes.items()
        if (words := _words(index[dim], coordinates[axis], pointers.shape[axis], scalars, blocks))
    }
    return Lane(index, axes, pointers.shape, variables, scalars, strange, coordinates, irregular)


def _step(view: View, pointers: NDArray[np.uint64], axis: int) -> int | None:
    """Elements from a lane to its neighbour along an axis; None where that varies."""
    line = pointers[tuple(slice(None) if at == axis else 0 for at in range(pointers.ndim))]
    steps = np.diff(line).view(np.int64)
    return int(steps[0]) >> view.shift if (steps == steps[0]).all() else None


def _axes(view: View, pointers: NDArray[np.uint64]) -> tuple[dict[int, int], tuple[int, int] | None, bool]:
    """Dimension to block axis by equal strides; the first axis that runs along no stride; whether one is irregular."""
    axes: dict[int, int] = {}
    strange, irregular = None, False
    for axis, length in enumerate(pointers.shape):
        step = _step(view, pointers, axis) if length > 1 else 0
        irregular = irregular or step is None
        if not step:
            continue
        dims = [dim for dim in _by_stride(view) if dim not in axes]
        same = [dim for dim in dims if view.strides[dim] == step]
        if same:
            axes[same[-1]] = axis
        elif strange is None and not any(
            step % view.strides[dim] == 0 and view.strides[dim] > 1 for dim in dims
        ):
            strange = (axis, step)
    return axes, strange, irregular


def _kernel_variables() -> tuple[dict[str, int], dict[str, NDArray[np.int64]]]:
    """The kernel's integers at the access, and its blocks of consecutive integers, flat."""
    frame = access_frame()
    scalars: dict[str, int] = {}
    blocks: dict[str, NDArray[np.int64]] = {}
    for name, value in ({} if frame is None else locals_of(frame)).items():
        data = getattr(getattr(value, "handle", None), "data", None)
        constant = getattr(value, "value", value)
        if isinstance(data, np.ndarray) and data.dtype.kind in "iu":
            flat = data.reshape(-1).astype(np.int64)
            if flat.size == 1:
                scalars[name] = int(flat[0])
            elif flat.size and (np.diff(flat) == 1).all():
                blocks[name] = flat
        elif isinstance(constant, int) and not isinstance(constant, bool):
            scalars[name] = constant
    return scalars, blocks


def _along(
    view: View,
    pointers: NDArray[np.uint64],
    coordinates: Index,
    axes: dict[int, int],
    blocks: dict[str, NDArray[np.int64]],
) -> dict[int, tuple[str, int]]:
    """For each dimension that an axis runs along: the kernel's variable that may hold its indices, and the lane's."""
    along: dict[int, tuple[str, int]] = {}
    for dim, axis in axes.items():
        for name, values in blocks.items():
            at = int(values[coordinates[axis]]) if values.size == pointers.shape[axis] else None
            known = along[dim][1] if dim in along else None
            if at is not None and _closer(at, known, view.shape[dim]):
                along[dim] = name, at
    return along


def _words(
    at: int, coordinate: int, length: int, scalars: dict[str, int], blocks: dict[str, NDArray[np.int64]]
) -> str:
    """The kernel's words for indices of which the lane's is `at`: a variable, or the sum of two; "" for none."""
    sums = []
    for name, values in blocks.items():
        if values.size != length:
            continue
        rest = at - int(values[coordinate])
        if rest == 0:
            return name
        sums += [f"{scalar} + {name}" for scalar, value in scalars.items() if value == rest]
        if abs(rest) <= _HALO:
            sums.append(f"{name} {'-' if rest < 0 else '+'} {abs(rest)}")
    return min(sums, key=len, default="")


def _closer(at: int, known: int | None, size: int) -> bool:
    """Whether an index along a dimension explains the fault better than one already known: it lies outside."""
    return known is None or (0 <= known < size and not 0 <= at < size)


def _by_variables(view: View, element: int, along: dict[int, int]) -> Index | None:
    """The index that has these values along some dimensions, if one has."""
    rest = element - sum(at * view.strides[dim] for dim, at in along.items())
    if not along or rest < 0:
        return None
    index = [along.get(dim, 0) for dim in range(len(view.shape))]
    for dim in _by_stride(view):
        if dim not in along:
            index[dim], rest = divmod(rest, view.strides[dim])
            if index[dim] >= view.shape[dim]:
                return None
    return tuple(index) if rest == 0 else None


def _by_first_lane(
    view: View, element: int, coordinates: Index, axes: dict[int, int], pointers: NDArray[np.uint64]
) -> Index | None:
    """The index counted from the block's first lane, if that lies inside the tensor."""
    first = int(pointers.reshape(-1)[0] & ADDRESS_MASK) - view.address
    if not 0 <= first < view.extent * view.itemsize:
        return None
    index = list(index_of(view, first >> view.shift))
    for dim, axis in axes.items():
        index[dim] += coordinates[axis]
    reached = sum(at * stride for at, stride in zip(index, view.strides, strict=True))
    return tuple(index) if reached == element else None
