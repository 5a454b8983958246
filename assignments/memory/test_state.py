"""Visible checks of state.py: sections 1, 2, 8 and 9."""

import pytest

from specs import Adapters, AdapterStateBytes, Recipe, StateBytes, ZeroStateBytes, recipe


def check_recipes(submission, expect, wanted):
    """Every recipe is asked for before the first is compared: more to tell one mistake from another by."""
    got = {name: submission.memory.state_bytes_per_parameter(recipe(name)) for name in wanted}
    for name, (weights, gradients, master, moments) in wanted.items():
        right = StateBytes(weights=weights, gradients=gradients, master=master, moments=moments)
        expect.terms(got[name], right, unit="bytes", case=name)


@pytest.mark.exercise("memory.state_bytes_per_parameter", weight=2)
def test_adamw_in_mixed_precision_and_in_fp32_both_cost_16_bytes(submission, expect):
    """AdamW costs 16 bytes a parameter in mixed precision and in fp32, made up differently."""
    check_recipes(submission, expect, {"adamw-bf16": (2, 2, 4, 8), "adamw-fp32": (4, 4, 0, 8)})


@pytest.mark.exercise("memory.state_bytes_per_parameter")
def test_training_costs_8_times_what_inference_needs(submission, expect):
    """Training costs 8 times what bf16 inference needs; what a recipe does not keep costs nothing."""
    # 16 against 2. The scaling book counts neither gradients nor a master copy: 2 + 8 = 10.
    check_recipes(
        submission,
        expect,
        {"inference-bf16": (2, 0, 0, 0), "adamw-bf16": (2, 2, 4, 8), "scaling-book": (2, 0, 0, 8)},
    )


@pytest.mark.exercise("memory.state_bytes_per_parameter")
def test_an_accumulation_buffer_is_a_second_gradient(submission, expect):
    """fp32 gradients make it 18 bytes; an fp32 buffer beside bf16 gradients makes it 20."""
    # 18: Megatron-LM, theoretical_memory_usage. 20: the Ultra-Scale Playbook, memory usage.
    check_recipes(
        submission,
        expect,
        {"adamw-bf16-fp32-gradients": (2, 4, 4, 8), "adamw-bf16-fp32-accumulation": (2, 2 + 4, 4, 8)},
    )


@pytest.mark.exercise("memory.state_bytes_per_parameter")
def test_fp8_recipes_cost_15_10_and_9_bytes(submission, expect):
    """DeepSeek-V3's fp8 recipe costs 15 bytes, nanotron's 10, FP8-LM 9."""
    # The Ultra-Scale Playbook, table of fp8 recipes.
    check_recipes(
        submission,
        expect,
        {
            "deepseek-v3-fp8": (1, 2 + 4, 4, 2 + 2),
            "nanotron-fp8": (1, 1 + 4, 2, 1 + 1),
            "fp8-lm": (1, 1 + 2, 2, 1 + 2),
        },
    )


@pytest.mark.exercise("memory.state_bytes_per_parameter")
def test_optimizers_differ_in_the_number_and_format_of_their_moments(submission, expect):
    """AdamW costs 12 bytes without a master copy, 10 with 8-bit moments; SGD with momentum keeps one."""
    check_recipes(
        submission,
        expect,
        {
            "adamw-bf16-no-master": (2, 2, 0, 8),
            "adamw-8bit": (2, 2, 4, 1 + 1),
            "sgd-momentum-bf16": (2, 2, 4, 4),
            "adamw-pure-bf16": (2, 2, 0, 2 + 2),
        },
    )


def check_steps(submission, expect, steps):
    """Every step is taken before the first is judged."""
    got = [submission.memory.bf16_update_lost(weight, update) for weight, update, _ in steps]
    for (weight, update, lost), answer in zip(steps, got, strict=True):
        expect.equal(answer, lost, case=f"weight {weight!r}, update {update!r}")


@pytest.mark.exercise("memory.bf16_update_lost")
def test_near_1_a_step_below_half_of_2_to_the_minus_7_is_lost(submission, expect):
    """Near 1 the next bf16 number is 2^-7 away, and a step of less than half of that is lost."""
    # Half of 2^-7 is 0.00390625; 2^-9 is half of that.
    steps = [
        (1.0, 0.001, True),
        (1.0, 0.01, False),
        (1.0, 2.0**-9 + 2.0**-11, True),
        (1.0, 0.005, False),
        (1.5, 0.003, True),
        (1.5, -0.003, True),
        (-1.5, 0.003, True),
        (-1.5, -0.005, False),
    ]
    check_steps(submission, expect, steps)


@pytest.mark.exercise("memory.bf16_update_lost")
def test_the_gap_depends_on_the_power_of_two_that_the_weight_lies_above(submission, expect):
    """What is lost grows with the weight, in powers of two: the gap is 2 from 256 to 512."""
    # Just below 2 the gap is still 2^-7, half of it 0.0039; at 2^-7 half of the gap is 2^-15 = 0.0000305.
    steps = [
        (256.0, 0.9, True),
        (256.0, 1.1, False),
        (448.0, 0.9, True),
        (448.0, 1.5, False),
        (-448.0, 1.5, False),
        (1.9921875, -0.003, True),
        (1.9921875, 0.005, False),
        (2.0**-7, 1e-5, True),
        (2.0**-7, 1e-4, False),
    ]
    check_steps(submission, expect, steps)


@pytest.mark.exercise("memory.bf16_update_lost")
def test_a_step_of_exactly_half_the_gap_goes_to_the_even_neighbour(submission, expect):
    """Halfway between two neighbours the one whose last bit is 0 wins."""
    half = 2.0**-8
    # 1 and 1 + 4·half are even, 1 + 2·half is odd.
    steps = [
        (1.0, half, True),
        (1.0 + 2 * half, half, False),
        (1.0 + 2 * half, -half, False),
        (1.0 + 4 * half, half, True),
        (1.0 + 4 * half, -half, True),
        (-1.0, -half, True),
        (-1.0 - 2 * half, half, False),
    ]
    check_steps(submission, expect, steps)


@pytest.mark.exercise("memory.bf16_update_lost")
def test_below_a_power_of_two_the_gap_is_half_as_wide(submission, expect):
    """From a power of two a step towards zero is lost up to a quarter of the gap above."""
    # Just below 1 the gap is 2^-8, half of it 0.00195; just below 256 it is 1, half of it 0.5.
    steps = [
        (1.0, 0.003, True),
        (1.0, -0.003, False),
        (1.0, -0.0015, True),
        (-1.0, 0.003, False),
        (-1.0, -0.003, True),
        (256.0, -0.6, False),
        (256.0, -0.4, True),
        (256.0, 0.6, True),
    ]
    check_steps(submission, expect, steps)


@pytest.mark.exercise("memory.bf16_update_lost")
def test_the_sum_is_rounded_once(submission, expect):
    """A step a little more or less than half the gap does not become a tie on the way."""
    # fp32 has 2^-23 between neighbours near 1: these sums, rounded to fp32 first, would lie halfway.
    half, little = 2.0**-8, 2.0**-31
    steps = [
        (1.0, half + little, False),
        (1.0, half - little, True),
        (1.0 + 2 * half, half - little, True),
        (1.0 + 2 * half, half + little, False),
        (-1.0, -half - little, False),
    ]
    check_steps(submission, expect, steps)


def check_adapters(submission, expect, wanted):
    """Every case is asked for before the first is compared. A case is (arguments, right terms)."""
    got = {case: submission.memory.adapter_state_bytes(*arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, terms) in wanted.items():
        right = dict(zip(AdapterStateBytes.model_fields, terms, strict=True))
        expect.terms(got[case], AdapterStateBytes(**right), unit="bytes", case=case)


@pytest.mark.exercise("memory.adapter_state_bytes", weight=2)
def test_only_the_adapters_are_trained(submission, expect):
    """Under LoRA the base costs 2 bytes a parameter, and 16 bytes fall on the adapters alone."""
    # 8 matrices of 4096 × 4096 at rank 64: 8·64·(4096 + 4096) = 4,194,304 adapter parameters.
    n = 4_194_304
    square = ((4096, 4096),) * 8
    wanted = {
        "7B, 8 square matrices, rank 64": (
            (7_000_000_000, square, 64, recipe("lora-bf16")),
            (14_000_000_000, 0, 2 * n, 2 * n, 4 * n, 8 * n),
        ),
        "1.5B, as many at rank 128": (
            (1_500_000_000, square, 128, recipe("lora-bf16")),
            (3_000_000_000, 0, 4 * n, 4 * n, 8 * n, 16 * n),
        ),
    }
    check_adapters(submission, expect, wanted)


@pytest.mark.exercise("memory.adapter_state_bytes")
def test_an_adapter_is_as_long_as_its_matrix_is_wide_and_high(submission, expect):
    """An adapter has rank·(in + out) parameters, whatever the shape of its matrix."""
    wanted = {
        # 16·(4096 + 11008) = 241,664
        "up projection, rank 16": (
            (6_000_000_000, ((4096, 11008),), 16, recipe("lora-bf16")),
            (12_000_000_000, 0, 483_328, 483_328, 966_656, 1_933_312),
        ),
        # 4·(11008 + 4096 + 4096 + 1024) = 80,896
        "down and key projections, rank 4": (
            (8_000_000_000, ((11008, 4096), (4096, 1024)), 4, recipe("lora-bf16")),
            (16_000_000_000, 0, 161_792, 161_792, 323_584, 647_168),
        ),
    }
    check_adapters(submission, expect, wanted)


@pytest.mark.exercise("memory.adapter_state_bytes", weight=2)
def test_qlora_stores_65b_in_4_bits_and_its_constants_in_half_a_bit_or_in_0_127(submission, expect):
    """QLoRA: 65B parameters take 32.5 GB, their constants 4.06 GB, or 1.03 GB when quantised again."""
    # 16 matrices of 8192 × 8192 at rank 64: 16·64·16384 = 16,777,216 adapter parameters.
    n = 16_777_216
    matrices = ((8192, 8192),) * 16
    # Blocks of 64: 65e9/64 = 1,015,625,000 constants of 4 bytes, which is 0.5 bits a parameter.
    # Again in blocks of 256: 1 byte each, and 1,015,625,000/256 fp32 values; 0.127 bits a parameter.
    single, double = 4_062_500_000, 1_015_625_000 + 15_869_140.625
    wanted = {
        "65B, constants in fp32": (
            (65_000_000_000, matrices, 64, recipe("qlora-nf4")),
            (32_500_000_000, single, 2 * n, 2 * n, 0, 8 * n),
        ),
        "65B, constants quantised again": (
            (65_000_000_000, matrices, 64, recipe("qlora-nf4-double")),
            (32_500_000_000, double, 2 * n, 2 * n, 0, 8 * n),
        ),
    }
    check_adapters(submission, expect, wanted)


@pytest.mark.exercise("memory.adapter_state_bytes")
def test_base_and_adapters_have_formats_of_their_own(submission, expect):
    """An int8 base under fp32 adapters, and a bf16 base under bf16 adapters that accumulate in fp32."""
    fp32_over_int8 = Recipe(
        name="fp32 adapters over int8",
        weights="fp32",
        gradients="fp32",
        master=None,
        moments=("fp32", "fp32"),
        adapters=Adapters(frozen_weights="int8", quantization_block=128),
    )
    accumulating = Recipe(
        name="bf16 adapters that accumulate in fp32",
        weights="bf16",
        gradients="bf16",
        gradient_accumulation="fp32",
        master="fp32",
        moments=("fp32",),
        adapters=Adapters(frozen_weights="bf16"),
    )
    wanted = {
        # 4 matrices of 2048 × 512 at rank 64: 4·64·2560 = 655,360. Constants: 4 · 1.28e9/128.
        "fp32 over int8 in blocks of 128": (
            (1_280_000_000, ((2048, 512),) * 4, 64, fp32_over_int8),
            (1_280_000_000, 40_000_000, 2_621_440, 2_621_440, 0, 5_242_880),
        ),
        # 10·(100 + 300) = 4000
        "bf16 over bf16, one moment": (
            (1_000_000, ((100, 300),), 10, accumulating),
            (2_000_000, 0, 8_000, 8_000 + 16_000, 16_000, 16_000),
        ),
    }
    check_adapters(submission, expect, wanted)


def check_zero(submission, expect, wanted):
    """Every case is asked for before the first is compared. A case is (arguments, right terms)."""
    got = {case: submission.memory.zero_state_bytes(*arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, terms) in wanted.items():
        right = dict(zip(ZeroStateBytes.model_fields, terms, strict=True))
        expect.terms(got[case], ZeroStateBytes(**right), unit="bytes", case=case)


@pytest.mark.exercise("memory.zero_state_bytes", weight=2)
def test_zero_shrinks_120_gb_to_31_4_then_16_6_then_1_9(submission, expect):
    """7.5B parameters on 64 GPUs: 120 GB without ZeRO, then 31.4, 16.6 and 1.9 GB at stages 1, 2 and 3."""
    # ZeRO, table 1. 2, 2, 4 and 8 bytes a parameter: 15e9, 15e9, 30e9, 60e9; divided by 64 where sharded.
    adamw, n = recipe("adamw-fp16"), 7_500_000_000
    wanted = {
        "stage 0": ((n, adamw, 64, 0), (15e9, 15e9, 30e9, 60e9, 0)),
        "stage 1": ((n, adamw, 64, 1), (15e9, 15e9, 468_750_000, 937_500_000, 0)),
        "stage 2": ((n, adamw, 64, 2), (15e9, 234_375_000, 468_750_000, 937_500_000, 0)),
        "stage 3": ((n, adamw, 64, 3), (234_375_000, 234_375_000, 468_750_000, 937_500_000, 0)),
    }
    check_zero(submission, expect, wanted)


@pytest.mark.exercise("memory.zero_state_bytes")
def test_megatrons_distributed_optimizer_costs_6_bytes_and_12_shared(submission, expect):
    """Megatron's distributed optimizer is stage 1 under fp32 gradients: 6 + 12/d bytes a parameter."""
    # Megatron-LM, documentation of the distributed optimizer: 18, 12, 9 and 6.75 for d = 1, 2, 4 and 16.
    megatron = recipe("adamw-bf16-fp32-gradients")
    wanted = {
        "d = 1": ((1, megatron, 1, 1), (2, 4, 4, 8, 0)),
        "d = 2": ((1, megatron, 2, 1), (2, 4, 2, 4, 0)),
        "d = 4": ((1, megatron, 4, 1), (2, 4, 1, 2, 0)),
        "d = 16": ((1, megatron, 16, 1), (2, 4, 0.25, 0.5, 0)),
    }
    check_zero(submission, expect, wanted)


@pytest.mark.exercise("memory.zero_state_bytes")
def test_an_accumulation_buffer_is_sharded_with_the_gradients(submission, expect):
    """Stage 2 shards the accumulation buffer too; stage 1 shards neither."""
    accumulating = recipe("adamw-bf16-fp32-accumulation")
    wanted = {
        "stage 1": ((1_000_000, accumulating, 8, 1), (2_000_000, 6_000_000, 500_000, 1_000_000, 0)),
        "stage 2": ((1_000_000, accumulating, 8, 2), (2_000_000, 750_000, 500_000, 1_000_000, 0)),
    }
    check_zero(submission, expect, wanted)


@pytest.mark.exercise("memory.zero_state_bytes", weight=2)
def test_stage_3_gathers_one_layer_whole_whatever_is_offloaded(submission, expect):
    """T5-3B on 8 GPUs at stage 3, as DeepSpeed estimates it: 6.09, 0.78 and 0.12 GiB."""
    # 4·largest + 18·N/8, 4·largest + 2·N/8 and 4·largest, with N = 2851e6 and largest = 32e6.
    megatron, n, largest = recipe("adamw-bf16-fp32-gradients"), 2_851_000_000, 32_000_000
    shards = (712_750_000, 1_425_500_000, 1_425_500_000, 2_851_000_000)
    wanted = {
        "nothing offloaded": ((n, megatron, 8, 3, "none", largest), (*shards, 128_000_000)),
        "optimizer offloaded": (
            (n, megatron, 8, 3, "optimizer", largest),
            (712_750_000, 0, 0, 0, 128_000_000),
        ),
        "all offloaded": ((n, megatron, 8, 3, "all", largest), (0, 0, 0, 0, 128_000_000)),
    }
    check_zero(submission, expect, wanted)


@pytest.mark.exercise("memory.zero_state_bytes")
def test_below_stage_3_offload_leaves_the_weights_and_nothing_is_gathered(submission, expect):
    """At stage 2 with the optimizer offloaded a GPU holds the weights alone, and no gathered layer."""
    # 2·N: 5.31 GiB for N = 2851e6 (DeepSpeed's estimator for ZeRO-2); gradients 4·N/8 and so on without it.
    megatron, n, largest = recipe("adamw-bf16-fp32-gradients"), 2_851_000_000, 32_000_000
    shards = (5_702_000_000, 1_425_500_000, 1_425_500_000, 2_851_000_000)
    wanted = {
        "optimizer offloaded": ((n, megatron, 8, 2, "optimizer", largest), (5_702_000_000, 0, 0, 0, 0)),
        "nothing offloaded": ((n, megatron, 8, 2, "none", largest), (*shards, 0)),
    }
    check_zero(submission, expect, wanted)
