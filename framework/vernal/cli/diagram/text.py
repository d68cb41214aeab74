"""The diagram as a tree of lines."""

from collections.abc import Iterator, Mapping

from vernal.cli.diagram.beans import BeanDiagram, Edge, Node


def as_text(diagram: BeanDiagram) -> str:
    """One tree for each bean that no other is given; what stands above already is not repeated."""
    nodes = {node.name: node for node in diagram.nodes}
    below: dict[str, list[Edge]] = {name: [] for name in nodes}
    for edge in diagram.edges:
        below[edge.user].append(edge)
    used = {edge.used for edge in diagram.edges if not edge.later}
    drawn: set[str] = set()
    roots = [name for name in reversed(nodes) if name not in used]
    return "\n".join(line for root in roots for line in _tree(Edge("", root), nodes, below, drawn, ("", "")))


def _tree(
    edge: Edge, nodes: Mapping[str, Node], below: Mapping[str, list[Edge]], drawn: set[str], indent: tuple[str, str]
) -> Iterator[str]:
    """The line of a bean and those of what it is given; `indent` is that of the line and that of what follows."""
    name, edges = edge.used, below[edge.used]
    known = name in drawn and bool(edges)
    yield f"{indent[0]}{_line(nodes[name], edge)}{' …' if known else ''}"
    if known:
        return
    drawn.add(name)
    for number, each in enumerate(edges, start=1):
        branch = ("└─ ", "   ") if number == len(edges) else ("├─ ", "│  ")
        yield from _tree(each, nodes, below, drawn, (indent[1] + branch[0], indent[1] + branch[1]))


def _line(node: Node, edge: Edge) -> str:
    notes = [node.by, *node.notes, *(["asked for later"] if edge.later else [])]
    return f"{node.name}: {node.short_type} ({', '.join(notes)})"
