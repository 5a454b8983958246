"""GPUs: dense peak rates, memory as a program sees it, bandwidths, and which of these were only recalled.

The data is `specs/gpus.yaml`, in the units of data sheets, named in the field; the properties of `Gpu` give
bytes and seconds.

Memory: the label ("80 GB") is close to GiB of DRAM, and a program sees one or two per cent less, or eight
where the card keeps ECC in its GDDR. `memory_bytes` is what a program sees, and `memory_bytes_status` says
how it is known:
- `read`: the total memory in a profiler trace taken on that card;
- `quoted`: seen in somebody's report from such a card, mostly PyTorch's "total capacity", good to 0.01 GiB;
- `estimated`: no figure seen; the label in GiB less `ESTIMATED_RESERVE` of it, rounded down.
"""

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from specs.dtypes import DType
from specs.model import Count, unknown_name
from specs.schema import Spec, SpecError, read_yaml, validate

GPUS_FILE = Path(__file__).parent / "gpus.yaml"

# Cards with HBM whose figure was read keep 0.8 % (V100, 32 GB) to 1.5 % (A100, 40 GB): the worst of them.
ESTIMATED_RESERVE = 0.015

Rate = Annotated[float, Field(gt=0)]


class Gpu(Spec):
    """One accelerator: rates without 2:4 sparsity, links in one direction, GB of 1e9 bytes."""

    name: str = Field(min_length=1)
    device_names: tuple[str, ...] = Field(default=(), description="what its driver calls it; none: not known")
    dense_tflops: dict[DType, Rate] = Field(
        description="peak, 1e12 operations a second; by tensor cores, but fp32 and fp64 without them"
    )
    memory_label_gb: Count = Field(description="the GB in the card's name or data sheet")
    memory_bytes: Count = Field(description="as visible to a program")
    memory_bytes_status: Literal["read", "quoted", "estimated"]
    hbm_gb_per_s: Rate = Field(description="device memory (HBM or GDDR), 1e9 bytes a second")
    nvlink_gb_per_s: Rate | None = Field(
        default=None, description="NVLink or Infinity Fabric, per direction; null: none"
    )
    pcie_gb_per_s: Rate | None = Field(default=None, description="host link, per direction")
    compute_capability: str | None = Field(
        default=None, pattern=r"^\d+\.\d$", description="NVIDIA's, 9.0 say; null: another maker's card"
    )
    sms: Count | None = Field(default=None, description="streaming multiprocessors, or compute units")
    smem_kib_per_sm: Count | None = Field(default=None, description="shared memory (LDS) of one SM, KiB")
    smem_kib_per_block: Count | None = Field(default=None, description="of which one block can have, KiB")
    l2_mib: Count | None = Field(default=None, description="last cache before device memory, MiB")
    l2_gb_per_s: Rate | None = Field(
        default=None, description="what L2 can deliver to the SMs; null: not known"
    )
    recalled: tuple[str, ...] = Field(
        default=(), description="fields not seen in a source: confirm before relying on them"
    )
    sources: tuple[str, ...] = ()
    note: str = ""

    @model_validator(mode="after")
    def _fields_fit(self) -> Self:
        for field in self.recalled:
            if field.split(".")[0] not in type(self).model_fields:
                raise ValueError(f"recalled: {field!r} is no field of a GPU")
        if self.memory_bytes > self.memory_label_gb * 2**30:
            raise ValueError(
                f"memory_bytes = {self.memory_bytes} exceeds memory_label_gb = {self.memory_label_gb} GiB"
            )
        return self

    def __hash__(self) -> int:
        # A dict has no hash, and a GPU must go into sets: equal cards have equal names.
        return hash(self.name)

    def peak_flops(self, dtype: DType) -> float:
        """Dense peak in operations a second.

        Raises:
            SpecError: the card has no such rate, as fp8 on an A100; the message lists those it has.
        """
        if dtype not in self.dense_tflops:
            raise SpecError(f"{self.name} has no {dtype} rate: it has {', '.join(self.dense_tflops)}")
        return self.dense_tflops[dtype] * 1e12

    @property
    def hbm_bytes_per_s(self) -> float:
        """Device memory bandwidth, bytes a second."""
        return self.hbm_gb_per_s * 1e9

    @property
    def nvlink_bytes_per_s(self) -> float | None:
        """NVLink (Infinity Fabric) bandwidth in one direction, bytes a second; None where there is none."""
        return None if self.nvlink_gb_per_s is None else self.nvlink_gb_per_s * 1e9

    @property
    def pcie_bytes_per_s(self) -> float | None:
        """Host link bandwidth in one direction, bytes a second; None where not known."""
        return None if self.pcie_gb_per_s is None else self.pcie_gb_per_s * 1e9

    @property
    def l2_bytes_per_s(self) -> float | None:
        """What L2 can deliver to all SMs together, bytes a second; None where not known."""
        return None if self.l2_gb_per_s is None else self.l2_gb_per_s * 1e9

    @property
    def exps_per_s(self) -> float | None:
        """Results a second of the special-function units (exp2, log2, rsqrt, ...); None where not known.

        An SM has 16 such lanes beside 128 fp32 lanes, or 64 up to compute capability 8.0 (CUDA C++ Programming
        Guide, arithmetic throughput), and an fp32 lane does 2 FLOPs a clock: the fp32 peak tells the clock.
        FlashAttention-3 (arXiv 2407.08608, section 3.2) calls it 3.9 T/s for an H100 SXM; the fp32 peak of the
        data sheet is at a higher clock, which gives 4.2.
        """
        if self.compute_capability is None or "fp32" not in self.dense_tflops:
            return None
        fp32_lanes = 64 if tuple(map(int, self.compute_capability.split("."))) <= (8, 0) else 128
        return self.peak_flops("fp32") / 2 / fp32_lanes * 16

    @property
    def smem_bytes_per_sm(self) -> int | None:
        """Shared memory of one SM, bytes; None where not known."""
        return None if self.smem_kib_per_sm is None else self.smem_kib_per_sm * 2**10

    @property
    def smem_bytes_per_block(self) -> int | None:
        """Shared memory that one block can have, bytes; None where not known."""
        return None if self.smem_kib_per_block is None else self.smem_kib_per_block * 2**10

    @property
    def l2_bytes(self) -> int | None:
        """Last cache before device memory, bytes; None where not known."""
        return None if self.l2_mib is None else self.l2_mib * 2**20


def estimated_memory_bytes(label_gb: int) -> int:
    """What a program would see of a card labelled `label_gb`, where nobody's figure was seen."""
    return int(label_gb * 2**30 * (1 - ESTIMATED_RESERVE))


def load_gpus(path: Path) -> tuple[Gpu, ...]:
    """Return the GPUs of one YAML file, in its order.

    Raises:
        SpecError: the file cannot be read, a field is wrong, or a name or a driver's name is there twice.
    """
    loaded: tuple[Gpu, ...] = validate(tuple[Gpu, ...], read_yaml(path), path)
    names = [each.name for each in loaded]
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"{path}: {name!r} is there {names.count(name)} times; names must differ")
    called = [name for each in loaded for name in each.device_names]
    for name in called:
        if called.count(name) > 1:
            raise SpecError(
                f"{path}: device_names: {name!r} means {called.count(name)} GPUs; it must mean one"
            )
    return loaded


@lru_cache(maxsize=1)
def gpus() -> tuple[Gpu, ...]:
    """All shipped GPUs, in the order of `gpus.yaml`: by maker and age."""
    return load_gpus(GPUS_FILE)


def gpu(name: str) -> Gpu:
    """Return a shipped GPU.

    Raises:
        SpecError: there is no such GPU; the message lists the names that come close.
    """
    for each in gpus():
        if each.name == name:
            return each
    raise SpecError(unknown_name("gpu", name, [each.name for each in gpus()]))


def gpu_of_device(name: str) -> Gpu | None:
    """The shipped GPU that a driver calls `name`; None for all others, whose rates nobody wrote down.

    Compared whole: an `NVIDIA H200 NVL` is another card than an `NVIDIA H200`.
    """
    return next((each for each in gpus() if name in each.device_names), None)
