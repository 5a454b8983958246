"""Trusted kernels: oracles and baselines."""
