"""FLOPs of a whole run, how well a run uses its cards, and what the tricks change."""

from specs import DTYPE_BYTES, LeverEffect


def training_flops(
    parameters: float,
    tokens: float,
    convention: str,
    layers: int = 0,
    hidden: int = 0,
    sequence: int = 0,
    vocab: int = 0,
) -> float:
    match convention:
        case "6nd":
            return 6 * parameters * tokens
        case "8nd":
            return 8 * parameters * tokens
        case "palm":
            return (6 * parameters + 12 * layers * hidden * sequence) * tokens
        case "causal":
            return (6 * parameters + 6 * layers * hidden * sequence) * tokens
        case "megatron-sc21":
            bracket = 1 + sequence / (6 * hidden) + vocab / (16 * layers * hidden)
            return 96 * layers * hidden**2 * bracket * tokens
    raise ValueError(f"I don't know the convention {convention}")


def training_days(flops: float, gpus: int, flops_per_s: float) -> float:
    seconds = flops / flops_per_s / gpus
    return seconds / 60 / 60


def mfu(model_flops_per_token: float, tokens_per_s: float, gpus: int, peak_flops: float) -> float:
    could = gpus * peak_flops
    did = model_flops_per_token * tokens_per_s
    return 100 * did / could  # per cent


def hfu(
    model_flops_per_token: float,
    tokens_per_s: float,
    gpus: int,
    peak_flops: float,
    recomputation: str,
    selective_flops_per_token: float = 0,
) -> float:
    total = model_flops_per_token
    if recomputation == "full":
        total *= 4 / 3  # forward, backward (2 x), forward again
    if recomputation == "selective":
        total += selective_flops_per_token
    return mfu(total, tokens_per_s, gpus, peak_flops)


def lever(
    technique: str,
    *,
    intermediate_bytes: float = 0,
    score_bytes: float = 0,
    logsumexp_bytes: float = 0,
    activation_bytes: float = 0,
    forward_flops: float = 0,
    parameters: int = 0,
    weights_before: str = "bf16",
    weights_after: str = "bf16",
    weight_bytes: float = 0,
    gradient_bytes: float = 0,
    batch_before: int = 1,
    batch_after: int = 1,
    optimizer_bytes: float = 0,
    optimizer_flops: float = 0,
    gpus: int = 1,
    stage: int = 1,
) -> LeverEffect:
    d_flops = 0
    if technique == "fusion":
        d_bytes = -(intermediate_bytes + intermediate_bytes)  # one write, one read
    elif technique == "flash":
        d_bytes = logsumexp_bytes - 2 * score_bytes - 2 * score_bytes
    elif technique == "recomputation":
        d_bytes = -2 * activation_bytes
        d_flops = forward_flops
    elif technique == "quantised_weights":
        d_bytes = parameters * DTYPE_BYTES[weights_after] - parameters * DTYPE_BYTES[weights_before]
    elif technique == "larger_batch":
        d_bytes = weight_bytes / batch_after - weight_bytes / batch_before
    elif technique == "zero":
        others = gpus - 1
        d_bytes = -optimizer_bytes * others / gpus
        d_flops = -optimizer_flops * others / gpus
        if stage == 3:
            d_bytes += weight_bytes * others / gpus
    elif technique == "offload":
        d_bytes = gradient_bytes + weight_bytes - optimizer_bytes
        d_flops = -optimizer_flops
    else:
        raise ValueError(f"I don't know the technique {technique}")
    return LeverEffect(bytes_change=d_bytes, flops_change=d_flops)
