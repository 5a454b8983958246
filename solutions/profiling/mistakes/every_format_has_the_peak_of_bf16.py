"""The peak is that of bf16, whatever the format."""

from specs import Event, Gpu, KernelEfficiency

from ._operations import rebuilt

EXERCISE = "kernel_efficiency"
HINT = (
    "A card has a peak for each format, and fp32 outside of the tensor cores is far slower: take that "
    "of Input type."
)
FAILS = (
    "test_a_large_matmul_is_held_against_the_peak",
    "test_any_matmul",
)


def kernel_efficiency(event: Event, gpu: Gpu) -> KernelEfficiency:
    return rebuilt(event, gpu, peak_flops=gpu.peak_flops("bf16"))
