"""Baselines: modules with functions of the names and parameters that timed exercises ask for; timed beside them."""
