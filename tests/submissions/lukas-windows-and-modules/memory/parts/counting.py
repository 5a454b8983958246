"""Parts of a transformer."""

from specs import Model


def count_attention(m: Model) -> int:
	att, d = m.attention, m.hidden
	q = att.heads * att.head_dim
	kv = att.kv_heads * att.head_dim
	n = d * q + 2 * d * kv + q * d
	if att.qkv_bias:
		n += q + kv + kv
	if att.output_bias:
		n += d
	if att.qk_norm:
		n += 2 * att.head_dim
	if att.sinks:
		n += att.heads
	return n


def count_latent_attention(m: Model) -> int:
	att, d = m.attention, m.hidden
	q_out = att.heads * (att.qk_nope_head_dim + att.qk_rope_head_dim)
	if att.q_lora_rank is None:
		q = d * q_out
	else:
		q = d * att.q_lora_rank + att.q_lora_rank + att.q_lora_rank * q_out
	down = d * (att.kv_lora_rank + att.qk_rope_head_dim) + att.kv_lora_rank
	up = att.kv_lora_rank * att.heads * (att.qk_nope_head_dim + att.v_head_dim)
	out = att.heads * att.v_head_dim * d
	return q + down + up + out


def count_mlp(d: int, ff: int, gated: bool, bias: bool) -> int:
	n = 3 * d * ff if gated else 2 * d * ff
	if bias:
		n += 2 * ff + d if gated else ff + d
	return n


def count_norms(m: Model) -> int:
	how_many = m.layers * m.norms_per_layer
	if m.final_norm:
		how_many += 1
	return how_many * m.hidden * (2 if m.norm_bias else 1)


def count_head(m: Model) -> int:
	n = 0 if m.tied_embeddings else m.vocab * m.hidden
	if m.head_bias:
		n += m.vocab
	return n
