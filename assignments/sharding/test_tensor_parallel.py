"""Visible checks of tensor_parallel.py: section 6.

The right values are those of the whole layer in fp64. How far from them an answer may be follows from what one process
is off that computes the whole layer in fp32.
"""

import pytest

from grader.checks.ranked import communicates, kept, layer_values
from kernels_ref.shards import blocks, linear, sequence


def on_ranks(layer, case):
    """The layer built, and run forward and backward, on every rank."""
    return layer.on_ranks(case.args, scenario="module", init=case.init, options=case.options)


@pytest.mark.exercise("sharding.parallel_linear", weight=2)
def test_a_column_parallel_layer_gives_every_rank_its_features(submission, expect):
    """Columns: every rank has its slice of the output, and the whole gradient of x."""
    layer = submission.sharding.ColumnParallelLinear
    for ranks, out_features, leading in ((2, 12, (3, 5)), (3, 9, (1, 4))):
        case = linear.column(ranks, ranks, out_features, 8, leading)
        layer_values(expect, on_ranks(layer, case), case, f"{out_features} features on {ranks} ranks")


@pytest.mark.exercise("sharding.parallel_linear")
def test_a_gathered_output_is_whole_and_its_gradient_is_not_summed(submission, expect):
    """Columns, gathered: every rank returns all features; their gradients go back to their owner, once."""
    case = linear.column(11, 2, 12, 8, (2, 3), gather_output=True)
    layer_values(expect, on_ranks(submission.sharding.ColumnParallelLinear, case), case, "2 ranks, gathered")


@pytest.mark.exercise("sharding.parallel_linear", weight=2)
def test_a_row_parallel_layer_adds_up_its_parts_and_the_bias_once(submission, expect):
    """Rows: the parts add up to the whole output on every rank, and the bias is in it once."""
    layer = submission.sharding.RowParallelLinear
    for ranks, in_features, leading in ((2, 12, (3, 5)), (3, 9, (1, 4))):
        case = linear.row(20 + ranks, ranks, 8, in_features, leading)
        layer_values(expect, on_ranks(layer, case), case, f"{in_features} features on {ranks} ranks")


@pytest.mark.exercise("sharding.parallel_linear")
def test_an_input_that_is_not_parallel_is_cut_by_the_layer(submission, expect):
    """Rows, x whole on every rank: the layer takes its features, and the gradient of x is whole again."""
    case = linear.row(31, 2, 8, 10, (2, 3), input_is_parallel=False)
    layer_values(expect, on_ranks(submission.sharding.RowParallelLinear, case), case, "2 ranks, x whole")


@pytest.mark.exercise("sharding.parallel_linear", weight=2)
def test_what_the_ranks_do_not_divide_is_cut_unevenly(submission, expect):
    """7 features on 4 ranks are 2, 2, 2 and 1; none is dropped."""
    column = linear.column(41, 4, 7, 6, (2, 3))
    layer_values(expect, on_ranks(submission.sharding.ColumnParallelLinear, column), column, "columns")
    gathered = linear.column(42, 3, 7, 6, (2, 3), bias=False, gather_output=True)
    layer_values(expect, on_ranks(submission.sharding.ColumnParallelLinear, gathered), gathered, "gathered")
    row = linear.row(43, 4, 6, 7, (2, 3), input_is_parallel=False)
    layer_values(expect, on_ranks(submission.sharding.RowParallelLinear, row), row, "rows")


@pytest.mark.exercise("sharding.parallel_linear")
def test_columns_need_one_all_reduce_backward(submission, expect):
    """Columns: nothing forward, one all-reduce of the gradient of x backward; one all-gather where gathered."""
    layer = submission.sharding.ColumnParallelLinear
    # 2·3·8 fp32 numbers are 192 bytes of gradient; 2·3·12 are 288 bytes of gathered output.
    for case, label in (
        (linear.column(51, 2, 12, 8, (2, 3)), "columns"),
        (linear.column(52, 2, 12, 8, (2, 3), gather_output=True), "columns, gathered"),
    ):
        seen = on_ranks(layer, case)
        communicates(expect, seen, case, label)
        layer_values(expect, seen, case, label)


@pytest.mark.exercise("sharding.parallel_linear")
def test_rows_need_one_all_reduce_forward(submission, expect):
    """Rows: one all-reduce of the output forward, nothing backward; one all-gather where x came whole."""
    layer = submission.sharding.RowParallelLinear
    for case, label in (
        (linear.row(61, 2, 8, 12, (2, 3)), "rows"),
        (linear.row(62, 3, 8, 10, (2, 3), input_is_parallel=False), "rows, x whole"),
    ):
        seen = on_ranks(layer, case)
        communicates(expect, seen, case, label)
        layer_values(expect, seen, case, label)


@pytest.mark.exercise("sharding.parallel_linear")
def test_a_rank_keeps_its_shard_of_the_weight_and_nothing_else(submission, expect):
    """A rank's parameters are its shard, in storages of their own: the whole weight is free to go."""
    column, row = linear.column(71, 4, 64, 48, (1, 2)), linear.row(72, 4, 48, 64, (1, 2))
    for layer, case, label in (
        (submission.sharding.ColumnParallelLinear, column, "columns"),
        (submission.sharding.RowParallelLinear, row, "rows"),
    ):
        kept(expect, on_ranks(layer, case), case, label)


@pytest.mark.exercise("sharding.parallel_blocks", weight=2)
def test_an_mlp_on_ranks_is_the_whole_mlp(submission, expect):
    """Column, GeLU, row: outputs and all gradients are those of the whole MLP."""
    for ranks, inner, leading in ((2, 16, (2, 4)), (3, 20, (1, 5))):
        case = blocks.mlp(80 + ranks, ranks, 8, inner, leading)
        label = f"{inner} inner features on {ranks} ranks"
        layer_values(expect, on_ranks(submission.sharding.ParallelMLP, case), case, label)


@pytest.mark.exercise("sharding.parallel_blocks")
def test_an_mlp_needs_one_all_reduce_each_way(submission, expect):
    """MLP: one all-reduce of the output forward, one of the gradient of x backward, and shards of all weights."""
    case = blocks.mlp(91, 2, 24, 96, (1, 3))
    seen = on_ranks(submission.sharding.ParallelMLP, case)
    communicates(expect, seen, case, "MLP")
    kept(expect, seen, case, "MLP")
    layer_values(expect, seen, case, "MLP")


@pytest.mark.exercise("sharding.parallel_blocks", weight=2)
def test_attention_on_ranks_is_the_whole_attention(submission, expect):
    """Attention: each rank has whole heads; 5 heads on 2 ranks are 3 and 2."""
    for ranks, heads in ((2, 4), (2, 5), (3, 3)):
        case = blocks.attention(100 + 10 * ranks + heads, ranks, 12, heads, 4, 2, 6)
        label = f"{heads} heads on {ranks} ranks"
        layer_values(expect, on_ranks(submission.sharding.ParallelAttention, case), case, label)


@pytest.mark.exercise("sharding.parallel_blocks")
def test_attention_needs_one_all_reduce_each_way(submission, expect):
    """Attention: q, k and v share one f, so that the gradient of x is summed once and not three times."""
    case = blocks.attention(111, 2, 24, 4, 12, 1, 5)
    seen = on_ranks(submission.sharding.ParallelAttention, case)
    communicates(expect, seen, case, "attention")
    kept(expect, seen, case, "attention")
    layer_values(expect, seen, case, "attention")


@pytest.mark.exercise("sharding.parallel_blocks")
def test_fewer_heads_than_ranks_are_refused(submission, expect):
    """2 heads on 3 ranks: a ValueError that says so. 3 heads are not refused."""
    for heads in (2, 3):
        case = blocks.attention(120 + heads, 3, 8, heads, 4, 1, 3)
        xs = [(x,) for x, _ in case.args]
        seen = submission.sharding.ParallelAttention.on_ranks(xs, scenario="refusal", init=case.init)
        check_refused(expect, seen, heads < 3, f"{heads} heads on 3 ranks")


def check_refused(expect, seen, refused, label):
    """Every rank refused with a ValueError that has a text, or none did."""
    for rank, told in enumerate(seen.values):
        expect.that(
            isinstance(told, dict) and isinstance(told.get("kind"), str),
            "no whole report of the ranks came back",
        )
        expect.that(not told["kind"], f"rank {rank}: {told['kind']}")
        came = told.get("raised") is True
        wanted = "a ValueError is needed" if refused else "a ValueError, and there is nothing to refuse"
        expect.that(
            came == refused, f"{label}, rank {rank}: {wanted}", symptom="not_refused" if refused else ""
        )
        expect.that(not refused or told.get("message") != 0, f"{label}: the ValueError must say why")


@pytest.mark.exercise("sharding.sequence_parallel_linear", weight=2)
def test_tokens_are_gathered_on_the_way_in(submission, expect):
    """In: a rank has T/n tokens and gets its features of all T; the gradient comes back for its own tokens."""
    for ranks, out_features, leading in ((2, 12, (2, 6)), (3, 7, (1, 6))):
        case = sequence.sequence_column(130 + ranks, ranks, out_features, 8, leading)
        seen = on_ranks(submission.sharding.SequenceColumnParallelLinear, case)
        layer_values(expect, seen, case, f"{leading[-1]} tokens on {ranks} ranks")


@pytest.mark.exercise("sharding.sequence_parallel_linear", weight=2)
def test_sums_are_scattered_on_the_way_out(submission, expect):
    """Out: each rank gets the sum over all ranks for its own tokens, and the bias once."""
    for ranks, in_features, leading in ((2, 12, (2, 6)), (3, 7, (1, 6))):
        case = sequence.sequence_row(140 + ranks, ranks, 8, in_features, leading)
        seen = on_ranks(submission.sharding.SequenceRowParallelLinear, case)
        layer_values(expect, seen, case, f"{leading[-1]} tokens on {ranks} ranks")


@pytest.mark.exercise("sharding.sequence_parallel_linear")
def test_an_all_reduce_becomes_a_reduce_scatter_and_an_all_gather(submission, expect):
    """In: all-gather, backward reduce-scatter. Out: reduce-scatter, backward all-gather. No all-reduce is left."""
    for layer, case, label in (
        (
            submission.sharding.SequenceColumnParallelLinear,
            sequence.sequence_column(151, 2, 12, 8, (2, 6)),
            "in",
        ),
        (submission.sharding.SequenceRowParallelLinear, sequence.sequence_row(152, 2, 8, 12, (2, 6)), "out"),
    ):
        seen = on_ranks(layer, case)
        communicates(expect, seen, case, label)
        layer_values(expect, seen, case, label)


@pytest.mark.exercise("sharding.sequence_parallel_linear")
def test_tokens_that_the_ranks_do_not_divide_are_refused(submission, expect):
    """7 tokens on 2 ranks: a ValueError that says so. 8 tokens are not refused."""
    for tokens in (7, 8):
        case = linear.row(160 + tokens, 2, 4, 6, (1, tokens))
        xs = [(x,) for x, _ in case.args]
        seen = submission.sharding.SequenceRowParallelLinear.on_ranks(xs, scenario="refusal", init=case.init)
        check_refused(expect, seen, tokens % 2 == 1, f"{tokens} tokens on 2 ranks")
