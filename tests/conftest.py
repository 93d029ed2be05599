"""How generated tests run: without deadlines, and the same way twice in CI."""

import os

from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "local", deadline=None, max_examples=60, suppress_health_check=_QUIET
)
settings.register_profile(
    "ci", settings.get_profile("local"), derandomize=True, print_blob=True
)
settings.load_profile("ci" if os.environ.get("CI") else "local")
