"""The diagram as a picture."""

from collections.abc import Sequence
from itertools import pairwise
from xml.sax.saxutils import escape

from vernal.cli.diagram.beans import BeanDiagram, Edge, Node
from vernal.cli.diagram.dot import COLOURS
from vernal.cli.diagram.layout import Layout, lay_out

_MARGIN, _HEAD, _NARROWEST = 24.0, 40.0, 820.0
_BETWEEN, _GAP = 72.0, 14.0
_LINE, _PADDING = 15.0, 9.0
_CHARACTER = 7.0  # the widest face of the text, so that no line leaves its box

_DOCUMENT = """\
<svg xmlns="http://www.w3.org/2000/svg"
  width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">
<style>
  text {{ font: 11px ui-sans-serif, system-ui, "DejaVu Sans", sans-serif; fill: #3c4043 }}
  .name {{ font-weight: 600; fill: #202124 }}
  .quiet {{ font-size: 10px; fill: #5f6368 }}
  .edge {{ fill: none; stroke: #80868b; stroke-width: 1.2 }}
  .later {{ stroke-dasharray: 4 3 }}
</style>
<defs>
  <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
    <path d="M0 0.8 L7.4 4 L0 7.2 z" fill="#80868b"/>
  </marker>
</defs>
<rect width="100%" height="100%" fill="#ffffff"/>
{parts}
</svg>"""

_LEGEND = {"user": "your beans", "auto-configuration": "auto-configured", "context": "of the context"}
_LINES = "a → b: a is given b; dashed line: a may ask for b later; dashed box: prototype"


def as_svg(diagram: BeanDiagram) -> str:
    """An SVG document: each bean a box, coloured by who declared it, with a line to each bean that it is given."""
    texts = {node.name: _texts(node) for node in diagram.nodes}
    sizes = {name: len(lines) * _LINE + 2 * _PADDING for name, lines in texts.items()}
    layout = lay_out(sizes, [(edge.user, edge.used) for edge in diagram.edges], gap=_GAP)
    columns = _columns(texts, layout)
    parts = [
        *_legend(),
        f'<g transform="translate(0 {_MARGIN + _HEAD:g})">',
        *(_line(edge, layout, columns) for edge in diagram.edges if edge.user != edge.used),
        *(_box(node, texts[node.name], sizes[node.name], layout, columns) for node in diagram.nodes),
        "</g>",
    ]
    return _DOCUMENT.format(
        width=max([_NARROWEST, *(left + width + _MARGIN for left, width in columns)]),
        height=max([0.0, *(layout.heights[name] + sizes[name] / 2 for name in sizes)]) + _HEAD + 2 * _MARGIN,
        parts="\n".join(parts),
    )


def _texts(node: Node) -> list[tuple[str, str]]:
    """The lines of a box, each with the class of its face."""
    lines = [("name", node.name), ("", ", ".join([node.short_type, *node.notes])), ("quiet", node.by)]
    if node.reads:
        lines.append(("quiet", f"settings: {', '.join(node.reads)}"))
    return lines


def _columns(texts: dict[str, list[tuple[str, str]]], layout: Layout) -> list[tuple[float, float]]:
    """Left edge and width of each layer."""
    widest = [0.0] * (max(layout.layers.values(), default=-1) + 1)
    for name, lines in texts.items():
        wanted = max(len(text) for _, text in lines) * _CHARACTER + 2 * _PADDING
        widest[layout.layers[name]] = max(widest[layout.layers[name]], wanted)
    columns: list[tuple[float, float]] = []
    left = _MARGIN
    for each in widest:
        columns.append((left, each))
        left += each + _BETWEEN
    return columns


def _box(
    node: Node, lines: list[tuple[str, str]], size: float, layout: Layout, columns: Sequence[tuple[float, float]]
) -> str:
    left, width = columns[layout.layers[node.name]]
    top = layout.heights[node.name] - size / 2
    fill, stroke = COLOURS[node.kind]
    dashes = ' stroke-dasharray="5 3"' if node.scope == "prototype" else ""
    texts = "".join(
        f'<text x="{left + _PADDING:.1f}" y="{top + _PADDING + _LINE * (number + 0.75):.1f}"'
        + (f' class="{face}"' if face else "")
        + f">{escape(text)}</text>"
        for number, (face, text) in enumerate(lines)
    )
    return (
        f"<g><title>{escape(f'{node.name}: {node.type}, {node.scope}, from {node.origin}')}</title>"
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{size:.1f}" rx="6" fill="{fill}" '
        f'stroke="{stroke}"{dashes}/>{texts}</g>'
    )


def _line(edge: Edge, layout: Layout, columns: Sequence[tuple[float, float]]) -> str:
    """A curve from box to box, level where it passes a layer; the layout may have turned it round."""
    turned = (edge.user, edge.used) not in layout.ways
    start, end = (edge.used, edge.user) if turned else (edge.user, edge.used)
    way, first = layout.ways[start, end], layout.layers[start]
    x = sum(columns[first])
    path = [f"M{x:.1f} {way[0]:.1f}"]
    for step, (here, there) in enumerate(pairwise(way), start=first + 1):
        left, width = columns[step]
        bend = (left - x) / 2
        path.append(f"C{x + bend:.1f} {here:.1f} {left - bend:.1f} {there:.1f} {left:.1f} {there:.1f}")
        if step < layout.layers[end]:
            path.append(f"H{left + width:.1f}")
        x = left + width
    face = "edge later" if edge.later else "edge"
    return f'<path class="{face}" marker-{"start" if turned else "end"}="url(#arrow)" d="{" ".join(path)}"/>'


def _legend() -> list[str]:
    """Which colour means whom."""
    parts, left = [], _MARGIN
    for kind, label in _LEGEND.items():
        fill, stroke = COLOURS[kind]
        parts += [
            f'<rect x="{left:g}" y="{_MARGIN:g}" width="14" height="14" rx="3" fill="{fill}" stroke="{stroke}"/>',
            f'<text x="{left + 20:g}" y="{_MARGIN + 11:g}">{label}</text>',
        ]
        left += 40 + len(label) * _CHARACTER
    return [*parts, f'<text x="{left:g}" y="{_MARGIN + 11:g}" class="quiet">{_LINES}</text>']
