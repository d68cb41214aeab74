"""The embedded offline model: no key, no network, no language model, only matching of words (docs/offline-model.md)."""

from vernal.models.offline.model import OfflineChatModel

__all__ = ["OfflineChatModel"]
