"""Hidden checks of costs.py: fresh random shapes, formats, tables and recipes against the reference."""

import pytest

from specs import DTYPE_BYTES, ElementFlops, Recipe

FORMATS = tuple(DTYPE_BYTES)
SIXTEEN_BIT_AND_MORE = ("bf16", "fp16", "fp32")
NARROW = ("fp8", "int8", "int4", "nf4")


def random_table(rng):
    """A table that nobody has published; no two of its numbers are alike."""
    softmax, layernorm, rmsnorm, gelu, silu, rope, adamw = rng.sample(range(1, 40), 7)
    return ElementFlops(
        name="random",
        source="drawn",
        softmax=softmax,
        layernorm=layernorm,
        rmsnorm=rmsnorm,
        gelu=gelu,
        silu=silu,
        rope=rope,
        adamw=adamw,
    )


def check_costs(function, right, expect, cases):
    """Every case is asked for before the first is compared."""
    got = [function(**arguments) for arguments in cases]
    for answer, arguments in zip(got, cases, strict=True):
        expect.terms(answer, right(**arguments))


@pytest.mark.exercise("roofline.matmul_costs", weight=3)
def test_any_matmul_in_any_formats(submission, expect, oracle, rng):
    """Any shape and batch, each matrix in a format of its own."""
    cases = []
    for _ in range(10):
        m, n, k = rng.sample(range(1, 5000), 3)
        cases.append(
            {
                "m": m,
                "n": n,
                "k": k,
                "dtype": rng.choice(SIXTEEN_BIT_AND_MORE),
                "batch": rng.randint(2, 64),
                "weight_dtype": rng.choice(NARROW),
                "output_dtype": rng.choice(("fp8", "fp64")),
            }
        )
    check_costs(submission.roofline.matmul_cost, oracle.roofline.matmul_cost, expect, cases)


@pytest.mark.exercise("roofline.matmul_costs", weight=3)
def test_dot_products_outer_products_and_defaults(submission, expect, oracle, rng):
    """A dot product is a matmul too, and so is an outer one; formats that are not given are those of the input."""
    long, wide = rng.randint(1000, 10**6), rng.randint(1000, 9000)
    cases = [
        {"m": 1, "n": 1, "k": long, "dtype": "bf16"},
        {"m": wide, "n": rng.randint(100, 999), "k": 1, "dtype": "fp32"},
        {"m": rng.randint(2, 99), "n": wide, "k": wide, "dtype": rng.choice(NARROW)},
        {"m": rng.randint(2, 99), "n": wide, "k": 64, "dtype": "bf16", "batch": rng.randint(2, 99)},
        {"m": 7, "n": wide, "k": 99, "dtype": "fp16", "weight_dtype": rng.choice(NARROW)},
        {"m": 7, "n": wide, "k": 99, "dtype": "fp8", "output_dtype": rng.choice(SIXTEEN_BIT_AND_MORE)},
    ]
    check_costs(submission.roofline.matmul_cost, oracle.roofline.matmul_cost, expect, cases)


@pytest.mark.exercise("roofline.memory_bound_costs")
def test_any_elementwise_operation(submission, expect, oracle, rng):
    """Any number of inputs, none among them, in any format."""
    cases = [
        {
            "elements": rng.randint(1, 10**9),
            "inputs": inputs,
            "flops_per_element": rng.randint(1, 30),
            "dtype": rng.choice(FORMATS),
        }
        for inputs in (0, 1, 2, rng.randint(3, 9))
    ]
    check_costs(submission.roofline.elementwise_cost, oracle.roofline.elementwise_cost, expect, cases)


@pytest.mark.exercise("roofline.memory_bound_costs")
def test_any_softmax(submission, expect, oracle, rng):
    """Any matrix, a single row or column among them, by a table that nobody has published."""
    sizes = [(1, rng.randint(2, 9999)), (rng.randint(2, 9999), 1)]
    sizes += [(rng.randint(2, 999), rng.randint(1000, 9999)) for _ in range(3)]
    cases = [
        {"rows": rows, "columns": columns, "dtype": rng.choice(FORMATS), "table": random_table(rng)}
        for rows, columns in sizes
    ]
    check_costs(submission.roofline.softmax_cost, oracle.roofline.softmax_cost, expect, cases)


@pytest.mark.exercise("roofline.memory_bound_costs")
def test_any_norm(submission, expect, oracle, rng):
    """Both norms over any matrix, a single row among them, by a table that nobody has published."""
    cases = [
        {
            "kind": kind,
            "rows": rows,
            "width": rng.randint(2, 9999),
            "dtype": rng.choice(FORMATS),
            "table": random_table(rng),
        }
        for kind in ("layernorm", "rmsnorm")
        for rows in (1, rng.randint(2, 9999))
    ]
    check_costs(submission.roofline.norm_cost, oracle.roofline.norm_cost, expect, cases)


@pytest.mark.exercise("roofline.memory_bound_costs")
def test_any_embedding(submission, expect, oracle, rng):
    """Any number of tokens, indices of 8 bytes unless their size is given."""
    cases = [
        {"tokens": rng.randint(1, 10**6), "hidden": rng.randint(2, 9999), "dtype": rng.choice(NARROW)},
        {"tokens": rng.randint(1, 10**6), "hidden": rng.randint(2, 9999), "dtype": "fp32", "index_bytes": 4},
        {"tokens": 1, "hidden": rng.randint(2, 9999), "dtype": "bf16", "index_bytes": 16},
    ]
    cases += [{**cases[0], "tokens": rng.randint(1, 10**6), "dtype": dtype} for dtype in ("fp16", "fp64")]
    check_costs(submission.roofline.embedding_cost, oracle.roofline.embedding_cost, expect, cases)


@pytest.mark.exercise("roofline.memory_bound_costs", weight=2)
def test_a_step_of_any_recipe(submission, expect, oracle, rng):
    """Every copy of a parameter may be there or not, in any format; none, one or three moments."""
    cases = []
    for index, (gradients, buffer, master) in enumerate(
        (gradients, buffer, master)
        for gradients in ("fp16", None)
        for buffer in ("fp64", None)
        for master in ("fp32", None)
    ):
        kept = Recipe(
            name=f"random-{index}",
            weights=rng.choice(("fp8", "int4")),
            gradients=gradients,
            gradient_accumulation=buffer,
            master=master,
            moments=tuple(rng.choice(FORMATS) for _ in range((3, 0, 1, 2)[index % 4])),
        )
        cases.append({"parameters": rng.randint(1, 10**11), "recipe": kept, "table": random_table(rng)})
    check_costs(submission.roofline.optimizer_step_cost, oracle.roofline.optimizer_step_cost, expect, cases)


def random_attention(rng, algorithm, causal, kv_heads, queries, keys):
    """Keyword arguments of an attention whose query heads are a multiple of its key-value heads."""
    return {
        "batch": rng.randint(2, 9),
        "heads": kv_heads * rng.randint(2, 8),
        "kv_heads": kv_heads,
        "queries": queries,
        "keys": keys,
        "head_dim": rng.randint(8, 256),
        "dtype": rng.choice(("bf16", "fp8", "fp64")),
        "algorithm": algorithm,
        "table": random_table(rng),
        "causal": causal,
    }


@pytest.mark.exercise("roofline.attention_costs", weight=2)
def test_any_attention_without_a_mask(submission, expect, oracle, rng):
    """Any heads over any key-value heads, a single one among them; more keys than queries and fewer."""
    cases = [
        random_attention(rng, algorithm, False, kv_heads, *rng.sample(range(2, 5000), 2))
        for algorithm in ("naive", "flash")
        for kv_heads in (1, rng.randint(2, 9))
        for _ in range(2)
    ]
    check_costs(submission.roofline.attention_cost, oracle.roofline.attention_cost, expect, cases)


@pytest.mark.exercise("roofline.attention_costs", weight=2)
def test_any_causal_attention(submission, expect, oracle, rng):
    """As many keys as queries, more keys, a single query, a single key."""
    few, many = rng.randint(2, 2000), rng.randint(2001, 5000)
    cases = [
        random_attention(rng, algorithm, True, rng.randint(1, 9), queries, keys)
        for algorithm in ("flash", "naive")
        for queries, keys in ((many, many), (few, many), (1, many), (1, 1))
    ]
    check_costs(submission.roofline.attention_cost, oracle.roofline.attention_cost, expect, cases)


@pytest.mark.exercise("roofline.attention_costs", weight=2)
def test_any_decode_step(submission, expect, oracle, rng):
    """Any number of sequences and heads, the cache in the format of the query or in another."""
    cases = []
    for kv_heads in (1, rng.randint(2, 9)):
        for cache_dtype in (None, *rng.sample(NARROW, 2)):
            arguments = random_attention(rng, "flash", False, kv_heads, 1, 1)
            wanted = ("batch", "heads", "kv_heads", "head_dim", "table")
            cases.append(
                {
                    **{name: arguments[name] for name in wanted},
                    "context": rng.randint(2, 10**5),
                    "dtype": rng.choice(("bf16", "fp32")),
                    "cache_dtype": cache_dtype,
                }
            )
    check_costs(submission.roofline.decode_cost, oracle.roofline.decode_cost, expect, cases)
