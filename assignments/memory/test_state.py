"""Visible checks of state.py: exercises 1, 2, 8 and 9."""

import pytest

from specs import StateBytes, recipe


@pytest.mark.exercise("memory.state_bytes_per_parameter", weight=2)
def test_adamw_in_mixed_precision_and_in_fp32_both_cost_16_bytes(submission, expect):
    """AdamW costs 16 bytes a parameter in mixed precision and in fp32, made up differently."""
    got = submission.memory.state_bytes_per_parameter(recipe("adamw-bf16"))
    expect.terms(got, StateBytes(weights=2, gradients=2, master=4, moments=8), unit="bytes", case="adamw-bf16")
    got = submission.memory.state_bytes_per_parameter(recipe("adamw-fp32"))
    expect.terms(got, StateBytes(weights=4, gradients=4, master=0, moments=8), unit="bytes", case="adamw-fp32")
