"""The one assertion on histories."""

from collections.abc import Iterable

from vernal.values.messages import Message
from vernal.values.replay import replay_faults


def assert_replayable(messages: Iterable[Message]) -> None:
    """Fail unless any service would accept `messages` again (R1).

    Every tool call is answered once by the message that directly follows, no answer stands without its call, ids are
    unique and arguments are JSON objects.

    Raises:
        AssertionError: with every fault that was found.
    """
    faults = replay_faults(messages)
    if faults:
        raise AssertionError("this history cannot be replayed: " + "; ".join(faults))
