"""Parameters: a shape from a count, the count of a dense transformer by part, and of a mixture of experts."""

from specs import ExpertParameterCount, Model, ModelShape, ParameterCount

from .parts.counting import count_attention, count_head, count_latent_attention, count_mlp, count_norms


def shape_from_parameter_count(n: int) -> ModelShape:
	# N = 12 * L * (128 L)^2 = 196608 * L^3
	L = max(round((n / 196608) ** (1 / 3)), 1)
	return ModelShape(layers=L, hidden=128 * L)


def parameter_count(model: Model) -> ParameterCount:
	return ParameterCount(
		token_embedding=model.vocab * model.hidden,
		position_embedding=model.learned_positions * model.hidden,
		attention=model.layers * count_attention(model),
		mlp=model.layers * count_mlp(model.hidden, model.mlp.intermediate, model.mlp.gated, model.mlp.bias),
		norms=count_norms(model),
		output_head=count_head(model),
	)


def expert_parameter_counts(model: Model) -> ExpertParameterCount:
	ex, d = model.experts, model.hidden
	if model.attention.kind == "latent":
		attention = count_latent_attention(model)
	else:
		attention = count_attention(model)
	sparse = model.layers - ex.dense_layers
	always = model.vocab * d + model.learned_positions * d + count_head(model) + count_norms(model)
	always += model.layers * attention
	if ex.dense_layers > 0:
		always += ex.dense_layers * count_mlp(d, model.mlp.intermediate, model.mlp.gated, model.mlp.bias)
	router = d * ex.count
	if ex.router_bias:
		router += ex.count
	if ex.router_correction_bias:
		router += ex.count
	always += sparse * router
	always += sparse * ex.shared * count_mlp(d, ex.shared_intermediate, ex.gated, False)
	expert = count_mlp(d, ex.intermediate, ex.gated, ex.bias)
	return ExpertParameterCount(
		always_used=always,
		routed=sparse * ex.count * expert,
		routed_active=sparse * ex.active * expert,
	)
