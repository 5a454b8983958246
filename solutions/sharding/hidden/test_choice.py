"""Hidden checks of choice.py: fresh random rates, networks and clusters against the reference."""

import pytest

from specs import Cluster, FirstChoice, Gpt, Plan, gpu, plan_cost

CARDS = ("a100-sxm-40gb", "a100-sxm-80gb", "h100-sxm", "h200-sxm", "b200-sxm", "rtx-4090", "l4")
CUTS = ("data", "zero", "tensor", "pipeline")


def random_rates(rng):
    """FLOP/s and bytes a second of some card and link."""
    return {"flops_per_s": rng.uniform(50e12, 2500e12), "link_bytes_per_s": rng.uniform(10e9, 900e9)}


@pytest.mark.exercise("sharding.overlap")
def test_any_data_parallelism(submission, expect, oracle, rng):
    """Any rates, with few replicas or many, with stages or without."""
    for _ in range(4):
        for given in (
            {},
            {"replicas": rng.randint(2, 9)},
            {"stages": rng.randint(2, 16)},
            {"replicas": rng.randint(2, 9), "stages": rng.randint(2, 16)},
        ):
            given = given | random_rates(rng)
            got = submission.sharding.dp_critical_batch_tokens(**given)
            expect.number(got, oracle.sharding.dp_critical_batch_tokens(**given))


@pytest.mark.exercise("sharding.overlap")
def test_any_mlp(submission, expect, oracle, rng):
    """Any width, limits above and below 1."""
    for _ in range(8):
        given = {"intermediate": rng.randint(500, 60_000)} | random_rates(rng)
        expect.number(submission.sharding.tp_limit(**given), oracle.sharding.tp_limit(**given))


@pytest.mark.exercise("sharding.overlap")
def test_any_ring(submission, expect, oracle, rng):
    """Any heads and any format."""
    for _ in range(4):
        kv_heads = rng.randint(1, 9)
        for given in (
            {},
            {"heads": kv_heads * rng.randint(2, 9), "kv_heads": kv_heads},
            {"heads": kv_heads, "kv_heads": kv_heads, "value_bytes": rng.choice((0.5, 1, 4))},
        ):
            given = given | random_rates(rng)
            got = submission.sharding.ring_attention_min_block(**given)
            expect.number(got, oracle.sharding.ring_attention_min_block(**given))


def random_job(rng):
    """A network, a batch and a cluster."""
    head_dim, nodes = rng.choice((64, 128)), rng.choice((1, 1, 2, 4, 8, 16))
    heads = 8 * rng.randint(1, 12)
    model = Gpt(
        layers=rng.randint(8, 96),
        hidden=heads * head_dim,
        heads=heads,
        vocab=rng.randint(30_000, 130_000),
        sequence=rng.choice((512, 1024, 2048)),
    )
    per_node = rng.choice((4, 8))
    cluster = Cluster(
        gpu=gpu(rng.choice(CARDS)),
        gpus=nodes * per_node,
        gpus_per_node=per_node,
        network_gb_per_s=rng.choice((12.5, 25, 50)),
    )
    return model, cluster.gpus * rng.choice((1, 2, 4, 40)), cluster


def is_clear(model, batch, cluster):
    """Whether no quantity of the rule is within a tenth of what it is compared with."""
    gpus, memory = cluster.gpus, cluster.gpu.memory_bytes
    state, kept = 16 * model.parameters, 34 * model.layers * model.sequence * model.hidden
    flops_per_s = cluster.gpu.peak_flops("bf16")
    ways = min(gpus, cluster.gpus_per_node)
    ratios = (
        (state + kept) / memory,
        (state / gpus + 4 * model.parameters / model.layers + kept) / memory,
        batch * model.sequence / gpus * cluster.ring_bytes_per_s(gpus) / flops_per_s,
        (state + kept) / ways / memory,
        4 * model.hidden * cluster.node_bytes_per_s / flops_per_s / ways,
        (state / gpus + kept) / memory,
    )
    return all(ratio < 0.9 or ratio > 1.1 for ratio in ratios) and ratios[-1] < 1


@pytest.mark.exercise("sharding.first_choice", weight=3)
def test_any_clear_cut_job(submission, expect, oracle, rng):
    """Some jobs for each of the four cuts, none near a limit."""
    jobs = {cut: [] for cut in CUTS}
    for _ in range(5000):
        job = random_job(rng)
        if is_clear(*job):
            found = jobs[oracle.sharding.first_choice(*job).cut]
            if len(found) < 8:
                found.append(job)
        if all(len(found) == 8 for found in jobs.values()):
            break
    for job in [job for found in jobs.values() for job in found]:
        got, right = submission.sharding.first_choice(*job), oracle.sharding.first_choice(*job)
        expect.that(isinstance(got, FirstChoice), "return FirstChoice(cut=..., gpu_bytes=...), please")
        expect.equal(got.cut, right.cut, case="cut")
        expect.number(got.gpu_bytes, right.gpu_bytes, unit="bytes", case="gpu_bytes")


def jobs_to_plan(rng):
    """A network of a few billions on one node, a larger one on many, a long sequence on some."""
    few = Gpt(layers=4 * rng.randint(6, 9), hidden=4096, heads=32, vocab=32_000, sequence=2048)
    many = Gpt(
        layers=8 * rng.randint(8, 11), hidden=8192, heads=64, vocab=rng.randint(32_000, 99_000), sequence=4096
    )
    long = Gpt(layers=32, hidden=4096, heads=32, vocab=rng.randint(32_000, 99_000), sequence=65_536)
    return (
        (few, 8 * rng.randint(2, 12), Cluster(gpu=gpu("a100-sxm-40gb"), gpus=8)),
        (
            many,
            64 * rng.randint(1, 4),
            Cluster(gpu=gpu("h100-sxm"), gpus=64, network_gb_per_s=rng.choice((10, 12.5))),
        ),
        (
            long,
            8 * rng.randint(1, 2),
            Cluster(gpu=gpu("h100-sxm"), gpus=32, network_gb_per_s=rng.choice((25, 50))),
        ),
    )


@pytest.mark.exercise("sharding.plan")
@pytest.mark.parametrize("wanted", [0.5, 0.8, 0.95, 1.0])
def test_any_jobs_plan(submission, expect, oracle, rng, wanted):
    """On fresh jobs the plans reach 50, 80, 95 and 100 % of the best."""
    jobs = jobs_to_plan(rng)
    got = [submission.sharding.plan(*job) for job in jobs]
    total = 0.0
    for job, planned in zip(jobs, got, strict=True):
        if not isinstance(planned, Plan):
            continue
        cost = plan_cost(*job, planned)
        if cost.fits:
            total += plan_cost(*job, oracle.sharding.plan(*job)).step_s / cost.step_s
    expect.that(
        total / len(jobs) >= wanted - 1e-6,
        f"your plans of fresh jobs do not reach {100 * wanted:.0f} % of the best; one that does not fit counts 0",
    )
