"""The four forms as fixtures."""

import pytest

from vernal.testing import Form


@pytest.fixture(params=Form)
def form(request: pytest.FixtureRequest) -> Form:
    """Each of the four forms in turn."""
    return Form(request.param)
