"""GPUs that can be compiled for, and how many blocks of a kernel one of their SMs holds.

The limits are those of the CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability",
and of the CUDA occupancy calculator; shared memory and the number of SMs come from `specs`.
"""

from pydantic import BaseModel, ConfigDict

from specs.gpu import Gpu, gpu

WARP_THREADS = 32
REGISTERS_PER_SM = 65536
THREADS_PER_BLOCK = 1024
# Registers are given out in 256s to a warp; each of the four schedulers of an SM has a quarter of them.
WARP_REGISTER_UNIT = 256
SCHEDULERS_PER_SM = 4
SHARED_UNIT_BYTES = 128
# From compute capability 8.0 on, the system keeps 1 KiB of shared memory for every block.
SHARED_RESERVED_BYTES = 1024


class UnknownTarget(ValueError):
    """No such target; the text is one line that lists those there are."""


class Target(BaseModel):
    """One compute capability, and the GPU of `specs` that stands for it."""

    model_config = ConfigDict(frozen=True)

    name: str
    capability: int
    """90 for 9.0."""
    gpu_name: str
    warps_per_sm: int
    blocks_per_sm: int

    @property
    def gpu(self) -> Gpu:
        """The GPU whose shared memory and SMs count."""
        return gpu(self.gpu_name)

    @property
    def architecture(self) -> str:
        """As ptxas is told: Hopper's own instructions need the `a`."""
        return f"{self.name}a" if self.capability >= 90 else self.name

    @property
    def shared_bytes_per_block(self) -> int:
        """Most shared memory that one block can have, static and dynamic."""
        return self.gpu.smem_bytes_per_block or 0

    @property
    def shared_bytes_per_sm(self) -> int:
        """Shared memory of an SM, what the system keeps included."""
        return self.gpu.smem_bytes_per_sm or 0


TARGETS = {
    each.name: each
    for each in (
        Target(name="sm_80", capability=80, gpu_name="a100-sxm-80gb", warps_per_sm=64, blocks_per_sm=32),
        Target(name="sm_89", capability=89, gpu_name="l40s", warps_per_sm=48, blocks_per_sm=24),
        Target(name="sm_90", capability=90, gpu_name="h100-sxm", warps_per_sm=64, blocks_per_sm=32),
    )
}


def target_named(name: str) -> Target:
    """Return the target of this name, as "sm_90".

    Raises:
        UnknownTarget: there is none; the message lists those there are.
    """
    if name not in TARGETS:
        raise UnknownTarget(f"target {name!r} is not known: choose one of {', '.join(TARGETS)}")
    return TARGETS[name]


class Occupancy(BaseModel):
    """How full one kernel makes an SM."""

    model_config = ConfigDict(frozen=True)

    blocks_per_sm: int
    occupancy: float
    """Resident warps over the most that an SM holds."""
    limited_by: str
    """The resources that would have to give way first, joined by "and"."""


def occupancy(target: Target, *, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """Return the blocks of `threads` threads that one SM holds at once.

    `registers` are those of one thread, `shared_bytes` those of one block, static and dynamic.
    Source: NVIDIA's cuda_occupancy.h (registers by warp, shared memory by block).
    """
    warps = max(1, -(-threads // WARP_THREADS))
    warp_registers = max(1, -(-registers * WARP_THREADS // WARP_REGISTER_UNIT)) * WARP_REGISTER_UNIT
    scheduler_warps = REGISTERS_PER_SM // SCHEDULERS_PER_SM // warp_registers
    block_shared = -(-(shared_bytes + SHARED_RESERVED_BYTES) // SHARED_UNIT_BYTES) * SHARED_UNIT_BYTES
    limits = {
        "registers": scheduler_warps * SCHEDULERS_PER_SM // warps,
        "shared memory": target.shared_bytes_per_sm // block_shared,
        "threads": target.warps_per_sm // warps,
        "blocks": target.blocks_per_sm,
    }
    blocks = min(limits.values())
    return Occupancy(
        blocks_per_sm=blocks,
        occupancy=blocks * warps / target.warps_per_sm,
        limited_by=" and ".join(name for name, limit in limits.items() if limit == blocks),
    )
