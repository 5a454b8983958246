"""A real config.json gives the right model; one that is not fully understood gives one line that says why.

`hf_configs/` holds what published config.json files say. Those of GPT-2, Gemma 2 9B, Phi-3 mini and MPT 7B
were held against public copies of the files; the others were written from memory and rest on their counts.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specs import GroupedAttention, LatentAttention, Model, SpecError, from_hf_config, model
from specs.hf_families import FAMILIES

FOLDER = Path(__file__).parent / "hf_configs"
SHIPPED = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "mpt-7b-released")

Counter = Callable[[Model], int]
Fields = dict[str, Any]


def config(name: str, **changes: Any) -> Fields:
    """The fields of one file with `changes`; `...` takes a field away."""
    fields = json.loads((FOLDER / f"{name}.json").read_text()) | changes
    return {field: value for field, value in fields.items() if value is not ...}


def grouped(read: Model) -> GroupedAttention:
    assert isinstance(read.attention, GroupedAttention)
    return read.attention


def one_line(config: Fields | Path) -> str:
    with pytest.raises(SpecError) as caught:
        from_hf_config(config)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def refusal_of(config: Fields) -> str | None:
    """The message with which the fields are refused; None where they make a model."""
    try:
        from_hf_config(config)
    except SpecError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", SHIPPED)
def test_a_real_file_gives_the_shipped_model(name: str) -> None:
    read = from_hf_config(FOLDER / f"{name}.json", name=name)
    assert read == model(name).model_copy(update={"source": read.source})


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("gpt2", 124_439_808),
        ("llama3-8b", 8_030_261_248),
        ("mixtral-8x7b", 46_702_792_704),
        ("qwen2.5-7b", 7_615_616_512),
        ("deepseek-v3", 671_026_419_200),
        ("gemma-7b", 8_537_680_896),
        ("gemma-2b", 2_506_172_416),
        ("gpt-oss-20b", 20_914_757_184),
        ("mpt-7b-released", 6_649_286_656),
    ],
)
def test_a_real_file_gives_the_published_count(name: str, count: int, parameter_count: Counter) -> None:
    assert parameter_count(from_hf_config(FOLDER / f"{name}.json")) == count


def test_every_family_is_held_against_a_real_file() -> None:
    assert {config(path.stem)["model_type"] for path in FOLDER.glob("*.json")} == set(FAMILIES)


def test_the_name_comes_from_the_caller_or_the_file_or_the_family() -> None:
    assert from_hf_config(config("llama2-7b")).name == "Llama-2-7b-hf"
    assert from_hf_config(config("llama3-8b")).name == "llama"
    assert from_hf_config(config("llama3-8b"), name="mine").name == "mine"


def test_a_folder_stands_for_its_config_json(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config("gpt2")))
    assert from_hf_config(tmp_path) == from_hf_config(config("gpt2"))


@pytest.mark.parametrize(
    ("name", "tied"),
    [("gpt2", True), ("gemma-7b", True), ("gemma2-9b", True), ("llama3-8b", False), ("phi3-mini", False)],
)
def test_embeddings_are_tied_as_the_family_does_where_the_file_is_silent(name: str, tied: bool) -> None:
    assert from_hf_config(config(name, tie_word_embeddings=...)).tied_embeddings is tied
    assert from_hf_config(config(name, tie_word_embeddings=not tied)).tied_embeddings is not tied


def test_absent_kv_heads_mean_multi_head_for_llama_and_are_refused_where_the_default_is_a_size() -> None:
    assert grouped(from_hf_config(config("llama3-8b", num_key_value_heads=...))).kv_heads == 32
    assert grouped(from_hf_config(config("llama3-8b", num_key_value_heads=None))).kv_heads == 32
    assert one_line(config("mistral-7b", num_key_value_heads=...)).startswith(
        "config: num_key_value_heads: missing"
    )


@pytest.mark.parametrize(
    ("name", "given", "head_dim"),
    [
        ("llama3-8b", ..., 128),
        ("llama3-8b", None, 128),
        ("llama3-8b", 64, 64),
        ("gemma-7b", ..., 256),
        ("qwen3-0.6b", ..., 128),
        ("gpt-oss-20b", ..., 64),
    ],
)
def test_an_absent_head_dim_is_the_familys_own(name: str, given: Any, head_dim: int) -> None:
    assert grouped(from_hf_config(config(name, head_dim=given))).head_dim == head_dim


def test_llama_biases_are_read() -> None:
    read = from_hf_config(config("llama3-8b", attention_bias=True, mlp_bias=True))
    assert grouped(read).qkv_bias
    assert grouped(read).output_bias
    assert read.mlp is not None
    assert read.mlp.bias


def test_qwen_has_a_sliding_window_only_when_it_says_so() -> None:
    assert from_hf_config(config("qwen2.5-7b")).windowed_layers == 0
    read = from_hf_config(config("qwen2.5-7b", use_sliding_window=True, max_window_layers=20))
    assert (grouped(read).window, read.windowed_layers) == (131072, 8)


def test_an_explicit_null_is_no_window_and_an_absent_one_the_familys_default() -> None:
    assert grouped(from_hf_config(config("mistral-7b", sliding_window=None))).window is None
    assert grouped(from_hf_config(config("mistral-7b", sliding_window=...))).window == 4096


def test_layer_types_say_which_layers_have_the_window() -> None:
    kinds = ["sliding_attention"] * 6 + ["full_attention"] * 18
    assert from_hf_config(config("gpt-oss-20b", layer_types=kinds)).windowed_layers == 6
    assert from_hf_config(config("gpt-oss-20b", layer_types=...)).windowed_layers == 12
    assert from_hf_config(config("gpt-oss-20b", layer_types=["full_attention"] * 24)).windowed_layers == 0
    assert "layer_types: expected" in one_line(config("gpt-oss-20b", layer_types=kinds[:-1]))
    assert "layer_types: expected" in one_line(config("gpt-oss-20b", layer_types=["linear_attention"] * 24))


def test_gpt2_inner_width_is_four_times_hidden_unless_given() -> None:
    for inner, expected in ((..., 3072), (None, 3072), (1000, 1000)):
        read = from_hf_config(config("gpt2", n_inner=inner))
        assert read.mlp is not None
        assert read.mlp.intermediate == expected


def test_gpt2_positions_are_n_positions_and_not_n_ctx() -> None:
    assert from_hf_config(config("gpt2", n_positions=2048)).learned_positions == 2048
    assert one_line(config("gpt2", n_positions=...)).startswith("config: n_positions: missing")


def test_deepseek_queries_may_be_uncompressed_but_must_say_so() -> None:
    read = from_hf_config(config("deepseek-v2", q_lora_rank=None))
    assert isinstance(read.attention, LatentAttention)
    assert read.attention.q_lora_rank is None
    assert "q_lora_rank: missing" in one_line(config("deepseek-v2", q_lora_rank=...))


def test_deepseek_without_shared_experts_or_dense_layers() -> None:
    read = from_hf_config(config("deepseek-v3", n_shared_experts=None, first_k_dense_replace=0))
    assert read.experts is not None
    assert (read.experts.shared, read.experts.dense_layers, read.mlp) == (0, 0, None)


def test_the_multi_token_prediction_module_is_not_counted(parameter_count: Counter) -> None:
    without = from_hf_config(config("deepseek-v3", num_nextn_predict_layers=...))
    assert parameter_count(without) == parameter_count(from_hf_config(config("deepseek-v3")))


def test_qwen3_moe_may_keep_its_first_layers_dense_and_no_others() -> None:
    read = from_hf_config(config("qwen3-30b-a3b", mlp_only_layers=[0, 1]))
    assert read.experts is not None
    assert read.mlp is not None
    assert (read.experts.dense_layers, read.mlp.intermediate) == (2, 6144)
    assert "mlp_only_layers: [3] is not understood" in one_line(config("qwen3-30b-a3b", mlp_only_layers=[3]))


def test_mpt_as_benchmarked_has_learned_positions_and_biases() -> None:
    attention = config("mpt-7b-released")["attn_config"] | {"alibi": False}
    fields = config("mpt-7b-released", attn_config=attention, no_bias=False, vocab_size=50368)
    read = from_hf_config(fields, name="mpt-7b")
    assert read == model("mpt-7b").model_copy(update={"source": read.source})


def test_mpt_kinds_of_attention() -> None:
    attention = config("mpt-7b-released")["attn_config"]
    few = from_hf_config(
        config(
            "mpt-7b-released",
            attn_config=attention | {"attn_type": "grouped_query_attention", "kv_n_heads": 8},
        )
    )
    one = from_hf_config(
        config("mpt-7b-released", attn_config=attention | {"attn_type": "multiquery_attention"})
    )
    assert (grouped(few).kv_heads, grouped(one).kv_heads) == (8, 1)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (config("llama3-8b", model_type=...), "config: model_type: missing"),
        (config("llama3-8b", model_type="lama"), "config: model_type: no family 'lama': did you mean llama"),
        (config("llama3-8b", model_type="mamba2"), "config: model_type: no family 'mamba2'"),
        (config("llama3-8b", model_type=["llama"]), "config: model_type: no family"),
        (config("llama3-8b", hidden_size=...), "config: hidden_size: missing"),
        (
            config("llama3-8b", hidden_size="4096"),
            "config: hidden_size: expected a positive whole number, got '4096'",
        ),
        (
            config("llama3-8b", num_hidden_layers=0),
            "config: num_hidden_layers: expected a positive whole number",
        ),
        (
            config("llama3-8b", hidden_size=4097),
            "config: hidden_size: 4097 is not divisible by num_attention_heads",
        ),
        (config("llama3-8b", num_key_value_heads=5), "kv_heads = 5 must divide heads = 32"),
        (
            config("llama3-8b", tie_word_embeddings="no"),
            "config: tie_word_embeddings: expected true or false",
        ),
        (config("llama3-8b", text_config={}), "config: text_config: this field is not understood"),
        (config("llama3-8b", qk_layernorm=True), "config: qk_layernorm: this field is not understood"),
        (config("llama3-8b", pruned_heads={"0": [1]}), 'config: pruned_heads: {"0": [1]} is not understood'),
        (config("llama3-8b", is_encoder_decoder=True), "config: is_encoder_decoder: true is not understood"),
        (config("llama3-8b", architectures=["LlamaForSequenceClassification"]), "its head is not understood"),
        (config("gpt2", add_cross_attention=True), "config: add_cross_attention: true is not understood"),
        (config("mistral-7b", attention_bias=True), "config: attention_bias: true is not understood"),
        (config("qwen2.5-7b", attention_bias=False), "config: attention_bias: false is not understood"),
        (config("qwen3-30b-a3b", decoder_sparse_step=2), "config: decoder_sparse_step: 2 is not understood"),
        (config("qwen3-30b-a3b", mlp_only_layers=1), "config: mlp_only_layers: 1 is not understood"),
        (
            config("qwen3-30b-a3b", n_shared_experts=1),
            "config: n_shared_experts: this field is not understood",
        ),
        (config("qwen3-30b-a3b", head_dim=...), "config: head_dim: missing"),
        (config("mixtral-8x7b", num_experts_per_tok=9), "active = 9 cannot exceed count = 8"),
        (config("deepseek-v3", topk_method="greedy"), 'config: topk_method: "greedy" is not understood'),
        (config("deepseek-v2", topk_method="noaux_tc"), 'config: topk_method: "noaux_tc" is not understood'),
        (config("deepseek-v3", moe_layer_freq=2), "config: moe_layer_freq: 2 is not understood"),
        (config("mpt-7b-released", no_bias=...), "config: no_bias: missing"),
        (config("mpt-7b-released", attn_config={}), "config: attn_config.alibi: missing"),
        (config("mpt-7b-released", attn_config=3), "config: attn_config: expected an object"),
        (
            config("mpt-7b-released", attn_config={"alibi": True, "qk_ln": True}),
            "config: attn_config.qk_ln: true",
        ),
        (
            config("mpt-7b-released", attn_config={"alibi": True, "new": 1}),
            "config: attn_config.new: this field",
        ),
        (config("mpt-7b-released", ffn_config={"ffn_type": "te_ln_mlp"}), "config: ffn_config.ffn_type"),
        (
            config("mpt-7b-released", expansion_ratio=2.5),
            "config: expansion_ratio: expected a positive whole number",
        ),
        ([], "config: expected an object"),
    ],
)
def test_what_is_not_understood_is_one_line_that_names_the_field(fields: Any, message: str) -> None:
    assert message in one_line(fields)


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.json")))
def test_taking_any_field_away_gives_one_line_or_the_same_kind_of_model(name: str) -> None:
    for field in config(name):
        refusal = refusal_of(config(name, **{field: ...}))
        assert refusal is None or field in refusal


def test_files_that_cannot_be_read_are_one_line(tmp_path: Path) -> None:
    assert one_line(tmp_path / "none.json").endswith("no such file")
    (tmp_path / "broken.json").write_text('{"model_type": "gpt2",\n')
    assert "broken.json, line 2: not valid JSON" in one_line(tmp_path / "broken.json")
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xe9"}')
    assert "cannot be read as UTF-8 text" in one_line(tmp_path / "latin.json")
    (tmp_path / "list.json").write_text("[]")
    assert "expected an object" in one_line(tmp_path / "list.json")
