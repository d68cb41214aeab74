"""From what a tool returns to what the model reads."""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum
from io import BytesIO
from typing import Any

from vernal.tools.result import ToolResult
from vernal.values.messages import Media

NO_RESULT = "Done (no result)"
"""What the model reads where a tool returned None, whatever kind of tool it is (R15, against CVT-01 and CVT-02)."""

_NO_UTF8 = ("surrogates not allowed", "utf-8 byte sequence", "invalid utf-8")
"""What pydantic says of texts and bytes that have no UTF-8 form."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
)


class ToolCallResultConverter:
    """Makes the text for the model of what a tool returned. Subclass it and define `convert`."""

    def convert(self, result: Any, return_type: Any) -> str:
        """The text, or a `ToolResult` where there is more to say than a text.

        `return_type` is the tool's return annotation: `NoneType` for None, `Any` where nothing is declared.
        """
        raise NotImplementedError(f"{type(self).__qualname__} has no method 'convert'")


class DefaultToolCallResultConverter(ToolCallResultConverter):
    """Gives results of every kind one form (R15).

    - Text stays as it is, unquoted (against CVT-03, CVT-11); so does a `ToolResult`.
    - None is "Done (no result)".
    - Bytes, `Media`, PIL images, and lists of these, with texts among them, become media beside a short text.
    - All else becomes compact JSON: pydantic models (by alias), dataclasses, mappings, sequences, sets, iterators,
      enums, dates, decimals, UUIDs, numpy arrays. NaN and infinite floats become null, bytes within objects base64.

    Raises:
        TypeError: from `convert`, where something has no such form.
    """

    def convert(self, result: Any, return_type: Any) -> str:
        """The text for the model; `return_type` does not matter here."""
        if type(result) is str or isinstance(result, ToolResult):
            return result
        if result is None:
            return NO_RESULT
        if isinstance(result, str):
            return str(result.value if isinstance(result, Enum) else result)
        parts = _media_parts(result)
        return to_json(result) if parts is None else _with_media(parts)


def to_json(value: Any) -> str:
    """`value` as compact JSON.

    Raises:
        TypeError: something in it has no JSON form, or it contains itself.
    """
    from pydantic_core import to_json as encode  # pydantic, not loaded before a tool returns an object
    from pydantic_core import to_jsonable_python as as_plain

    try:
        try:
            return encode(value, fallback=_fallback, inf_nan_mode="null", bytes_mode="base64").decode()
        except ValueError as error:
            if not any(reason in str(error) for reason in _NO_UTF8):
                raise
            plain = as_plain(_whole(value), fallback=_fallback, inf_nan_mode="null", bytes_mode="base64")
            return encode(_whole(plain)).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(
            f"the tool returned a {type(value).__qualname__} that cannot become JSON: {error}; return text, a "
            "dataclass or a pydantic model, or give the tool a result_converter"
        ) from error


def _whole(value: Any) -> Any:
    """`value` with a mark in place of each half of a character: names of files may hold some, UTF-8 cannot (R15).

    Pydantic models become mappings, since their own settings would have bytes be UTF-8.
    """
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if callable(dump := getattr(type(value), "model_dump", None)):
        return _whole(dump(value, by_alias=True))
    if isinstance(value, Mapping):
        return {_whole(key): _whole(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    return value


def _fallback(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (Iterator, Collection)):
        return list(value)
    if callable(as_list := getattr(value, "tolist", None)):
        return as_list()  # arrays and scalars of numpy and its kin
    raise TypeError(f"a {type(value).__qualname__} has no JSON form")


def _media_parts(result: Any) -> list[Media | str] | None:
    """The media in `result`, with the texts among them; None where it is no matter of media."""
    media = _as_media(result)
    if media is not None:
        return [media]
    if not isinstance(result, (list, tuple)):
        return None
    parts: list[Media | str] = []
    for item in result:
        part = item if isinstance(item, str) else _as_media(item)
        if part is None:
            return None
        parts.append(part)
    return parts if any(isinstance(part, Media) for part in parts) else None


def _as_media(value: Any) -> Media | None:
    if isinstance(value, Media):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        return Media(_mime_type(data), data)
    pil = sys.modules.get("PIL.Image")  # whoever returns such an image has imported it
    if pil is not None and isinstance(value, pil.Image):
        buffer = BytesIO()
        value.save(buffer, format="PNG")
        return Media("image/png", buffer.getvalue())
    return None


def _mime_type(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _SIGNATURES if data.startswith(start)), "application/octet-stream")


def _with_media(parts: Iterable[Media | str]) -> ToolResult:
    lines = [part if isinstance(part, str) else _described(part) for part in parts]
    return ToolResult("\n".join(lines), media=[part for part in parts if isinstance(part, Media)])


def _described(media: Media) -> str:
    what = f"{media.name}, {media.mime_type}" if media.name else media.mime_type
    return f"[{what}: {media.url if media.data is None else f'{len(media.data)} bytes'}]"
