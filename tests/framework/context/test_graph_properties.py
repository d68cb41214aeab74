"""Random graphs: what can be built is built right, and no circle ever reaches dependency-injector."""

import inspect
from typing import Annotated, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from vernal.context import CircularDependencyError, Named, bean, configuration
from vernal.testing.runner import ApplicationContextRunner


class Node:
    def __init__(self, name: str, parts: dict[str, "Node"]) -> None:
        self.name = name
        self.parts = parts


def node(name: str, needs: set[int]) -> Any:
    """A bean method that takes the named nodes."""

    def make(**parts: Node) -> Node:
        return Node(name, parts)

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(f"n{need}", kind) for need in sorted(needs)]
    make.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what inspect looks for
    make.__annotations__ = {f"n{need}": Annotated[Node, Named(f"n{need}")] for need in needs} | {"return": Node}
    return staticmethod(bean(name=name)(make))


graphs = st.integers(1, 7).flatmap(
    lambda size: st.lists(st.sets(st.integers(0, size - 1), max_size=3), min_size=size, max_size=size)
)


def has_circle(graph: list[set[int]]) -> bool:
    left = dict(enumerate(graph))
    while ready := [name for name, needs in left.items() if not needs & set(left)]:
        for name in ready:
            del left[name]
    return bool(left)


@given(graphs)
@settings(deadline=None)
def test_every_graph_is_built_or_refused(graph: list[set[int]]) -> None:
    """Without a circle each bean gets the beans that it names; with one the start fails and the cycle is a real one."""
    members = {f"n{number}": node(f"n{number}", needs) for number, needs in enumerate(graph)}
    beans = configuration(type("Beans", (), members))
    with ApplicationContextRunner().with_sources(beans).run() as run:
        if has_circle(graph):
            assert isinstance(run.failure, CircularDependencyError)
            cycle = [int(definition.name[1:]) for definition, _ in run.failure.cycle]
            assert all(after in graph[before] for before, after in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
            return
        for number, needs in enumerate(graph):
            found = run.context.get(Node, name=f"n{number}")
            assert found.parts == {f"n{need}": run.context.get(Node, name=f"n{need}") for need in needs}
