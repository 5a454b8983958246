from state import state_bytes_per_parameter
from specs import recipe


def test_sixteen():
	assert state_bytes_per_parameter(recipe("adamw-bf16")).total == 16
