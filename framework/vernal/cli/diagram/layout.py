"""A layered layout: who is given beans stands left of them, and lines cross seldom.

The steps are those of Sugiyama's method: layers by the longest path, waypoints where a line passes a layer, an order
within each layer by the mean place of the neighbours, then heights that keep that order.
"""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise
from statistics import fmean

from vernal.values.records import dataclass

_SWEEPS = 12
_WAYPOINT = 14.0


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things stand: the layer of every node, the middle of every node, and the way of every edge.

    Heights count downwards from 0. A way lists one height for each layer that the edge touches, both ends included; it
    runs from left to right, so an edge that would close a circle has its ends exchanged.
    """

    layers: Mapping[str, int]
    heights: Mapping[str, float]
    ways: Mapping[tuple[str, str], tuple[float, ...]]


def lay_out(sizes: Mapping[str, float], edges: Iterable[tuple[str, str]], *, gap: float) -> Layout:
    """Place nodes of the given heights, joined by edges, at least `gap` apart."""
    edges = _without_circles(edges)
    layers = _layers(sizes, edges)
    extent = dict(sizes)
    chains = {(start, end): _chain(start, end, layers, extent) for start, end in edges}
    rows: list[list[str]] = [[] for _ in range(max(layers.values(), default=-1) + 1)]
    for name in extent:
        rows[layers[name]].append(name)
    neighbours: dict[str, list[str]] = {name: [] for name in extent}
    for chain in chains.values():
        for left, right in pairwise(chain):
            neighbours[left].append(right)
            neighbours[right].append(left)
    _order(rows, layers, neighbours)
    heights = _heights(rows, layers, neighbours, extent, gap)
    top = min((heights[name] - extent[name] / 2 for name in heights), default=0.0)
    placed = {name: height - top for name, height in heights.items()}
    ways = {edge: tuple(placed[each] for each in chain) for edge, chain in chains.items()}
    return Layout(layers, {name: placed[name] for name in sizes}, ways)


def _without_circles(edges: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The edges, those turned round that lead back to where others come from."""
    after: dict[str, set[str]] = {}
    for start, end in dict.fromkeys(edges):
        if start == end:
            continue
        if _leads(end, start, after):
            start, end = end, start
        after.setdefault(start, set()).add(end)
    return [(start, end) for start, ends in after.items() for end in sorted(ends)]


def _leads(start: str, end: str, after: Mapping[str, set[str]]) -> bool:
    reached, waiting = {start}, [start]
    while waiting:
        fresh = after.get(waiting.pop(), set()) - reached
        reached |= fresh
        waiting += fresh
    return end in reached


def _layers(nodes: Iterable[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Each node one layer right of the last that leads to it."""
    before: dict[str, list[str]] = {name: [] for name in nodes}
    for start, end in edges:
        before[end].append(start)
    layers: dict[str, int] = {}
    for name in TopologicalSorter(before).static_order():
        layers[name] = max((layers[each] + 1 for each in before[name]), default=0)
    return layers


def _chain(start: str, end: str, layers: dict[str, int], extent: dict[str, float]) -> list[str]:
    """The ends of an edge with a waypoint in each layer between them."""
    chain = [start]
    for layer in range(layers[start] + 1, layers[end]):
        waypoint = f"{start}\0{end}\0{layer}"
        layers[waypoint], extent[waypoint] = layer, _WAYPOINT
        chain.append(waypoint)
    return [*chain, end]


def _order(rows: list[list[str]], layers: Mapping[str, int], neighbours: Mapping[str, list[str]]) -> None:
    """Sort each row by the mean place of the neighbours in the row before, to and fro; the best order is kept."""
    best, fewest = [list(row) for row in rows], _crossings(rows, layers, neighbours)
    for sweep in range(_SWEEPS):
        step = 1 if sweep % 2 == 0 else -1
        numbers = range(1, len(rows)) if step == 1 else range(len(rows) - 2, -1, -1)
        for number in numbers:
            rows[number] = _sorted(rows[number], rows[number - step], neighbours)
        crossings = _crossings(rows, layers, neighbours)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    rows[:] = best


def _sorted(row: Sequence[str], beside: Sequence[str], neighbours: Mapping[str, list[str]]) -> list[str]:
    """The row by the mean place of each one's neighbours in the row beside it; who has none keeps his place."""
    place = {name: position for position, name in enumerate(beside)}
    wished = {
        name: fmean([place[each] for each in neighbours[name] if each in place] or [position])
        for position, name in enumerate(row)
    }
    return sorted(row, key=wished.__getitem__)


def _crossings(rows: list[list[str]], layers: Mapping[str, int], neighbours: Mapping[str, list[str]]) -> int:
    total = 0
    for left, right in pairwise(rows):
        place = {name: position for position, name in enumerate(right)}
        ends = [sorted(place[each] for each in neighbours[name] if layers[each] == layers[name] + 1) for name in left]
        seen: list[int] = []
        for group in ends:
            total += sum(1 for end in group for earlier in seen if earlier > end)
            seen += group
    return total


def _heights(
    rows: list[list[str]],
    layers: Mapping[str, int],
    neighbours: Mapping[str, list[str]],
    extent: Mapping[str, float],
    gap: float,
) -> dict[str, float]:
    """The height of every middle: near those of its neighbours, in the order of its row."""
    heights: dict[str, float] = {}
    for row in rows:
        heights.update(zip(row, _spread([0.0] * len(row), [extent[name] for name in row], gap), strict=True))
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wished = [fmean([heights[each] for each in neighbours[name]] or [heights[name]]) for name in row]
            heights.update(zip(row, _spread(wished, [extent[name] for name in row], gap), strict=True))
    return heights


def _spread(wished: Sequence[float], extent: Sequence[float], gap: float) -> list[float]:
    """The places nearest to the wished ones that keep order and distance (isotonic regression)."""
    offsets = [0.0]
    for above, below in pairwise(extent):
        offsets.append(offsets[-1] + (above + below) / 2 + gap)
    blocks: list[list[float]] = []  # sum of wishes and number of members; neighbours that collide become one block
    for wish, offset in zip(wished, offsets, strict=False):
        blocks.append([wish - offset, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += count
    places = [total / count for total, count in blocks for _ in range(int(count))]
    return [place + offset for place, offset in zip(places, offsets, strict=False)]
