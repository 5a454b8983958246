"""How many programs one launch may have."""

from collections.abc import Sequence

# Of a launch, by the CUDA C++ Programming Guide: x has 31 bits, y and z 16.
GRID_LIMITS = (2**31 - 1, 65535, 65535)


def refused(extents: Sequence[int]) -> str:
    """Why the device launches no such grid, "" where it does; `extents` along x, y and z, one to three of them."""
    for axis, extent, most in zip("xyz", extents, GRID_LIMITS, strict=False):
        if extent > most:
            remedy = "let each do more" if axis == "x" else "put them along x"
            return f"{extent:,} programs along {axis} are over {most:,}; {remedy}"
        if extent < 0:
            return f"the grid's {axis} extent is {extent}"
    return ""
