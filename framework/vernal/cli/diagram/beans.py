"""What is drawn of an application: its beans, and who is given whom."""

from collections.abc import Iterator, Mapping
from typing import Any

from vernal.context.definitions import BeanDefinition, OriginKind
from vernal.context.types import short_type_name, type_name
from vernal.values.records import dataclass

Beans = Mapping[str, BeanDefinition]
Graph = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A bean. `kind` says who declared it, `reads` are the prefixes of the settings that it is given."""

    name: str
    type: str
    short_type: str
    kind: str
    origin: str
    by: str
    scope: str
    primary: bool
    reads: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not as usual with this bean: it is a prototype, it is primary."""
        facts = (("prototype", self.scope == "prototype"), ("primary", self.primary))
        return tuple(note for note, holds in facts if holds)


@dataclass(frozen=True, slots=True)
class Edge:
    """The bean `user` is given the bean `used`; `later`: it may ask for it when it runs (`ObjectProvider`)."""

    user: str
    used: str
    later: bool = False


@dataclass(frozen=True, slots=True)
class BeanDiagram:
    """The beans of an application, in an order in which they can be built, and who is given whom, the later ones last.

    Configuration classes stand for nothing of their own and are passed through, settings are named by the beans that
    read them, and what the context itself offers is left out where nobody asks for it.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def of(cls, beans: Beans, graph: Graph, lazy_graph: Graph) -> "BeanDiagram":
        """The diagram of `context.beans`, `context.graph` and `context.lazy_graph`; empty graphs draw no lines."""
        edges = [
            Edge(name, used, later)
            for later, given in ((False, graph), (True, lazy_graph))
            for name, bean in beans.items()
            if not bean.infrastructure
            for used in dict.fromkeys(_reached(name, beans, given))
            if not beans[used].infrastructure
        ]
        joined = {end for edge in edges for end in (edge.user, edge.used)}
        nodes = [
            _node(bean, [beans[used] for used in dict.fromkeys(_reached(name, beans, graph))])
            for name, bean in beans.items()
            if not bean.infrastructure and (name in joined or bean.origin.kind is not OriginKind.CONTEXT)
        ]
        return cls(tuple(nodes), tuple(edges))


def _reached(name: str, beans: Beans, graph: Graph) -> Iterator[str]:
    """What a bean is given, by itself or by the configuration class that makes it."""
    for used in graph.get(name, ()):
        yield used
        if beans[used].infrastructure:
            yield from _reached(used, beans, graph)


def _node(bean: BeanDefinition, given: list[BeanDefinition]) -> Node:
    origin = bean.origin
    return Node(
        name=bean.name,
        type=type_name(bean.type),
        short_type=short_type_name(bean.type),
        kind=str(origin.kind),
        origin=str(origin),
        by=origin.plugin or origin.source.rpartition(".")[0] or origin.source,
        scope=str(bean.scope),
        primary=bean.primary,
        reads=tuple(_prefix(each.type) for each in given if each.origin.kind is OriginKind.SETTINGS),
    )


def _prefix(settings_class: Any) -> str:
    prefix: str = settings_class.settings_prefix
    return prefix or "(root)"
