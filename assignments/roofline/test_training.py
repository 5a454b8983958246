"""Visible checks of training.py: training FLOPs and days, MFU and HFU, and the two moves."""

import pytest

from specs import LeverEffect


def check_numbers(submission, expect, function, wanted, unit, rel=0.0):
    """Every call is made before the first is compared: more to tell one mistake from another by."""
    call = getattr(submission.roofline, function)
    got = {case: call(*arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, right) in wanted.items():
        expect.number(got[case], right, unit=unit, case=case, rel=rel)


@pytest.mark.exercise("roofline.training_flops")
def test_6_n_d_and_8_n_d(submission, expect):
    """6 FLOPs for each parameter and token are 3.15e23 for GPT-3; with recomputation they are 8."""
    wanted = {
        "GPT-3, 6ND": ((175e9, 300e9, "6nd"), 3.15e23),
        "Chinchilla, 6ND": ((70e9, 1.4e12, "6nd"), 5.88e23),
        "GPT-3, 8ND": ((175e9, 300e9, "8nd"), 4.2e23),  # Megatron-LM, equation 4
        "1000 parameters, one token, 6ND": ((1000, 1, "6nd"), 6000),
    }
    check_numbers(submission, expect, "training_flops", wanted, "FLOP")


@pytest.mark.exercise("roofline.training_flops", weight=2)
def test_palms_convention_adds_attention_over_the_whole_sequence(submission, expect):
    """PaLM 540B costs 3.28 TFLOPs a token: 3.24 for its parameters, 0.036 for attention."""
    # 6·540.35e9 + 12·118·(48·256)·2048, and with 118 layers of twice the sequence; PaLM, table 22.
    wanted = {
        "PaLM 540B, a token": ((540_350_000_000, 1, "palm", 118, 12_288, 2048), 3_277_734_806_784),
        "PaLM 540B at 4096, a token": ((540_350_000_000, 1, "palm", 118, 12_288, 4096), 3_313_369_613_568),
        # 6·7,504,924,672 + 12·32·4096·8192, the token embedding left out of N; 13,812 tokens a second are
        # the 800 TFLOP/s of Megatron-LM's table.
        "Llama 3 8B, a second": ((7_504_924_672, 13_812, "palm", 32, 4096, 8192), 799_914_382_295_040),
    }
    check_numbers(submission, expect, "training_flops", wanted, "FLOP")


@pytest.mark.exercise("roofline.training_flops", weight=2)
def test_causal_counting_halves_attention_and_nothing_else(submission, expect):
    """Counted causally a second of Llama 3 8B is 711 TFLOPs, not 800: attention halves, 6N does not."""
    # (6·7,504,924,672 + 6·32·4096·8192)·13,812
    wanted = {
        "Llama 3 8B, causal": ((7_504_924_672, 13_812, "causal", 32, 4096, 8192), 710_931_249_856_512),
        "Llama 3 8B, not causal": ((7_504_924_672, 13_812, "palm", 32, 4096, 8192), 799_914_382_295_040),
        "PaLM 540B, causal": ((540_350_000_000, 1, "causal", 118, 12_288, 2048), 3_259_917_403_392),
    }
    check_numbers(submission, expect, "training_flops", wanted, "FLOP")


@pytest.mark.exercise("roofline.training_flops")
def test_megatrons_equation_has_full_recomputation_in_it(submission, expect):
    """Megatron-LM's equation 3 gives 1.434 TFLOPs a token for its 175B model, recomputation included."""
    # 96·96·12288² + 16·96·12288·2048 + 6·51200·12288; and 96·105·20480² + 16·105·20480·2048 + 6·51200·20480.
    wanted = {
        "175B, a token": ((0, 1, "megatron-sc21", 96, 12_288, 2048, 51_200), 1_433_998_983_168),
        "530B, a token": ((0, 1, "megatron-sc21", 105, 20_480, 2048, 51_200), 4_304_614_195_200),
        "175B, 300e9 tokens": (
            (174.6e9, 300e9, "megatron-sc21", 96, 12_288, 2048, 51_200),
            1_433_998_983_168 * 300e9,
        ),
    }
    check_numbers(submission, expect, "training_flops", wanted, "FLOP")


@pytest.mark.exercise("roofline.training_flops")
def test_days_of_a_run(submission, expect):
    """GPT-3 takes 34 days on 1024 A100 at 140 TFLOP/s, and one GPU at 1 PFLOP/s would take 4861."""
    wanted = {
        "GPT-3 on 1024 A100": ((4.2e23, 1024, 140e12), 33.90842),  # 8·N·D, Megatron-LM, section 5.1
        "GPT-2 on 8 A100 at 30 %": ((2.238077952e20, 8, 0.3 * 312e12), 3.459359),  # nanoGPT: 6ND
        "GPT-3 in PFLOP/s-days": ((4.2e23, 1, 1e15), 4861.111),
    }
    check_numbers(submission, expect, "training_days", wanted, "days", rel=1e-6)


@pytest.mark.exercise("roofline.utilisation", weight=2)
def test_mfu_of_published_runs(submission, expect):
    """PaLM 540B ran at 46.2 % MFU on 6144 TPUs, nanoGPT at 37.1 % on one A100."""
    # 238,300·(6·540e9 + 12·118·12288·2048)/(6144·275e12); nanoGPT: 854,438,400 FLOPs a token, 100 sequences
    # of 1024 in 0.755 s; MosaicML's 7B at 32,768: (6N + 12·32·4096·32768)·3318/989.4e12 on one of the H100.
    wanted = {
        "PaLM 540B": ((3_275_634_806_784, 238_300, 6144, 275e12), 0.46199324),
        "nanoGPT": ((854_438_400, 102_400 / 0.755, 1, 312e12), 0.37143187),
        "MPT 7B at 32,768, one H100": ((92_247_736_320, 3318, 1, 989.4e12), 0.30935718),
        "MPT 7B at 32,768, eight H100": ((92_247_736_320, 8 * 3318, 8, 989.4e12), 0.30935718),
    }
    check_numbers(submission, expect, "mfu", wanted, "", rel=1e-6)


@pytest.mark.exercise("roofline.utilisation")
def test_full_recomputation_is_one_more_forward(submission, expect):
    """Full recomputation makes 3 forwards' worth of FLOPs into 4: MosaicML's 43.92 % MFU is 58.57 % HFU."""
    # One token a second of so many FLOPs on a card of 1e12 FLOP/s.
    wanted = {
        "43.92 % MFU, full": ((439.2e9, 1, 1, 1e12, "full"), 0.5856),
        "43.92 % MFU, none": ((439.2e9, 1, 1, 1e12, "none"), 0.4392),
        "41.25 % MFU, full, 512 GPUs": ((412.5e9, 512, 512, 1e12, "full"), 0.55),
    }
    check_numbers(submission, expect, "hfu", wanted, "")


@pytest.mark.exercise("roofline.utilisation", weight=2)
def test_selective_recomputation_adds_what_it_runs_again(submission, expect):
    """PaLM 62B runs attention's forward again: 0.392 TFLOPs a token where the model needs 0.388."""
    # 6·62.5e9 + 12·64·(32·256)·2048, and 4·64·8192·2048 again; on a card of 1 TFLOP/s the share is TFLOPs.
    wanted = {
        "PaLM 62B, selective": ((387_884_901_888, 1, 1, 1e12, "selective", 4_294_967_296), 0.392179869184),
        "PaLM 62B, none": ((387_884_901_888, 1, 1, 1e12, "none", 4_294_967_296), 0.387884901888),
        "PaLM 62B, full": ((387_884_901_888, 1, 1, 1e12, "full", 4_294_967_296), 0.517179869184),
        "selective, nothing again": ((387_884_901_888, 3, 3, 1e12, "selective"), 0.387884901888),
    }
    check_numbers(submission, expect, "hfu", wanted, "")


def check_levers(submission, expect, wanted):
    """Every technique is asked for before the first is compared."""
    got = {case: submission.roofline.lever(name, **given) for case, (name, given, _, _) in wanted.items()}
    for case, (_, _, bytes_change, flops_change) in wanted.items():
        expect.terms(got[case], LeverEffect(bytes_change=bytes_change, flops_change=flops_change), case=case)


@pytest.mark.exercise("roofline.lever")
def test_fusion_and_flash_move_fewer_bytes_and_spend_the_same_flops(submission, expect):
    """Fusion saves writing and reading what lies between; flash does so for scores and probabilities."""
    # 32,768 tokens, one head, bf16: 2·32768² bytes of scores, 4·32768 of logsumexp (the seed's figure 3).
    wanted = {
        "fusing over 3000 bytes": ("fusion", {"intermediate_bytes": 3000}, -6000, 0),
        "fusing over 500 bytes": ("fusion", {"intermediate_bytes": 500}, -1000, 0),
        "flash at 32,768 tokens": (
            "flash",
            {"score_bytes": 2_147_483_648, "logsumexp_bytes": 131_072},
            -8_589_803_520,
            0,
        ),
    }
    check_levers(submission, expect, wanted)


@pytest.mark.exercise("roofline.lever")
def test_recomputation_spends_flops_to_save_bytes(submission, expect):
    """Recomputation saves a write and a read of the activations, and pays with a forward."""
    wanted = {
        "1000 bytes for 70 FLOPs": (
            "recomputation",
            {"activation_bytes": 1000, "forward_flops": 70},
            -2000,
            70,
        ),
        "600 bytes for 90,000": (
            "recomputation",
            {"activation_bytes": 600, "forward_flops": 90_000},
            -1200,
            90_000,
        ),
    }
    check_levers(submission, expect, wanted)


@pytest.mark.exercise("roofline.lever")
def test_narrower_weights_and_larger_batches_read_weights_less(submission, expect):
    """Quantised weights are fewer bytes; in a larger batch more tokens share them. FLOPs stay."""
    int4 = {"parameters": 7_000_000_000, "weights_before": "bf16", "weights_after": "int4"}
    fp8 = {"parameters": 7_000_000_000, "weights_before": "fp32", "weights_after": "fp8"}
    wanted = {
        "7B from bf16 to int4": ("quantised_weights", int4, -10_500_000_000, 0),
        "7B from fp32 to fp8": ("quantised_weights", fp8, -21_000_000_000, 0),
        "batch 1 to 16": (
            "larger_batch",
            {"weight_bytes": 16_000, "batch_before": 1, "batch_after": 16},
            1000 - 16_000,
            0,
        ),
        "batch 4 to 32": (
            "larger_batch",
            {"weight_bytes": 16_000, "batch_before": 4, "batch_after": 32},
            500 - 4000,
            0,
        ),
    }
    check_levers(submission, expect, wanted)


@pytest.mark.exercise("roofline.lever", weight=2)
def test_zero_shares_the_optimizer_and_offload_gives_it_away(submission, expect):
    """ZeRO leaves a GPU 1/gpus of the optimizer step, stage 3 gathers once more; offload pays at the link."""
    # One parameter of AdamW in mixed precision: the step reads gradient 2, master 4 and moments 8, and writes
    # weights 2, master 4 and moments 8, together 28 bytes; 12 FLOPs. A million of them.
    step = {"optimizer_bytes": 28_000_000, "optimizer_flops": 12_000_000, "weight_bytes": 2_000_000}
    wanted = {
        "ZeRO 1, 4 GPUs": ("zero", {**step, "gpus": 4, "stage": 1}, -21_000_000, -9_000_000),
        "ZeRO 2, 8 GPUs": ("zero", {**step, "gpus": 8, "stage": 2}, -24_500_000, -10_500_000),
        "ZeRO 3, 4 GPUs": ("zero", {**step, "gpus": 4, "stage": 3}, 1_500_000 - 21_000_000, -9_000_000),
        "offload": ("offload", {**step, "gradient_bytes": 4_000_000}, 6_000_000 - 28_000_000, -12_000_000),
    }
    check_levers(submission, expect, wanted)
