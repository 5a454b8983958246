# %% [markdown]
# # 6·N·D, MFU and HFU, and the two moves
#
# FLOPs of a training run by named conventions, what share of the card they are, and what each technique changes.
# Sections 7 and 8 of the handout, `README.md`: the formulas and one worked number each.

# %%
"""Training FLOPs and days under named conventions, MFU and HFU, and what each technique changes."""

from typing import Literal

from specs import DTYPE_BYTES, DType, LeverEffect

Convention = Literal["6nd", "8nd", "palm", "causal", "megatron-sc21"]
Recomputation = Literal["none", "selective", "full"]
Technique = Literal[
    "fusion", "flash", "recomputation", "quantised_weights", "larger_batch", "zero", "offload"
]


# %%
def training_flops(
    parameters: float,
    tokens: float,
    convention: Convention,
    layers: int = 0,
    hidden: int = 0,
    sequence: int = 0,
    vocab: int = 0,
) -> float:
    """FLOPs of training on some tokens, as one of five conventions counts them. The caller must name one.

    Each counts `tokens` times so many FLOPs a token:
    - "6nd": 6 · parameters. Forward 2, backward 4; attention is not counted.
    - "8nd": 8 · parameters. The same with full recomputation, one more forward.
    - "palm": 6 · parameters + 12 · layers · hidden · sequence. The second term is attention, forward and
      backward, where every query sees the whole sequence.
    - "causal": the same, but a query sees half of the sequence on average, so the attention term is
      6 · layers · hidden · sequence. The parameters' term is what it was.
    - "megatron-sc21": 96 · layers · hidden² · (1 + sequence / (6 · hidden) + vocab / (16 · layers · hidden)).
      GPT's layers of 12 · hidden² parameters, attention as in "palm", and the output head; full recomputation
      is in it for the layers and not for the head.

    Args:
        parameters: parameters that take part in a matmul; "megatron-sc21" does not read it.
        tokens: tokens that are trained on, over the whole run; 1 gives the FLOPs of a token.
        convention: which of the five.
        layers: layers of the model.
        hidden: heads · head_dim, which in most models is the width.
        sequence: tokens that are trained on as one sequence.
        vocab: rows of the output head; only "megatron-sc21" reads it.
        Whatever a convention does not read may be left out.

    Returns:
        FLOPs.

    Raises:
        ValueError: there is no such convention.

    Source: Scaling Laws (Kaplan et al. 2020), section 2.1; PaLM (Chowdhery et al. 2022), appendix B; Megatron-LM
    (Narayanan et al. 2021), equations 2 to 4.
    """
    raise NotImplementedError("write me")


# %%
def training_days(flops: float, gpus: int, flops_per_s: float) -> float:
    """Days that a training run takes.

    Args:
        flops: FLOPs of the whole run.
        gpus: GPUs that work on it.
        flops_per_s: FLOP/s that each of them achieves, which is its peak times the utilisation.

    Returns:
        Days of 24 hours, a fraction where it is one.
    """
    raise NotImplementedError("write me")


# %%
def mfu(model_flops_per_token: float, tokens_per_s: float, gpus: int, peak_flops: float) -> float:
    """Model FLOPs utilisation: what the model needs, over what the cards could have done.

    Args:
        model_flops_per_token: FLOPs that one token needs, forward and backward, by a convention without
            recomputation.
        tokens_per_s: tokens a second of the whole run, all GPUs together.
        gpus: GPUs of the run.
        peak_flops: dense peak of one GPU, in FLOP/s.

    Returns:
        A share: 0.5 is 50 %.

    Source: PaLM (Chowdhery et al. 2022), section 4.1 and appendix B.
    """
    raise NotImplementedError("write me")


# %%
def hfu(
    model_flops_per_token: float,
    tokens_per_s: float,
    gpus: int,
    peak_flops: float,
    recomputation: Recomputation,
    selective_flops_per_token: float = 0,
) -> float:
    """Hardware FLOPs utilisation: what the cards did, recomputation included, over what they could have done.

    Args:
        model_flops_per_token, tokens_per_s, gpus, peak_flops: as for `mfu`.
        recomputation: what the backward pass runs a second time. "none": nothing. "full": the whole forward,
            which is a third of the model FLOPs. "selective": some operations of the forward, most often the
            scores and values of attention.
        selective_flops_per_token: forward FLOPs of the operations that "selective" runs a second time, of one
            token; "none" and "full" do not read it.

    Returns:
        A share: 0.5 is 50 %. Never below the MFU.

    Source: PaLM (Chowdhery et al. 2022), appendix B; Reducing Activation Recomputation (Korthikanti et al.
    2022), section 6.3.
    """
    raise NotImplementedError("write me")


# %%
def lever(
    technique: Technique,
    *,
    intermediate_bytes: float = 0,
    score_bytes: float = 0,
    logsumexp_bytes: float = 0,
    activation_bytes: float = 0,
    forward_flops: float = 0,
    parameters: int = 0,
    weights_before: DType = "bf16",
    weights_after: DType = "bf16",
    weight_bytes: float = 0,
    gradient_bytes: float = 0,
    batch_before: int = 1,
    batch_after: int = 1,
    optimizer_bytes: float = 0,
    optimizer_flops: float = 0,
    gpus: int = 1,
    stage: int = 1,
) -> LeverEffect:
    """What a technique changes on one GPU: bytes moved, and FLOPs. Negative is less.

    Bytes count wherever they move, through HBM or over a link, once each way. Each technique reads the
    arguments named here and no others:
    - "fusion": tensors of `intermediate_bytes` together are no longer written by one kernel and read by the
      next.
    - "flash": the matrix of scores (`score_bytes`) is no longer written and read, nor the matrix of
      probabilities, which is as large; the logsumexp (`logsumexp_bytes`) is written instead.
    - "recomputation": activations of `activation_bytes` are no longer written by the forward and read by the
      backward, which computes them again on the chip, at `forward_flops`.
    - "quantised_weights": `parameters` weights are read once in the format `weights_after`, no longer in
      `weights_before`. The arithmetic stays in its format, and unpacking is free.
    - "larger_batch": for each token. The weights (`weight_bytes`) are read once for `batch_after` tokens, no
      longer once for `batch_before`.
    - "zero": the optimizer step, which moves `optimizer_bytes` through HBM and does `optimizer_flops` for all
      parameters, is done for 1/gpus of them. At `stage` 1 and 2 the link carries what it carried before. At
      stage 3 the weights (`weight_bytes`) are gathered once more: the share that the other GPUs hold,
      (gpus − 1)/gpus, comes over the link.
    - "offload": the host does the optimizer step, with its `optimizer_bytes` and `optimizer_flops`. The
      gradients (`gradient_bytes`) go out over the link, and the weights (`weight_bytes`) come back.

    Returns:
        LeverEffect(bytes_change, flops_change): what is moved and computed with the technique, less what was
        without it. Integers or floats; shares of the GPUs are exact, nothing is rounded.

    Raises:
        ValueError: there is no such technique.
    """
    raise NotImplementedError("write me")
