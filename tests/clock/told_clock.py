"""A clock that only moves when told, and kernels that tell it what they took: right answers, no times."""

from kernels_ref.timed import tiled

TICK_S = 1e-5
"""What reading it takes."""
_now_s = [1000.0]


def now():
    forward(TICK_S)
    return _now_s[0]


def forward(by_s):
    _now_s[0] += by_s


def after(took_s, name, args):
    """The answer of a function of `kernels_ref.timed.tiled`, which took so long."""
    forward(took_s)
    return getattr(tiled, name)(*args)


def flash_forward(*args):
    return after(2e-3, "flash_forward", args)


def flash_backward(*args):
    return after(2e-3, "flash_backward", args)
