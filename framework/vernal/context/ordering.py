"""The total order of auto-configurations: by preference, order and name, then what `before` and `after` demand."""

from collections.abc import Iterable, Iterator

from vernal.context.configurations import ConfigurationSource
from vernal.context.failures.errors import OrderCycleError


class AutoConfigurationOrder:
    """Auto-configurations in one order that does not depend on how they were found.

    They are sorted by the rank of their plugin, then by `order`, then by name; after that each moves
    behind those that must come before it. Names that nobody carries are ignored, and so is a `before` that would put
    another plugin before a preferred one.

    Raises:
        OrderCycleError: some must come before each other.
    """

    def __init__(self, sources: Iterable[ConfigurationSource]) -> None:
        self._base = sorted(sources, key=lambda one: (one.provenance.rank, one.mark.order, one.name, one.full_name))
        self._earlier = self._constraints()
        self.sorted = tuple(self._sort())

    def is_settled(self, earlier: ConfigurationSource, later: ConfigurationSource) -> bool:
        """Whether somebody said that the one comes before the other: a preference, or `before` and `after`."""
        if earlier.provenance.rank < later.provenance.rank:
            return True
        seen: set[str] = set()
        waiting = [later]
        while waiting:
            for one in self._earlier[waiting.pop().full_name]:
                if one is earlier:
                    return True
                if one.full_name not in seen:
                    seen.add(one.full_name)
                    waiting.append(one)
        return False

    def _constraints(self) -> dict[str, list[ConfigurationSource]]:
        named: dict[str, list[ConfigurationSource]] = {}
        for source in self._base:
            for name in source.names:
                named.setdefault(name, []).append(source)
        earlier: dict[str, list[ConfigurationSource]] = {source.full_name: [] for source in self._base}
        for source in self._base:
            for name in source.mark.after:
                earlier[source.full_name] += named.get(name, [])
            for name in source.mark.before:
                for later in named.get(name, []):
                    if later.provenance.rank >= source.provenance.rank:
                        earlier[later.full_name].append(source)
        return earlier

    def _sort(self) -> Iterator[ConfigurationSource]:
        done: set[str] = set()
        path: list[ConfigurationSource] = []

        def visit(source: ConfigurationSource) -> Iterator[ConfigurationSource]:
            if source.full_name in done:
                return
            if source in path:
                raise OrderCycleError([one.cls for one in reversed(path[path.index(source) :])])
            path.append(source)
            for earlier in sorted(self._earlier[source.full_name], key=self._base.index):
                yield from visit(earlier)
            path.pop()
            done.add(source.full_name)
            yield source

        for source in self._base:
            yield from visit(source)
