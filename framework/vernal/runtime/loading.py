"""Loading modules with the garbage collector out of the way."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading(module: str) -> Iterator[None]:
    """Keep the collector from walking what is loaded in this block, where `module` is loaded for the first time.

    What a module brings stays, so that it is walked for nothing: that takes 50 of the 280 ms from the start of a
    process to the first answer of an auto-configured application. Behind the block the new objects count as old, so
    that the next look at the young ones passes them by; garbage among them is found by the next look at all. It is
    done once for each module: a program that did so again and again would keep its garbage. Of several blocks at once,
    in several threads, the first decides.
    """
    if module in sys.modules or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # whoever has frozen objects wants them to stay so
            gc.freeze()
            gc.unfreeze()  # into the oldest generation
        gc.enable()
