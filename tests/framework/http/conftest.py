"""The ways in which requests are sent."""

import pytest

from vernal.http.transport import TransportName


@pytest.fixture(params=["aiohttp", "session", "httpx"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> TransportName:
    """Each transport in turn; aiohttp directly, and by its session as with a version that is not known."""
    if request.param == "session":
        monkeypatch.setattr("vernal.http.aiohttp_transport.is_known", lambda: False)
    return "httpx" if request.param == "httpx" else "aiohttp"
