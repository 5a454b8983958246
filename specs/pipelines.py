"""What the exercises on pipelines and on choosing a cut are given and return: clusters, bubbles, choices, plans."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from specs.answer import Answer
from specs.gpu import Gpu
from specs.model import Count
from specs.schema import Spec
from specs.terms import Number

Cut = Literal["data", "zero", "tensor", "pipeline"]
Recomputation = Literal["none", "selective", "full"]


class BubbleFraction(Answer):
    """The share of a pipeline's time that a stage waits: the same bubble over two denominators."""

    of_total: Number
    """Bubble over the whole time of a step, bubble included: below 1."""
    over_ideal: Number
    """Bubble over the time that the work itself takes: what Megatron-LM and Llama 3 print; may exceed 1."""


class Cluster(Spec):
    """GPUs in nodes: a fast link inside a node, a slower network between nodes."""

    gpu: Gpu
    gpus: Count
    gpus_per_node: Count = 8
    network_gb_per_s: Annotated[float, Field(gt=0)] = Field(
        default=50, description="of one GPU to other nodes, in one direction; 400 Gb/s is 50"
    )

    @model_validator(mode="after")
    def _has_a_link(self) -> Self:
        if self.gpu.nvlink_gb_per_s is None and self.gpu.pcie_gb_per_s is None:
            raise ValueError(f"gpu {self.gpu.name}: neither its NVLink nor its PCIe rate is known")
        return self

    @property
    def node_bytes_per_s(self) -> float:
        """What a GPU sends to another of its node, in one direction: over NVLink, or PCIe where there is none."""
        link = self.gpu.nvlink_bytes_per_s or self.gpu.pcie_bytes_per_s
        assert link is not None  # the validator saw to it
        return link

    @property
    def network_bytes_per_s(self) -> float:
        """What a GPU sends to another node, in one direction."""
        return self.network_gb_per_s * 1e9

    def hop_bytes_per_s(self, group: int) -> float:
        """What a GPU sends to another of `group` neighbouring GPUs: over the node's link while one node holds them."""
        return self.node_bytes_per_s if group <= self.gpus_per_node else self.network_bytes_per_s

    def ring_bytes_per_s(self, members: int, apart: int = 1) -> float:
        """What every member of a ring sends at one time in a collective, in bytes a second.

        In one node that is the node's link. Beyond it, the k members that a node holds pass on a piece each over
        their own network, as NCCL's rails do: k times the network, but never more than the node's link.

        Args:
            members: GPUs of the ring.
            apart: how far their numbers are apart; 8 where tensor groups of 8 lie between them, so that a node
                of 8 holds one member.
        """
        if members * apart <= self.gpus_per_node:
            return self.node_bytes_per_s
        in_a_node = max(1, self.gpus_per_node // apart)
        return min(self.node_bytes_per_s, in_a_node * self.network_bytes_per_s)


class FirstChoice(Answer):
    """The cut to reach for first, and the quantity that decides it."""

    cut: Cut
    gpu_bytes: Number
    """What one GPU holds under that cut: state and activations."""


class Plan(Answer):
    """How a job is dealt out: data · tensor · pipeline · context is the number of GPUs."""

    data: Count
    tensor: Count
    pipeline: Count
    context: Count
    zero: Literal[0, 1, 2, 3]
    recomputation: Recomputation
    microbatch: Count
    """Sequences of one microbatch, on one data-parallel replica."""


PIPELINES: tuple[type[Spec], ...] = (BubbleFraction, Cluster, FirstChoice, Plan)
