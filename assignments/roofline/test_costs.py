"""Visible checks of costs.py: sections 1 and 2."""

import pytest

from specs import Cost, Recipe, element_flops, recipe


def check_costs(function, expect, wanted):
    """Every case is asked for before the first is compared: more to tell one mistake from another by.

    `wanted` maps a case, in words, to its keyword arguments and its (FLOPs, bytes read, bytes written).
    """
    got = {case: function(**arguments) for case, (arguments, _) in wanted.items()}
    for case, (_, (flops, read, written)) in wanted.items():
        expect.terms(got[case], Cost(flops=flops, bytes_read=read, bytes_written=written), case=case)


def matmul(m, n, k, dtype="bf16", **more):
    """Keyword arguments of a matmul (m, k) × (k, n)."""
    return {"m": m, "n": n, "k": k, "dtype": dtype, **more}


@pytest.mark.exercise("roofline.matmul_costs", weight=2)
def test_a_large_matmul_and_a_single_row(submission, expect):
    """2048³ in bf16 is 17.2 GFLOP over 25.2 MB; a single row against weights is 1.57 MFLOP over 1.58 MB."""
    # 2·2048³; 2 operands and 1 result of 2048² elements of 2 bytes. One row: 512 + 512·1536 elements read.
    check_costs(
        submission.roofline.matmul_cost,
        expect,
        {
            "2048³": (matmul(2048, 2048, 2048), (17_179_869_184, 16_777_216, 8_388_608)),
            "(1, 512) × (512, 1536)": (matmul(1, 1536, 512), (1_572_864, 1_573_888, 3_072)),
        },
    )


@pytest.mark.exercise("roofline.matmul_costs")
def test_the_matmuls_of_gpt2(submission, expect):
    """The matmuls of GPT-2's forward pass: 3.6 GFLOP for q, k and v, 79 GFLOP for the head."""
    # FLOPs as in nanoGPT's transformer_sizing.ipynb, a sequence of 1024. The scores: 12 heads, 64 wide.
    check_costs(
        submission.roofline.matmul_cost,
        expect,
        {
            "q, k and v": (matmul(1024, 2304, 768), (3_623_878_656, 5_111_808, 4_718_592)),
            "scores of 12 heads": (matmul(1024, 1024, 64, batch=12), (1_610_612_736, 3_145_728, 25_165_824)),
            "output projection": (matmul(1024, 768, 768), (1_207_959_552, 2_752_512, 1_572_864)),
            "MLP, second matrix": (matmul(1024, 768, 3072), (4_831_838_208, 11_010_048, 1_572_864)),
            "head": (matmul(1024, 50257, 768), (79_047_426_048, 78_767_616, 102_926_336)),
        },
    )


@pytest.mark.exercise("roofline.matmul_costs")
def test_a_batch_multiplies_everything(submission, expect):
    """Sixteen matmuls cost sixteen times one: each has its own two operands and its own result."""
    # One: 2·128·80·64 FLOPs; 128·64 + 64·80 = 13,312 elements read; 128·80 = 10,240 written; fp32.
    check_costs(
        submission.roofline.matmul_cost,
        expect,
        {
            "one": (matmul(128, 80, 64, "fp32"), (1_310_720, 53_248, 40_960)),
            "sixteen": (matmul(128, 80, 64, "fp32", batch=16), (20_971_520, 851_968, 655_360)),
        },
    )


@pytest.mark.exercise("roofline.matmul_costs")
def test_quantised_weights_are_read_in_their_own_format(submission, expect):
    """int8 and int4 weights shrink the (k, n) operand, and nothing else."""
    # 8·1024 = 8,192 activations of 2 bytes, 1024·4096 = 4,194,304 weights of 1 and 1/2, 8·4096 results of 2.
    check_costs(
        submission.roofline.matmul_cost,
        expect,
        {
            "int8 weights": (matmul(8, 4096, 1024, weight_dtype="int8"), (67_108_864, 4_210_688, 65_536)),
            "int4 weights": (matmul(8, 4096, 1024, weight_dtype="int4"), (67_108_864, 2_113_536, 65_536)),
            "bf16 weights": (matmul(8, 4096, 1024), (67_108_864, 8_404_992, 65_536)),
        },
    )


@pytest.mark.exercise("roofline.matmul_costs")
def test_the_result_may_have_a_format_of_its_own(submission, expect):
    """fp8 operands with a bf16 result, int4 weights with an fp32 result."""
    # 256·384 + 384·640 = 98,304 + 245,760 elements read, 256·640 = 163,840 written.
    check_costs(
        submission.roofline.matmul_cost,
        expect,
        {
            "fp8 to bf16": (
                matmul(256, 640, 384, "fp8", output_dtype="bf16"),
                (125_829_120, 344_064, 327_680),
            ),
            "fp16 and int4 to fp32": (
                matmul(256, 640, 384, "fp16", weight_dtype="int4", output_dtype="fp32"),
                (125_829_120, 319_488, 655_360),
            ),
            "fp8 to fp8": (matmul(256, 640, 384, "fp8"), (125_829_120, 344_064, 163_840)),
        },
    )


def elementwise(elements, inputs, flops_per_element, dtype="bf16"):
    """Keyword arguments of an elementwise operation."""
    return {"elements": elements, "inputs": inputs, "flops_per_element": flops_per_element, "dtype": dtype}


@pytest.mark.exercise("roofline.memory_bound_costs")
def test_elementwise_reads_every_input_and_writes_one_result(submission, expect):
    """A residual addition reads two tensors, a GELU one, a fill none; each writes one."""
    # 2048·768 = 1,572,864 elements.
    n = 1_572_864
    check_costs(
        submission.roofline.elementwise_cost,
        expect,
        {
            "residual, bf16": (elementwise(n, 2, 1), (1_572_864, 6_291_456, 3_145_728)),
            "GELU, bf16": (elementwise(n, 1, 8), (12_582_912, 3_145_728, 3_145_728)),
            "three inputs, fp32": (elementwise(n, 3, 2.5, "fp32"), (3_932_160, 18_874_368, 6_291_456)),
            "fill, fp32": (elementwise(n, 0, 0, "fp32"), (0, 0, 6_291_456)),
        },
    )


@pytest.mark.exercise("roofline.memory_bound_costs")
def test_a_softmax_reads_once_and_counts_by_the_table(submission, expect):
    """A softmax reads its matrix once and writes one as large; the table says how many FLOPs."""
    # 1024·2048 = 2,097,152 and 96·100 = 9,600 elements.
    five, four = element_flops("one-per-operation"), element_flops("four-per-softmax")
    check_costs(
        submission.roofline.softmax_cost,
        expect,
        {
            "5 FLOPs, bf16": (
                {"rows": 1024, "columns": 2048, "dtype": "bf16", "table": five},
                (10_485_760, 4_194_304, 4_194_304),
            ),
            "4 FLOPs, fp32": (
                {"rows": 96, "columns": 100, "dtype": "fp32", "table": four},
                (38_400, 38_400, 38_400),
            ),
            "4 FLOPs, bf16": (
                {"rows": 1024, "columns": 2048, "dtype": "bf16", "table": four},
                (8_388_608, 4_194_304, 4_194_304),
            ),
        },
    )


@pytest.mark.exercise("roofline.memory_bound_costs")
def test_a_norm_reads_its_weight_once(submission, expect):
    """A layer norm reads weight and bias once for all rows, an RMS norm has a weight and no bias."""
    # 512·768 = 393,216 elements of 2 bytes, and 2 or 1 vectors of 768; then 3 rows of 4096 in fp32.
    table = element_flops("one-per-operation")
    check_costs(
        submission.roofline.norm_cost,
        expect,
        {
            "layer norm, bf16": (
                {"kind": "layernorm", "rows": 512, "width": 768, "dtype": "bf16", "table": table},
                (3_145_728, 789_504, 786_432),
            ),
            "RMS norm, bf16": (
                {"kind": "rmsnorm", "rows": 512, "width": 768, "dtype": "bf16", "table": table},
                (1_572_864, 787_968, 786_432),
            ),
            "layer norm, fp32": (
                {"kind": "layernorm", "rows": 3, "width": 4096, "dtype": "fp32", "table": table},
                (98_304, 81_920, 49_152),
            ),
            "RMS norm, fp32": (
                {"kind": "rmsnorm", "rows": 3, "width": 4096, "dtype": "fp32", "table": table},
                (49_152, 65_536, 49_152),
            ),
        },
    )


@pytest.mark.exercise("roofline.memory_bound_costs")
def test_an_embedding_copies_rows_and_reads_indices(submission, expect):
    """Looking up tokens does no FLOP; it reads a row and an index for each and writes the rows."""
    # 2048 rows of 768 elements: 3,145,728 bytes in bf16; 2048 indices of 8 bytes, of 4, of 2 bytes.
    check_costs(
        submission.roofline.embedding_cost,
        expect,
        {
            "bf16": ({"tokens": 2048, "hidden": 768, "dtype": "bf16"}, (0, 3_162_112, 3_145_728)),
            "bf16, 4-byte indices": (
                {"tokens": 2048, "hidden": 768, "dtype": "bf16", "index_bytes": 4},
                (0, 3_153_920, 3_145_728),
            ),
            "one token, fp32": ({"tokens": 1, "hidden": 768, "dtype": "fp32"}, (0, 3_080, 3_072)),
        },
    )


def check_steps(submission, expect, wanted):
    """One optimizer step over 1,000 parameters for each recipe: `wanted` is bytes read and written of one."""
    table = element_flops("one-per-operation")
    cases = {
        each.name: (
            {"parameters": 1_000, "recipe": each, "table": table},
            (12_000, 1_000 * read, 1_000 * written),
        )
        for each, (read, written) in wanted
    }
    check_costs(submission.roofline.optimizer_step_cost, expect, cases)


@pytest.mark.exercise("roofline.memory_bound_costs")
def test_adamw_moves_28_bytes_a_parameter(submission, expect):
    """AdamW reads 14 bytes and writes 14 with a master copy; all in fp32 it reads 16 and writes 12."""
    # Read: gradient, master copy or weights, two moments. Written: weights, master copy, two moments.
    check_steps(
        submission,
        expect,
        [
            (recipe("adamw-bf16"), (2 + 4 + 8, 2 + 4 + 8)),
            (recipe("adamw-fp32"), (4 + 4 + 8, 4 + 8)),
            (recipe("adamw-bf16-no-master"), (2 + 2 + 8, 2 + 8)),
        ],
    )


@pytest.mark.exercise("roofline.memory_bound_costs")
def test_the_step_reads_the_accumulated_gradient(submission, expect):
    """Where gradients are accumulated, the step reads the buffer and not the gradient beside it."""
    check_steps(
        submission,
        expect,
        [
            (recipe("adamw-bf16-fp32-accumulation"), (4 + 4 + 8, 2 + 4 + 8)),
            (recipe("fp8-lm"), (2 + 2 + 1 + 2, 1 + 2 + 1 + 2)),
            (recipe("sgd-momentum-bf16"), (2 + 4 + 4, 2 + 4 + 4)),
            (
                Recipe(name="none kept", weights="bf16", gradients=None, master="fp32", moments=("fp8",)),
                (4 + 1, 2 + 4 + 1),
            ),
        ],
    )


def attention(algorithm, *, heads, kv_heads, queries, keys, head_dim, batch=1, causal=False, dtype="bf16"):
    """Keyword arguments of an attention, with 5 FLOPs a score in the softmax."""
    return {
        "batch": batch,
        "heads": heads,
        "kv_heads": kv_heads,
        "queries": queries,
        "keys": keys,
        "head_dim": head_dim,
        "dtype": dtype,
        "algorithm": algorithm,
        "table": element_flops("one-per-operation"),
        "causal": causal,
    }


ONE_HEAD = {"heads": 1, "kv_heads": 1, "queries": 2048, "keys": 2048, "head_dim": 64}
GROUPED = {"batch": 3, "heads": 8, "kv_heads": 2, "queries": 100, "keys": 160, "head_dim": 32}


@pytest.mark.exercise("roofline.attention_costs")
def test_naive_attention_moves_the_scores_four_times(submission, expect):
    """Naive attention writes S, reads S, writes P, reads P: 33.6 MB of 34.6 for a head of 2048 tokens."""
    # One head: 2048² pairs of 4·64 + 5 FLOPs; S and P 8,388,608 bytes each; Q, K, V and O 262,144 each.
    # Grouped: 3·8·100·160 = 384,000 pairs of 133 FLOPs; S 768,000 bytes; Q and O 153,600; K and V 61,440.
    check_costs(
        submission.roofline.attention_cost,
        expect,
        {
            "one head": (attention("naive", **ONE_HEAD), (1_094_713_344, 17_563_648, 17_039_360)),
            "8 heads over 2": (attention("naive", **GROUPED), (51_072_000, 1_812_480, 1_689_600)),
        },
    )


@pytest.mark.exercise("roofline.attention_costs")
def test_flash_attention_does_the_same_flops_over_fewer_bytes(submission, expect):
    """Flash moves 1.06 MB for a head of 2048 tokens: Q, K, V, O, and an fp32 logsumexp of every query."""
    # 3·262,144 read, 262,144 + 2048·4 written. Grouped: 153,600 + 2·61,440 read; 153,600 + 3·8·100·4 written.
    check_costs(
        submission.roofline.attention_cost,
        expect,
        {
            "one head": (attention("flash", **ONE_HEAD), (1_094_713_344, 786_432, 270_336)),
            "8 heads over 2": (attention("flash", **GROUPED), (51_072_000, 276_480, 163_200)),
        },
    )


@pytest.mark.exercise("roofline.attention_costs")
def test_a_causal_mask_saves_flash_the_pairs_that_are_not_seen(submission, expect):
    """Causal flash does exactly the pairs that are seen, the diagonal too; its bytes stay."""
    # One head: 2048·2049/2 = 2,098,176 pairs. Grouped: 100·60 + 100·101/2 = 11,050 a head, times 24.
    check_costs(
        submission.roofline.attention_cost,
        expect,
        {
            "one head": (attention("flash", **ONE_HEAD, causal=True), (547_623_936, 786_432, 270_336)),
            "8 heads over 2": (attention("flash", **GROUPED, causal=True), (35_271_600, 276_480, 163_200)),
            "one query": (
                attention("flash", heads=4, kv_heads=4, queries=1, keys=10, head_dim=16, causal=True),
                (2_760, 2_688, 144),
            ),
        },
    )


@pytest.mark.exercise("roofline.attention_costs")
def test_a_causal_mask_saves_naive_attention_nothing(submission, expect):
    """Naive attention computes all pairs, moves all scores, and masks half of them afterwards."""
    check_costs(
        submission.roofline.attention_cost,
        expect,
        {
            "one head": (
                attention("naive", **ONE_HEAD, causal=True),
                (1_094_713_344, 17_563_648, 17_039_360),
            ),
            "8 heads over 2": (
                attention("naive", **GROUPED, causal=True),
                (51_072_000, 1_812_480, 1_689_600),
            ),
        },
    )


def decode(*, batch, heads, kv_heads, context, head_dim, table="one-per-operation", **more):
    """Keyword arguments of a decode step in bf16."""
    shape = {"batch": batch, "heads": heads, "kv_heads": kv_heads, "context": context, "head_dim": head_dim}
    return {**shape, "dtype": "bf16", "table": element_flops(table), **more}


@pytest.mark.exercise("roofline.attention_costs")
def test_decoding_reads_the_whole_cache_for_one_token(submission, expect):
    """A new token reads all keys and values of its own sequence: 1 FLOP a byte, 4 with 8 heads over 2."""
    # 8·1000 pairs of 4·64 + 5 = 261 FLOPs; K and V 2·8·1000·64·2 = 2,048,000 bytes; the query 8·64·2 = 1,024.
    # Five sequences of 300 tokens: 5·8·300 pairs; K and V 2·5·2·300·64·2 = 768,000; queries 5·1,024.
    check_costs(
        submission.roofline.decode_cost,
        expect,
        {
            "one sequence, 8 heads": (
                decode(batch=1, heads=8, kv_heads=8, context=1000, head_dim=64),
                (2_088_000, 2_049_024, 1_024),
            ),
            "one sequence, 8 heads over 2": (
                decode(batch=1, heads=8, kv_heads=2, context=1000, head_dim=64),
                (2_088_000, 513_024, 1_024),
            ),
            "five sequences, 8 heads over 2": (
                decode(batch=5, heads=8, kv_heads=2, context=300, head_dim=64),
                (3_132_000, 773_120, 5_120),
            ),
        },
    )


@pytest.mark.exercise("roofline.attention_costs")
def test_the_cache_may_have_a_format_of_its_own(submission, expect):
    """A cache in fp8 halves what is read of it, one in int4 quarters it; query and result stay bf16."""
    # 4·6·500 pairs of 4·32 + 4 = 132 FLOPs; cache 2·4·3·500·32 = 384,000 elements; queries 4·6·32·2 = 1,536.
    shape = {"batch": 4, "heads": 6, "kv_heads": 3, "context": 500, "head_dim": 32}
    shape["table"] = "four-per-softmax"
    check_costs(
        submission.roofline.decode_cost,
        expect,
        {
            "bf16": (decode(**shape), (1_584_000, 769_536, 1_536)),
            "fp8": (decode(**shape, cache_dtype="fp8"), (1_584_000, 385_536, 1_536)),
            "int4": (decode(**shape, cache_dtype="int4"), (1_584_000, 193_536, 1_536)),
        },
    )
