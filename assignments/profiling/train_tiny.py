"""A small training run that writes a trace of itself: run it, read the trace, say where the time went.

    python assignments/profiling/train_tiny.py                      # as it should be
    python assignments/profiling/train_tiny.py --slow-loader        # data arrives late
    python assignments/profiling/train_tiny.py --unfused-optimizer  # sixteen passes over memory where one would do
    grader trace tiny.json

It runs on a GPU where there is one, else on the CPU, in seconds. Nothing here is graded: change it and look again.
"""

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import torch
    from torch import nn
    from torch.profiler import ProfilerActivity, profile, schedule
    from torch.utils.data import DataLoader, Dataset
except ModuleNotFoundError as error:
    raise SystemExit(
        f"needs {error.name}, which is not installed here: pip install -e '.[kernels]'"
    ) from None

SLOW_SAMPLE_S = 0.003
WAIT, WARMUP = 1, 2
"""Steps before the trace: the first ones allocate and tune, and are no example of the others."""


class Samples(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Random inputs and targets, kept in memory; slow ones stand for files that must be found, read and decoded."""

    def __init__(self, count: int, width: int, slow: bool) -> None:
        generator = torch.Generator().manual_seed(0)
        self.inputs = torch.randn(count, width, generator=generator)
        self.targets = torch.randn(count, width, generator=generator)
        self.slow = slow

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        if self.slow:
            time.sleep(SLOW_SAMPLE_S)
        return self.inputs[index], self.targets[index]


class UnfusedAdam:
    """AdamW as its formula is written: one parameter after the other, one operation after the other.

    Each line reads whole tensors from memory and writes one back; nothing stays in a register for the next line.
    `torch.optim.AdamW(fused=True)` does the same arithmetic in one pass. Source: Loshchilov and Hutter 2019,
    algorithm 2.
    """

    def __init__(self, parameters: Iterator[nn.Parameter], lr: float, weight_decay: float = 0.01) -> None:
        self.trained = list(parameters)
        self.lr, self.weight_decay = lr, weight_decay
        self.beta1, self.beta2, self.eps = 0.9, 0.999, 1e-8
        self.first = [torch.zeros_like(p) for p in self.trained]
        self.second = [torch.zeros_like(p) for p in self.trained]
        self.steps = 0

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.trained:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update every parameter."""
        self.steps += 1
        for parameter, m, v in zip(self.trained, self.first, self.second, strict=True):
            gradient = parameter.grad
            if gradient is None:
                continue
            decay = parameter * (self.lr * self.weight_decay)
            parameter.copy_(parameter - decay)
            m.copy_(m * self.beta1 + gradient * (1 - self.beta1))
            v.copy_(v * self.beta2 + gradient * gradient * (1 - self.beta2))
            m_hat = m / (1 - self.beta1**self.steps)
            v_hat = v / (1 - self.beta2**self.steps)
            update = m_hat / (torch.sqrt(v_hat) + self.eps)
            parameter.copy_(parameter - update * self.lr)


def make_model(width: int, depth: int) -> nn.Sequential:
    """Linear layers with a ReLU between them: matmuls, and little else."""
    layers: list[nn.Module] = []
    for _ in range(depth):
        layers += [nn.Linear(width, width, bias=False), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def endless(
    loader: DataLoader[tuple[torch.Tensor, torch.Tensor]],
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Batches for as long as somebody asks."""
    while True:
        yield from loader


def train(options: argparse.Namespace) -> None:
    """A few steps, the last of which are traced."""
    on_gpu = options.device == "cuda"
    if not on_gpu:
        torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    model = make_model(options.width, options.depth).to(options.device)
    lr = 1e-3 / math.sqrt(options.depth)
    if options.unfused_optimizer:
        optimizer: UnfusedAdam | torch.optim.Optimizer = UnfusedAdam(model.parameters(), lr)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr, weight_decay=0.01, fused=True)
    samples = Samples(4 * options.batch, options.width, options.slow_loader)
    # Pinned memory and non_blocking let a copy to the GPU run beside the work.
    loader = DataLoader(
        samples, options.batch, shuffle=True, num_workers=options.workers, pin_memory=on_gpu, drop_last=True
    )
    batches = endless(loader)

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if on_gpu else [])
    window = schedule(wait=WAIT, warmup=WARMUP, active=options.steps, repeat=1)
    # The trace is written when the last active step has ended; record_shapes keeps the sizes of each operator.
    with profile(
        activities=activities,
        schedule=window,
        record_shapes=True,
        on_trace_ready=lambda done: done.export_chrome_trace(str(options.out)),
    ) as profiler:
        for _ in range(WAIT + WARMUP + options.steps):
            inputs, targets = next(batches)
            inputs = inputs.to(options.device, non_blocking=True)
            targets = targets.to(options.device, non_blocking=True)
            # On a GPU matmuls run in bf16, on tensor cores; the CPU keeps fp32.
            with torch.autocast(options.device, torch.bfloat16, enabled=on_gpu):
                loss = nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            profiler.step()  # ends one ProfilerStep#N and begins the next
    print(f"loss {loss.item():.3f}; wrote {options.out}, now: grader trace {options.out}")


def parse() -> argparse.Namespace:
    """The command line. A GPU gets a larger model: its kernels must be longer than it takes to launch them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--slow-loader", action="store_true", help=f"{SLOW_SAMPLE_S * 1e3:g} ms a sample")
    parser.add_argument("--unfused-optimizer", action="store_true", help="AdamW, operation by operation")
    parser.add_argument("--workers", type=int, default=0, help="processes that load data [0: this one does]")
    parser.add_argument("--steps", type=int, default=3, help="steps in the trace [3]")
    parser.add_argument("--width", type=int, help="of every layer [512, on a GPU 4096]")
    parser.add_argument("--depth", type=int, default=8, help="layers [8]")
    parser.add_argument("--batch", type=int, help="samples of a step [128, on a GPU 2048]")
    # Two threads wait for each other at the end of every operator; where other programs run, that is all one sees.
    parser.add_argument("--threads", type=int, default=1, help="of an operator of the CPU [1]")
    parser.add_argument("--device", choices=("cpu", "cuda"), help="[cuda where there is one]")
    parser.add_argument("--out", type=Path, default=Path("tiny.json"), help="the trace; .json.gz packs it")
    options = parser.parse_args()
    options.device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    options.width = options.width or (4096 if options.device == "cuda" else 512)
    options.batch = options.batch or (2048 if options.device == "cuda" else 128)
    return options


if __name__ == "__main__":
    train(parse())
