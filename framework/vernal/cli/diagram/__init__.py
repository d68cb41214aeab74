"""The beans of an application as a picture: `vernal beans --graph text`, `dot` or `svg`.

beans.py    what is drawn: beans and who is given whom, without configuration classes and settings
text.py     as a tree of lines
dot.py      for Graphviz
layout.py   where everything stands in the picture: layers from left to right, few crossings
svg.py      the picture
"""

from typing import Literal

from vernal.cli.diagram.beans import BeanDiagram, Edge, Node
from vernal.cli.diagram.dot import as_dot
from vernal.cli.diagram.svg import as_svg
from vernal.cli.diagram.text import as_text
from vernal.cli.inspection import Inspection

__all__ = ["BeanDiagram", "Edge", "Node", "as_dot", "as_svg", "as_text", "draw"]


def draw(inspection: Inspection, form: Literal["text", "dot", "svg"]) -> str:
    """The beans of an application in one of the forms; where they do not fit together, those chosen, without lines."""
    context = inspection.context
    if context is not None:
        diagram = BeanDiagram.of(context.beans, context.graph, context.lazy_graph)
    else:
        diagram = BeanDiagram.of(inspection.application.beans, {}, {})
    return {"text": as_text, "dot": as_dot, "svg": as_svg}[form](diagram)
