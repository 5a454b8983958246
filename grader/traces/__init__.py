"""Reads traces of the PyTorch profiler, which may be large, broken or hostile, and draws them."""
