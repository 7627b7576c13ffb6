"""Which formats pictures of machines have: one line for each, as :mod:`markovize.io.registry` has them for files."""

from __future__ import annotations

from typing import Final

from markovize.io.registry import Format, Registry
from markovize.machine.machine import RewardMachine

DRAWINGS: Final[Registry[RewardMachine]] = Registry(
    "a picture",
    (
        Format("svg", ("svg",), "a scalable picture", write="pictures.machine:write_svg"),
        Format("png", ("png",), "a picture of pixels", write="pictures.machine:write_png"),
        Format("dot", ("dot",), "a graph for Graphviz", write="io.machines.dot:write_graph_dot"),
        Format("mmd", ("mmd",), "Mermaid, for Markdown", write="io.machines.mermaid:write_mermaid"),
    ),
)
