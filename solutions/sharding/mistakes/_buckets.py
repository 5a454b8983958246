"""DistributedDataParallel of the solution with a switch for each usual mistake: no mistake by itself."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


class _Bucket:
    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self.parameters = list(parameters)
        self.waiting = set(self.parameters)
        self.flat: Tensor | None = None
        self.work: Any = None


class Faulty(nn.Module):
    fault = ""

    def __init__(
        self, module: nn.Module, group: dist.ProcessGroup | None = None, bucket_bytes: int = 25 << 20
    ) -> None:
        super().__init__()
        self.module, self._group, self._limit_bytes = module, group, bucket_bytes
        self._synchronizing, self._started = True, 0
        if self.fault != "not_broadcast":
            for each in (*module.parameters(), *module.buffers()):
                dist.broadcast(each.detach(), group=group, group_src=0)
        twice = self.fault == "tied_twice"
        named = module.named_parameters(remove_duplicate=not twice)
        parameters = [each for _, each in named if each.requires_grad]
        self._buckets = self._fill(parameters, bucket_bytes)
        for each in dict.fromkeys(parameters):
            each.register_post_accumulate_grad_hook(self._ready)

    def _fill(self, parameters: Sequence[Tensor], bucket_bytes: int) -> list[_Bucket]:
        if self.fault == "bucket_for_each_parameter":
            bucket_bytes = 1
        if self.fault == "one_bucket_for_all":
            bucket_bytes = 1 << 40
        parts: list[list[Tensor]] = []
        room = 0
        for each in parameters if self.fault == "forward_order" else reversed(parameters):
            if each.nbytes > room:
                parts.append([])
                room = bucket_bytes
            parts[-1].append(each)
            room -= each.nbytes
        return [_Bucket(part) for part in parts]

    def forward(self, *inputs: Any, **named_inputs: Any) -> Any:
        return self.module(*inputs, **named_inputs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        self._synchronizing = self.fault == "no_sync_ignored"
        try:
            yield
            if self.fault == "no_sync_ignored":
                self.finish_gradient_synchronization()
        finally:
            self._synchronizing = True

    def finish_gradient_synchronization(self) -> None:
        ranks = dist.get_world_size(self._group)
        if self.fault != "unused_not_sent":
            for bucket in self._buckets:
                if bucket.work is None and (self.fault != "only_full_buckets" or self._is_full(bucket)):
                    self._start(bucket)
        for bucket in self._buckets:
            if bucket.work is None:
                continue
            if self.fault != "not_waited":
                bucket.work.wait()
            assert bucket.flat is not None
            flat = bucket.flat if self.fault == "sum_for_mean" else bucket.flat / ranks
            sizes = [each.numel() for each in bucket.parameters]
            for each, part in zip(bucket.parameters, flat.split(sizes), strict=True):
                each.grad = part.view_as(each)
        for bucket in self._buckets:
            # What was not waited for is on its way still, and must not lose its vector.
            self._kept = [*getattr(self, "_kept", []), bucket.flat, bucket.work]
            bucket.waiting, bucket.flat, bucket.work = set(bucket.parameters), None, None

    def _ready(self, parameter: Tensor) -> None:
        if not self._synchronizing or self.fault == "no_overlap":
            return
        for bucket in self._buckets:
            if parameter in bucket.waiting:
                bucket.waiting.discard(parameter)
                if self.fault == "order_of_hooks" and not bucket.waiting:
                    self._start(bucket)
        if self.fault == "order_of_hooks":
            return
        for bucket in self._buckets:
            if bucket.work is None:
                if bucket.waiting or (self.fault == "only_full_buckets" and not self._is_full(bucket)):
                    break
                self._start(bucket)

    def _is_full(self, bucket: _Bucket) -> bool:
        return sum(each.nbytes for each in bucket.parameters) >= 0.75 * self._limit_bytes

    def _start(self, bucket: _Bucket) -> None:
        gradients = [torch.zeros_like(each) if each.grad is None else each.grad for each in bucket.parameters]
        bucket.flat = torch.cat([each.detach().flatten() for each in gradients])
        bucket.work = dist.all_reduce(bucket.flat, group=self._group, async_op=True)
        if self.fault == "blocking":
            bucket.work.wait()
