"""Profiles of the property tests."""

import os

from hypothesis import HealthCheck, settings

# The small profile draws the same examples each time, so that a red test is red for everybody; the large one explores.
settings.register_profile(
    "dev", max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("dev"))
settings.register_profile("large", settings.get_profile("dev"), max_examples=500, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
