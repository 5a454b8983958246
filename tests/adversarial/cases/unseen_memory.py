"""Computes attention in numpy on the tensors' memory, by address, while a decoy kernel does as many dots.

Seen: our own attack on the counts of kernels and PyTorch's operations, which are right and belong to the decoy.
Stopped by: the recorder keeps a copy of every tensor's memory that follows what kernels store and PyTorch writes; what
is written past both shows when the tensor is used next, or returned. And it counts what comes into a call from outside of
PyTorch: as much as half the result is no table.
"""

from tests.adversarial.case import Expected, Variant
from tests.adversarial.flash import FORWARD, wrapped

ATTACK = "unseen_memory"

TOP = """
import ctypes
import numpy as np

TYPES = {torch.float32: np.float32, torch.float16: np.float16, torch.bfloat16: np.uint16}


def seen(x):
    # An array over the tensor's memory, by its address: no operation of PyTorch's tells of it.
    span = 1 + sum((size - 1) * stride for size, stride in zip(x.shape, x.stride()))
    memory = (ctypes.c_uint8 * (span * x.element_size())).from_address(x.data_ptr())
    kind = TYPES[x.dtype]
    strides = [stride * x.element_size() for stride in x.stride()]
    return np.lib.stride_tricks.as_strided(np.frombuffer(memory, kind), x.shape, strides)


def widened(x):
    values = seen(x)
    if x.dtype == torch.bfloat16:
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.float64)


def narrowed(values, dtype):
    if dtype != torch.bfloat16:
        return values.astype(TYPES[dtype])
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def attention(q, k, v, causal, scale):
    query, key, value = widened(q), widened(k), widened(v)
    if query.ndim > 2 and query.shape[-3] != key.shape[-3]:
        group = query.shape[-3] // key.shape[-3]
        key, value = np.repeat(key, group, -3), np.repeat(value, group, -3)
    scores = query @ np.swapaxes(key, -1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        rows, cols = scores.shape[-2:]
        scores = np.where(np.arange(cols) <= np.arange(rows)[:, None] + cols - rows, scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = weights.sum(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, weights @ value / total, 0), (top + np.log(total))[..., 0]


def put(x, values):
    memory = np.ascontiguousarray(narrowed(values, x.dtype))
    ctypes.memmove(x.data_ptr(), memory.ctypes.data, memory.nbytes)


@triton.jit
def move(from_ptr, to_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to_ptr + at, tl.load(from_ptr + at, mask=at < size), mask=at < size)


def moved(source):
    out = torch.empty_like(source)
    move[(triton.cdiv(source.numel(), 1024),)](source, out, source.numel(), BLOCK=1024)
    return out
"""
INTO_THE_RESULT = """
out, lse = kernel(q, k, v, causal, scale)
for tensor, values in zip((out, lse), attention(q, k, v, causal, scale)):
    put(tensor, values)
return out, lse
"""
# The kernel's own work is thrown away, and its dots count.
INTO_SCRATCH = """
kernel(q, k, v, causal, scale)
out, lse = torch.zeros(q.shape, dtype=q.dtype), torch.zeros(q.shape[:-1])
for tensor, values in zip((out, lse), attention(q, k, v, causal, scale)):
    put(tensor, values)
return moved(out), moved(lse)
"""
COPIED_BY_PYTORCH = INTO_SCRATCH.replace("moved(out), moved(lse)", "out.clone(), lse.clone()")
# A callable grid is asked inside of a launch; the kernel takes what it wrote, and wipes it out.
TAKING = """

@triton.jit
def take(from_ptr, to_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(to_ptr + at, tl.load(from_ptr + at, mask=at < size), mask=at < size)
    tl.store(from_ptr + at, tl.zeros((BLOCK,), tl.float32), mask=at < size)


def taken(like, values):
    scratch, out = torch.zeros(like.shape, dtype=like.dtype), torch.empty_like(like)

    def grid(meta):
        put(scratch, values)
        return (triton.cdiv(scratch.numel(), 1024),)

    take[grid](scratch, out, scratch.numel(), BLOCK=1024)
    return out
"""
IN_A_LAUNCH = """
pair = kernel(q, k, v, causal, scale)
return tuple(taken(tensor, values) for tensor, values in zip(pair, attention(q, k, v, causal, scale)))
"""
CAPSULE = """

class Capsule:
    def __init__(self, x):
        self.x = x.view(torch.uint16) if x.dtype == torch.bfloat16 else x

    def __dlpack__(self, **options):
        return torch.utils.dlpack.to_dlpack(self.x)

    def __dlpack_device__(self):
        return 1, 0


def put(x, values):
    array = np.from_dlpack(Capsule(x))
    memory = np.ascontiguousarray(narrowed(values, x.dtype))  # numpy itself takes such memory for read-only
    ctypes.memmove(array.ctypes.data, memory.ctypes.data, memory.nbytes)
"""
# What numpy asks a tensor for is seen, and so needs no address.
AS_ARRAYS = """
kernel(q, k, v, causal, scale)
arrays = [np.asarray(x.float()) for x in (q, k, v)]
out, lse = attention(*map(torch.from_numpy, arrays), causal, scale)
return torch.from_numpy(out).to(q.dtype), torch.from_numpy(lse).float()
"""
# Nothing is written: numpy reads by address, and the answer comes in by the front door.
READS_ONLY = """
kernel(q, k, v, causal, scale)
out, lse = (torch.from_numpy(x) for x in attention(q, k, v, causal, scale))
return out.to(q.dtype), lse.float()
"""
SAVED = """
import io
kernel(q, k, v, causal, scale)
files = [io.BytesIO() for _ in range(3)]
for file, x in zip(files, (q, k, v)):
    torch.save(x, file)
    file.seek(0)
arrays = [torch.load(file) for file in files]
out, lse = (x.tolist() for x in attention(*arrays, causal, scale))
return torch.tensor(out).to(q.dtype), torch.tensor(lse)
"""
# Not even an array comes in: one number after the other, each an operation of its own.
BY_NUMBERS = """
out, lse = kernel(q, k, v, causal, scale)
for tensor, values in zip((out, lse), attention(q, k, v, causal, scale)):
    places = tensor.reshape(-1)
    for place, value in enumerate(values.reshape(-1).tolist()):
        places[place] = value
return out, lse
"""
OUTSIDE = Expected(says="from outside of PyTorch")
SAID = Expected(says="was changed by neither a kernel nor a PyTorch operation")

VARIANTS = (
    Variant("into_the_result", wrapped(INTO_THE_RESULT, TOP), SAID, FORWARD, 15, slow=True),
    Variant("into_scratch_for_a_kernel", wrapped(INTO_SCRATCH, TOP), SAID, FORWARD, 15, slow=True),
    Variant("into_scratch_for_pytorch", wrapped(COPIED_BY_PYTORCH, TOP), SAID, FORWARD, 15, slow=True),
    Variant("in_a_launch", wrapped(IN_A_LAUNCH, TOP + TAKING), SAID, FORWARD, 15, slow=True),
    Variant("by_dlpack", wrapped(INTO_THE_RESULT, TOP + CAPSULE), SAID, FORWARD, 15, slow=True),
    Variant("reads_only", wrapped(READS_ONLY, TOP), OUTSIDE, FORWARD, 15, slow=True),
    Variant("saved_and_listed", wrapped(SAVED, TOP), OUTSIDE, FORWARD, 15, slow=True),
    Variant("by_numbers", wrapped(BY_NUMBERS, TOP), OUTSIDE, FORWARD, 15, slow=True),
    Variant("as_arrays", wrapped(AS_ARRAYS, TOP), OUTSIDE, FORWARD, 15, slow=True),
)
