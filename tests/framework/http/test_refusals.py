"""What error bodies say, whatever shape a service gives them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vernal.http import read_refusal


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        (b'{"error": {"message": "no", "code": "x"}}', "no", "x"),
        (b'{"error": {"message": "no", "code": 429}}', "no", 429),
        (b'{"error": {"message": {"error": {"message": "no"}}, "code": true}}', "no", None),
        (b'{"error": "no"}', "no", None),
        (b'{"error": ["no", "more"]}', "no", None),
        (b'{"error": true, "message": "no", "code": 5}', "no", 5),
        (b'{"success": false, "errors": [{"code": 7009, "message": "no"}]}', "no", 7009),
        (b'{"detail": "no"}', "no", None),
        (b'{"detail": [{"loc": ["body"], "msg": "no"}]}', "no", None),
        (b'{"object": "error", "message": "no", "code": "1500"}', "no", "1500"),
        (b'{"Message": "no"}', "no", None),
        (b'[{"error": {"message": "no", "code": 400}}]', "no", 400),
        (b"<html><head><title>502 Bad\n Gateway</title></head><body>nginx</body></html>", "502 Bad Gateway", None),
        (b"<!DOCTYPE html><h1 class='a'>Too many</h1><p>b", "Too many", None),
        (b"<html>bad gateway</html>", "<html>bad gateway</html>", None),
        (b"\xff", "\ufffd", None),
        (b"", "no reason given", None),
        (b"{}", "{}", None),
        (b"null", "None", None),
        (b"[]", "[]", None),
    ],
)
def test_errors_are_read_in_all_their_forms(body: bytes, message: str, code: str | int | None) -> None:
    """There is the message that stands in the body, and the code where it is one."""
    refusal = read_refusal(body)
    assert (refusal.message, refusal.code) == (message, code)


@given(st.binary() | st.integers(1, 5000).map(lambda depth: b"[" * depth) | st.just(b'{"error":' * 5000))
def test_there_is_never_an_error_about_an_error(body: bytes) -> None:
    """Whatever the bytes are, there is a text."""
    assert read_refusal(body).message
