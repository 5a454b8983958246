"""Visible checks of choice.py: section 4."""

import pytest

from specs import Cluster, FirstChoice, Gpt, Plan, gpu, plan_cost

H100, A100, RTX = gpu("h100-sxm"), gpu("a100-sxm-80gb"), gpu("rtx-4090")


def check_numbers(expect, function, wanted):
    """Every case is asked for before the first is compared. A case is (keyword arguments, right number)."""
    got = {case: function(**arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, right) in wanted.items():
        expect.number(got[case], right, case=case)


@pytest.mark.exercise("sharding.overlap")
def test_data_parallel_on_h100s_needs_2200_tokens_in_a_node_and_2475_beyond(submission, expect):
    """An H100 needs 2200 tokens over NVLink and 2475 over the network, a B200 5625; 2 replicas need half."""
    # The scaling book, chapter 12, which takes 990 and 2250 TFLOP/s, 450 and 400 GB/s.
    wanted = {
        "H100s in a node": ({"flops_per_s": 990e12, "link_bytes_per_s": 450e9}, 2200),
        "H100s beyond a node": ({"flops_per_s": 990e12, "link_bytes_per_s": 400e9}, 2475),
        "2 nodes of H100s": ({"flops_per_s": 990e12, "link_bytes_per_s": 400e9, "replicas": 2}, 1237.5),
        "8 replicas": ({"flops_per_s": 990e12, "link_bytes_per_s": 450e9, "replicas": 8}, 1925),
        "B200s beyond a node": ({"flops_per_s": 2250e12, "link_bytes_per_s": 400e9}, 5625),
    }
    check_numbers(expect, submission.sharding.dp_critical_batch_tokens, wanted)


@pytest.mark.exercise("sharding.overlap")
def test_8_stages_need_an_eighth_of_the_tokens(submission, expect):
    """With 8 pipeline stages a GPU reduces an eighth of the gradients: 309 tokens are enough."""
    link = {"flops_per_s": 990e12, "link_bytes_per_s": 400e9}
    wanted = {
        "8 stages": (link | {"stages": 8}, 309.375),
        "8 stages, 4 replicas": (link | {"stages": 8, "replicas": 4}, 232.03125),
        "2 stages": (link | {"stages": 2}, 1237.5),
    }
    check_numbers(expect, submission.sharding.dp_critical_batch_tokens, wanted)


@pytest.mark.exercise("sharding.overlap")
def test_an_mlp_of_28672_can_be_cut_13_ways_in_a_node_of_h100s(submission, expect):
    """Llama 3 70B's MLP can be cut 13.03 ways over NVLink, and not even in two over the network."""
    # The scaling book's quiz prints 28672/1995 = 14.4: 1995 is a left-over, C/W is 2200 in the same chapter.
    wanted = {
        "28672 wide, 450 GB/s": (
            {"intermediate": 28672, "flops_per_s": 990e12, "link_bytes_per_s": 450e9},
            28672 / 2200,
        ),
        "28672 wide, 50 GB/s": (
            {"intermediate": 28672, "flops_per_s": 990e12, "link_bytes_per_s": 50e9},
            28672 / 19800,
        ),
        "8192 wide on B200s": (
            {"intermediate": 8192, "flops_per_s": 2250e12, "link_bytes_per_s": 900e9},
            8192 / 2500,
        ),
    }
    check_numbers(expect, submission.sharding.tp_limit, wanted)


@pytest.mark.exercise("sharding.overlap")
def test_a_block_of_1040_tokens_hides_a_ring_of_a100s(submission, expect):
    """Ring attention hides on A100s from 1040 tokens a block on, from 24,960 over InfiniBand."""
    # Ring Attention, table 2, which prints 24.5 thousand for the latter: 312/12.5 is 24.96.
    nvlink = {"flops_per_s": 312e12, "link_bytes_per_s": 300e9}
    wanted = {
        "A100s, NVLink": (nvlink, 1040),
        "A100s, InfiniBand": ({"flops_per_s": 312e12, "link_bytes_per_s": 12.5e9}, 24_960),
        "8 key heads for 64 query heads": (nvlink | {"heads": 64, "kv_heads": 8}, 130),
        "keys and values in 1 byte": (nvlink | {"value_bytes": 1}, 520),
    }
    check_numbers(expect, submission.sharding.ring_attention_min_block, wanted)


# 124,474,368, 1,315,815,424, 2,651,668,480, 6,666,977,280, 12,853,616,640 and 174,603,239,424 parameters
SMALL = Gpt(layers=12, hidden=768, heads=12, vocab=50304, sequence=1024)
GPT_1B = Gpt(layers=24, hidden=2048, heads=16, vocab=50304, sequence=2048)
GPT_3B = Gpt(layers=32, hidden=2560, heads=32, vocab=50304, sequence=2048)
GPT_7B = Gpt(layers=32, hidden=4096, heads=32, vocab=50304, sequence=4096)
GPT_13B = Gpt(layers=40, hidden=5120, heads=40, vocab=50304, sequence=2048)
GPT_175B = Gpt(layers=96, hidden=12288, heads=96, vocab=51200, sequence=1024)


def check_choices(submission, expect, wanted):
    """Every case is asked for before the first is compared. A case is (model, batch, cluster, cut, bytes)."""
    got = {case: submission.sharding.first_choice(*given[:3]) for case, given in wanted.items()}
    for case, (*_, cut, gpu_bytes) in wanted.items():
        choice = got[case]
        expect.that(
            isinstance(choice, FirstChoice), f"{case}: return FirstChoice(cut=..., gpu_bytes=...), please"
        )
        expect.equal(choice.cut, cut, case=f"{case}, cut")
        expect.number(choice.gpu_bytes, gpu_bytes, unit="bytes", case=f"{case}, gpu_bytes")


@pytest.mark.exercise("sharding.first_choice")
def test_what_fits_whole_is_copied_and_what_does_not_is_sharded(submission, expect):
    """GPT-2 small and a 1.3B are copied to every H100; a 7B with a large batch is sharded by ZeRO."""
    wanted = {
        # 16·N + 34·12·1024·768
        "124M on 8 H100s": (SMALL, 64, Cluster(gpu=H100, gpus=8), "data", 1_991_589_888 + 320_864_256),
        # 16·N + 34·24·2048·2048
        "1.3B on one H100": (GPT_1B, 1, Cluster(gpu=H100, gpus=1), "data", 21_053_046_784 + 3_422_552_064),
        # 16·N/8 + 4·N/32 + 34·32·4096·4096; 32,768 tokens on each GPU, and 2199 are enough
        "7B on 8 H100s, 64 sequences": (
            GPT_7B,
            64,
            Cluster(gpu=H100, gpus=8),
            "zero",
            13_333_954_560 + 833_372_160 + 18_253_611_008,
        ),
    }
    check_choices(submission, expect, wanted)


@pytest.mark.exercise("sharding.first_choice")
def test_a_small_batch_is_cut_by_matmuls_where_the_link_is_fast(submission, expect):
    """A 13B with too few tokens for ZeRO is cut in the nodes of H100s: over a slow network it needs more."""
    # (16·N + 34·40·2048·5120)/8; 512 tokens on each of 8, and 2199 are needed. An MLP of 20,480: 9.3 ways.
    sliced = (205_657_866_240 + 14_260_633_600) / 8
    wanted = {
        "13B on 8 H100s, 2 sequences": (GPT_13B, 2, Cluster(gpu=H100, gpus=8), "tensor", sliced),
        # 16,384 tokens on each: 16·N/8 + 4·N/40 + A
        "13B on 8 H100s, 64 sequences": (
            GPT_13B,
            64,
            Cluster(gpu=H100, gpus=8),
            "zero",
            25_707_233_280 + 1_285_361_664 + 14_260_633_600,
        ),
        # 4096 tokens on each of 64, and 9894 are needed over 8 · 12.5 GB/s
        "13B on 64 H100s at 12.5 GB/s, 128 sequences": (
            GPT_13B,
            128,
            Cluster(gpu=H100, gpus=64, network_gb_per_s=12.5),
            "tensor",
            sliced,
        ),
        # 2474 are enough over 8 · 50 GB/s: 16·N/64 + 4·N/40 + A
        "13B on 64 H100s, 128 sequences": (
            GPT_13B,
            128,
            Cluster(gpu=H100, gpus=64),
            "zero",
            3_213_404_160 + 1_285_361_664 + 14_260_633_600,
        ),
    }
    check_choices(submission, expect, wanted)


@pytest.mark.exercise("sharding.first_choice")
def test_what_a_slow_link_or_a_node_cannot_carry_is_cut_by_depth(submission, expect):
    """A 2.7B on RTX 4090s without NVLink, and 175B that no node holds, are dealt out by layers."""
    wanted = {
        # 16·N/4 + 34·32·2048·2560; 512 tokens, and 5329 are needed; 10,240 wide, 1.9 ways over PCIe
        "2.7B on 4 RTX 4090s, 1 sequence": (
            GPT_3B,
            1,
            Cluster(gpu=RTX, gpus=4),
            "pipeline",
            10_606_673_920 + 5_704_253_440,
        ),
        # 16·N/128 + 34·96·1024·12288; 1024 tokens on each GPU; 2.8 TB do not fit 8 GPUs
        "175B on 128 H100s, 128 sequences": (
            GPT_175B,
            128,
            Cluster(gpu=H100, gpus=128),
            "pipeline",
            21_825_404_928 + 41_070_624_768,
        ),
    }
    check_choices(submission, expect, wanted)


# (model, batch, cluster, seconds of the fastest plan that fits). Which plan that is, is yours to find.
JOBS = {
    "7B on 8 H100s": (GPT_7B, 64, Cluster(gpu=H100, gpus=8), 2.863016344),
    "13B on 16 A100s": (GPT_13B, 256, Cluster(gpu=A100, gpus=16), 16.72812328),
    "2.7B on 8 RTX 4090s": (GPT_3B, 16, Cluster(gpu=RTX, gpus=8), 0.855508023),
    "65B on 64 H100s at 12.5 GB/s": (
        Gpt(layers=80, hidden=8192, heads=64, vocab=32000, sequence=8192),
        128,
        Cluster(gpu=H100, gpus=64, network_gb_per_s=12.5),
        15.83826471,
    ),
}


def share_of_best(got, model, batch, cluster, best_s):
    """(best time over this plan's, what to say): 0 where the plan cannot run or does not fit."""
    if not isinstance(got, Plan):
        return 0.0, "is no Plan"
    cost = plan_cost(model, batch, cluster, got)
    if cost.problem:
        return 0.0, f"cannot run: {cost.problem}"
    if not cost.fits:
        held, has = cost.gpu_bytes / 1e9, cost.memory_bytes / 1e9
        return 0.0, f"does not fit: {held:.1f} GB on a GPU that has {has:.1f}"
    return best_s / cost.step_s, f"takes {cost.step_s:.4g} s, and {best_s:.4g} s is possible"


@pytest.mark.exercise("sharding.plan")
@pytest.mark.parametrize("wanted", [0.5, 0.8, 0.95, 1.0])
def test_plans_come_near_the_best_that_fits(submission, expect, wanted):
    """Averaged over 4 jobs, the best step's time over the plan's: 50, 80, 95 and 100 % earn more and more."""
    got = {job: submission.sharding.plan(*given[:3]) for job, given in JOBS.items()}
    seen = {job: share_of_best(got[job], *given) for job, given in JOBS.items()}
    reached = sum(share for share, _ in seen.values()) / len(seen)
    lines = [f"{job}: {text}" for job, (share, text) in seen.items() if share < 1 - 1e-6]
    expect.that(
        reached >= wanted - 1e-6,
        f"your plans reach {reached:.1%} of the best, and this check asks for {wanted:.0%}\n".replace(
            "%", " %"
        )
        + "\n".join(lines),
    )
