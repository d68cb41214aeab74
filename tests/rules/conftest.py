"""The four forms as fixtures."""

import pytest
from tests.forms import FORMS, Form


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> Form:
    """Each of the four forms in turn."""
    return Form(request.param)
