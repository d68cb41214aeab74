"""The diagram for Graphviz."""

import json

from vernal.cli.diagram.beans import BeanDiagram, Node

COLOURS = {
    "user": ("#e6f4ea", "#2e7d32"),
    "auto-configuration": ("#e8f0fe", "#1a56b0"),
    "context": ("#f1f3f4", "#5f6368"),
}
"""Fill and line of a bean, by who declared it."""

_LATER = " [style=dashed]"


def as_dot(diagram: BeanDiagram) -> str:
    """A `digraph`, such as `dot -Tpng` draws."""
    lines = [
        "digraph beans {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11];',
        *(f"  {_quoted(node.name)} [{_attributes(node)}];" for node in diagram.nodes),
        *(f"  {_quoted(edge.user)} -> {_quoted(edge.used)}{_LATER if edge.later else ''};" for edge in diagram.edges),
        "}",
    ]
    return "\n".join(lines)


def _attributes(node: Node) -> str:
    fill, line = COLOURS[node.kind]
    label = f"{node.name}\n{node.short_type}"
    style = ', style="rounded,filled,dashed"' if node.scope == "prototype" else ""
    return f'label={_quoted(label)}, tooltip={_quoted(node.origin)}, fillcolor="{fill}", color="{line}"{style}'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
