"""Visible checks of budget.py: section 10."""

import pytest

from specs import InferenceMemory, StateBytes, TrainingMemory, gpu, gpus

ADAMW_BF16 = StateBytes(weights=2, gradients=2, master=4, moments=8)


def check_training(submission, expect, wanted):
    """Every bill is asked for before the first is compared. A case is (arguments, right terms)."""
    got = {case: submission.memory.training_memory(*arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, terms) in wanted.items():
        right = dict(zip(TrainingMemory.model_fields, terms, strict=True))
        expect.terms(got[case], TrainingMemory(**right), unit="bytes", case=case)


def check_survivors(submission, expect, cards, wanted):
    """Every bill is tried on all cards before the first answer is compared."""
    got = {total: submission.memory.surviving_gpus(total, cards) for total in wanted}
    for total, names in wanted.items():
        expect.equal(got[total], names, case=f"a bill of {total / 1e9:.4g} GB")


def check_needed(submission, expect, card, wanted):
    """Every bill is asked about before the first answer is compared."""
    got = {total: submission.memory.gpus_needed(total, card) for total in wanted}
    for total, cards in wanted.items():
        expect.number(got[total], cards, case=f"a bill of {total:,} bytes on {card.name}")


@pytest.mark.exercise("memory.memory_budget", weight=2)
def test_7b_costs_144_5_gb_and_no_card_of_80_gb_survives(submission, expect):
    """7B with AdamW in bf16: 112.0 GB of state, 144.5 GB in all; no card of 80 GB holds it, two do."""
    # Shape from 12·L·d² with d = 128·L: L = 33, d = 4224, 33 heads. Sequence s = 2048, batch b = 1.
    # s·b·d·(34 + 5·33·s/d)·L = 8,650,752 · 114 · 33 = 32,544,129,024 bytes of activations; 112e9 of state.
    wanted = {
        "7B, sequence 2048": (
            (7_000_000_000, ADAMW_BF16, 32_544_129_024),
            (14_000_000_000, 14_000_000_000, 28_000_000_000, 56_000_000_000, 32_544_129_024),
        ),
        "7B, no activations yet": (
            (7_000_000_000, ADAMW_BF16, 0),
            (14_000_000_000, 14_000_000_000, 28_000_000_000, 56_000_000_000, 0),
        ),
    }
    check_training(submission, expect, wanted)
    # In bf16 inference the same 7B are 14.0 GB: these cards are not too small for everything.
    small = tuple(card for card in gpus() if card.memory_label_gb <= 80)
    names = [card.name for card in small]
    check_survivors(submission, expect, small, {144_544_129_024: [], 14_000_000_000: names})
    check_needed(submission, expect, gpu("h100-sxm"), {144_544_129_024: 2, 14_000_000_000: 1})


@pytest.mark.exercise("memory.memory_budget")
def test_7b_survives_on_an_h200_and_larger(submission, expect):
    """144.5 GB fit on an H200 and on every larger card; 200 GB only on the largest."""
    dead = ("a100-sxm-80gb", "h100-sxm", "h100-nvl")
    alive = ("h200-sxm", "b200-sxm", "gb200", "mi300x", "mi325x", "mi355x")
    wanted = {144_544_129_024: list(alive), 200_000_000_000: ["mi300x", "mi325x", "mi355x"]}
    check_survivors(submission, expect, tuple(gpu(name) for name in dead + alive), wanted)


@pytest.mark.exercise("memory.memory_budget")
def test_a_card_holds_what_a_program_can_see_not_what_its_label_says(submission, expect):
    """What counts is the memory that a program sees, to the last byte, and not the label."""
    # Visible: 23.65, 42.30, 47.66, 84.94 GB. Labels: 24, 40, 48, 80; taken as GiB 25.8, 42.9, 51.5, 85.9.
    cards = tuple(gpu(name) for name in ("l4", "a100-sxm-40gb", "l40s", "h100-sxm"))
    wanted = {
        23_800_000_000: ["a100-sxm-40gb", "l40s", "h100-sxm"],
        41_000_000_000: ["a100-sxm-40gb", "l40s", "h100-sxm"],
        42_600_000_000: ["l40s", "h100-sxm"],
        48_500_000_000: ["h100-sxm"],
        84_943_110_144: ["h100-sxm"],
        84_943_110_145: [],
    }
    check_survivors(submission, expect, cards, wanted)


@pytest.mark.exercise("memory.memory_budget")
def test_cards_come_whole(submission, expect):
    """A card that is needed in part is needed; a bill that fits exactly needs no further one."""
    # An H100 shows 84,943,110,144 bytes to a program.
    one = 84_943_110_144
    few = {1_000_000: 1, 82_000_000_000: 1, one: 1, one + 1: 2, 100_000_000_000: 2, 150_000_000_000: 2}
    wanted = {**few, 2 * one: 2, 171_000_000_000: 3, 7 * one: 7}
    check_needed(submission, expect, gpu("h100-sxm"), wanted)


@pytest.mark.exercise("memory.memory_budget")
def test_serving_costs_the_weights_and_the_cache(submission, expect):
    """Llama 3 8B: 16.06 GB in bf16, half of it in fp8, a quarter in int4; and the cache beside it."""
    # 8,030,261,248 parameters. 32 layers, 8 kv heads of 128: 131,072 bytes a token in bf16; 8192 tokens.
    n, cache = 8_030_261_248, 1_073_741_824
    wanted = {
        "bf16, one sequence": ((n, "bf16", cache), (16_060_522_496, cache)),
        "fp8, eight sequences": ((n, "fp8", 8 * cache), (8_030_261_248, 8_589_934_592)),
        "int4, no sequence yet": ((n, "int4", 0), (4_015_130_624, 0)),
    }
    got = {case: submission.memory.inference_memory(*arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, (weights, kv_cache)) in wanted.items():
        right = InferenceMemory(weights=weights, kv_cache=kv_cache)
        expect.terms(got[case], right, unit="bytes", case=case)


@pytest.mark.exercise("memory.memory_budget")
def test_the_bill_follows_the_recipe(submission, expect):
    """1.5B in fp32 and in an fp8 recipe: every term is the state's own, for all parameters."""
    fp32 = StateBytes(weights=4, gradients=4, master=0, moments=8)
    fp8 = StateBytes(weights=1, gradients=6, master=4, moments=4)
    n = 1_500_000_000
    wanted = {
        "fp32": ((n, fp32, 5_000_000_000), (6_000_000_000, 6_000_000_000, 0, 12_000_000_000, 5_000_000_000)),
        "fp8": (
            (n, fp8, 3_000_000_000),
            (1_500_000_000, 9_000_000_000, 6_000_000_000, 6_000_000_000, 3_000_000_000),
        ),
    }
    check_training(submission, expect, wanted)
