"""The beans as a tree, for Graphviz, and as a picture."""

import re
import sys
from itertools import pairwise
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from vernal import Application, ObjectProvider, Settings, bean, configuration, primary
from vernal.cli.app import program
from vernal.cli.diagram import BeanDiagram, Edge, Node, as_dot, as_svg, as_text
from vernal.cli.diagram.layout import lay_out
from vernal.context.failures import MissingBeanError

SVG = "{http://www.w3.org/2000/svg}"


class ShelfSettings(Settings, prefix="shelf"):
    """What is set for shelves."""

    height: int = 3


class Database: ...


class Books: ...


class Desk: ...


class Bell: ...


@configuration
class Shop:
    def __init__(self, bell: Bell) -> None: ...

    @bean
    def database(self) -> Database:
        return Database()

    @bean
    @primary
    def books(self, database: Database, settings: ShelfSettings) -> Books:
        return Books()

    @bean(scope="prototype")
    def desk(self, books: Books, database: Database) -> Desk:
        return Desk()


@configuration
class Bells:
    @bean
    def bell(self, desk: ObjectProvider[Desk]) -> Bell:
        return Bell()


@pytest.fixture
def diagram() -> BeanDiagram:
    """A shop of four beans, in which the bell may ask for the desk later."""
    context = Application(Bells, Shop, plugins=False).check()
    return BeanDiagram.of(context.beans, context.graph, context.lazy_graph)


def test_a_diagram_has_the_beans_and_who_is_given_whom(diagram: BeanDiagram) -> None:
    """Configuration classes are passed through, settings are named by who reads them, what nobody needs of the
    context is left out, and what is asked for later is told apart."""
    assert {node.name for node in diagram.nodes} == {"bell", "database", "books", "desk"}
    edges = {(edge.user, edge.used, edge.later) for edge in diagram.edges}
    eager = {("books", "database"), ("desk", "books"), ("desk", "database")}
    through = {("database", "bell"), ("books", "bell"), ("desk", "bell")}
    assert edges == {(*pair, False) for pair in eager | through} | {("bell", "desk", True)}
    books = next(node for node in diagram.nodes if node.name == "books")
    assert (books.reads, books.notes, books.kind, books.short_type) == (("shelf",), ("primary",), "user", "Books")


def test_the_tree_starts_with_what_nobody_needs_and_repeats_nothing(diagram: BeanDiagram) -> None:
    """Each bean has its line below who is given it; what stands above already ends in '…'."""
    assert as_text(diagram).splitlines() == [
        "desk: Desk (Shop, prototype)",
        "├─ bell: Bell (Bells)",
        "│  └─ desk: Desk (Shop, prototype, asked for later) …",
        "├─ books: Books (Shop, primary)",
        "│  ├─ bell: Bell (Bells) …",
        "│  └─ database: Database (Shop)",
        "│     └─ bell: Bell (Bells) …",
        "└─ database: Database (Shop) …",
    ]


def test_graphviz_gets_every_bean_and_line(diagram: BeanDiagram) -> None:
    """The text is a digraph with a node for each bean, an edge for each line, dashed where it is asked later."""
    text = as_dot(diagram)
    assert text.startswith("digraph beans {")
    assert text.endswith("}")
    assert set(re.findall(r'^  "(\w+)" \[', text, re.MULTILINE)) == {node.name for node in diagram.nodes}
    assert len(re.findall(r'" -> "', text)) == len(diagram.edges)
    assert '"bell" -> "desk" [style=dashed];' in text


def test_the_picture_shows_every_bean_and_line(diagram: BeanDiagram) -> None:
    """It is an SVG with a titled box for each bean and a path for each line; boxes stand apart and inside."""
    root = ET.fromstring(as_svg(diagram))
    boxes = {group.find(f"{SVG}title"): group.find(f"{SVG}rect") for group in root.iter(f"{SVG}g")}
    rectangles = [
        tuple(float(rect.attrib[key]) for key in ("x", "y", "width", "height"))
        for title, rect in boxes.items()
        if title is not None and rect is not None
    ]
    assert len(rectangles) == len(diagram.nodes)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for number, (x, y, w, h) in enumerate(rectangles):
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
        for a, b, c, d in rectangles[:number]:
            assert x + w < a or a + c < x or y + h < b or b + d < y
    paths = [path for path in root.iter(f"{SVG}path") if path.attrib.get("class")]
    assert [path.attrib["class"] for path in paths].count("edge later") == 1
    assert len(paths) == len(diagram.edges)


def test_names_are_text_in_every_form() -> None:
    """Quotes, angle brackets and ampersands of generic types do not break the picture or the graph."""
    kind = 'Repository["Order<&>"]'
    node = Node(
        name="orders",
        type=kind,
        short_type=kind,
        kind="user",
        origin='Shop."x"',
        by="<Shop>",
        scope="singleton",
        primary=False,
        reads=(),
    )
    diagram = BeanDiagram((node,), (Edge("orders", "orders", later=True),))
    texts = [text.text for text in ET.fromstring(as_svg(diagram)).iter(f"{SVG}text")]
    assert kind in texts
    assert r"Repository[\"Order<&>\"]" in as_dot(diagram)
    assert as_text(diagram).splitlines()[-1].endswith("asked for later) …")


GRAPHS = st.integers(1, 14).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=30),
    )
)


@given(GRAPHS)
def test_every_layout_keeps_distance_and_direction(graph: tuple[int, list[tuple[int, int]]]) -> None:
    """Whatever the graph, circles included: lines run from layer to layer to the right, boxes of a layer keep their
    distance, and nothing stands above the top."""
    count, pairs = graph
    sizes = {str(number): 20.0 + number for number in range(count)}
    layout = lay_out(sizes, [(str(start), str(end)) for start, end in pairs], gap=10.0)
    for (start, end), way in layout.ways.items():
        assert layout.layers[end] - layout.layers[start] == len(way) - 1 >= 1
        assert (way[0], way[-1]) == (layout.heights[start], layout.heights[end])
    drawn = {frozenset(edge) for edge in layout.ways}
    assert drawn == {frozenset((str(start), str(end))) for start, end in pairs if start != end}
    for layer in set(layout.layers.values()):
        row = sorted((name for name in sizes if layout.layers[name] == layer), key=layout.heights.__getitem__)
        for above, below in pairwise(row):
            apart = layout.heights[below] - layout.heights[above]
            assert apart >= (sizes[above] + sizes[below]) / 2 + 10.0 - 1e-6
    assert min(layout.heights[name] - sizes[name] / 2 for name in sizes) >= -1e-6


@pytest.mark.parametrize(("form", "part"), [("text", "desk: Desk"), ("dot", "digraph beans {"), ("svg", "<svg xmlns")])
def test_the_command_prints_the_form_that_is_asked_for(form: str, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`vernal beans --graph` prints the picture and no table, so that it can be sent to a file."""
    module = ModuleType("shown_shop")
    vars(module)["sources"] = [Bells, Shop]
    monkeypatch.setitem(sys.modules, "shown_shop", module)
    arguments = ["beans", "--app", "shown_shop:sources", "--graph", form]
    result = CliRunner().invoke(program(arguments), arguments)
    assert result.exit_code == 0, result.output
    assert part in result.stdout
    assert "Is given" not in result.stdout


def test_json_and_graph_exclude_each_other() -> None:
    """Asking for both is refused, with the reason."""
    arguments = ["beans", "--json", "--graph", "svg"]
    result = CliRunner().invoke(program(arguments), arguments)
    assert result.exit_code == 2
    assert "exclude each other" in " ".join(result.stderr.split())


def test_beans_that_do_not_fit_together_are_drawn_without_lines() -> None:
    """Where the start fails, the picture has the beans that were chosen, and none of the lines."""

    @configuration
    class Broken:
        @bean
        def desk(self, books: Books) -> Desk:
            return Desk()

    application = Application(Broken, plugins=False)
    with pytest.raises(MissingBeanError):
        application.check()
    diagram = BeanDiagram.of(application.beans, {}, {})
    assert as_text(diagram) == "desk: Desk (Broken)"
    assert ET.fromstring(as_svg(diagram)) is not None
