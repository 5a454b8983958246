"""PyTorch's operations that compute nothing: they may stand beside any kernel."""

MOVES = frozenset(
    (
        *(
            "alias",
            "as_strided",
            "cat",
            "clone",
            "constant_pad_nd",
            "contiguous",
            "copy_",
            "detach",
            "expand",
        ),
        *(
            "flip",
            "gather",
            "index",
            "index_select",
            "lift",
            "lift_fresh",
            "narrow_copy",
            "permute",
            "repeat",
        ),
        *("repeat_interleave", "reshape", "roll", "select", "slice", "split", "split_with_sizes", "squeeze"),
        *("stack", "t", "_to_copy", "transpose", "unbind", "unfold", "_unsafe_view", "unsqueeze", "view"),
        *("view_as_complex", "view_as_real", "_reshape_alias", "_reshape_copy", "resize_", "set_", "zero_"),
        *("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"),
        *("new_zeros", "ones", "ones_like", "zeros", "zeros_like", "_foreach_copy_", "_foreach_zero_"),
        *("_has_compatible_shallow_copy_type", "is_same_size", "_local_scalar_dense", "_reinterpret_tensor"),
    )
)
"""Operations that make, view, or copy tensors and compute nothing; numbers among their arguments are sizes."""
