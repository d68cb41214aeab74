"""What error bodies of model services say: the shapes that most of them share. Imported with the first request."""

from collections.abc import Mapping
from typing import Any

from vernal.http.classify import Refusal
from vernal.http.wire import decode_json

LONGEST_TEXT = 500


def read_refusal(content: bytes) -> Refusal:
    """What an error body says: `{"error": {…}}`, `{"error": "…"}`, `{"detail": …}`, a flat object, or any text."""
    try:
        body = decode_json(content)
    except ValueError:
        text = content.decode("utf-8", "replace").strip()
        return Refusal(message=_shortened(text) or "no reason given")
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return Refusal(message=_shortened(str(body)))
    error = body.get("error") or body.get("detail") or body
    if isinstance(error, Mapping):
        return Refusal(message=_message(error), type=_text(error.get("type")), code=_code(error), details=error)
    return Refusal(message=_shortened(error if isinstance(error, str) else str(error)), details=body)


def _message(error: Mapping[str, Any]) -> str:
    message = error.get("message") or error.get("detail") or error.get("msg")
    return message if isinstance(message, str) else _shortened(str(message or dict(error)))


def _code(error: Mapping[str, Any]) -> str | int | None:
    code = error.get("code")
    return code if isinstance(code, str | int) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
