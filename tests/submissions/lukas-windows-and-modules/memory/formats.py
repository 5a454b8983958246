"""Sizes of number formats."""

from specs import DTYPE_BYTES


def nbytes(fmt):
	if fmt is None:
		return 0
	return DTYPE_BYTES[fmt]
