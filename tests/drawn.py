"""How hypothesis draws in the kit's own tests: the same examples in each run, and no complaint about a slow machine."""

from hypothesis import HealthCheck, settings

DRAWN = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
"""`settings(DRAWN, max_examples=40)` where an example takes long."""
