"""Runners for the tests of the auto-configurations."""

import pytest

from vernal.testing import ApplicationContextRunner
from vernal_autoconfig import plugin


@pytest.fixture
def runner() -> ApplicationContextRunner:
    """All auto-configurations of vernal, with the offline model, and nothing of the surroundings."""
    return (
        ApplicationContextRunner()
        .with_plugins({"vernal-autoconfig": plugin})
        .with_settings({"chat": {"model": "offline"}})
    )
