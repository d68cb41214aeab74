"""What error bodies of model services say: the shapes that most of them share. Imported with the first request."""

import re
from collections.abc import Mapping
from typing import Any

from vernal.http.classify import Refusal
from vernal.http.members import members_of
from vernal.http.wire import decode_json

LONGEST_TEXT = 500

_TITLE = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1\s*>", re.IGNORECASE | re.DOTALL)


def read_refusal(content: bytes) -> Refusal:
    """What an error body says: `{"error": {…}}`, `{"error": "…"}`, `{"detail": …}`, a flat object, a page, or any text.

    Of a list, as the body itself or under `errors` and `detail`, the first element counts.
    """
    try:
        body = decode_json(content)
    except ValueError:
        return Refusal(message=_shortened(_words(content.decode("utf-8", "replace").strip())) or "no reason given")
    body = _first(body)
    if not isinstance(body, Mapping):
        return Refusal(message=_shortened(str(body)))
    error = next((said for name in ("error", "errors", "detail") if (said := _said(body.get(name)))), body)
    if isinstance(error, Mapping):
        return Refusal(message=_message(error), type=_text(error.get("type")), code=_code(error), details=error)
    return Refusal(message=_shortened(error), details=body)


def _said(error: object) -> str | Mapping[str, Any] | None:
    """An error that says something: a text or an object; flags and numbers do not."""
    error = _first(error)
    return error if isinstance(error, str | Mapping) else None


def _first(value: object) -> object:
    return value[0] if isinstance(value, list) and value else value


def _words(text: str) -> str:
    """The text, or of a page, as proxies answer with, its title."""
    found = _TITLE.search(text) if text.startswith("<") else None
    return " ".join(found[2].split()) if found is not None else text


def _message(error: Mapping[str, Any]) -> str:
    said = (error.get(name) for name in ("message", "detail", "msg", "Message"))
    message = next(filter(None, said), None) or dict(error)
    if isinstance(message, Mapping):  # of a service behind the service
        message = members_of(message.get("error")).get("message") or message.get("message") or message
    return message if isinstance(message, str) else _shortened(str(message))


def _code(error: Mapping[str, Any]) -> str | int | None:
    code = error.get("code")
    return code if isinstance(code, str | int) and not isinstance(code, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
