"""Asks a Hugging Face config.json for its fields, and refuses those left over that may matter."""

import json
from typing import Any

from specs.schema import SpecError

Fields = dict[str, Any]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Fields that change neither a shape nor the presence of a tensor.
HARMLESS = _words(
    # names, files, number formats
    "architectures auto_map model_type torch_dtype dtype transformers_version tokenizer_class tokenizer_name "
    "quantization_config unsloth_version task_specific_params finetuning_task problem_type id2label label2id "
    "prefix "
    # token ids
    "bos_token_id eos_token_id pad_token_id sep_token_id unk_token_id decoder_start_token_id "
    # dropout, initialisation, constants of activations and norms
    "attention_dropout attn_pdrop embd_pdrop emb_pdrop resid_pdrop hidden_dropout dropout initializer_range "
    "hidden_act hidden_activation activation_function rms_norm_eps layer_norm_eps layer_norm_epsilon "
    "norm_eps attn_logit_softcapping final_logit_softcapping query_pre_attn_scalar swiglu_limit logit_scale "
    "scale_attn_weights scale_attn_by_inverse_layer_idx reorder_and_upcast_attn "
    # rotary positions, and the length that a model with them was trained for
    "rope_theta rope_scaling rope_parameters rope_interleave rope_interleaved use_mrope "
    "partial_rotary_factor max_position_embeddings original_max_position_embeddings initial_context_length "
    # how to run it
    "use_cache cache_implementation pretraining_tp ep_size output_attentions output_hidden_states "
    "return_dict torchscript use_bfloat16 gradient_checkpointing chunk_size_feed_forward max_length "
    "min_length do_sample temperature top_p "
    # how tokens are sent to experts, and the loss that balances them
    "output_router_logits router_aux_loss_coef router_jitter_noise norm_topk_prob scoring_func "
    "routed_scaling_factor n_group topk_group aux_loss_alpha seq_aux"
)

# Fields of one family that change nothing there.
HARMLESS_IN: dict[str, frozenset[str]] = {
    # n_ctx repeats n_positions; the summary head belongs to a classifier
    "gpt2": _words(
        "n_ctx summary_activation summary_first_dropout summary_proj_to_labels summary_type summary_use_proj"
    ),
    "mpt": _words("embedding_fraction init_config init_device verbose use_pad_tok_in_ffn"),
    "gpt_oss": _words("experts_per_token"),
    # every head has its own key and value after decompression, so num_key_value_heads says nothing
    "deepseek_v2": _words("num_key_value_heads head_dim qk_head_dim"),
    "deepseek_v3": _words("num_key_value_heads head_dim qk_head_dim num_nextn_predict_layers"),
}
HARMLESS_IN_MPT_ATTENTION = _words(
    "alibi_bias_max attn_impl attn_pdrop attn_uses_sequence_id clip_qkv prefix_lm softmax_scale rope_theta "
    "rope_impl rope_dail_config rope_hf_config fused_qkv model_type"
)

# Fields that must say what every supported model says; another value would add or remove tensors.
ONLY: dict[str, tuple[Any, ...]] = {
    "is_encoder_decoder": (False,),
    "is_decoder": (False, True),
    "add_cross_attention": (False,),
    "cross_attention_hidden_size": (None,),
    "tie_encoder_decoder": (False,),
    "pruned_heads": ({}, None),
}


class HfFields:
    """The fields of one config.json, which remembers the ones that were asked for."""

    def __init__(self, data: Fields, where: str, prefix: str = "") -> None:
        self.data, self.where, self.prefix = data, where, prefix
        self.read: set[str] = set()

    def refuse(self, field: str, problem: str) -> SpecError:
        """The error to raise about one field."""
        return SpecError(f"{self.where}: {self.prefix}{field}: {problem}")

    def get(self, field: str, default: Any = None) -> Any:
        """The value, or `default` where the field is absent or null."""
        self.read.add(field)
        value = self.data.get(field)
        return default if value is None else value

    def count(self, field: str, default: int | None = None) -> int:
        """A positive whole number; without a default the field must be there."""
        value = self.get(field, default)
        if value is None:
            raise self.refuse(field, "missing, and the number of parameters depends on it")
        if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            raise self.refuse(field, f"expected a positive whole number, got {value!r}")
        return value

    def flag(self, field: str, default: bool | None = None) -> bool:
        """True or false; without a default the field must be there."""
        value = self.get(field, default)
        if value is None:
            raise self.refuse(field, "missing, and the number of parameters depends on it")
        if not isinstance(value, bool):
            raise self.refuse(field, f"expected true or false, got {value!r}")
        return value

    def only(self, field: str, *understood: Any) -> Any:
        """The value, which must be one of `understood`; the first of them where the field is absent."""
        self.read.add(field)
        value = self.data.get(field, understood[0])
        if value not in understood:
            known = " or ".join(json.dumps(each, default=str) for each in understood)
            raise self.refuse(field, f"{json.dumps(value, default=str)} is not understood; expected {known}")
        return value

    def part(self, field: str) -> "HfFields":
        """A nested object, empty where the field is absent or null."""
        value = self.get(field, {})
        if not isinstance(value, dict):
            raise self.refuse(field, f"expected an object, got {value!r}")
        return HfFields(value, self.where, f"{self.prefix}{field}.")

    def finish(self, harmless: frozenset[str]) -> None:
        """Refuse the first field that nobody asked for and that is not known to be harmless."""
        for field in self.data:
            if field not in self.read and field not in harmless and not field.startswith("_"):
                raise self.refuse(
                    field, "this field is not understood, and it may change the number of parameters"
                )
