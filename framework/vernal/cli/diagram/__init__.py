"""The beans of an application as a picture: `vernal beans --graph text`, `dot` or `svg`.

beans.py    what is drawn: beans and who is given whom, without configuration classes and settings
text.py     as a tree of lines
dot.py      for Graphviz
layout.py   where everything stands in the picture: layers from left to right, few crossings
svg.py      the picture
"""

from vernal.cli.diagram.beans import BeanDiagram, Edge, Node
from vernal.cli.diagram.dot import as_dot
from vernal.cli.diagram.svg import as_svg
from vernal.cli.diagram.text import as_text

__all__ = ["BeanDiagram", "Edge", "Node", "as_dot", "as_svg", "as_text"]
