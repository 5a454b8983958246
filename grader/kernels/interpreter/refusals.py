"""What the interpreter would run, or fail at in numpy's words, and a GPU would not: said with the student's line."""

from typing import Any

from .. import grids, places
from ..evidence import Finding
from ..faults import KernelFault, NeedsGpu
from . import patches


def mend(interpreter: Any) -> None:
    """Refuse grids beyond the device's limits, indices of tl.gather outside its source, and tl.dot_scaled."""
    builder = interpreter.InterpreterBuilder

    def set_grid_dim(self: Any, *extents: int) -> None:
        unmended_grid(self, *extents)
        words = grids.refused(extents)
        if words:
            raise ValueError(f"the grid {tuple(extents)} cannot be launched: {words}")

    def create_gather(self: Any, src: Any, indices: Any, axis: int) -> Any:
        size = src.data.shape[axis]
        outside = (indices.data < 0) | (indices.data >= size)
        if outside.any():
            raise _gather_outside(tuple(self.grid_idx), int(indices.data[outside][0]), size, axis)
        return unmended_gather(self, src, indices, axis)

    def dot_scaled(self: Any, *args: Any, **kwargs: Any) -> Any:
        place, _ = places.here()
        raise NeedsGpu(
            f"triton's interpreter cannot run this, only a GPU can (tl.dot_scaled): line {place.line}: {place.source}"
        )

    unmended_grid = patches.replace(builder, "set_grid_dim", set_grid_dim)
    unmended_gather = patches.replace(builder, "create_gather", create_gather)
    patches.replace(interpreter.TritonSemantic, "dot_scaled", dot_scaled)


def _gather_outside(program: tuple[int, ...], index: int, size: int, axis: int) -> KernelFault:
    place, kernel = places.here()
    message = (
        f"{kernel} line {place.line} `{place.source}`: program {program} gathers index {index} of {size} along axis "
        f"{axis} of a block: keep the indices inside, e.g. with tl.where"
    )
    finding = Finding(
        kind="out_of_bounds_load",
        kernel=kernel,
        place=place,
        program=program,
        index=(index,),
        message=message,
    )
    return KernelFault(finding)
