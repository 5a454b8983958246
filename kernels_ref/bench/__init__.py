"""The bench: attention by every library at hand, timed on a GPU beside kernels_ref; `python -m kernels_ref.bench`."""
