"""Sound in answers, whole or in pieces. Imported with the first request."""

from base64 import b64decode
from collections.abc import Mapping
from typing import Any

from vernal import Media

WAV = "audio/wav"
MIME_TYPES = {
    "aac": "audio/aac",
    "flac": "audio/flac",
    "mp3": "audio/mpeg",
    "opus": "audio/opus",
    "pcm16": "audio/pcm;rate=24000",
    "wav": WAV,
}


def audio_type(wanted: Mapping[str, Any] | None) -> str:
    """The media type of the sound that the option `audio` asks for."""
    name = str((wanted or {}).get("format", "wav"))
    return MIME_TYPES.get(name, f"audio/{name}")


class AudioCollector:
    """The sound of one answer in the making; what is said in it is the text of the answer."""

    __slots__ = ("_about", "_data", "_rest")

    def __init__(self) -> None:
        self._about: dict[str, Any] = {}
        self._data = bytearray()
        self._rest = ""

    def add(self, audio: Mapping[str, Any]) -> str | None:
        """What is said in this piece.

        Raises:
            ValueError: its data is no base64.
        """
        data = self._rest + (audio.get("data") or "")
        end = len(data) - len(data) % 4
        self._data += b64decode(data[:end], validate=True)
        self._rest = data[end:]
        self._about.update({name: audio[name] for name in ("id", "expires_at") if audio.get(name) is not None})
        transcript = audio.get("transcript")
        return transcript if isinstance(transcript, str) else None

    def media(self, mime_type: str) -> tuple[Media, ...]:
        """The sound, where there is some."""
        return (Media(mime_type, data=bytes(self._data), name=self._about.get("id")),) if self._data else ()

    def metadata(self) -> dict[str, Any]:
        """The entry of the message's metadata with the service's id of the sound, and when it forgets it."""
        return {"audio": self._about} if self._about else {}
